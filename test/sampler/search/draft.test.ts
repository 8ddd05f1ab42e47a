/** S1-23: drafters by one interface; prompt lookup; drafts with the model's own verdict. */
import { describe, expect, test } from "vitest"
import { sampleRow } from "../../../sampler/cpu.ts"
import {
  chainOf,
  checkNeeds,
  DraftLength,
  NgramProposer,
  type Proposer,
} from "../../../sampler/search/draft.ts"
import { matchDraft } from "../../../sampler/search/rejection.ts"
import { randomOf, rowOf } from "../../support/sampler/rows.ts"

describe("S3-20: prompt lookup", () => {
  test.each<[number[], number, number, number, number[]]>([
    [[1, 2, 3, 4, 1, 2, 3], 2, 2, 3, [4, 1, 2]],
    [[1, 2, 3, 4, 1, 2, 3], 4, 4, 3, []],
    [[1, 2, 3, 4, 1, 2, 3, 5, 6], 2, 2, 3, []],
    [[1, 3, 6, 2, 3, 4, 1, 2, 3], 1, 1, 2, [6, 2]],
    [[2, 3, 4, 5, 1, 2, 3, 4, 1, 2, 3, 4], 3, 4, 2, [1, 2]],
    [[1, 2, 3, 100, 1, 2, 3, 200, 1, 2, 3, 300, 1, 2, 3], 3, 3, 2, [100, 1]],
    [[], 2, 4, 3, []],
    [[7], 1, 4, 3, []],
  ])("%j, endings of %i to %i, k %i → %j", (tokens, min, max, k, expected) => {
    expect(new NgramProposer({ min, max }).propose({ tokens }, k).tokens).toEqual(expected)
  })

  test("the latest occurrence is an option", () => {
    const tokens = [1, 2, 3, 100, 1, 2, 3, 200, 1, 2, 3, 300, 1, 2, 3]
    const proposer = new NgramProposer({ min: 3, max: 3, place: "latest" })
    expect(proposer.propose({ tokens }, 2).tokens).toEqual([300, 1])
  })

  test("the index that grew, was cut and grew again is the one of a search", () => {
    const search = (tokens: readonly number[], k: number): number[] => {
      for (let n = Math.min(4, tokens.length); n >= 2; n--) {
        const ending = tokens.slice(-n).join()
        for (let end = n; end < tokens.length; end++) {
          if (tokens.slice(end - n, end).join() === ending) return tokens.slice(end, end + k)
        }
      }
      return []
    }
    const random = randomOf(3)
    const proposer = new NgramProposer()
    let tokens: number[] = []
    let found = 0
    for (let step = 0; step < 2000; step++) {
      if (random() < 0.2) tokens = tokens.slice(0, Math.floor(random() * tokens.length))
      tokens = [
        ...tokens,
        ...Array.from({ length: 1 + Math.floor(3 * random()) }, () => Math.floor(4 * random())),
      ]
      const expected = search(tokens, 3)
      expect(proposer.propose({ tokens }, 3).tokens).toEqual(expected)
      if (expected.length > 0) found++
    }
    expect(found).toBeGreaterThan(500)
  })

  test("a range of lengths that is none is refused", () => {
    expect(() => new NgramProposer({ min: 3, max: 2 })).toThrow(/3 to 2/)
  })
})

describe("S3-21, S3-22: drafters with the model's hidden states", () => {
  const eagle: Proposer = {
    needs: { hidden: [2, 16] },
    propose: ({ hidden }, k) => ({ tokens: Array.from(hidden![0].subarray(0, k)) }),
  }
  const medusa: Proposer = {
    needs: { hidden: [31] },
    // Two heads: 5 or 6, and after 5 7 or 8.
    propose: () => ({ tokens: [5, 6, 7, 8], parents: [-1, -1, 0, 0] }),
  }

  test("a model without the layers is refused at load, by their numbers", () => {
    expect(() => checkNeeds(eagle, [16])).toThrow(
      "draft: the drafter needs hidden layers 2, the model exports layers 16",
    )
    expect(() => checkNeeds(medusa, [])).toThrow("the model exports no hidden layer")
    expect(() => checkNeeds(eagle, [2, 16])).not.toThrow()
  })

  test("a chain is cut at k, a tree becomes its first path", async () => {
    const hidden = [Float32Array.of(9, 8, 7)]
    expect(chainOf(await eagle.propose({ tokens: [1], hidden }, 2), 5)).toEqual([9, 8])
    expect(chainOf(await medusa.propose({ tokens: [1] }, 4), 5)).toEqual([5, 7])
    expect(chainOf(await medusa.propose({ tokens: [1] }, 4), 1)).toEqual([5])
  })
})

test("prompt lookup speeds up a text that repeats, and does not change it", () => {
  const width = 30
  const logitsAfter = (history: readonly number[]) =>
    Float32Array.from({ length: width }, (_, id) => (id === ((history.at(-1) ?? 0) + 1) % 7 ? 6 : 0))
  const draw = (history: readonly number[]) =>
    sampleRow(logitsAfter(history), rowOf(width, { seed: 2, output: history }))
  const plain: number[] = []
  while (plain.length < 200) plain.push(draw(plain).token)
  const proposer = new NgramProposer()
  const output: number[] = []
  let steps = 0
  while (output.length < 200) {
    const draft = proposer.propose({ tokens: output }, 4).tokens
    const rows = Array.from({ length: draft.length + 1 }, (_, at) => draw([...output, ...draft.slice(0, at)]))
    output.push(...matchDraft(draft, rows).tokens)
    steps++
  }
  expect(output.slice(0, 200)).toEqual(plain)
  expect(steps).toBeLessThan(150)
})

test("drafts that do not pay pause after two tokens' loss, and cost 3 % at most from then on", () => {
  const length = new DraftLength(4)
  let lost = 0
  const drafts: number[] = []
  for (let step = 0; step < 1000; step++) {
    length.advance(1)
    if (length.next() === 0) continue
    drafts.push(step)
    length.record(0.7, 0)
    lost += 0.7
  }
  expect(drafts.slice(0, 4)).toEqual([0, 1, 2, 69])
  expect(lost).toBeLessThan(2 + 0.7 + 0.03 * 1000)
})

test("drafts that pay go on, and a bad stretch is paid from what they won", () => {
  const length = new DraftLength(4)
  for (let step = 0; step < 50; step++) {
    expect(length.next()).toBe(4)
    length.record(0.7, 2)
    length.advance(3)
  }
  let count = 0
  for (; length.next() > 0; count++) length.record(0.7, 0)
  expect(count).toBe(15)
  for (let step = 0; step < 100; step++) length.advance(1)
  expect(length.next()).toBe(4)
  length.record(0.7, 3)
  expect(length.next()).toBe(4)
})
