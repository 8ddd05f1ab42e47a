/**
 * Reads a turn back: yields reasoning, text and calls as they arrive, from a text that its grammar
 * accepted.
 *
 * The reader follows the same description as the grammar, so it finds nothing that the grammar does
 * not know. If the text is cut off, the events so far remain valid.
 */
import type { ArgumentOptions } from "../arguments.ts"
import { type Plan, planTurn, type Turn } from "../plan.ts"
import type { Message, Messages } from "../style.ts"
import { beginnings, named } from "../wire.ts"
import { CallReader } from "./calls.ts"
import { gather, type ReadTurn, type TurnEvent } from "./events.ts"
import { Cut, Feed, type Parse } from "./feed.ts"

/** Options for reading the schemas of the tools: the same as for the grammar of the turn. */
export type ReaderOptions = Partial<ArgumentOptions>

/** Reads one turn. Control tokens arrive as their spelling. */
export class TurnReader {
  private readonly plan: Plan
  private readonly calls: CallReader
  private readonly feeding = new Feed()
  private readonly parse: Parse
  private readonly endNames: readonly string[]
  private events: TurnEvent[] = []
  private isDone = false

  /**
   * `endNames` are the tokens that end whole texts in the vocabulary. None of them is ever inside a
   * text.
   */
  constructor(turn: Turn, options: ReaderOptions = {}, endNames: readonly string[] = []) {
    this.endNames = endNames
    this.plan = planTurn(turn)
    this.calls = new CallReader(this.plan, options, this.feeding, (event) => this.events.push(event))
    this.parse = this.turn()
  }

  /** Reads `text` and returns the events that are certain now. */
  feed(text: string): TurnEvent[] {
    this.feeding.push(text)
    return this.go()
  }

  /** Returns whether `mark` would end what has begun. */
  waitsFor(mark: string): boolean {
    return !this.isDone && this.feeding.waitsFor(mark)
  }

  /** Ends the text. Returns the events that waited for more. */
  end(): TurnEvent[] {
    this.feeding.over()
    return this.go()
  }

  private go(): TurnEvent[] {
    try {
      if (!this.isDone) this.isDone = this.parse.next().done === true
    } catch (error) {
      if (!(error instanceof Cut)) throw error
      this.isDone = true
    }
    const { events } = this
    this.events = []
    return events
  }

  private *turn(): Parse {
    const { messages } = this.plan.style
    if (messages !== undefined) {
      yield* this.messages(messages)
      return
    }
    yield* this.reasoning()
    yield* this.answer()
  }

  private *reasoning(): Parse {
    const { reasoning } = this.plan
    const { feeding } = this
    if (reasoning === null || reasoning === undefined) return
    const { begin = "", end, suffix = "", optional = false } = reasoning
    if (optional && !(yield* feeding.startsWith(begin))) return
    yield* feeding.literal(begin)
    yield* feeding.run(/\n/)
    const mark = yield* feeding.until([end], Number.POSITIVE_INFINITY, (text) => this.add("reasoning", text))
    if (mark !== null) yield* feeding.literal(end + suffix)
  }

  /** Reads text and calls, or a text of the response format. */
  private *answer(): Parse {
    const { hasFormat, calls, marks } = this.plan
    const { feeding } = this
    if (hasFormat && !calls.isRequired && !(yield* this.isCall())) {
      yield* feeding.until([], 0, (text) => this.add("text", text))
      return
    }
    for (;;) {
      const mark = yield* feeding.until(marks, Number.POSITIVE_INFINITY, (text) => this.add("text", text))
      if (mark === null) return
      yield* this.calls.block()
    }
  }

  /**
   * Returns whether a call of some tool begins here. Up to the name, a text of the response format
   * could begin in the same way.
   */
  private *isCall(): Parse<boolean> {
    const { style, calls } = this.plan
    const texts = style.blocks.flatMap(({ lead = "", begin = [], call }) =>
      calls.tools.flatMap(({ name }) =>
        beginnings(named([...begin, ...call], name)).flatMap((text) => [text, lead + text]),
      ),
    )
    return (yield* this.feeding.choose(texts)) !== null
  }

  private *messages(messages: Messages): Parse {
    const { feeding } = this
    const { reasoning, remark, answer, between, end = "" } = messages
    const section = this.plan.reasoning
    // If the prompt has begun the section, the section has no header.
    if (section && !section.begin && !section.optional) {
      yield* this.message(reasoning, "reasoning", between)
    }
    const holders: (readonly [Message, "reasoning" | "text"])[] = [
      [reasoning, "reasoning"],
      [answer, "text"],
    ]
    if (remark !== undefined) holders.push([remark, "text"])
    const callTexts = this.plan.style.blocks.flatMap(({ begin = [], call }) =>
      beginnings([...begin, ...call]),
    )
    while (!(yield* feeding.isAtEnd())) {
      if (between !== "" && (yield* feeding.startsWith(between))) yield* feeding.literal(between)
      const begins = holders.map(([{ begin }]) => begin)
      const text = yield* feeding.choose([...begins, ...callTexts, ...(end === "" ? [] : [end])])
      if (end !== "" && text === end) {
        yield* feeding.literal(end)
        return
      }
      const holder = holders[begins.indexOf(text ?? "")]
      if (holder === undefined) {
        yield* this.calls.block()
        continue
      }
      // Messages with the same beginning are distinguished by their ends.
      const ends = holders.flatMap(([message]) => (message.begin === text ? message.ends : []))
      yield* feeding.literal(holder[0].begin)
      yield* this.message({ ...holder[0], ends }, holder[1], between)
    }
  }

  /**
   * Reads a message after its header. If its end mark would end the whole text, what separates
   * messages follows directly.
   */
  private *message({ ends }: Message, type: "reasoning" | "text", between: string): Parse {
    const isBare = between !== "" && ends.some((end) => this.endNames.some((name) => end.endsWith(name)))
    const marks = isBare ? [...ends, between] : ends
    const end = yield* this.feeding.until(marks, 0, (more) => this.add(type, more))
    if (end !== null && end !== between) yield* this.feeding.literal(end)
  }

  private add(type: "text" | "reasoning", text: string): void {
    if (text !== "") this.events.push({ type, text })
  }
}

/** Reads a whole turn. */
export function readTurn(turn: Turn, text: string, options?: ReaderOptions): ReadTurn {
  const reader = new TurnReader(turn, options)
  return gather([...reader.feed(text), ...reader.end()])
}
