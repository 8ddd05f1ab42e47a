/**
 * How the tokens of an answer came about, as `choices[i].tokenrail.trace` of chat and completions.
 *
 * In a stream, a chunk has the traces of the tokens whose text it completes, in the order of the
 * tokens; the last chunk of a choice has the rest, such as that of the end token.
 */
import type { GenerateOptions, Generation, TokenTrace, Vocabulary } from "../../../runtime/index.ts"
import { Refusal } from "../../errors.ts"
import { checkBound, wholeBounds } from "../request/bounds.ts"
import type { Policies } from "../request/policies.ts"
import { entry } from "./logprobs.ts"

/** One token on the wire. `text` and `bytes` are the token's; `mask_us` is in microseconds. */
export interface TraceRow {
  id: number
  text: string
  bytes: number[]
  kind: TokenTrace["kind"]
  allowed: number | null
  mass: number | null
  entropy: number | null
  top: TraceToken[]
  illegal: TraceToken[]
  mask_us: number | null
}

interface TraceToken {
  id: number
  text: string
  bytes: number[]
  logprob: number
}

/** Returns the tokens of a trace as a reply has them. */
export function traceRows(traces: readonly TokenTrace[], vocabulary: Vocabulary): TraceRow[] {
  const described = ({ token: id, logprob }: { token: number; logprob: number }): TraceToken => {
    const { token: text, bytes, logprob: finite } = entry(id, logprob, vocabulary)
    return { id, text, bytes, logprob: finite }
  }
  return traces.map(({ token: id, kind, effect, maskUs }) => {
    const { token: text, bytes } = entry(id, 0, vocabulary)
    return {
      ...{ id, text, bytes, kind },
      allowed: effect?.allowed ?? null,
      mass: effect?.mass ?? null,
      entropy: effect?.entropy ?? null,
      top: (effect?.legal ?? []).map(described),
      illegal: (effect?.illegal ?? []).map(described),
      mask_us: maskUs,
    }
  })
}

/** Takes the traces of a generation's choices as its events are read, so that none is kept. */
export class TraceCursor {
  private readonly generation: Generation
  private readonly vocabulary: Vocabulary

  constructor(generation: Generation, vocabulary: Vocabulary) {
    this.generation = generation
    this.vocabulary = vocabulary
  }

  /** Returns the traces of the next `count` tokens of a choice; of the rest by default. */
  take(choice: number, count = Number.POSITIVE_INFINITY): { trace?: TraceRow[] } {
    const traces = this.generation.takeTrace(choice, count)
    return traces?.length ? { trace: traceRows(traces, this.vocabulary) } : {}
  }
}

/** Returns the number of rows that one token of a trace counts for in the bound of a reply. */
export function traceCost(trace: GenerateOptions["trace"]): number {
  return trace ? 1 + 2 * (trace === true ? 5 : trace) : 0
}

/** Bounds the rows of a stream, which are kept while its reader is slow. Throws `Refusal`. */
export function checkStreamedTrace(trace: GenerateOptions["trace"], tokens: number): void {
  checkBound(wholeBounds.traceRows, tokens * traceCost(trace))
}

/** Throws `Refusal` for a trace on an endpoint whose replies have no place for one. */
export function refuseTrace({ generate }: Policies): void {
  if (!generate.trace) return
  throw new Refusal("unsupported_parameter", "tokenrail.trace is not supported here", {
    param: "tokenrail.trace",
    hint: "Use /v1/chat/completions or /v1/completions, or leave it out",
  })
}
