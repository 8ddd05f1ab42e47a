/**
 * Converts the events of a generation to the items of a response, and to the stream events by which
 * these items grow.
 *
 * The same code makes a whole reply and a stream: the reply consists of the items that the events
 * have built.
 */
import type { GenerationEvent, TokenLogprobs } from "../../../runtime/index.ts"
import { fieldsOf } from "../chat/answer.ts"
import type { LogprobRow } from "../reply/logprobs.ts"
import type { CallItem, MessageItem, Part, ReasoningItem } from "./items.ts"
import type { FlatTool } from "./tools.ts"

interface OutputOptions {
  /** Returns rows of log-probabilities; null if the reply has none. */
  rowsOf: ((logprobs: readonly TokenLogprobs[]) => LogprobRow[]) | null
  /** Returns a tool of the request by its name in the turn. */
  toolOf: (name: string) => FlatTool | undefined
  /** Whether the answer follows a constraint. */
  isConstrained: boolean
}

/** A stream event, without its sequence number. */
export interface ResponseEvent {
  type: string
  [field: string]: unknown
}

type Own<ItemOf> = ItemOf & { id: string }
export type OutputItem = Own<MessageItem> | Own<CallItem> | Own<ReasoningItem>
type TextEvent = Extract<GenerationEvent, { type: "text" | "reasoning" }>
type Piece = Exclude<GenerationEvent, { type: "finish" }>

/** A message or reasoning that still grows. */
interface OpenText {
  item: Own<MessageItem> | Own<ReasoningItem>
  index: number
  text: string
  rows: LogprobRow[]
}

export class Output {
  readonly items: OutputItem[] = []
  private readonly options: OutputOptions
  private open: OpenText | null = null
  /** Index of each unfinished call among the items. */
  private readonly calls = new Map<number, number>()
  /** Rows of tokens whose text has not arrived yet. */
  private heldRows: LogprobRow[] = []

  constructor(options: OutputOptions) {
    this.options = options
  }

  /** Returns the stream events for an event of the generation. */
  *take(event: Piece): Generator<ResponseEvent> {
    switch (event.type) {
      case "text":
      case "reasoning":
        yield* this.addText(event)
        return
      case "call":
        yield* this.closeText("completed")
        yield* this.openCall(event)
        return
      case "arguments":
        yield* this.addArguments(event)
        return
      case "called":
        yield* this.closeCall(event.index, "completed")
        return
      default:
        event satisfies never
    }
  }

  /** Ends the output. An answer without text gets an empty message. */
  *end(event: Extract<GenerationEvent, { type: "finish" }>): Generator<ResponseEvent> {
    const status = event.finishReason === "stop" ? "completed" : "incomplete"
    if (this.items.every(({ type }) => type === "reasoning")) {
      yield* this.closeText("completed")
      yield* this.openText("text")
    }
    yield* this.closeText(status, fieldsOf(event))
    for (const index of [...this.calls.keys()]) yield* this.closeCall(index, status)
  }

  private *addText(event: TextEvent): Generator<ResponseEvent> {
    const { type, text } = event
    const { rowsOf } = this.options
    const rows = type === "text" && rowsOf !== null ? rowsOf(event.logprobs ?? []) : []
    const isOpen = this.open?.item.type === (type === "text" ? "message" : "reasoning")
    if (text === "" && !isOpen) {
      this.heldRows.push(...rows)
      return
    }
    if (!isOpen) {
      yield* this.closeText("completed")
      yield* this.openText(type)
    }
    const open = this.open!
    if (type === "text") rows.unshift(...this.heldRows.splice(0))
    if (text === "" && rows.length === 0) return
    open.text += text
    for (const row of rows) open.rows.push(row)
    yield {
      type: type === "text" ? "response.output_text.delta" : "response.reasoning_text.delta",
      ...place(open),
      content_index: 0,
      delta: text,
      ...(type === "text" && { logprobs: rows }),
      ...fieldsOf(event),
    }
  }

