/**
 * Machines that went through a file against the lazy ones, along random walks: masks and their kinds bit by bit, what
 * completes the text byte by byte, and what accept takes. A constraint without a finite machine goes as its source.
 */
import { type CompileOptions, compile, GrammarError } from "../../grammar/index.ts"
import {
  deserialize,
  Matcher,
  precompile,
  serializeMachine,
  serializeSource,
  TokenFsm,
  type TokenMachine,
  type Vocabulary,
} from "../../mask/index.ts"
import { randomOf } from "../support/oracle.ts"
import { type Draw, drawToken, shown } from "./draw.ts"

export interface StoredSoak {
  /** 1 where the constraint has a finite machine, and the states of that. */
  machines: number
  states: number
  bytes: number
  masks: number
  disagreements: string[]
}

export interface StoredSoakOptions {
  vocabulary: Vocabulary
  compile: CompileOptions
  seed: number
  walks: number
  /** Tokens of a walk. */
  steps: number
  draw: Draw
  maxStates: number
  /** Another way to read the file: a planted fault. */
  read?: (file: Uint8Array) => TokenMachine
}

/** Throws what `compile` throws. */
export function soakStored(schema: string, more: StoredSoakOptions): StoredSoak {
  const { vocabulary } = more
  const { grammar } = compile({ kind: "json", schema }, more.compile)
  const { file, states } = fileOf(schema, more)
  const machine = more.read?.(file) ?? deserialize(file, vocabulary).machine
  const lazy = new TokenFsm(grammar, vocabulary)
  const soak: StoredSoak = {
    ...{ machines: states > 0 ? 1 : 0, states, bytes: file.length, masks: 0 },
    disagreements: [],
  }
  if (grammar.isEmpty) return soak
  const random = randomOf(more.seed)
  const [expected, row] = [0, 1].map(() => new Uint32Array(vocabulary.words))
  for (let walk = 0; walk < more.walks; walk++) {
    const [left, right] = [new Matcher(lazy), new Matcher(machine)]
    const path: string[] = []
    for (let step = 0; step < more.steps && !left.isTerminated(); step++) {
      const kinds = [left.fillMask(expected), right.fillMask(row)]
      const rests = [shown(left.shortest()), shown(right.shortest())]
      soak.masks++
      if (kinds[0] !== kinds[1] || row.some((word, w) => word !== expected[w]) || rests[0] !== rests[1]) {
        soak.disagreements.push(`walk ${walk}, after ${path.join(" ")}: ${kinds}, ends ${rests}`)
        break
      }
      const token = drawToken(expected, vocabulary, more.draw, random)
      const accepted = [left.accept(token), right.accept(token)]
      path.push(shown(vocabulary.bytes(token)))
      if (accepted[0] && accepted[1]) continue
      soak.disagreements.push(`walk ${walk}, after ${path.join(" ")}: accept says ${accepted}`)
      break
    }
  }
  return soak
}

/** A machine where there is one, else the source. */
function fileOf(schema: string, more: StoredSoakOptions): { file: Uint8Array; states: number } {
  const { grammar, report } = compile({ kind: "json", schema }, more.compile)
  try {
    const machine = precompile(new TokenFsm(grammar, more.vocabulary), { maxStates: more.maxStates })
    return { file: serializeMachine(machine, report), states: machine.stateCount }
  } catch (error) {
    if (!(error instanceof GrammarError && error.kind === "limit")) throw error
    return { file: serializeSource({ kind: "json", schema }, more.compile), states: 0 }
  }
}
