/**
 * A JSON reply whose long lists are written piece by piece.
 *
 * A million rows of log-probabilities take seconds to make and to serialize, which would block all
 * other requests. So a long list is first replaced by a placeholder: a random text that equals no
 * other text of the reply. While the reply is sent, the items are made a few at a time, and other
 * requests run in between.
 */

/** Number of items made at once, which takes less than 20 ms for the longest rows. */
const itemsAtOnce = 32
/** Lists are sent as they are as long as all of them together take fewer steps. */
const longSteps = 8

export class LongReply {
  private readonly key = crypto.randomUUID()
  private readonly lists: (() => Generator<string>)[] = []
  /** Number of steps whose items were sent as they are. */
  private steps = 0

  /**
   * Returns the list of `make(item)` for each item, or a placeholder for it. `atOnce`: how many
   * items are made at once; fewer for longer items.
   */
  list<Item>(
    items: readonly Item[],
    make: (items: readonly Item[]) => unknown[],
    atOnce = itemsAtOnce,
  ): unknown {
    const steps = items.length / atOnce
    if (this.steps + steps < longSteps) {
      this.steps += steps
      return make(items)
    }
    this.lists.push(function* () {
      for (let at = 0; at < items.length; at += atOnce) {
        const text = JSON.stringify(make(items.slice(at, at + atOnce))).slice(1, -1)
        yield at === 0 ? text : `,${text}`
      }
    })
    return `${this.key}${this.lists.length - 1}`
  }

  /**
   * Returns the reply with its lists. The placeholders must be in the order in which they were
   * made.
   */
  response(reply: unknown, headers: Record<string, string>): Response {
    if (this.lists.length === 0) return Response.json(reply, { headers })
    const pieces = this.pieces(JSON.stringify(reply))
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      cancel: async () => {
        await pieces.return(undefined)
      },
    })
    return new Response(body, { headers: { "content-type": "application/json", ...headers } })
  }

  private async *pieces(text: string): AsyncGenerator<string, undefined> {
    let rest = text
    for (const [index, list] of this.lists.entries()) {
      const mark = `"${this.key}${index}"`
      const at = rest.indexOf(mark)
      yield `${rest.slice(0, at)}[`
      for (const piece of list()) {
        yield piece
        await new Promise((resolve) => setTimeout(resolve))
      }
      rest = `]${rest.slice(at + mark.length)}`
    }
    yield rest
  }
}
