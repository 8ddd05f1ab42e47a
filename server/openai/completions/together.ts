/**
 * Merges several streams of events into one, in the order in which the events come.
 *
 * One event is requested ahead from each source, and the next one after it has been taken. So a
 * slow reader slows all sources, and the number of waiting events is at most the number of sources.
 */

/**
 * Yields the events of all sources with the index of their source. The first error ends the
 * iteration.
 */
export async function* together<Event>(
  sources: readonly AsyncIterable<Event>[],
): AsyncGenerator<readonly [index: number, event: Event]> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  const ready: { index: number; take: () => IteratorResult<Event> }[] = []
  let wake = () => {}
  const ask = (index: number): void => {
    const put = (take: () => IteratorResult<Event>): void => {
      ready.push({ index, take })
      wake()
    }
    iterators[index].next().then(
      (result) => put(() => result),
      (error: unknown) =>
        put(() => {
          throw error
        }),
    )
  }
  for (const index of iterators.keys()) ask(index)
  let open = iterators.length
  while (open > 0) {
    const next = ready.shift()
    if (!next) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      continue
    }
    const result = next.take()
    if (result.done) open--
    else {
      yield [next.index, result.value]
      ask(next.index)
    }
  }
}