  private *openText(type: "text" | "reasoning"): Generator<ResponseEvent> {
    const index = this.items.length
    const { isConstrained } = this.options
    const item: OpenText["item"] =
      type === "text"
        ? {
            type: "message",
            id: newId("msg"),
            status: "in_progress",
            role: "assistant",
            content: [],
            ...(isConstrained && { phase: "final_answer" as const }),
          }
        : {
            type: "reasoning",
            id: newId("rs"),
            status: "in_progress",
            summary: [],
            content: [{ type: "reasoning_text", text: "" }],
          }
    this.items.push(item)
    this.open = { item, index, text: "", rows: [] }
    yield { type: "response.output_item.added", output_index: index, item }
    if (type === "reasoning") return
    yield {
      type: "response.content_part.added",
      ...place(this.open),
      content_index: 0,
      part: outputText("", []),
    }
  }

  /** Closes the open text. `more` holds further fields of the last event. */
  private *closeText(status: "completed" | "incomplete", more: object = {}): Generator<ResponseEvent> {
    const { open } = this
    if (open === null) return
    this.open = null
    const { item, index, text, rows } = open
    const at = { ...place(open), content_index: 0 }
    if (item.type === "reasoning") {
      yield { type: "response.reasoning_text.done", ...at, text }
      this.items[index] = { ...item, status, content: [{ type: "reasoning_text", text }] }
    } else {
      const part = outputText(text, rows)
      yield { type: "response.output_text.done", ...at, text, logprobs: rows, ...more }
      yield { type: "response.content_part.done", ...at, part }
      this.items[index] = { ...item, status, content: [part] }
    }
    yield { type: "response.output_item.done", output_index: index, item: this.items[index] }
  }

  private *openCall({
    index,
    id,
    name,
    isCustom,
  }: Extract<Piece, { type: "call" }>): Generator<ResponseEvent> {
    const { name: own = name, namespace = null } = this.options.toolOf(name) ?? {}
    const place = this.items.length
    const item: Own<CallItem> = {
      type: isCustom ? "custom_tool_call" : "function_call",
      id: newId(isCustom ? "ctc" : "fc"),
      status: "in_progress",
      call_id: id,
      name: own,
      ...(namespace !== null && { namespace }),
      ...(isCustom ? { input: "" } : { arguments: "" }),
    }
    this.calls.set(index, place)
    this.items.push(item)
    yield { type: "response.output_item.added", output_index: place, item }
  }

  private *addArguments(event: Extract<Piece, { type: "arguments" }>): Generator<ResponseEvent> {
    const { index, text } = event
    const at = this.calls.get(index)
    if (at === undefined || text === "") return
    const item = this.items[at] as Own<CallItem>
    const said = item.type === "function_call" ? "arguments" : "input"
    // A new object, because earlier events hold the old one.
    this.items[at] = { ...item, [said]: `${item[said]}${text}` }
    yield {
      type: `response.${callEvents[item.type]}.delta`,
      item_id: item.id,
      output_index: at,
      delta: text,
      ...fieldsOf(event),
    }
  }

  private *closeCall(index: number, status: "completed" | "incomplete"): Generator<ResponseEvent> {
    const at = this.calls.get(index)
    if (at === undefined) return
    this.calls.delete(index)
    const item = { ...(this.items[at] as Own<CallItem>), status }
    this.items[at] = item
    const said =
      item.type === "function_call" ? { name: item.name, arguments: item.arguments } : { input: item.input }
    yield {
      type: `response.${callEvents[item.type]}.done`,
      item_id: item.id,
      output_index: at,
      ...said,
    }
    yield { type: "response.output_item.done", output_index: at, item }
  }
}

const callEvents = {
  function_call: "function_call_arguments",
  custom_tool_call: "custom_tool_call_input",
} as const

function place({ item, index }: OpenText): { item_id: string; output_index: number } {
  return { item_id: item.id, output_index: index }
}

function outputText(text: string, logprobs: unknown): Part {
  return { type: "output_text", text, annotations: [], logprobs }
}

/** Returns a unique id such as `msg_…`. */
export function newId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`
}
