/**
 * Splits one answer's text into its contents: reasoning, text and calls, both while they come and
 * as a whole.
 *
 * A piece of text may have several contents, or none yet. Its tokens and their log-probabilities
 * are attached to the next content, so that none is lost or counted twice.
 */
import { TimeError, withinTime } from "../../grammar/deadline.ts"
import { styleOf } from "../../grammar/tags/styles/all.ts"
import type { Turn } from "../../grammar/tags/styles/plan.ts"
import { gather, type ReadTurn, type TurnEvent } from "../../grammar/tags/styles/read/events.ts"
import { TurnReader } from "../../grammar/tags/styles/read/reader.ts"
import type { Style } from "../../grammar/tags/styles/style.ts"
import { letterCount } from "../../grammar/tags/styles/wire.ts"
import type { TokenLogprobs } from "../../sampler/index.ts"
import type { CertaintySpan } from "../fields/certainty.ts"
import type { ToolCall } from "./options.ts"

/** The contents of an answer, as a stream emits them. */
export type TurnPiece =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  /** A call begins. */
  | { type: "call"; index: number; id: string; name: string; isCustom: boolean }
  /** More of its arguments, which are a JSON text; of a custom tool more of its input. */
  | { type: "arguments"; index: number; text: string }
  /** The call is whole. */
  | { type: "called"; index: number }

/** The tokens of a piece. */
export interface Carried {
  tokens: number[]
  logprobs?: TokenLogprobs[]
  /** How sure the model was of the tokens; all pieces of a text have the same value. */
  certainty?: CertaintySpan
}

/**
 * Maximum milliseconds for which the schemas of tools may be evaluated for one piece of text, since
 * that blocks the event loop.
 */
const maxAskMs = 25

export class TurnReading {
  /**
   * Whether the schemas of the tools take too long to be evaluated here. Then the rest is read in
   * another thread after the text has ended.
   */
  isSlow = false
  /** Number of tokens of the reasoning, including its tags. */
  reasoningTokens = 0
  private readonly style: Style
  private readonly reader: TurnReader
  private readonly said: TurnEvent[] = []
  private readonly ids: string[] = []
  private carried: Carried = { tokens: [] }
  /** Tokens that no content contains yet. */
  private unread = 0
  private readonly turnEnd: string
  private readonly bytesOf: (token: number) => number

  /**
   * `bytesOf`: returns how many bytes of the text a token writes. `endNames`: names of the tokens
   * that end texts.
   */
  constructor(turn: Turn, bytesOf: (token: number) => number, endNames: readonly string[] = []) {
    this.style = styleOf(turn.style)
    this.reader = new TurnReader(turn, {}, endNames)
    this.turnEnd = turn.reasoning?.end ?? this.style.messages?.reasoning.ends[0] ?? ""
    this.bytesOf = bytesOf
  }

  /** Reads a further piece of the text. */
  feed(text: string, carried: Carried): (TurnPiece & Carried)[] {
    this.carried.tokens.push(...carried.tokens)
    if (carried.logprobs) {
      this.carried.logprobs ??= []
      this.carried.logprobs.push(...carried.logprobs)
    }
    const { certainty } = carried
    if (certainty) {
      const { before } = this.carried.certainty ?? certainty
      this.carried.certainty = { before, after: certainty.after }
    }
    this.unread += carried.tokens.length
    const events = this.inTime(() => this.reader.feed(text))
    const isMixed = events[0]?.type === "reasoning" && events.at(-1)?.type !== "reasoning"
    const pieces = this.pieces(events)
    // A forced run may contain the end of the reasoning and tokens after it.
    if (isMixed) this.reasoningTokens -= this.tokensBehind(text, carried.tokens)
    // The content after the last piece of these tokens is still to come.
    if (certainty && pieces.length > 0 && !endsAlike(text, pieces)) this.carried.certainty = certainty
    return pieces
  }

  /**
   * Ends the text. `end`: the control token that ended it, which may be a part of the last call or
   * message. `isWhole`: whether the grammar was complete, so that an open content only lacks such a
   * token.
   */
  end(end: string | undefined, isWhole: boolean): (TurnPiece & Carried)[] {
    const isOwn = end !== undefined && this.reader.waitsFor(end)
    const events = this.inTime(() => [...(isOwn ? this.reader.feed(end) : []), ...this.reader.end()])
    return this.isSlow ? [] : this.closed(this.pieces(events), isWhole)
  }

