/** The rules of one row that are no vectors: what is refused, lifted, forced, exempt, and the known traps. */
import { describe, expect, test } from "vitest"
import { TokenCounts } from "../../sampler/counts.ts"
import { lawOf, sampleRow } from "../../sampler/cpu.ts"
import { createCpuSampler } from "../../sampler/index.ts"
import { probabilities } from "../support/sampler/law.ts"
import { type RowOptions, randomLogits, randomOf, randomOptions, rowOf } from "../support/sampler/rows.ts"

const sample = (logits: readonly number[], options: RowOptions) =>
  sampleRow(Float32Array.from(logits), rowOf(logits.length, options))
const kept = (logits: readonly number[], options: RowOptions) =>
  probabilities(lawOf(Float32Array.from(logits), rowOf(logits.length, options))).map(([id]) => id)

describe("greedy", () => {
  test.each<[string, readonly number[], RowOptions, number]>([
    ["S0-06, S1-10, S3-02, S4-T02, S4-T13: all negative", [-10, -5, -20, -1], { temperature: 0 }, 3],
    ["S2-07, S4-08: ties take the lowest id", [1, 3, 3, 3], { temperature: 0 }, 1],
    ["top-k 1 with ties", [1, 3, 3, 3], { topK: 1, temperature: 2 }, 1],
    ["S2-13: bias holds", [3, 2, 1], { temperature: 0, logitBias: { 2: 5 } }, 2],
    ["S2-13: the mask holds", [3, 2, 1], { temperature: 0, bits: 0b110 }, 1],
    ["S2-13: penalties hold", [3, 2, 1], { temperature: 0, presencePenalty: 2, output: [0] }, 1],
    ["S4-T14: a single logit", [-7], { temperature: 0 }, 0],
    ["S4-T14: a single logit, drawn", [-7], {}, 0],
    ["S2-11: [10, 9, 1, 0, 0], k 3, p .5", [10, 9, 1, 0, 0], { topK: 3, topP: 0.5 }, 0],
    [
      "S0-09, S4-T07: one token far above, p .1",
      Array.from({ length: 101 }, (_, i) => (i === 42 ? 100 : 0)),
      { topP: 0.1 },
      42,
    ],
    ["−0 equals +0", [-0, 0], { temperature: 0 }, 0],
    ["+∞ is the largest value, the first of them", [0, Infinity, 1e38], { temperature: 0 }, 1],
  ])("%s", (_, logits, options, expected) => expect(sample(logits, options).token).toBe(expected))

  test("S0-07, S4-T09: low temperature is the arg-max in all of 500 draws, and no number is lost", () => {
    for (let position = 0; position < 500; position++) {
      expect(sample([1, 2, 10, 3], { temperature: 0.01, position }).token).toBe(2)
    }
    expect(sample([1000, 999, -1000], { temperature: 0.001 }).status).toBe("ok")
  })

  test("S0-17: with every stage off the default row is the arg-max of its logits", () => {
    const random = randomOf(3)
    for (let round = 0; round < 20; round++) {
      const logits = Float32Array.from({ length: 500 }, () => random() * 10)
      const { token } = sampleRow(logits, rowOf(500, { temperature: 0 }))
      expect(token).toBe(logits.indexOf(Math.max(...logits)))
    }
  })
})

