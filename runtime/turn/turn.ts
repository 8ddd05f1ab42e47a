/**
 * A request's turn: the model's whole output as one grammar, from its reasoning to its last call,
 * and the reading of it.
 *
 * A turn is made if there are tools, or if the model may think before it answers. The turn's
 * grammar then contains the constraint of the answer, so that the answer can neither begin early
 * nor be left out.
 */
import { type CompileOptions, GrammarError, type GrammarInput } from "../../grammar/index.ts"
import { styleOf } from "../../grammar/tags/styles/all.ts"
import { planTurn, type Turn } from "../../grammar/tags/styles/plan.ts"
import type { Reasoning } from "../../grammar/tags/styles/style.ts"
import type { Vocabulary } from "../../mask/vocabulary.ts"
import { RequestError, wrong } from "../errors.ts"
import type { TemplateOptions } from "../model/template.ts"
import type { Constraint } from "../schema.ts"
import type { TurnOptions } from "./options.ts"
import { type SectionOptions, sectionBehind } from "./section.ts"
import type { ModelStyle } from "./style.ts"

/** The turn of one request. */
export interface RequestTurn {
  readonly turn: Turn
  /** The constraint of the text; null if the output is not constrained and is only read. */
  readonly constraint: Constraint | null
  /**
   * Whether there may be calls. Calls must be complete, so the budget's rule completes the turn
   * unless the request says otherwise.
   */
  readonly hasCalls: boolean
  /** Whether the request itself asks for the budget's rule. */
  readonly closes: boolean
  /**
   * Whether a text without calls and without a constraint is an answer, so that a budget may cut
   * it.
   */
  readonly isFree: boolean
}

/**
 * Number of tokens at the end of a prompt in which the beginning of a reasoning section is
 * searched.
 */
const tailTokens = 16

/** Returns whether a request asks for calls, or has tools. */
function hasTools({ tools }: TurnOptions): boolean {
  return tools !== undefined && tools !== null && tools.length > 0
}

/** Returns the chat template's variables for the turn, added to the caller's. */
export function templateOptionsOf(options: TurnOptions, given: TemplateOptions = {}): TemplateOptions {
  const { tools, toolChoice, toolsInPrompt, reasoningEffort: effort } = options
  const isShown = hasTools(options) && toolChoice !== "none" && toolsInPrompt !== false
  const variables = {
    ...(typeof effort === "string" && { reasoning_effort: effort, enable_thinking: effort !== "none" }),
    ...given.variables,
  }
  return {
    ...given,
    ...(isShown && { tools: tools!.map(shownTool) }),
    ...(Object.keys(variables).length > 0 && { variables }),
  }
}

/** Returns a tool in the form for templates: a function with its schema as a value. */
function shownTool(tool: unknown): unknown {
  if (typeof tool !== "object" || tool === null) return tool
  const { type, custom, function: func, ...rest } = tool as Record<string, unknown>
  const inner = (type === "custom" ? custom : func) as Record<string, unknown> | undefined
  if (typeof inner !== "object" || inner === null) return tool
  const { parameters, format: _, ...fields } = inner
  const schema = typeof parameters === "string" ? parseSchema(parameters) : parameters
  const shown =
    type === "custom"
      ? { type: "object", properties: { input: { type: "string" } }, required: ["input"] }
      : (schema ?? { type: "object", properties: {} })
  return { ...rest, type: "function", function: { ...fields, parameters: shown } }
}

function parseSchema(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The compilation reports the error.
    return text
  }
}

/**
 * Returns the turn of a request after a prompt, or null if the output is only the answer. Throws
 * GrammarError with a pointer into `tools`, or with the wrong field as its path, and RequestError.
 */
