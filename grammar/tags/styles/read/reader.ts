/**
 * A turn read back: out of the text that its grammar let through, reasoning, text and calls, as they come.
 *
 * The same description that made the grammar is followed here, so nothing is looked for that the grammar does not know. Where
 * the text is cut, what was read so far stands.
 */
import type { ArgumentOptions } from "../arguments.ts"
import { type Plan, planTurn, type Turn } from "../plan.ts"
import type { Block, Message, Messages } from "../style.ts"
import { beginnings, firstText, named, type Part, type Wire } from "../wire.ts"
import { ArgumentTypes } from "./argumenttypes.ts"
import { gather, idOf, type ReadTurn, type TurnEvent } from "./events.ts"
import { Cut, Feed, type Parse } from "./feed.ts"
import { jsonContainer } from "./jsonvalue.ts"
import { ParameterReader } from "./parameters.ts"

/** How the schemas of the tools are read: as for the grammar of the turn. */
export type ReaderOptions = Partial<ArgumentOptions>

/** Reads one turn. Control tokens come as they are spelled. */
export class TurnReader {
  private readonly plan: Plan
  private readonly options: ReaderOptions
  private readonly feeding = new Feed()
  private readonly parse: Parse
  private events: TurnEvent[] = []
  private isDone = false
  private callCount = 0
  private readonly types = new Map<string, ArgumentTypes>()

  constructor(turn: Turn, options: ReaderOptions = {}) {
    this.plan = planTurn(turn)
    this.options = options
    this.parse = this.turn()
  }

  /** Reads on and returns what is certain now. */
  feed(text: string): TurnEvent[] {
    this.feeding.push(text)
    return this.go()
  }

  /** The text is over: returns what waited for more. */
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

  /** Text and calls, or what the response format asks for. */
  private *answer(): Parse {
    const { format, calls, marks } = this.plan
    const { feeding } = this
    if (format !== null && !calls.isRequired && !(yield* this.isCall())) {
      yield* feeding.until([], 0, (text) => this.add("text", text))
      return
    }
    for (;;) {
      const mark = yield* feeding.until(marks, Number.POSITIVE_INFINITY, (text) => this.add("text", text))
      if (mark === null) return
      yield* this.block()
    }
  }

  /** Whether a call of some tool begins here, which what the response format asks for could also do up to its name. */
  private *isCall(): Parse<boolean> {
    const { style, calls } = this.plan
    const texts = style.blocks.flatMap(({ lead = "", begin = [], call }) =>
      calls.tools.flatMap(({ name }) =>
        beginnings(named([...begin, ...call], name)).flatMap((text) => [text, lead + text]),
      ),
    )
    return (yield* this.feeding.choose(texts)) !== null
  }

  private *block(): Parse {
    const { feeding } = this
    const block = yield* this.blockHere()
    const { begin = [], call, between = [], end } = block
    yield* this.wire(begin, block)
    yield* this.call(block)
    const nextTexts = beginnings([...between, ...call])
    const ends = end === undefined ? [] : beginnings(end)
    for (;;) {
      const text = yield* feeding.choose([...nextTexts, ...ends])
      if (text === null || ends.includes(text)) break
      yield* this.wire(between, block)
      yield* this.call(block)
    }
    if (end !== undefined) yield* this.wire(end, block)
  }

  /** The block that begins here. */
  private *blockHere(): Parse<Block> {
    const texts = new Map<string, Block>()
    for (const block of this.plan.style.blocks) {
      for (const text of beginnings([...(block.begin ?? []), ...block.call])) texts.set(text, block)
    }
    const text = yield* this.feeding.choose([...texts.keys()])
    const block = text === null ? undefined : texts.get(text)
    if (block !== undefined) return block
    // The text is cut before the block can be told.
    yield* this.feeding.literal([...texts.keys()][0])
    throw new Error("internal: a block that begins like none")
  }

