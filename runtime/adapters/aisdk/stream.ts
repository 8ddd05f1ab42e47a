/**
 * The events of an answer as parts of an AI SDK stream.
 *
 * Text and reasoning are runs: a run has an id, a start, deltas and an end, and ends when the other
 * kind or a call begins. A call has a start, the pieces of its arguments, an end, and then the
 * whole call. A call that the budget cut has no whole call.
 */
import type { GenerationEvent } from "../../engine/sequence.ts"
import type { AiStreamPart } from "./wire.ts"

interface OpenCall {
  readonly id: string
  readonly name: string
  input: string
}

/** Yields the parts of the content. The parts before and after the content are the caller's. */
export async function* partsOf(
  events: AsyncIterable<GenerationEvent>,
  includesRaw: boolean,
): AsyncGenerator<AiStreamPart> {
  const content = new ContentParts()
  for await (const event of events) {
    if (includesRaw) yield { type: "raw", rawValue: event }
    yield* content.of(event)
  }
}

class ContentParts {
  private run: { kind: "text" | "reasoning"; id: string } | null = null
  private runCount = 0
  private readonly calls = new Map<number, OpenCall>()

  /** Returns the parts of an event. */
  of(event: GenerationEvent): AiStreamPart[] {
    switch (event.type) {
      case "text":
      case "reasoning":
        return event.text === "" ? [] : this.append(event.type, event.text)
      case "call": {
        const { index, id, name } = event
        this.calls.set(index, { id, name, input: "" })
        return [...this.endRun(), { type: "tool-input-start", id, toolName: name }]
      }
      case "arguments": {
        const call = this.calls.get(event.index)!
        call.input += event.text
        return [{ type: "tool-input-delta", id: call.id, delta: event.text }]
      }
      case "called": {
        const { id, name, input } = this.calls.get(event.index)!
        return [
          { type: "tool-input-end", id },
          { type: "tool-call", toolCallId: id, toolName: name, input },
        ]
      }
      case "finish":
        return this.endRun()
      default:
        return event satisfies never
    }
  }

  private endRun(): AiStreamPart[] {
    if (this.run === null) return []
    const { kind, id } = this.run
    this.run = null
    return [{ type: `${kind}-end`, id }]
  }

  private append(kind: "text" | "reasoning", delta: string): AiStreamPart[] {
    if (this.run?.kind === kind) return [{ type: `${kind}-delta`, id: this.run.id, delta }]
    const before = this.endRun()
    const id = String(this.runCount++)
    this.run = { kind, id }
    return [...before, { type: `${kind}-start`, id }, { type: `${kind}-delta`, id, delta }]
  }
}
