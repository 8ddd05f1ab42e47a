/**
 * The fast path returns the bits of the definition, whatever the parameters, values and masks.
 *
 * TOKENRAIL_TESTS=full runs a hundred times as many rows.
 */
import { expect, test } from "vitest"
import { sampleRow } from "../../../sampler/cpu.ts"
import { Selector } from "../../../sampler/fast/select.ts"
import { sortPinned, TopHeap } from "../../../sampler/top.ts"
import {
  normalOf,
  type RowOptions,
  randomLogits,
  randomOf,
  randomOptions,
  rowOf,
} from "../../support/sampler/rows.ts"

const rowCount = Number(
  process.env.TOKENRAIL_ROWS ?? (process.env.TOKENRAIL_TESTS === "full" ? 1_000_000 : 8000),
)

test(
  `select = definition, bit for bit, on ${rowCount} random rows`,
  () => {
    const random = randomOf(20)
    const selector = new Selector()
    const seen = new Set<string>()
    for (let index = 0; index < rowCount; index++) {
      const width = index % 200 === 0 ? 4097 : [1, 2, 31, 32, 33, 64, 257, 600][Math.floor(random() * 8)]
      const logits = randomLogits(width, random)
      const copy = logits.slice()
      const options = randomOptions(width, random)
      const expected = sampleRow(logits, rowOf(width, options))
      const found = selector.select(logits, rowOf(width, options))
      if (JSON.stringify(found) !== JSON.stringify(expected)) {
        expect(
          found,
          `row ${index}, V ${width}: ${JSON.stringify(options, (_, value) => (value instanceof Map ? [...value] : value))}`,
        ).toEqual(expected)
      }
      expect(
        Buffer.compare(Buffer.from(logits.buffer), Buffer.from(copy.buffer)),
        "the logits are not written",
      ).toBe(0)
      seen.add(expected.status + (expected.relaxed ?? ""))
    }
    // The fuzz reaches each way a row can end.
    expect([...seen]).toEqual(expect.arrayContaining(["ok", "empty_mask", "model_output", "okmin_tokens"]))
  },
  60_000 + 2 * rowCount,
)

test("a row of the size of a real vocabulary: select = definition for each kind of cut", () => {
  const width = 50_000
  const random = randomOf(3)
  const normal = normalOf(random)
  const logits = Float32Array.from({ length: width }, normal)
  const selector = new Selector()
  const kinds: RowOptions[] = [
    { temperature: 0 },
    {},
    { temperature: 0.6 },
    { topK: 50, topP: 0.9 },
    { topP: 0.9 },
    { topK: 2048 },
    { topK: 20_000, topP: 0.5 },
    { minP: 0.05, temperature: 1.5 },
    { topNSigma: 2, topP: 0.99 },
  ]
  for (const [seed, options] of kinds.entries()) {
    const row = rowOf(width, { ...options, seed })
    expect(selector.select(logits, row), JSON.stringify(options)).toEqual(sampleRow(logits, row))
  }
})

test(
  "S2-10: a cut found from estimated masses is the cut of the exact ones",
  () => {
    const random = randomOf(14)
    const selector = new Selector()
    for (let round = 0; round < Math.ceil(rowCount / 60); round++) {
      const width = 4096 + Math.floor(random() * 6000)
      const logits = randomLogits(width, random)
      // Flat rows, where a token is a small part of the mass, and steep ones; shares at which a cut meets a token's edge.
      const scale = [1, 0.001, 1e-6, 8][round % 4]
      for (let id = 0; id < width; id++) if (Number.isFinite(logits[id])) logits[id] *= scale
      const options = { ...randomOptions(width, random), temperature: 1, seed: round, logprobs: null }
      const topP = round % 3 === 0 ? 0.25 * (1 + (round % 4)) || 0.5 : random() || 0.5
      const topK = round % 5 === 0 ? 300 + Math.floor(random() * width) : 0
      for (let position = 0; position < 3; position++) {
        const row = rowOf(width, { ...options, topP: Math.min(topP, 0.9999), topK, position })
        const expected = sampleRow(logits, row)
        expect(selector.select(logits, row), `round ${round}, V ${width}`).toEqual(expected)
      }
    }
  },
  60_000 + 2 * rowCount,
)

test("S4-18: heap and sort rank as the pinned order does, ties by id", () => {
  const random = randomOf(9)
  for (let round = 0; round < 300; round++) {
    const n = 1 + Math.floor(random() * 300)
    const values = Float32Array.from(
      { length: n },
      () => Math.floor(random() * 20) - 10 + (round % 2) * random(),
    )
    const ids = Int32Array.from({ length: n }, (_, at) => 3 * at)
    const order = Array.from(ids.keys()).sort((a, b) => values[b] - values[a] || a - b)
    const k = 1 + Math.floor(random() * 256)
    const heap = new TopHeap().rank(values, ids, n, k)
    expect(Array.from(heap.ids.subarray(0, heap.count))).toEqual(order.slice(0, k).map((at) => ids[at]))
    const sorted = sortPinned(values, ids, n)
    expect(Array.from(sorted.ids)).toEqual(order.map((at) => ids[at]))
    expect(Array.from(sorted.values)).toEqual(order.map((at) => values[at]))
  }
})
