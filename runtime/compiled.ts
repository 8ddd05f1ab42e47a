/**
 * Compiled constraints, kept: equal input and options mean the same Grammar and the same TokenFsm, whose tables have
 * grown by all requests before. Bounded by entries; dropping one costs time, never an answer.
 */

import { LRUCache } from "lru-cache"
import { type CompileOptions, compile, Grammar, type GrammarInput, type Report } from "../grammar/index.ts"
import { type Stored, TokenFsm, type TokenMachine, type Vocabulary } from "../mask/index.ts"
import { RequestError } from "./errors.ts"

export interface Compiled {
  readonly grammar: Grammar
  /** Null when the caller brought a Grammar of his own. */
  readonly report: Report | null
  /** Of the compilation that made it. */
  readonly compileMs: number
  readonly isCached: boolean
}

export class CompiledConstraints {
  hitCount = 0
  missCount = 0
  private readonly vocabulary: Vocabulary
  private readonly compiled: LRUCache<string, Compiled>
  private readonly machines: LRUCache<Grammar, TokenFsm>

  constructor(vocabulary: Vocabulary, options: { grammarCount?: number; machineCount?: number } = {}) {
    this.vocabulary = vocabulary
    this.compiled = new LRUCache({ max: options.grammarCount ?? 512 })
    this.machines = new LRUCache({ max: options.machineCount ?? 128 })
  }

  /** Throws GrammarError. */
  compile(input: GrammarInput | Grammar, options: CompileOptions = {}): Compiled {
    if (input instanceof Grammar) return { grammar: input, report: null, compileMs: 0, isCached: true }
    const key = keyOf(input, options)
    const known = key === undefined ? undefined : this.compiled.get(key)
    if (known) {
      this.hitCount++
      return { ...known, isCached: true }
    }
    this.missCount++
    const start = performance.now()
    const { grammar, report } = compile(input, options)
    const made: Compiled = { grammar, report, compileMs: performance.now() - start, isCached: false }
    if (key !== undefined) this.compiled.set(key, made)
    return made
  }

  machine(grammar: Grammar): TokenFsm {
    let machine = this.machines.get(grammar)
    if (!machine) {
      machine = new TokenFsm(grammar, this.vocabulary)
      this.machines.set(grammar, machine)
    }
    return machine
  }

  /** The machine of a constraint that was compiled elsewhere. Throws RequestError for one over another vocabulary. */
  stored({ machine }: Stored): TokenMachine {
    if (machine.vocabulary.hash === this.vocabulary.hash) return machine
    throw new RequestError(
      "invalid_value",
      "constraint: it is over another vocabulary. Read it with that of this model: deserialize(bytes, engine.vocabulary)",
      "constraint",
    )
  }
}

/** Undefined for what JSON cannot write (a bigint, a cycle): such an input is compiled each time. */
function keyOf(input: GrammarInput, options: CompileOptions): string | undefined {
  try {
    return JSON.stringify([input, options], (_, value) => {
      if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("not JSON")
      return value
    })
  } catch {
    return undefined
  }
}
