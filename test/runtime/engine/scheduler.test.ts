import { describe, expect, test } from "vitest"
import { Vocabulary } from "../../../mask/index.ts"
import { type BatchEntry, Scheduler } from "../../../runtime/engine/scheduler.ts"
import { Sequence } from "../../../runtime/engine/sequence.ts"
import type { Model } from "../../../runtime/model/model.ts"
import { StopStrings } from "../../../runtime/stops/stops.ts"
import { resolveParams } from "../../../sampler/index.ts"

const vocabulary = Vocabulary.fromBytes(
  Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  { endIds: [256] },
)

// Of the model the scheduler reads its size only.
const schedulerOf = (
  slotCount: number,
  cutsFreely = false,
  joinsFeeds = true,
  readsSteps = false,
): Scheduler => {
  const fields = { slotCount, canRewind: true, cutsFreely, joinsFeeds, readsSteps, width: 257 }
  return new Scheduler(fields as Model, vocabulary.words)
}

const make = (promptLength: number, first = 0): Sequence =>
  new Sequence({
    vocabulary,
    promptIds: Array.from({ length: promptLength }, (_, at) => (at + first) % 256),
    params: resolveParams({}, { width: 257 }),
    guide: null,
    isConstrained: false,
    closes: false,
    stops: new StopStrings([]),
    stopTokenIds: new Set(),
    includesStop: false,
    ignoresEnd: true,
    minTokens: 0,
    maxTokens: 100,
    contextLength: 4096,
    choice: 0,
    emit: () => {},
  })

const cuts = (batch: BatchEntry[]) =>
  batch.map(({ feed }) => [feed.slot, feed.start, feed.tokens.length, feed.logitsCount === 1])
const step = (scheduler: Scheduler) => {
  const batch = scheduler.next()
  for (const entry of batch) scheduler.computed(entry)
  return batch
}

describe("batches", () => {
  test("a prompt goes in chunks, its last one wants logits, then token by token", () => {
    const scheduler = schedulerOf(2)
    const sequence = make(300)
    scheduler.add([sequence])
    expect(cuts(step(scheduler))).toEqual([[0, 0, 96, false]])
    expect(cuts(step(scheduler))).toEqual([[0, 96, 96, false]])
    expect(cuts(step(scheduler))).toEqual([[0, 192, 96, false]])
    expect(cuts(step(scheduler))).toEqual([[0, 288, 12, true]])
    sequence.accept(1)
    expect(cuts(step(scheduler))).toEqual([[0, 300, 1, true]])
    // A forced run is one feed.
    for (const token of [1, 2, 3]) sequence.accept(token)
    expect(cuts(step(scheduler))).toEqual([[0, 301, 3, true]])
  })

  test("where several tokens are a run of their own, two go one by one, alone and in company", () => {
    for (const others of [0, 3]) {
      const scheduler = schedulerOf(4, false, false)
      const sequence = make(20)
      scheduler.add([sequence, ...Array.from({ length: others }, () => make(30))])
      const fed = () => cuts(step(scheduler))[0].slice(1)
      fed()
      sequence.accept(1)
      expect(fed()).toEqual([20, 1, true])
      for (const token of [1, 2]) sequence.accept(token, { isForced: true })
      expect(fed()).toEqual([21, 1, false])
      expect(fed()).toEqual([22, 1, true])
      for (const token of [1, 2, 3]) sequence.accept(token, { isForced: true })
      expect(fed()).toEqual([23, 3, true])
    }
  })

  test("where answered tokens have their bits in any cut, as many go together as rows run; prompts are no such feeds", () => {
    for (const others of [0, 3]) {
      const scheduler = schedulerOf(4, false, true, true)
      const sequence = make(20)
      scheduler.add([sequence, ...Array.from({ length: others }, () => make(30))])
      const fed = () => {
        const [{ feed }] = step(scheduler)
        return [feed.start, feed.tokens.length, feed.isStepwise ?? false]
      }
      expect(fed()).toEqual([0, 20, false])
      sequence.accept(1)
      expect(fed()).toEqual([20, 1, true])
      for (const token of [1, 2]) sequence.accept(token, { isForced: true })
      if (others === 0) expect(fed()).toEqual([21, 2, true])
      else
        expect([fed(), fed()]).toEqual([
          [21, 1, true],
          [22, 1, true],
        ])
      for (const token of [1, 2, 3, 4]) sequence.accept(token, { isForced: true })
      expect(fed()).toEqual([23, 4, true])
    }
  })

  test("where any cut will do, who is alone gets more at once, and no piece is a single token", () => {
    const scheduler = schedulerOf(2, true)
    const sequence = make(1_000)
    scheduler.add([sequence])
    expect(cuts(step(scheduler))).toEqual([[0, 0, 512, false]])
    scheduler.add([make(193, 9)])
    expect(cuts(step(scheduler))).toEqual([
      [0, 512, 96, false],
      [1, 0, 96, false],
    ])
    expect(cuts(step(scheduler))).toEqual([
      [0, 608, 96, false],
      [1, 96, 95, false],
    ])
    expect(cuts(step(scheduler))).toEqual([
      [0, 704, 96, false],
      [1, 191, 2, true],
    ])
  })

  test("who comes later waits for a slot, in order", () => {
    const scheduler = schedulerOf(2)
    const all = [make(5), make(6, 1), make(7, 2)]
    scheduler.add(all)
    expect(cuts(step(scheduler)).length).toBe(2)
    expect(scheduler.waiting).toEqual([all[2]])
    all[0].finish("abort", null)
    scheduler.remove(all[0])
    for (const sequence of scheduler.running) sequence.accept(1)
    expect(cuts(step(scheduler))).toEqual([
      [1, 6, 1, true],
      [0, 0, 7, true],
    ])
  })

  test("long prompts share the budget of a step; who decodes never waits for them", () => {
    const scheduler = schedulerOf(8)
    const decoding = make(5)
    scheduler.add([decoding])
    step(scheduler)
    decoding.accept(1)
    scheduler.add(Array.from({ length: 7 }, (_, index) => make(1000, index + 1)))
    const batch = cuts(step(scheduler))
    expect(batch[0]).toEqual([0, 5, 1, true])
    expect(batch.length).toBe(7)
    expect(scheduler.waiting.length).toBe(1)
  })

  test("a prompt that a neighbour has computed is copied with the first feed, once", () => {
    const scheduler = schedulerOf(3)
    scheduler.add([make(200)])
    step(scheduler)
    scheduler.add([make(200)])
    const [, copied] = step(scheduler)
    expect(copied.feed).toMatchObject({ slot: 1, start: 96, copyFrom: 0 })
    expect(copied.sequence.reusedCount).toBe(96)
    copied.sequence.accept(1)
    expect(step(scheduler).find(({ feed }) => feed.slot === 1)?.feed.copyFrom).toBeUndefined()
  })

  test("removing twice, or one that never ran, changes nothing", () => {
    const scheduler = schedulerOf(1)
    const [running, waiting] = [make(5), make(5)]
    scheduler.add([running, waiting])
    step(scheduler)
    scheduler.remove(waiting)
    scheduler.remove(running)
    scheduler.remove(running)
    expect([scheduler.hasWork, scheduler.slots.freeCount]).toEqual([false, 1])
  })
})