  private *call(block: Block): Parse {
    const call: OpenCall = { index: this.callCount, isBegun: false }
    yield* this.wire(block.call, block, call)
    this.callCount++
    const id = call.lateId
    this.events.push({ type: "done", index: call.index, ...idOf(id) })
  }

  private *wire(form: Wire, block: Block, call: OpenCall | null = null): Parse {
    for (const part of form) yield* this.part(part, block, call)
  }

  private *part(part: Part, block: Block, call: OpenCall | null): Parse {
    const { feeding } = this
    switch (part.kind) {
      case "text":
        yield* feeding.literal(part.text)
        return
      case "optional":
        if (yield* feeding.startsWith(firstText(part.wire))) yield* this.wire(part.wire, block, call)
        return
      case "either": {
        const text = yield* feeding.choose(part.wires.map(firstText))
        const chosen = part.wires.find((each) => firstText(each) === text) ?? part.wires[0]
        yield* this.wire(chosen, block, call)
        return
      }
      case "letters":
        yield* feeding.run(/[A-Za-z0-9]/)
        return
    }
    if (call === null) throw new Error(`internal: ${part.kind} outside of a call`)
    switch (part.kind) {
      case "name":
        call.name = yield* feeding.run(/[\w.-]/)
        return
      case "index":
        yield* feeding.run(/\d/)
        return
      case "id": {
        const id = yield* feeding.keep(this.wire(part.wire, block, call))
        if (call.isBegun) call.lateId = id
        else call.id = id
        return
      }
      case "json":
        this.begin(call)
        yield* jsonContainer(feeding, (text) => this.addArguments(call, text))
        return
      case "parameters": {
        this.begin(call)
        const { parameter } = block
        if (parameter === undefined) throw new Error("internal: a block without parameters")
        const literals = (inner: Wire) => this.wire(inner, block)
        const emit = (text: string) => this.addArguments(call, text)
        yield* new ParameterReader(feeding, parameter, this.typesOf(call), literals, emit).read()
        return
      }
      default:
        throw new Error(`internal: ${part.kind} outside of a parameter`)
    }
  }

  private begin(call: OpenCall): void {
    call.isBegun = true
    const { index, name = "", id } = call
    this.events.push({ type: "call", index, name, ...idOf(id) })
  }

  private typesOf({ name = "" }: OpenCall): ArgumentTypes {
    let types = this.types.get(name)
    if (types === undefined) {
      const tool = this.plan.tools.find((each) => each.name === name)
      if (tool === undefined) throw new Error(`internal: a call of ${JSON.stringify(name)}, which is no tool`)
      types = new ArgumentTypes(tool, this.options)
      this.types.set(name, types)
    }
    return types
  }

  private *messages(messages: Messages): Parse {
    const { feeding } = this
    const { reasoning, remark, answer, between, end = "" } = messages
    const section = this.plan.reasoning
    // A prompt that has begun the section leaves its header out.
    if (section && !section.begin && !section.optional) yield* this.message(reasoning, "reasoning")
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
        yield* this.block()
        continue
      }
      yield* feeding.literal(holder[0].begin)
      yield* this.message(...holder)
    }
  }

  /** A message behind its header. */
  private *message({ ends }: Message, type: "reasoning" | "text"): Parse {
    const end = yield* this.feeding.until(ends, 0, (more) => this.add(type, more))
    if (end !== null) yield* this.feeding.literal(end)
  }

  private add(type: "text" | "reasoning", text: string): void {
    if (text !== "") this.events.push({ type, text })
  }

  private addArguments({ index }: OpenCall, text: string): void {
    if (text !== "") this.events.push({ type: "arguments", index, text })
  }
}

interface OpenCall {
  readonly index: number
  isBegun: boolean
  name?: string
  id?: string
  /** An id that stands behind the arguments. */
  lateId?: string
}

/** A whole turn. */
export function readTurn(turn: Turn, text: string, options?: ReaderOptions): ReadTurn {
  const reader = new TurnReader(turn, options)
  return gather([...reader.feed(text), ...reader.end()])
}
