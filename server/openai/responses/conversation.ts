/**
 * Converts the items of a request, and those of the responses that it continues, to the messages
 * that a chat template reads.
 *
 * A turn of the assistant consists of several items (a reasoning, a message, calls), but it is one
 * message for the template. A new message begins where an item cannot follow the previous one in
 * the same turn.
 */
import type { Message } from "../../../runtime/index.ts"
import { checkBound, wholeBounds } from "../request/bounds.ts"
import { customCallShown, noCall } from "../request/messages.ts"
import type { InputItem, Item, Part, ResultItem } from "./items.ts"
import { notFound, type ResponseScope, type StoredResponse } from "./store.ts"
import { turnName } from "./tools.ts"

export interface Asked {
  instructions: string | null
  input: readonly InputItem[]
  previousResponseId: string | null
}

interface Conversation {
  messages: Message[]
  /** The request's own items, with references resolved. */
  input: Item[]
}

/** Returns the messages of a request and of the responses before it. Throws `Refusal`. */
export function conversationOf(
  { instructions, input: asked, previousResponseId }: Asked,
  scope: ResponseScope,
): Conversation {
  const before = previousResponseId === null ? [] : replay(previousResponseId, scope)
  const input = asked.map((item, i): Item => {
    if (item.type !== "item_reference") return item
    const found = scope.item(item.id)
    if (found === undefined) throw notFound("item", item.id, `input[${i}].id`)
    return found
  })
  checkBound(wholeBounds.items, before.length + input.length, "previous_response_id")
  const messages = new Messages()
  if (instructions !== null) messages.push({ role: "system", content: instructions })
  for (const item of before) messages.add(item, "input")
  for (const [i, item] of input.entries()) messages.add(item, `input[${i}]`)
  return { messages: messages.all, input }
}

/** Returns the items of a response and of those before it, the oldest first. */
function replay(id: string, scope: ResponseScope): Item[] {
  const param = "previous_response_id"
  const chain: StoredResponse[] = []
  for (let at: string | null = id; at !== null; ) {
    const found: StoredResponse | undefined = scope.get(at)
    if (found === undefined) throw notFound("response", at, param)
    chain.push(found)
    at = found.previousId
  }
  return chain.reverse().flatMap(({ input, response }) => [...input, ...response.output])
}

/**
 * Ranks of items: within one turn, no item follows one of higher rank. Within one message, an item
 * may follow one of its own rank only if both are calls.
 */
const ranks = { reasoning: 0, message: 1, function_call: 2, custom_tool_call: 2 } as const

class Messages {
  readonly all: Message[] = []
  /** Rank of the last item of the assistant's turn, or null if no turn is open. */
  private rank: number | null = null
  /** Names of the called tools, by the id of the call. */
  private readonly called = new Map<string, string>()

  push(message: Message): void {
    this.all.push(message)
    this.rank = null
  }

  /** Adds an item. `at` is its field. */
  add(item: Item, at: string): void {
    if ("output" in item) {
      const { call_id: id, output } = item
      const name = this.called.get(id)
      if (name === undefined) throw noCall(`${at}.call_id`, this.called, "id", id)
      this.push({ role: "tool", tool_call_id: id, name, content: flatten(output) })
    } else if (item.type === "message" && item.role !== "assistant") {
      const role = item.role === "developer" ? "system" : item.role
      this.push({ role, content: flatten(item.content) })
    } else this.addToTurn(item)
  }

  private addToTurn(item: Exclude<Item, ResultItem>): void {
    const rank = ranks[item.type]
    const follows = this.rank !== null && (rank > this.rank || (rank === this.rank && rank === 2))
    if (!follows) this.push({ role: "assistant", content: "" })
    this.rank = rank
    const turn = this.all[this.all.length - 1]
    switch (item.type) {
      case "message":
        turn.content = flatten(item.content)
        if (item.phase !== undefined) turn.phase = item.phase
        return
      case "reasoning":
        turn.reasoning_content = (item.content ?? item.summary).map(({ text }) => text).join("\n")
        return
      default: {
        const { type, call_id: id, input = "", arguments: args = "" } = item
        const name = turnName(item)
        this.called.set(id, name)
        const call =
          type === "custom_tool_call"
            ? customCallShown(id, name, input)
            : { id, type: "function", function: { name, arguments: args } }
        turn.tool_calls = [...(turn.tool_calls ?? []), call]
      }
    }
  }
}

// Parts are joined by a newline, as in chat.
function flatten(content: string | readonly Part[]): string {
  if (typeof content === "string") return content
  return content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join("\n")
}
