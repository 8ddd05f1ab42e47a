/** What is kept for a reader of events that is slow, late or not there. */
import { expect, test } from "vitest"
import { Generation } from "../../../runtime/engine/generation.ts"
import type { GenerationEvent, Sequence } from "../../../runtime/engine/sequence.ts"
import { readingHere } from "../../../runtime/turn/wholereading.ts"
import type { TokenLogprobs } from "../../../sampler/index.ts"

function generationOf(count: number): Generation {
  const options = {
    promptTokens: 1,
    report: null,
    constraint: null,
    turn: null,
    fields: false,
    confidence: false,
    slowReading: readingHere,
    bytesOf: () => 1,
    endName: () => undefined,
    endNames: [],
    compileMs: 0,
    seed: 1n,
    warnings: [],
    cancel: () => {},
  }
  const generation = new Generation(options)
  generation.sequences = Array.from({ length: count }, () => ({}) as Sequence)
  // Its choices are no whole sequences here: nothing is built of them.
  Object.assign(generation, { build: () => ({}) })
  return generation
}

const textEvent = (choice: number, token: number): GenerationEvent => ({
  type: "text",
  choice,
  text: `${token},`,
  tokens: [token],
  logprobs: [{ token } as unknown as TokenLogprobs],
})
const finishEvent = (choice: number): GenerationEvent => ({
  type: "finish",
  choice,
  finishReason: "stop",
  stopReason: null,
})

async function readAll(generation: Generation): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = []
  for await (const event of generation) events.push(event)
  return events
}

test("a reader that keeps up gets every event as it was", async () => {
  const generation = generationOf(1)
  const read = readAll(generation)
  const events = Array.from({ length: 200 }, (_, token) => textEvent(0, token))
  for (const event of events) {
    generation.push(event)
    await new Promise((resolve) => setImmediate(resolve))
  }
  generation.push(finishEvent(0))
  expect(await read).toEqual([...events, finishEvent(0)])
})

test.each([1, 3, 100])(
  "%i choices that nobody reads are few events, and hold everything",
  async (choices) => {
    const generation = generationOf(choices)
    for (let token = 0; token < 500; token++) {
      for (let choice = 0; choice < choices; choice++) generation.push(textEvent(choice, token))
    }
    for (let choice = 0; choice < choices; choice++) generation.push(finishEvent(choice))
    const events = await readAll(generation)
    expect(events.length).toBeLessThanOrEqual(64 + 2 * choices)
    const tokens = Array.from({ length: 500 }, (_, token) => token)
    for (let choice = 0; choice < choices; choice++) {
      const own = events.filter((event) => event.choice === choice)
      expect(own.at(-1)).toEqual(finishEvent(choice))
      const texts = own.filter((event) => event.type === "text")
      expect(texts.map(({ text }) => text).join("")).toBe(tokens.map((token) => `${token},`).join(""))
      expect(texts.flatMap((event) => event.tokens)).toEqual(tokens)
      expect(texts.flatMap(({ logprobs }) => logprobs!.map(({ token }) => token))).toEqual(tokens)
    }
  },
)

test("an event in the reader's hands does not change, and what it was made of neither", async () => {
  const generation = generationOf(1)
  const reader = generation[Symbol.asyncIterator]()
  const given = Array.from({ length: 100 }, (_, token) => textEvent(0, token))
  for (const event of given) generation.push(event)
  expect(given.every((event) => event.type === "text" && event.tokens.length === 1)).toBe(true)
  for (let i = 0; i < 63; i++) await reader.next()
  const last = (await reader.next()).value
  const before = structuredClone(last)
  expect(before).toMatchObject({ tokens: Array.from({ length: 37 }, (_, i) => 63 + i) })
  generation.push(textEvent(0, 100))
  expect(last).toEqual(before)
  expect((await reader.next()).value).toEqual(textEvent(0, 100))
})

test("events are read once: a second reader gets what is left", async () => {
  const generation = generationOf(1)
  for (let token = 0; token < 3; token++) generation.push(textEvent(0, token))
  const first = generation[Symbol.asyncIterator]()
  await first.next()
  generation.push(finishEvent(0))
  expect(await readAll(generation)).toEqual([textEvent(0, 1), textEvent(0, 2), finishEvent(0)])
  expect((await first.next()).done).toBe(true)
})
