/**
 * A JSON reply whose long lists are written piece by piece.
 *
 * A million rows of log-probabilities take seconds to make and to spell, and nobody else is served
 * in one go of seconds. So a long list is left out of the reply at first: a mark stands in its
 * place, a random text that no other text of the reply equals. When the reply is sent, its items
 * are made a few at a time, with a turn for everybody else in between.
 */

/** Items that are made in one go: below 20 ms for the longest rows. */
const itemsAtOnce = 32
/** A list of fewer items is no long one. */
const longCount = 256

export class LongReply {
  private readonly key = crypto.randomUUID()
  private readonly lists: (() => Generator<string>)[] = []

  /**
   * What goes into the reply for the list of `make` of each item: the list itself, or a mark for
   * it.
   */
  list<Item>(items: readonly Item[], make: (items: readonly Item[]) => unknown[]): unknown {
    if (items.length < longCount) return make(items)
    this.lists.push(function* () {
      for (let at = 0; at < items.length; at += itemsAtOnce) {
        const text = JSON.stringify(make(items.slice(at, at + itemsAtOnce))).slice(1, -1)
        yield at === 0 ? text : `,${text}`
      }
    })
    return `${this.key}${this.lists.length - 1}`
  }

  /** The reply with its lists, which stand in it in the order in which they were made. */
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
