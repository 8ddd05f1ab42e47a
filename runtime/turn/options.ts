/** Options of a turn: tools that the model may call, and how much it thinks before it answers. */

import type { Fields } from "../../grammar/options.ts"

/** Tools, calls and reasoning of one request. Every field is optional. */
export interface TurnOptions {
  /**
   * Tools that the model may call: objects as in OpenAI's chat requests, `{type: "function",
   * function: {name, parameters}}` or `{type: "custom", custom: {name, format}}`. The schema of
   * `parameters` may be a JSON text, which keeps number spelling and key order.
   */
  tools?: readonly unknown[] | null
  /**
   * `auto` (default), `required`, `none`, one tool by its name, or `allowed_tools`, as in OpenAI's
   * chat requests.
   */
  toolChoice?: unknown
  /** Whether there may be more than one call. Default true. */
  parallelToolCalls?: boolean | null
  /** Maximum number of calls of a turn. */
  maxToolCalls?: number | null
  /** Whether the prompt describes the tools, in the way of the model's template. Default true. */
  toolsInPrompt?: boolean | null
  /**
   * How much the model thinks. `none`: not at all; any other value is passed to the chat template
   * as `reasoning_effort`.
   */
  reasoningEffort?: string | null
  /** Maximum tokens of the reasoning; after them its end is forced. */
  thinkingTokenBudget?: number | null
  /**
   * A text that ends the reasoning: the model first thinks in free text up to this one, then
   * answers. For models that do not mark their reasoning.
   */
  reasonUntil?: string | null
}

export const turnFields = {
  ...{ tools: "list", toolChoice: "any", parallelToolCalls: "boolean", maxToolCalls: "number" },
  ...{
    toolsInPrompt: "boolean",
    reasoningEffort: "text",
    thinkingTokenBudget: "number",
    reasonUntil: "text",
  },
} as const satisfies Fields<TurnOptions>

/** A call of a turn. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  /**
   * Whether the tool is a custom one, so that the arguments are its raw input; otherwise they are a
   * JSON text.
   */
  readonly isCustom: boolean
  readonly arguments: string
  /** False if the budget ended within the call. */
  readonly isComplete: boolean
}