describe("status", () => {
  test("nothing allowed, no number, no logits", () => {
    expect(sample([1, 2], { bits: 0 })).toEqual({ token: -1, status: "empty_mask" })
    expect(sample([1, 2], { bits: 0b01, allowedTokenIds: [1] })).toEqual({ token: -1, status: "empty_mask" })
    expect(sample([-Infinity, -Infinity], {})).toEqual({ token: -1, status: "empty_mask" })
    expect(sample([Number.NaN, 1], {})).toEqual({ token: -1, status: "model_output" })
    expect(sample([Number.NaN, 1, 0], { bits: 0b110, temperature: 0 })).toEqual({ token: 1, status: "ok" })
    expect(() => sampleRow(new Float32Array(0), rowOf(1))).toThrow(/width 0/)
  })

  test("a mask of one bit is emitted without a look at its logits", () => {
    expect(sample([Number.NaN, Number.NaN], { bits: 0b10, logprobs: 2 })).toEqual({
      token: 1,
      status: "ok",
      logprobs: { token: 1, logprob: 0, rank: 1, top: [{ token: 1, logprob: 0, rank: 1 }], named: [] },
    })
    expect(
      sample([3, 2, 1], { bits: 0b10, logprobs: 0, logprobsMode: "unmasked_logprobs" }).logprobs!.logprob,
    ).toBeCloseTo(-1.407606, 6)
  })

  test("bans are lifted, the last first, when they leave nothing; masks never", () => {
    const endIds = [1]
    const all = { endIds, minTokens: 9, badWordIds: [[0]], noRepeatNgramSize: 1, output: [2] }
    expect(sample([0, 0, 0], { ...all, temperature: 0 })).toEqual({
      token: 2,
      status: "ok",
      relaxed: ["no_repeat_ngram_size"],
    })
    expect(sample([0, 0, 0], { ...all, temperature: 0, bits: 0b011 })).toEqual({
      token: 1,
      status: "ok",
      relaxed: ["min_tokens"],
    })
    expect(
      sample([0, 5, 0], { ...all, temperature: 0, bits: 0b011, minTokens: 0, badWordIds: [[0], [2]] }),
    ).toEqual({ token: 1, status: "ok" })
    expect(sample([0, 0], { badWordIds: [[0], [1]], temperature: 0 })).toEqual({
      token: 0,
      status: "ok",
      relaxed: ["bad_words"],
    })
  })

  test("a forced token says which bans name it", () => {
    const forced = { bits: 0b010, temperature: 0, output: [1, 1] }
    const relaxed = (options: RowOptions) => sample([0, 5, 9], { ...forced, ...options })
    expect(relaxed({})).toEqual({ token: 1, status: "ok" })
    expect(relaxed({ badWordIds: [[1], [2]] }).relaxed).toEqual(["bad_words"])
    expect(relaxed({ badWordIds: [[0, 1], [2]], noRepeatNgramSize: 4 }).relaxed).toBe(undefined)
    const all = { endIds: [1], minTokens: 9, badWordIds: [[1, 1, 1]], noRepeatNgramSize: 2 }
    expect(relaxed({ ...all, badWordIds: [] }).relaxed).toEqual(["no_repeat_ngram_size", "min_tokens"])
  })

  test("S1-24, S2-15: below min_tokens no end and no stop id comes out, then they may", () => {
    const options = { endIds: [0], stopTokenIds: [1], minTokens: 2, temperature: 0 }
    expect(sample([9, 8, 1], { ...options, output: [2] }).token).toBe(2)
    expect(sample([9, 8, 1], { ...options, output: [2, 2] }).token).toBe(0)
  })

  test("a row outside the logits is refused", async () => {
    const rows = [rowOf(2, { logitsRow: 1 })]
    await expect(createCpuSampler().sample(new Float32Array(2), 2, rows)).rejects.toThrow(
      /logitsRow: 1 is outside the 1 rows/,
    )
  })
})

