/**
 * The content of a turn, as events and as a whole.
 */

export type TurnEvent =
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  /** A call begins. `id` is the id that the model wrote, if it comes before the arguments. */
  | {
      readonly type: "call"
      readonly index: number
      readonly name: string
      readonly isCustom: boolean
      readonly id?: string
    }
  /**
   * More of the arguments. All pieces together are their JSON, or the input of a custom tool,
   * unescaped.
   */
  | { readonly type: "arguments"; readonly index: number; readonly text: string }
  /** The call is complete. */
  | { readonly type: "done"; readonly index: number; readonly id?: string }

interface ReadCall {
  readonly name: string
  readonly isCustom: boolean
  /** JSON text, or the input of a custom tool. */
  arguments: string
  id?: string
  /** False if the text ended inside the call. */
  isComplete: boolean
}

export interface ReadTurn {
  reasoning: string
  text: string
  readonly calls: ReadCall[]
}

/** Collects the events into a turn. */
export function gather(events: Iterable<TurnEvent>): ReadTurn {
  const turn: ReadTurn = { reasoning: "", text: "", calls: [] }
  for (const event of events) {
    switch (event.type) {
      case "reasoning":
        turn.reasoning += event.text
        break
      case "text":
        turn.text += event.text
        break
      case "call":
        turn.calls.push({
          name: event.name,
          isCustom: event.isCustom,
          arguments: "",
          isComplete: false,
          ...idOf(event.id),
        })
        break
      case "arguments":
        turn.calls[event.index].arguments += event.text
        break
      case "done":
        Object.assign(turn.calls[event.index], { isComplete: true, ...idOf(event.id) })
        break
      default:
        event satisfies never
    }
  }
  return turn
}

/** Returns an object with the id as its field, if there is one. */
export function idOf(id: string | undefined): { id?: string } {
  return id === undefined ? {} : { id }
}
