/**
 * Options of a turn: tools that may be called, and how much the model thinks before.
 */

import type { Fields } from "../../grammar/options.ts"

/** Tools, calls and reasoning of one request. Every field is optional. */
export interface TurnOptions {
  /**
   * Tools that the model may call: objects as OpenAI's chat requests have them, `{type: "function",
   * function: {name, parameters}}` or `{type: "custom", custom: {name, format}}`. The schema of
   * `parameters` may be a JSON text, in which number spelling and key order survive.
   */
  tools?: readonly unknown[] | null
  /**
   * `auto` (default), `required`, `none`, one tool by its name, or `allowed_tools`, as OpenAI's
   * chat requests have it.
   */
  toolChoice?: unknown
  /** Whether there may be more calls than one. Default true. */
  parallelToolCalls?: boolean | null
  /** Most calls of a turn. */
  maxToolCalls?: number | null
  /** Whether the prompt describes the tools, as the model's template does it. Default true. */
  toolsInPrompt?: boolean | null
  /**
   * How much the model thinks: `none` not at all; all else reaches the chat template as
   * `reasoning_effort`.
   */
  reasoningEffort?: string | null
  /** Tokens that the reasoning may take; then its end is forced. */
  thinkingTokenBudget?: number | null
  /** Think first, in free text up to this one, then answer: for models that mark no reasoning. */
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
  /** For a custom tool the arguments are its raw input, else they are a JSON text. */
  readonly isCustom: boolean
  readonly arguments: string
  /** False where the budget ended within it. */
  readonly isComplete: boolean
}
