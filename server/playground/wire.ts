/** The parts of the server's replies that the page reads. */

/** A token among those that are likely at a place. */
export interface LikelyToken {
  id: number
  text: string
  bytes: number[]
  /** Natural logarithm of its probability. */
  logprob: number
}

export type TokenKind = "sampled" | "forced" | "draft" | "closing" | "given"

/** How a token came about, as `tokenrail.trace` describes it. */
export interface TraceRow {
  id: number
  text: string
  bytes: number[]
  kind: TokenKind
  allowed: number | null
  mass: number | null
  entropy: number | null
  top: LikelyToken[]
  illegal: LikelyToken[]
  mask_us: number | null
}

/** A change of a value, as `tokenrail.fields` describes it. */
export interface FieldRow {
  event: "open" | "delta" | "close"
  path: string
  kind?: string
  delta?: string
  value?: unknown
  tool_index?: number
}

interface CallDelta {
  index: number
  id?: string
  function?: { name?: string; arguments?: string }
  custom?: { name?: string; input?: string }
}

/** One event of a chat stream. */
export interface Chunk {
  error?: { message: string }
  choices?: {
    delta: { content?: string; reasoning_content?: string; tool_calls?: CallDelta[] }
    finish_reason: string | null
    stop_reason?: string | number | null
    tokenrail?: { trace?: TraceRow[]; fields?: FieldRow[] }
  }[]
  usage?: Usage | null
  tokenrail?: { seed?: number | string; warnings?: string[]; closed?: boolean }
}

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  prompt_tokens_details?: { cached_tokens: number }
  tokenrail?: {
    forced_tokens: number
    compile_ms: number
    mask_us: number
    mask_us_p50: number
    mask_us_p99: number
    ttft_ms: number
    tpot_ms: number
  }
}

/** A keyword of a schema, and how it is enforced. */
export interface KeywordRow {
  path: string
  keyword: string
  status: "exact" | "annotation" | "relaxed"
  note?: string
}

/** The reply to `POST /v1/decisions`. */
export interface DecisionReply {
  answers: {
    type: string
    name: string | null
    probability?: number
    choice?: string | boolean
    score?: number
    probabilities?: { value: string | boolean | number; label?: string; probability: number }[]
    tokenrail: { mass: number }
  }[]
  usage: Usage
}