  /**
   * Ends a text that was read in another thread. Returns the contents that were not returned
   * before.
   */
  complete(read: ReadTurn, isWhole: boolean): (TurnPiece & Carried)[] {
    const said = gather(this.said)
    const { reasoning, text } = said
    const events: TurnEvent[] = []
    if (read.reasoning !== reasoning) {
      events.push({ type: "reasoning", text: read.reasoning.slice(reasoning.length) })
    }
    if (read.text !== text) events.push({ type: "text", text: read.text.slice(text.length) })
    for (const [index, { arguments: args, isComplete, ...call }] of read.calls.entries()) {
      const known = said.calls[index]
      if (known === undefined) events.push({ type: "call", index, ...call })
      const more = args.slice(known?.arguments.length ?? 0)
      if (more !== "") events.push({ type: "arguments", index, text: more })
      if (isComplete && known?.isComplete !== true) events.push({ type: "done", index })
    }
    return this.closed(this.pieces(events), isWhole)
  }

  private closed(pieces: (TurnPiece & Carried)[], isWhole: boolean): (TurnPiece & Carried)[] {
    if (!isWhole) return pieces
    const open = this.turn.toolCalls.flatMap(({ isComplete }, index): TurnEvent[] => {
      return isComplete ? [] : [{ type: "done", index }]
    })
    return [...pieces, ...this.pieces(open)]
  }

  private inTime(read: () => TurnEvent[]): TurnEvent[] {
    if (this.isSlow) return []
    try {
      return withinTime(maxAskMs, read)
    } catch (error) {
      if (!(error instanceof TimeError)) throw error
      this.isSlow = true
      return []
    }
  }

  /** Returns the tokens that no content has contained, and forgets them. */
  takeCarried(): Carried {
    const { carried } = this
    this.carried = { tokens: [] }
    return carried
  }

  /** Returns how many of the tokens of `text` begin after the end of the reasoning. */
  private tokensBehind(text: string, tokens: readonly number[]): number {
    const at = this.turnEnd === "" ? -1 : text.indexOf(this.turnEnd)
    if (at < 0) return 0
    let left = encoder.encode(text.slice(at + this.turnEnd.length)).length
    let count = 0
    while (count < tokens.length && left > 0) {
      left -= this.bytesOf(tokens[tokens.length - 1 - count])
      if (left >= 0) count++
    }
    return count
  }

  /** Returns all contents so far. */
  get turn(): { text: string; reasoning: string; toolCalls: ToolCall[] } {
    const { text, reasoning, calls } = gather(this.said)
    const toolCalls = calls.map(({ name, isCustom, arguments: args, isComplete }, i) => {
      return { id: this.ids[i], name, isCustom, arguments: args, isComplete }
    })
    return { text, reasoning, toolCalls }
  }

  private pieces(events: readonly TurnEvent[]): (TurnPiece & Carried)[] {
    this.said.push(...events)
    const { certainty } = this.carried
    return events.map((event) => {
      if (event.type === "reasoning") this.reasoningTokens += this.unread
      this.unread = 0
      return { ...this.piece(event), ...this.takeCarried(), ...(certainty && { certainty }) }
    })
  }

  private piece(event: TurnEvent): TurnPiece {
    if (event.type === "done") return { type: "called", index: event.index }
    if (event.type !== "call") return event
    const { index, name, isCustom } = event
    const id = event.id ?? newId(this.style)
    this.ids[index] = id
    return { type: "call", index, id, name, isCustom }
  }
}

const encoder = new TextEncoder()

/** Returns whether the last of a text's pieces ends like the text. */
function endsAlike(text: string, pieces: readonly TurnPiece[]): boolean {
  const last = pieces.at(-1)
  if (last === undefined || !("text" in last)) return true
  return text.endsWith(last.text) || last.text.endsWith(text)
}

/** Returns an id that no other call has, in the form that the style's templates need. */
function newId({ blocks }: Style): string {
  const random = crypto.randomUUID().replaceAll("-", "")
  const length = blocks.map(({ call }) => letterCount(call)).find((count) => count !== null)
  return length === undefined || length === null ? `call_${random.slice(0, 24)}` : random.slice(0, length)
}
