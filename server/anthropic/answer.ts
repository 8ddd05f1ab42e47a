/**
 * An answer in Anthropic's form: a list of blocks (thoughts, text, calls), each of which has start,
 * delta and stop events in a stream.
 *
 * One object makes both the whole answer and the stream, event by event, so the joined deltas equal
 * the blocks. Successive events of one kind extend the same block; each call is a block of its own.
 */
import type { GenerationEvent } from "../../runtime/index.ts"
import { wireId } from "./ids.ts"

type Block =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "text"; text: string }
  /** `input` is the JSON text of the arguments. */
  | { type: "tool_use"; id: string; caller: { type: "direct" }; name: string; input: string }

// Clients send back only thoughts that are signed. This server checks no signatures, so the field
// has a constant value.
const signature = "unsigned"

/** The blocks of one answer. */
export class Blocks {
  callCount = 0
  private readonly showsThinking: boolean
  private readonly blocks: Block[] = []
  private isOpen = false

  constructor({ showsThinking }: { showsThinking: boolean }) {
    this.showsThinking = showsThinking
  }

  /** Returns the stream events for an event of the engine: none, one or several. */
  of(event: GenerationEvent): object[] {
    switch (event.type) {
      case "text":
        if (event.text === "") return []
        return this.extend("text", event.text)
      case "reasoning":
        return this.extend("thinking", event.text)
      case "call": {
        this.callCount++
        const id = wireId(event.id)
        return this.begin({ type: "tool_use", id, caller: { type: "direct" }, name: event.name, input: "" })
      }
      case "arguments":
        return this.extend("tool_use", event.text)
      case "called":
      case "finish":
        return this.stop()
      default:
        return event satisfies never
    }
  }

  /**
   * Returns the list of blocks as JSON. Arguments are copied as they were written, so numbers keep
   * their spelling and keys their order.
   */
  get json(): string {
    const texts = this.blocks.map((block) => {
      if (block.type !== "tool_use") return JSON.stringify(block)
      const { input, ...head } = block
      return `${JSON.stringify(head).slice(0, -1)},"input":${isJson(input) ? input : "{}"}}`
    })
    return `[${texts.join(",")}]`
  }

  /** Returns the events that add `text` to the open block of this type, or to a new one. */
  private extend(type: Block["type"], text: string): object[] {
    const open = this.isOpen ? this.blocks.at(-1) : undefined
    if (open?.type !== type) return [...this.begin(emptyBlock(type)), ...this.extend(type, text)]
    const index = this.blocks.length - 1
    switch (open.type) {
      case "text":
        open.text += text
        return [{ type: "content_block_delta", index, delta: { type: "text_delta", text } }]
      case "thinking":
        if (!this.showsThinking) return []
        open.thinking += text
        return [{ type: "content_block_delta", index, delta: { type: "thinking_delta", thinking: text } }]
      case "tool_use":
        open.input += text
        return [
          { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: text } },
        ]
      default:
        return open satisfies never
    }
  }

  private begin(block: Block): object[] {
    const stopped = this.stop()
    this.blocks.push(block)
    this.isOpen = true
    const shown = block.type === "tool_use" ? { ...block, input: {} } : { ...block }
    return [...stopped, { type: "content_block_start", index: this.blocks.length - 1, content_block: shown }]
  }

  private stop(): object[] {
    if (!this.isOpen) return []
    this.isOpen = false
    const index = this.blocks.length - 1
    const block = this.blocks[index]
    const stopped = { type: "content_block_stop", index }
    if (block.type !== "thinking") return [stopped]
    block.signature = signature
    return [{ type: "content_block_delta", index, delta: { type: "signature_delta", signature } }, stopped]
  }
}

function emptyBlock(type: Block["type"]): Block {
  if (type === "text") return { type, text: "" }
  if (type === "thinking") return { type, thinking: "", signature: "" }
  throw new Error("internal: arguments outside of a call")
}

/** Returns whether `text` is JSON. Arguments are not if the budget ended within a call. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
