/**
 * Reads a block of calls back, each by the wire form of its style.
 */
import type { ArgumentOptions } from "../arguments.ts"
import { headsOf, type Plan } from "../plan.ts"
import type { Block } from "../style.ts"
import { beginnings, firstText, type Part, type Wire } from "../wire.ts"
import { type ArgumentTypes, argumentTypesOf } from "./argumenttypes.ts"
import { idOf, type TurnEvent } from "./events.ts"
import type { Feed, Parse } from "./feed.ts"
import { InputText } from "./inputtext.ts"
import { jsonContainer } from "./jsonvalue.ts"
import { ParameterReader } from "./parameters.ts"

interface OpenCall {
  readonly index: number
  isBegun: boolean
  name?: string
  id?: string
  /** The reader of a custom tool's input. */
  input?: InputText
  /** An id that follows the arguments. */
  lateId?: string
}

export class CallReader {
  private readonly plan: Plan
  private readonly options: Partial<ArgumentOptions>
  private readonly feed: Feed
  private readonly emit: (event: TurnEvent) => void
  private callCount = 0
  private readonly types = new Map<string, ArgumentTypes>()

  constructor(plan: Plan, options: Partial<ArgumentOptions>, feed: Feed, emit: (event: TurnEvent) => void) {
    this.plan = plan
    this.options = options
    this.feed = feed
    this.emit = emit
  }

  /** Reads a block of calls that begins here. */
  *block(): Parse {
    const { feed } = this
    const block = yield* this.blockHere()
    const { begin = [], call, between = [], end } = block
    yield* this.wire(begin, block)
    yield* this.call(block)
    // Without a tag, what begins like a call may be text.
    const isBare = this.plan.style.bare?.includes(block) === true
    const next = [...between, ...call]
    const nextTexts = isBare ? headsOf([{ call: next }], this.plan.tools) : beginnings(next)
    const ends = end === undefined ? [] : beginnings(end)
    for (;;) {
      const text = yield* feed.choose([...nextTexts, ...ends])
      if (text === null || ends.includes(text)) break
      yield* this.wire(between, block)
      yield* this.call(block)
    }
    if (end !== undefined) yield* this.wire(end, block)
  }

  /** Returns the block that begins here. */
  private *blockHere(): Parse<Block> {
    const texts = new Map<string, Block>()
    for (const block of this.plan.blocks) {
      for (const text of beginnings([...(block.begin ?? []), ...block.call])) texts.set(text, block)
    }
    const text = yield* this.feed.choose([...texts.keys()])
    const block = text === null ? undefined : texts.get(text)
    if (block !== undefined) return block
    // The text ends before the block is determined.
    yield* this.feed.literal([...texts.keys()][0])
    throw new Error("internal: a block that begins like none")
  }

  private *call(block: Block): Parse {
    const call: OpenCall = { index: this.callCount, isBegun: false }
    yield* this.wire(block.call, block, call)
    this.callCount++
    const id = call.lateId
    this.emit({ type: "done", index: call.index, ...idOf(id) })
  }

  private *wire(form: Wire, block: Block, call: OpenCall | null = null): Parse {
    for (const [i, part] of form.entries()) {
      if (part.kind === "name") yield* this.name(beginnings(form.slice(i + 1)), call)
      else yield* this.part(part, block, call)
    }
  }

  /**
   * Reads the name of a tool, which one of `follows` must follow: a name may contain the text that
   * ends another one.
   */
  private *name(follows: readonly string[], call: OpenCall | null): Parse {
    const { feed } = this
    if (call === null) throw new Error("internal: a name outside of a call")
    const names = new Map<string, string>()
    for (const { name } of this.plan.tools) for (const text of follows) names.set(name + text, name)
    const found = yield* feed.choose([...names.keys()])
    if (found !== null) {
      call.name = feed.take(names.get(found)!.length)
      return
    }
    call.name = yield* feed.run(/[\w.-]/)
    // No turn ends with a name: a name at the end of the text may be a prefix of another.
    while (feed.rest === "") yield* feed.more()
  }

  private *part(part: Part, block: Block, call: OpenCall | null): Parse {
    const { feed } = this
    switch (part.kind) {
      case "text":
        yield* feed.literal(part.text)
        return
      case "optional":
        if (yield* feed.startsWith(firstText(part.wire))) yield* this.wire(part.wire, block, call)
        return
      case "either": {
        const text = yield* feed.choose(part.wires.map(firstText))
        const chosen = part.wires.find((each) => firstText(each) === text) ?? part.wires[0]
        yield* this.wire(chosen, block, call)
        return
      }
      case "letters":
        yield* feed.run(/[A-Za-z0-9]/)
        return
    }
    if (call === null) throw new Error(`internal: ${part.kind} outside of a call`)
    switch (part.kind) {
      case "index":
        yield* feed.run(/\d/)
        return
      case "id": {
        const id = yield* feed.keep(this.wire(part.wire, block, call))
        if (call.isBegun) call.lateId = id
        else call.id = id
        return
      }
      case "json":
        this.begin(call)
        yield* jsonContainer(feed, (text) => this.addArguments(call, text))
        return
      case "parameters": {
        this.begin(call)
        const { parameter } = block
        if (parameter === undefined) throw new Error("internal: a block without parameters")
        const literals = (inner: Wire) => this.wire(inner, block)
        const emit = (text: string) => this.addArguments(call, text)
        yield* new ParameterReader(feed, parameter, this.typesOf(call), literals, emit).read()
        return
      }
      default:
        throw new Error(`internal: ${part.kind} outside of a parameter`)
    }
  }

  private begin(call: OpenCall): void {
    call.isBegun = true
    const { index, name = "", id } = call
    const isCustom = this.plan.tools.some((tool) => tool.name === name && tool.isCustom)
    if (isCustom) call.input = new InputText()
    this.emit({ type: "call", index, name, isCustom, ...idOf(id) })
  }

  private typesOf({ name = "" }: OpenCall): ArgumentTypes {
    let types = this.types.get(name)
    if (types === undefined) {
      const tool = this.plan.tools.find((each) => each.name === name)
      if (tool === undefined) throw new Error(`internal: a call of ${JSON.stringify(name)}, which is no tool`)
      types = argumentTypesOf(tool, this.options)
      this.types.set(name, types)
    }
    return types
  }

  private addArguments({ index, input }: OpenCall, json: string): void {
    const text = input === undefined ? json : input.read(json)
    if (text !== "") this.emit({ type: "arguments", index, text })
  }
}
