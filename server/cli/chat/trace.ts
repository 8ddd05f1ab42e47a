/**
 * The tokens of an answer, one by one: how many tokens the constraint allowed there, and whether
 * the token was drawn or the only text that the constraint left.
 *
 * The walk is made again after the answer, with the rules by which the engine forces tokens. In an
 * answer with tools or reasoning the grammar of the whole turn decided, so there the engine traces
 * the tokens.
 */
import {
  bindGrammar,
  countAllowed,
  forcedTokens,
  type GrammarInput,
  Matcher,
  type TokenMachine,
  type TokenTrace,
} from "../../../runtime/index.ts"
import { printedBytes } from "../check.ts"
import type { Answer, Settings } from "./conversation.ts"

export interface TracedToken {
  readonly id: number
  /** In quotes, or in hexadecimal if its bytes are not whole characters; or a control token. */
  readonly text: string
  /** Number of tokens that were allowed; null for those that a turn forced. */
  readonly allowed: number | null
  readonly kind: TokenTrace["kind"]
}

/** Returns the tokens of an answer. */
export async function traceOf(
  { result, sent, constraint }: Answer,
  settings: Settings,
): Promise<TracedToken[]> {
  const { engine } = settings
  const { vocabulary, tokenizer } = engine
  const textOf = (id: number) => vocabulary.name(id) ?? printedBytes(vocabulary.bytes(id))
  if (result.trace !== null) {
    return result.trace.map(({ token: id, kind, effect }) => {
      return { id, text: textOf(id), allowed: effect?.allowed ?? null, kind }
    })
  }
  const walk = constraint === null ? null : new Matcher(machineOf(constraint, settings))
  const before = walk === null ? [] : [...(await engine.tokenize(sent))]
  const row = new Uint32Array(vocabulary.words)
  const free = countAllowed(vocabulary.freeRow)
  let run: readonly number[] = []
  return result.tokens.map((id) => {
    const text = textOf(id)
    if (walk === null) return { id, text, allowed: free, kind: "sampled" }
    walk.fillMask(row)
    if (run.length === 0) run = forcedTokens(walk, before, tokenizer.encodePart)
    const isForced = run[0] === id
    run = isForced ? run.slice(1) : []
    walk.accept(id)
    before.push(id)
    return { id, text, allowed: countAllowed(row), kind: isForced ? "forced" : "sampled" }
  })
}

/** Returns the lines of a trace, as a table. */
export function printTrace(tokens: readonly TracedToken[]): string[] {
  const lines = tokens.map(
    ({ id, text, allowed, kind }) =>
      `${String(id).padStart(7)}  ${String(allowed ?? "-").padStart(7)}  ${kind.padEnd(7)}  ${text}`,
  )
  return ["     id  allowed  kind     text", ...lines]
}

/** Returns the machine of a constraint over the model's tokens. Throws GrammarError. */
export function machineOf(input: GrammarInput, { engine, policies, compileMs }: Settings): TokenMachine {
  const { grammar } = engine.compile(input, { ...policies, limits: { compileMs } })
  return bindGrammar(grammar, engine.vocabulary)
}
