/** A finished request: its answers, their values, and all of it as JSON. */
import type { Report } from "../../grammar/index.ts"
import type { TokenLogprobs } from "../../sampler/index.ts"
import type { ClosedField } from "../fields/answer.ts"
import type { Constraint } from "../schema.ts"
import type { ToolCall } from "../turn/options.ts"
import type { FinishReason } from "./sequence.ts"
import type { TokenTrace } from "./trace.ts"

/** One answer of a request; `n` asks for several. */
export interface Choice {
  readonly index: number
  /** The text for the user, without reasoning and calls. */
  readonly text: string
  /** The reasoning before the text; "" if there was none. */
  readonly reasoning: string
  readonly toolCalls: readonly ToolCall[]
  /** The parsed value of a complete constrained answer; otherwise undefined. */
  readonly value: unknown
  readonly tokens: readonly number[]
  readonly finishReason: FinishReason
  readonly stopReason: string | number | null
  readonly message: string | undefined
  /** The cause of the finish reason `error`. */
  readonly error: Error | undefined
  readonly logprobs: readonly TokenLogprobs[] | null
  /** The closed values and how sure the model was of each; null without `confidence`. */
  readonly fields: readonly ClosedField[] | null
  /** How each of the tokens came about, but those that were taken; null without `trace`. */
  readonly trace: readonly TokenTrace[] | null
}

export interface Spread {
  readonly p50: number
  readonly p99: number
  readonly total: number
}

/**
 * The cost of a request. The prompt counts once, and the tokens of all choices are summed. Names of
 * durations end with their unit.
 */
export interface Usage {
  readonly promptTokens: number
  /** Prompt tokens reused from an earlier request. */
  readonly cachedTokens: number
  readonly completionTokens: number
  /** Completion tokens that belong to the reasoning. */
  readonly reasoningTokens: number
  readonly totalTokens: number
  /** Tokens that the constraint determined: they were not sampled and took no step of their own. */
  readonly forcedTokens: number
  /** Number of proposed tokens that were verified, and of those that were accepted. */
  readonly draftedTokens: number
  readonly acceptedTokens: number
  readonly compileMs: number
  /** Microseconds to fill one mask. */
  readonly maskUs: Spread
  /** Microseconds to accept one token of a constrained answer. */
  readonly acceptUs: Spread
  readonly ttftMs: number
  /** Average milliseconds per token after the first. */
  readonly tpotMs: number
}

/** A finished request: the first answer, all answers, and their cost. */
export interface GenerateResult<Value = unknown> extends Omit<Choice, "index" | "value"> {
  /** The value of choice 0; the other fields of a choice are choice 0's too. */
  readonly value: Value
  readonly choices: readonly Choice[]
  readonly usage: Usage
  readonly report: Report | null
  /** The seed that was used. */
  readonly seed: bigint
  /**
   * Parameters that the constraint overruled, such as stop strings inside it or bans that left no
   * token.
   */
  readonly warnings: readonly string[]
}

/**
 * Returns the result with a `toJSON` that writes its seed as digits and its errors as name and
 * message.
 */
export function withJson<Result extends GenerateResult>(result: Result): Result {
  return Object.defineProperty(result, "toJSON", { value: toJson, enumerable: false })
}

function toJson(this: GenerateResult): object {
  const plain = ({ error }: Pick<Choice, "error">) =>
    error === undefined ? {} : { error: { name: error.name, message: error.message } }
  const choices = this.choices.map((choice) => ({ ...choice, ...plain(choice) }))
  return { ...this, ...plain(this), choices, seed: String(this.seed) }
}

/**
 * Returns the result with the values of its texts. Rejects with ValidationError if the schema's own
 * validator refuses one.
 */
export async function withValues(result: GenerateResult, constraint: Constraint): Promise<GenerateResult> {
  const values = await Promise.all(
    result.choices.map(({ text, toolCalls }) =>
      toolCalls.length > 0 ? undefined : constraint.validate(text),
    ),
  )
  const choices = result.choices.map((choice, index) => ({ ...choice, value: values[index] }))
  return withJson({ ...result, value: values[0], choices })
}