describe("the known pitfalls", () => {
  test("S0-01: a row reads its own logits, not its neighbour's", async () => {
    const logits = Float32Array.of(9, 0, 0, 0, 9, 0, 0, 0, 9)
    const rows = [2, 0, 1].map((logitsRow) => rowOf(3, { logitsRow, temperature: 0 }))
    const found = await createCpuSampler().sample(logits, 3, rows)
    expect(found.map(({ token }) => token)).toEqual([2, 0, 1])
  })

  test("S0-03, S2-29, S1-01: a batch is its rows", async () => {
    const random = randomOf(6)
    const logits = randomLogits(5 * 64, random)
    const rows = Array.from({ length: 60 }, (_, index) => {
      return rowOf(64, { ...randomOptions(64, random), logitsRow: index % 5 })
    })
    const sampler = createCpuSampler()
    const batch = await sampler.sample(logits, 64, rows)
    for (const [index, row] of rows.entries()) {
      expect((await sampler.sample(logits, 64, [row]))[0]).toEqual(batch[index])
    }
  })

  test("S2-03, S0-12: a token that occurs often is penalised once by the repetition penalty", () => {
    const { candidates } = lawOf(
      Float32Array.of(4, 4),
      rowOf(2, { repetitionPenalty: 2, prompt: [0, 0, 0], output: [0] }),
    )
    expect(Array.from(candidates.values)).toEqual([2, 4])
  })

  test("S3-16: a window bounds both penalties, and prompt tokens in it count", () => {
    const options = { frequencyPenalty: 1, penaltyWindow: 3, prompt: [0, 0, 1], output: [2] }
    const { candidates } = lawOf(new Float32Array(3), rowOf(3, options))
    expect(Array.from(candidates.values)).toEqual([-1, -1, -1])
  })

  test("penalty_exempt structural: few legal tokens are left alone, forced ones are not counted", () => {
    const options: RowOptions = { presencePenalty: 1, penaltyExempt: "structural", output: [0] }
    const values = (extra: RowOptions) =>
      Array.from(lawOf(new Float32Array(2), rowOf(2, { ...options, ...extra })).candidates.values)
    expect(values({})).toEqual([-1, 0])
    expect(values({ bits: 0b11 })).toEqual([0, 0])
    expect(values({ bits: 0b11, penaltyExempt: "none" })).toEqual([-1, 0])
    const tokens = new TokenCounts([])
    tokens.pushForced(0)
    tokens.push(1)
    const row = { ...rowOf(2, options), tokens }
    expect(Array.from(lawOf(new Float32Array(2), row).candidates.values)).toEqual([0, -1])
  })

  test("S3-18: the mask's polarity and its last word", () => {
    for (const width of [1, 31, 32, 33, 64, 65]) {
      const logits = Float32Array.from({ length: width }, (_, id) => id)
      for (const id of [0, width >> 1, width - 1]) {
        expect(sampleRow(logits, rowOf(width, { mask: [id, 0], temperature: 0 })).token).toBe(id)
      }
    }
  })

  test("S1-18, S4-T05: the same seed gives the same 16 tokens, another seed others", () => {
    const write = (seed: number) => {
      const output: number[] = []
      while (output.length < 16) {
        const logits = Float32Array.from({ length: 50 }, (_, id) => Math.sin(id * (1 + (output.at(-1) ?? 0))))
        output.push(sampleRow(logits, rowOf(50, { seed, output })).token)
      }
      return output
    }
    expect(write(1)).toEqual(write(1))
    expect(write(1)).not.toEqual(write(2))
  })

  test("S4-T10: entropy rises with temperature, and temperature 100 is nearly uniform", () => {
    const base = rowOf(4, { seed: 1 })
    const counts = [0, 0, 0, 0]
    for (let position = 0; position < 2000; position++) {
      const row = { ...base, position, params: { ...base.params, temperature: 100 } }
      counts[sampleRow(Float32Array.of(1, 2, 3, 4), row).token]++
    }
    for (const count of counts) expect(count).toBeGreaterThanOrEqual(300)
    const entropies = [0.2, 0.5, 1, 1.5, 2].map((temperature) => {
      const law = probabilities(lawOf(Float32Array.of(1, 2, 3, 4), rowOf(4, { temperature })))
      return law.reduce((sum, [, p]) => sum - p * Math.log(p), 0)
    })
    expect(entropies).toEqual(entropies.toSorted((a, b) => a - b))
  })

  test("S1-20: a filter after the mask never empties the row", () => {
    const options = { bits: 0b1000, topK: 1, topP: 0.1, minP: 1 }
    expect(kept([9, 8, 7, -50], { ...options, bits: 0b1100 })).toEqual([2])
    expect(sample([9, 8, 7, -50], options).token).toBe(3)
  })
})

