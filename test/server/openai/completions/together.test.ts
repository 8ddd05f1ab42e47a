import { expect, test } from "vitest"
import { together } from "../../../../server/openai/completions/together.ts"

/** A source whose events come when they are let go. */
function source<Event>() {
  const waiting: ((result: IteratorResult<Event>) => void)[] = []
  let asked = 0
  const settle = (result: IteratorResult<Event>) => waiting.shift()!(result)
  return {
    get asked() {
      return asked
    },
    say: (value: Event) => settle({ value, done: false }),
    end: () => settle({ value: undefined, done: true }),
    [Symbol.asyncIterator]: () => ({
      next: () => {
        asked++
        return new Promise<IteratorResult<Event>>((resolve) => waiting.push(resolve))
      },
    }),
  }
}

async function* listed<Event>(...events: Event[]): AsyncGenerator<Event> {
  yield* events
}

async function all<Event>(sources: AsyncIterable<Event>[]): Promise<(readonly [number, Event])[]> {
  const events: (readonly [number, Event])[] = []
  for await (const event of together(sources)) events.push(event)
  return events
}

test.each<[name: string, sources: string[][]]>([
  ["none", []],
  ["one", [["a", "b"]]],
  ["an empty one among them", [["a"], [], ["b", "c"]]],
  ["many", Array.from({ length: 128 }, (_, index) => [`${index}`, "x"])],
])("each event comes once, those of a source in their order: %s", async (_, sources) => {
  const events = await all(sources.map((each) => listed(...each)))
  for (const [index, each] of sources.entries())
    expect(events.flatMap(([from, event]) => (from === index ? [event] : []))).toEqual(each)
  expect(events.length).toBe(sources.flat().length)
})

test("events come as they come, and a source is asked for the next when the last has been taken", async () => {
  const [first, second] = [source<string>(), source<string>()]
  const events = together([first, second])
  const one = events.next()
  second.say("b")
  expect((await one).value).toEqual([1, "b"])
  expect([first.asked, second.asked]).toEqual([1, 1])
  const two = events.next()
  expect([first.asked, second.asked]).toEqual([1, 2])
  first.say("a")
  expect((await two).value).toEqual([0, "a"])
  const end = events.next()
  first.end()
  second.end()
  expect((await end).done).toBe(true)
})

test("the first error ends it", async () => {
  async function* failing(): AsyncGenerator<string> {
    yield "a"
    throw new Error("gone")
  }
  await expect(all([failing(), source<string>()])).rejects.toThrow("gone")
})
