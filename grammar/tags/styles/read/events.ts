/** What a turn says, piece by piece and as a whole. */

export type TurnEvent =
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  /** A call begins. `id` is the one that the model wrote, if it wrote one before the arguments. */
  | {
      readonly type: "call"
      readonly index: number
      readonly name: string
      readonly isCustom: boolean
      readonly id?: string
    }
  /** More of the arguments: all pieces together are their JSON; of a custom tool, its input as it is. */
  | { readonly type: "arguments"; readonly index: number; readonly text: string }
  /** The call is complete. */
  | { readonly type: "done"; readonly index: number; readonly id?: string }

interface ReadCall {
  readonly name: string
  readonly isCustom: boolean
  /** JSON text, or the input of a custom tool. */
  arguments: string
  id?: string
  /** False where the text ended within the call. */
  isComplete: boolean
}

export interface ReadTurn {
  reasoning: string
  text: string
  readonly calls: ReadCall[]
}

/** All that the events say. */
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

/** The id as a field, if there is one. */
export function idOf(id: string | undefined): { id?: string } {
  return id === undefined ? {} : { id }
}