describe("rarer stages", () => {
  test("eta keeps what the entropy of the row lets through", () => {
    // H = ln 2 of two equal tokens; √η·e^−H = .1·.5.
    expect(kept([0, 0, Math.log(0.04 * 2)], { etaCutoff: 0.01 })).toEqual([0, 1, 2])
    expect(kept([0, 0, -9], { etaCutoff: 0.01 })).toEqual([0, 1])
  })

  test("dynamic temperature is the upper end on a flat row and nearly the lower on a peaked one", () => {
    const values = (logits: readonly number[]) =>
      Array.from(lawOf(Float32Array.from(logits), rowOf(2, { dynatempRange: 0.5 })).candidates.values)
    expect(values([3, 3])).toEqual([2, 2])
    const [first] = values([30, 0])
    expect(first).toBeCloseTo(60, 3)
  })

  test("XTC draws its own scalar: at probability .5 about half of the rows lose their head", () => {
    let lost = 0
    for (let position = 0; position < 1000; position++) {
      const law = kept([0, 0.1], { xtcProbability: 0.5, xtcThreshold: 0.3, position, seed: 3 })
      if (law.length === 1) lost++
    }
    expect(Math.abs(lost - 500)).toBeLessThan(100)
  })

  test("mirostat leaves μ alone where the mask leaves one token, and reports the surprise", () => {
    const forced = rowOf(3, { mirostat: 2, bits: 0b010 })
    sampleRow(Float32Array.of(1, 2, 3), forced)
    expect(forced.tokens.muBefore(1, 10)).toBe(10)
    const free = rowOf(3, { mirostat: 2 })
    const { surprise } = sampleRow(Float32Array.of(0, 0, 0), free)
    expect(surprise).toBeCloseTo(Math.log2(3), 9)
    expect(free.tokens.muBefore(1, 10)).toBeCloseTo(10 - 0.1 * (Math.log2(3) - 5), 9)
  })

  test("contrastive decoding needs its second row, and its greedy choice is the contrast's", () => {
    expect(() => sample([1, 2], { contrastive: {} })).toThrow(/needs the logits of a second model/)
    expect(sample([3, 2, 1, 0], { contrastive: {}, amateur: [4, 0, 1, 1], temperature: 0 }).token).toBe(1)
  })

  test("S4-02: an order of one's own is a permutation, and stages that are off change nothing", () => {
    const names = [
      "temperature",
      "top_k",
      "top_p",
      "penalties",
      "dry",
      "top_n_sigma",
      "min_p",
      "typical_p",
      "xtc",
    ]
    const logits = [1, 2, 3, 4, 5]
    expect(sample(logits, { samplerOrder: names, seed: 5 })).toEqual(sample(logits, { seed: 5 }))
    expect(kept(logits, { samplerOrder: names, topK: 2, presencePenalty: 2, output: [4] })).toEqual([3, 4])
  })
})

describe("S1-16: log-probabilities", () => {
  test("named ids stand beside the chosen one, impossible ones at −9999 without a rank", () => {
    const { logprobs } = sample([2, 1, 0], {
      bits: 0b011,
      temperature: 0,
      logprobs: 0,
      logprobTokenIds: [1, 2],
    })
    expect(logprobs!.token).toBe(0)
    expect(logprobs!.top).toEqual([])
    expect(logprobs!.named.map(({ token, rank }) => [token, rank])).toEqual([
      [1, 2],
      [2, 0],
    ])
    expect(logprobs!.named[1].logprob).toBe(-9999)
  })

  test("−1 lists all, in pinned order, and their probabilities are one", () => {
    const { logprobs } = sample([2, 2, 0, 1], { logprobs: -1 })
    expect(logprobs!.top.map(({ token }) => token)).toEqual([0, 1, 3, 2])
    expect(logprobs!.top.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 12)
  })
})