export function openTurn(
  options: TurnOptions,
  model: ModelStyle,
  { promptIds, vocabulary, constraint, policies, closes, callsBefore }: TurnContext,
): RequestTurn | null {
  const section = sectionOf(options, model, tailOf(promptIds, vocabulary))
  const { messages } = styleOf(model.style)
  if (!hasTools(options)) {
    checkNoTools(options)
    // If the style has no form for messages, an answer without calls and without reasoning is text.
    if (messages === undefined && (section === null || section === undefined)) return null
  }
  const turn: Turn = {
    style: model.style,
    tools: options.tools ?? [],
    tool_choice: options.toolChoice,
    parallel_tool_calls: options.parallelToolCalls ?? null,
    max_tool_calls: options.maxToolCalls ?? null,
    calls_before: callsBefore,
    ...(section !== undefined && { reasoning: section }),
  }
  const { calls } = planTurn(turn)
  const isHeld = hasTools(options) || constraint !== null || messages !== undefined
  return {
    turn: { ...turn, hasFormat: constraint !== null },
    constraint: isHeld ? turnConstraint(turn, constraint, policies) : null,
    hasCalls: calls.tools.length > 0,
    closes,
    isFree: constraint === null && !calls.isRequired,
  }
}

export interface TurnContext {
  readonly promptIds: readonly number[]
  readonly vocabulary: Vocabulary
  /** The constraint of the answer. */
  readonly constraint: Constraint | null
  /** The compiler's options for tools and answer. */
  readonly policies: CompileOptions
  /** Whether the request asks for the budget's rule. */
  readonly closes: boolean
  /** Number of calls in the conversation so far. */
  readonly callsBefore: number
}

/**
 * Throws RequestError for a tool choice that needs tools. Clients send the other fields with every
 * request, so those are ignored.
 */
function checkNoTools({ toolChoice: choice }: TurnOptions): void {
  if (choice === undefined || choice === null || choice === "none" || choice === "auto") return
  throw new RequestError(
    "invalid_value",
    "tool_choice needs tools: send some, or leave it out",
    "tool_choice",
  )
}

/**
 * Returns the section before the answer; undefined if the form of the style's messages already
 * contains it.
 */
function sectionOf(options: TurnOptions, model: ModelStyle, tail: string): Reasoning | null | undefined {
  const { reasonUntil, reasoningEffort, thinkingTokenBudget } = options
  const asked: SectionOptions = {
    isOff: reasoningEffort === "none",
    maxTokens: readBudget(thinkingTokenBudget),
  }
  if (reasonUntil !== undefined && reasonUntil !== null) {
    if (reasonUntil === "")
      throw new RequestError("invalid_value", "reason.until: it is an empty text", "tokenrail.reason.until")
    const bound = asked.maxTokens === null ? {} : { max_tokens: asked.maxTokens }
    return { end: reasonUntil, ...bound }
  }
  const { messages } = styleOf(model.style)
  if (messages === undefined) return model.reasoning && sectionBehind(model.reasoning, tail, asked)
  const { begin, ends } = messages.reasoning
  const section = sectionBehind({ begin, end: ends[0] }, tail, asked)
  // A section that the model may omit and that has no limit is already part of the style's
  // messages.
  return section?.optional && asked.maxTokens === null ? undefined : section
}

function readBudget(tokens: number | null | undefined): number | null {
  if (tokens === undefined || tokens === null) return null
  if (Number.isSafeInteger(tokens) && tokens >= 0) return tokens
  throw wrong("thinking_token_budget", `${tokens} is not a whole number of tokens`)
}

/** Returns the end of a prompt as text, including control tokens as they are spelled. */
function tailOf(promptIds: readonly number[], vocabulary: Vocabulary): string {
  return promptIds
    .slice(-tailTokens)
    .map((id) => vocabulary.name(id) ?? new TextDecoder().decode(vocabulary.bytes(id)))
    .join("")
}

/** Returns the turn's grammar, which contains the answer's constraint. */
function turnConstraint(turn: Turn, constraint: Constraint | null, policies: CompileOptions): Constraint {
  const input: GrammarInput = { kind: "tools", ...turn, response_format: answerInput(constraint) }
  return {
    input,
    policies,
    title: "turn",
    isJson: false,
    parse: (text) => (constraint === null ? undefined : constraint.parse(text)),
    validate: async (text) => (constraint === null ? undefined : constraint.validate(text)),
  }
}

function answerInput(constraint: Constraint | null): GrammarInput | null {
  if (constraint === null) return null
  const { input } = constraint
  if ("kind" in input) return input
  throw new GrammarError(
    "unsupported",
    "",
    "a compiled constraint cannot be used with tools or reasoning. Give the input that it was compiled from",
  )
}
