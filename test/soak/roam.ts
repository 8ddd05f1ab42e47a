/**
 * Far walks: a million tokens over all schemas that are hard for the engine, and no error of any kind behind the first one.
 *
 * Half of the walks begin inside a valid text of the corpus, where plain draws seldom come. What is drawn is any token of the
 * mask or, as often, one of a single byte: those close strings and containers. A refusal before the first token is fine, whatever
 * it is; behind it a bound is an error like any other. Now and then the shortest completion must finish the text, and what
 * it finishes must be valid.
 */
import { type CompileOptions, compile, GrammarError } from "../../grammar/index.ts"
import { isAllowed, Matcher, TokenFsm, type Vocabulary } from "../../mask/index.ts"
import { randomOf } from "../support/oracle.ts"
import { Validator } from "../support/validate.ts"
import { acceptPrefix, drawToken, type Random, shown } from "./draw.ts"
import { completionProblem, type Judge } from "./walks.ts"

export interface RoamSoak {
  tokens: number
  walks: number
  /** Places from which the shortest completion ended the text. */
  completed: number
  /** Refused while compiling or before the first token. */
  refused: number
  /** Completions that a bound refused, or that are too long to read back: values of millions of characters. */
  endless: number
  /** Milliseconds. */
  slowestMask: number
  /** Masks and completions of more than `slowMs`. */
  slow: string[]
  disagreements: string[]
}

export interface RoamOptions {
  vocabulary: Vocabulary
  compile: CompileOptions
  seed: number
  /** Tokens in all, and in one walk at most. */
  tokens: number
  walkTokens: number
  /** Valid texts of the schema. */
  texts: readonly string[]
  /** Milliseconds of one compilation. */
  compileMs: number
  /** Milliseconds of one mask, and of one completion; above it an error. */
  maskMs: number
  /** Milliseconds from which a mask is told. */
  slowMs: number
  /** Who judges the texts. Default: the reference validator. */
  judge?: Judge
}

/** Longer completions are not read back: that is a walk, whose length a model pays for. */
const MaxReadBack = 5_000

/** Tokens between two completions. */
const CompletedEvery = 12

/** Walks that end at once must end, too. */
const MostEmpty = 50

/** Ids of tokens of one byte, by vocabulary. */
const singles = new WeakMap<Vocabulary, Int32Array>()

export function soakRoam(schema: string, more: RoamOptions): RoamSoak {
  const soak: RoamSoak = {
    ...{ tokens: 0, walks: 0, completed: 0, refused: 0, endless: 0, slowestMask: 0 },
    ...{ slow: [], disagreements: [] },
  }
  let fsm: TokenFsm
  try {
    const limits = { ...more.compile.limits, compileMs: more.compileMs }
    const { grammar, report } = compile({ kind: "json", schema }, { ...more.compile, limits })
    if (!report.satisfiable) return soak
    fsm = new TokenFsm(grammar, more.vocabulary)
    new Matcher(fsm, { maskMs: more.maskMs }).fillMask(new Uint32Array(more.vocabulary.words))
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    soak.refused++
    return soak
  }
  const judge = more.judge ?? new Validator(schema)
  const random = randomOf(more.seed)
  for (let empty = 0; soak.tokens < more.tokens && empty < MostEmpty; soak.walks++) {
    const bytes: number[] = []
    const before = soak.tokens
    try {
      const problem = roamOnce(fsm, random, more, judge, bytes, soak)
      if (problem !== null) soak.disagreements.push(`after ${shown(bytes)}: ${problem}`)
    } catch (error) {
      const trace = error instanceof GrammarError ? "" : (error as Error).stack
      soak.disagreements.push(`after ${shown(bytes)}: ${error} ${trace}`)
    }
    empty = soak.tokens - before > 1 ? 0 : empty + 1
    if (soak.disagreements.length >= 3) break
  }
  return soak
}

function roamOnce(
  fsm: TokenFsm,
  random: Random,
  { vocabulary, walkTokens, texts, maskMs, slowMs }: RoamOptions,
  judge: Judge,
  bytes: number[],
  soak: RoamSoak,
): string | null {
  const matcher = new Matcher(fsm, { maskMs, completionMs: maskMs })
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  const row = new Uint32Array(vocabulary.words)
  if (texts.length > 0 && random() < 0.5) {
    const text = new TextEncoder().encode(texts[Math.floor(random() * texts.length)])
    const beginning = text.subarray(0, Math.floor(random() * text.length))
    bytes.push(...beginning.subarray(0, acceptPrefix(matcher, beginning)))
  }
  const timed = <T>(what: string, run: () => T): T => {
    const begin = performance.now()
    const result = run()
    const ms = performance.now() - begin
    soak.slowestMask = Math.max(soak.slowestMask, ms)
    if (ms > slowMs && soak.slow.length < 3)
      soak.slow.push(`${what} of ${Math.round(ms)} ms after ${shown(bytes.slice(-200))}`)
    return result
  }
  for (let count = 0; count < walkTokens; count++) {
    if (count % CompletedEvery === CompletedEvery - 1) {
      const rest = timed("completion", () => completionOf(matcher))
      if (rest === null || rest.length > MaxReadBack) soak.endless++
      else {
        const problem = completionProblem(matcher, rest, bytes, judge)
        if (problem !== null) return problem
        soak.completed++
      }
    }
    timed("mask", () => matcher.fillMask(row))
    const single = random() < 0.5 ? drawSingle(row, vocabulary, random) : -1
    const token = single >= 0 ? single : drawToken(row, vocabulary, "uniform", random)
    if (token < 0) return "the mask is empty"
    soak.tokens++
    if (!matcher.accept(token)) return `token ${token} is in the mask, but not accepted`
    if (vocabulary.isEnd(token))
      return judge.accepts(decoder.decode(Uint8Array.from(bytes))) ? null : "the finished text is not valid"
    for (const byte of vocabulary.bytes(token)) bytes.push(byte)
  }
  return null
}

/** The shortest completion; null where it is refused for its length or the time to write it, which cost a budget and no text. */
function completionOf(matcher: Matcher): Uint8Array | null {
  try {
    return matcher.shortest()
  } catch (error) {
    if (
      error instanceof GrammarError &&
      /its shortest value (has|nests)|the shortest text has|how the text may end takes/.test(error.message)
    )
      return null
    throw error
  }
}

/** A token of one byte that `row` allows; -1 for none. */
function drawSingle(row: Uint32Array, vocabulary: Vocabulary, random: Random): number {
  let ids = singles.get(vocabulary)
  if (ids === undefined) {
    const all = Array.from({ length: vocabulary.width }, (_, id) => id)
    ids = Int32Array.from(all.filter((id) => vocabulary.bytes(id).length === 1))
    singles.set(vocabulary, ids)
  }
  const allowed = ids.filter((id) => isAllowed(row, id))
  return allowed.length === 0 ? -1 : allowed[Math.floor(random() * allowed.length)]
}
