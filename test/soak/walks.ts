/**
 * Soundness by random walk: tokens drawn from the masks, until the end is drawn or a walk is long enough.
 *
 * At every state met the mask is not empty and the shortest completion finishes the text; every finished text and every
 * completed one is valid for the reference validator. A `limit` at run time ends a walk and is counted by itself: it is
 * an error that a request sees, never a wrong text.
 */
import { type CompileOptions, compile, GrammarError } from "../../grammar/index.ts"
import { Matcher, TokenFsm, type Vocabulary } from "../../mask/index.ts"
import { randomOf } from "../support/oracle.ts"
import { Validator } from "../support/validate.ts"
import { type Draw, drawToken, shown } from "./draw.ts"

export interface WalkSoak {
  tokens: number
  /** Texts that ended because the end was drawn, and places from which the shortest completion ended the text. */
  finished: number
  completed: number
  unsatisfiable: number
  /** Walks that a bound ended, with the error. */
  limited: number
  limits: string[]
  disagreements: string[]
}

export interface WalkSoakOptions {
  vocabulary: Vocabulary
  compile: CompileOptions
  seed: number
  /** Tokens in all, at least, and in one walk, at most. */
  tokens: number
  walkTokens: number
  draw: Draw
  /** Who judges the texts. Default: the reference validator. */
  judge?: Judge
}

export interface Judge {
  accepts(text: string): boolean
}

/** Throws what `compile` throws. */
export function soakWalks(schema: string, more: WalkSoakOptions): WalkSoak {
  const { vocabulary } = more
  const { grammar, report } = compile({ kind: "json", schema }, more.compile)
  const soak: WalkSoak = {
    ...{ tokens: 0, finished: 0, completed: 0, unsatisfiable: 0, limited: 0 },
    ...{ limits: [], disagreements: [] },
  }
  if (!report.satisfiable) {
    soak.unsatisfiable++
    return soak
  }
  const fsm = new TokenFsm(grammar, vocabulary)
  const judge = more.judge ?? new Validator(schema)
  const row = new Uint32Array(vocabulary.words)
  const random = randomOf(more.seed)
  for (let walk = 0; soak.tokens < more.tokens; walk++) {
    const bytes: number[] = []
    try {
      const problem = walkOnce(fsm, row, random, more, judge, bytes, soak)
      if (problem !== null) soak.disagreements.push(`walk ${walk}, after ${shown(bytes)}: ${problem}`)
    } catch (error) {
      const line = `walk ${walk}, after ${shown(bytes)}: ${error}`
      if (error instanceof GrammarError && error.kind === "limit") {
        soak.limited++
        soak.limits.push(line)
      } else soak.disagreements.push(`${line} ${(error as Error).stack}`)
    }
    // A walk that fails or ends at once must not go on for ever.
    if (soak.disagreements.length + soak.limited >= 20 || walk > 4 * more.tokens) break
  }
  return soak
}

function walkOnce(
  fsm: TokenFsm,
  row: Uint32Array,
  random: () => number,
  { vocabulary, draw, walkTokens }: WalkSoakOptions,
  judge: Judge,
  bytes: number[],
  soak: WalkSoak,
): string | null {
  const matcher = new Matcher(fsm)
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  for (let count = 0; count < walkTokens; count++) {
    const problem = completionProblem(matcher, matcher.shortest(), bytes, judge)
    if (problem !== null) return problem
    soak.completed++
    matcher.fillMask(row)
    const token = drawToken(row, vocabulary, draw, random)
    if (token < 0) return "the mask is empty"
    soak.tokens++
    if (!matcher.accept(token)) return `token ${token} is in the mask, but not accepted`
    if (vocabulary.isEnd(token)) {
      soak.finished++
      return judge.accepts(decoder.decode(Uint8Array.from(bytes))) ? null : "the finished text is not valid"
    }
    for (const byte of vocabulary.bytes(token)) bytes.push(byte)
  }
  return null
}

/** What is wrong with `rest` as a completion of `bytes`, which `matcher` has read; null where nothing is. */
export function completionProblem(
  matcher: Matcher,
  rest: Uint8Array,
  bytes: readonly number[],
  judge: Judge,
): string | null {
  const fork = matcher.fork()
  if ((rest.length > 0 && !fork.acceptBytes(rest)) || !fork.isAccepting())
    return `the shortest completion ${shown(rest)} does not finish`
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
    Uint8Array.from([...bytes, ...rest]),
  )
  return judge.accepts(text) ? null : `completed to ${JSON.stringify(text)}, which is not valid`
}
