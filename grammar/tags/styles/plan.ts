/**
 * The plan of a turn: a request's settings, read once for its grammar (`turn.ts`) and for readers
 * of the finished turn (`read/`).
 */
import { GrammarError } from "../../errors.ts"
import type { Grammar } from "../../grammar.ts"
import { styleOf } from "./all.ts"
import type { Block, Reasoning, Style } from "./style.ts"
import { type Calls, readChoice, readTools, type Tool } from "./tools.ts"
import { beginnings, named } from "./wire.ts"

/** An assistant's turn: the fields of a request, and the style in which its model writes. */
export interface Turn {
  readonly style: string
  /** Tool objects as in OpenAI's chat requests. */
  readonly tools?: readonly unknown[] | null
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: boolean | null
  readonly max_tool_calls?: number | null
  /**
   * Number of calls in earlier turns, for styles that number the calls of a conversation. Default
   * 0.
   */
  readonly calls_before?: number | null
  /**
   * The section before the answer. Null means none. If absent, there is none, or what the messages
   * of the style may hold.
   */
  readonly reasoning?: Reasoning | null
  /** The grammar of an answer without calls, beside the tools. */
  readonly response_format?: Grammar | null
  /**
   * Whether an answer without calls was constrained by a format, for readers that do not have the
   * format's grammar.
   */
  readonly hasFormat?: boolean
}

export interface Plan {
  readonly style: Style
  /** The ways to write calls in this turn. */
  readonly blocks: readonly Block[]
  readonly tools: readonly Tool[]
  readonly calls: Calls
  readonly callsBefore: number
  readonly reasoning: Reasoning | null | undefined
  readonly format: Grammar | null
  /**
   * Whether an answer without calls is constrained by a format. Then it may contain the beginning
   * of a call.
   */
  readonly hasFormat: boolean
  /** Texts that begin a call, and texts that free text must not contain, which include them. */
  readonly marks: readonly string[]
  readonly excludes: readonly string[]
  /** Texts that reasoning must not contain. */
  readonly thoughtExcludes: readonly string[]
}

export function planTurn(turn: Turn): Plan {
  const style = styleOf(turn.style)
  const tools = readTools(turn.tools ?? [])
  const asked = readChoice(turn.tool_choice, tools, turn.parallel_tool_calls, turn.max_tool_calls)
  const calls = { ...asked, max: Math.min(asked.max, style.maxCalls ?? Number.POSITIVE_INFINITY) }
  const { reasoning } = turn
  if (reasoning?.end === "")
    throw new GrammarError("syntax", "reasoning/end", "the section ends with some text")
  if (reasoning?.optional && !reasoning.begin && style.messages === undefined) {
    throw new GrammarError(
      "syntax",
      "reasoning/optional",
      "a section that may be left out begins with some text",
    )
  }
  const hasFormat = turn.hasFormat === true || (turn.response_format ?? null) !== null
  // A text of the answer's format may look like a call without its tag.
  const bare = hasFormat || calls.isRequired ? [] : (style.bare ?? [])
  // Even if no tool may be called, the beginning of a call of any tool is not text.
  const marks = [...marksOf(style, tools), ...headsOf(bare, tools)]
  const tags = [reasoning?.begin, reasoning?.end].flatMap((tag) => tag?.trim() || [])
  return {
    style,
    blocks: [...style.blocks, ...bare],
    tools,
    calls,
    callsBefore: turn.calls_before ?? 0,
    reasoning,
    format: turn.response_format ?? null,
    hasFormat,
    marks,
    excludes: [...new Set([...style.controls, ...marks, ...tags])],
    thoughtExcludes: [...new Set([...style.controls, ...tags])],
  }
}

/**
 * Returns the style's trigger, once for each tool if it contains the name; for styles without one,
 * the control tokens that begin its calls.
 */
function marksOf({ trigger, controls, blocks }: Style, tools: readonly Tool[]): string[] {
  const marks = new Set<string>()
  if (trigger !== undefined) {
    const spelled = (name: string) =>
      trigger.map((part) => (part.kind === "text" ? part.text : name)).join("")
    if (trigger.every(({ kind }) => kind === "text")) marks.add(spelled(""))
    else for (const { name } of tools) marks.add(spelled(name))
  }
  for (const { begin, call } of blocks) {
    const [first] = [...(begin ?? []), ...call]
    const text = first.kind === "text" ? first.text : first.kind === "optional" ? textOf(first.wire) : ""
    const control = controls.find((name) => text.includes(name))
    if (control !== undefined) marks.add(text.slice(0, text.indexOf(control) + control.length))
  }
  return [...marks]
}

/** Returns the beginnings of calls of the tools in these blocks, up to their arguments. */
export function headsOf(blocks: readonly Block[], tools: readonly Tool[]): string[] {
  return blocks.flatMap(({ begin = [], call }) =>
    tools.flatMap(({ name }) => beginnings(named([...begin, ...call], name))),
  )
}

function textOf([first]: readonly { kind: string; text?: string }[]): string {
  return first?.text ?? ""
}
