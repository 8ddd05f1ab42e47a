/**
 * The published vectors: random bits to the bit, surviving sets of each filter, values after the penalties, draws. Whoever
 * implements the specification again has to reproduce these.
 */
import { describe, expect, test } from "vitest"
import { lawOf, sampleRow } from "../../sampler/cpu.ts"
import { dryPenalties } from "../../sampler/dry.ts"
import { gumbel, philox4x32, type RowKey, rowKey, tokenBits, uniform } from "../../sampler/rng.ts"
import { createCpuSampler } from "../../sampler/sampler.ts"
import { survivors } from "../../sampler/truncation.ts"
import { probabilities } from "../support/sampler/law.ts"
import { type RowOptions, rowOf } from "../support/sampler/rows.ts"

const { log } = Math
const P4 = [log(0.1), log(0.2), log(0.3), log(0.4)]
const D4 = [log(0.4), log(0.3), log(0.2), log(0.1)]
const hex = (words: readonly number[]) => words.map((word) => word.toString(16).padStart(8, "0")).join(" ")
const law = (logits: readonly number[], options: RowOptions) =>
  probabilities(lawOf(Float32Array.from(logits), rowOf(logits.length, options)))
const kept = (logits: readonly number[], options: RowOptions) => law(logits, options).map(([id]) => id)

describe("random bits", () => {
  test.each([
    [[0, 0, 0, 0], [0, 0], "6627e8d5 e169c58d bc57ac4c 9b00dbd8"],
    [Array(4).fill(0xffffffff), Array(2).fill(0xffffffff), "408f276d 41c83b0e a20bc7c6 6d5451fd"],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      "d16cfe09 94fdcceb 5001e420 24126ea1",
    ],
  ])("Philox4x32-10 of %j under %j", (counter, key, expected) => {
    expect(hex(philox4x32(counter as unknown as RowKey, key as [number, number]))).toBe(expected)
  })

  test.each([
    [42n, 0, 0, 0, "504869e6 4c23f009 d2254b54 71c970da"],
    [42n, 1, 0, 0, "50577131 2fa918e1 ee20908c 04cc69e5"],
    [-1n, 7, 0, 3, "2378c570 941e8d63 aa4cf23a 220c41c1"],
    [0x123456789abcdef0n, 100000, 2, 1, "8b9af501 7a2bb45e 29c7d25d fa565c50"],
  ])("row key of seed %s, position %i, stream %i, choice %i", (seed, position, stream, choice, expected) => {
    expect(hex(rowKey(seed, position, stream, choice))).toBe(expected)
  })

  test.each([
    [0, 1, 0.4406988593212958],
    [0, 3, 0.9749535845049038],
    [5, 1, 0.0796328223776881],
  ])("scalar of seed 42, position %i, stream %i", (position, stream, expected) => {
    expect(uniform(rowKey(42n, position, stream, 0))).toBe(expected)
  })

  test.each([
    [0, "427c30ca", 1.2016093],
    [1, "6726bba5", 0.662174],
    [2, "87b70ddb", 0.2806218],
    [3, "ff5aebc9", -1.7890777],
    [4, "6fb997bb", 0.556074],
    [31, "2a3a43c4", 1.7133243],
    [32, "6f34b4f5", 0.5623565],
    [1000, "4a77c2db", 1.0678567],
    [65535, "c2f1e96b", -0.3600505],
    [128255, "00a2ad34", 5.9973484],
    [255999, "014b073a", 5.2856203],
  ])("token %i: bits and noise", (token, bits, noise) => {
    const m = tokenBits(token, rowKey(42n, 0, 0, 0))
    expect(hex([m])).toBe(bits)
    expect(gumbel(m)).toBeCloseTo(noise, 7)
  })

  test.each([
    [0, 22.873856958],
    [1, 21.77524467],
    [255, 16.637487339],
    [65535, 11.090354889],
    [2 ** 24, 5.543221103],
    [2 ** 28 - 1, 2.740493008],
    [2 ** 28, 2.740493005],
    [2 ** 31, 0.36651292],
    [2 ** 32 - 1, -3.129994641],
  ])("noise of bits %i", (bits, expected) => expect(gumbel(bits)).toBeCloseTo(expected, 9))

  test.each([
    [10, 194987],
    [12, 26389],
    [14, 3571],
    [16, 483],
    [18, 65],
    [20, 9],
    [22, 1],
    [22.9, 0],
  ])(
    "S3-01: the tail of the noise reaches beyond 16 nats: %f is passed by %i of 2^32 bits",
    (x, expected) => {
      let low = 0
      let high = 2 ** 20
      // The noise falls as the bits rise, so the bits above x are a prefix.
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        if (gumbel(middle) > x) low = middle + 1
        else high = middle
      }
      expect(low).toBe(expected)
    },
  )
})

describe("draws of [2, 1.5, 1, .5, 0, −.5, −1, −1.5] at positions 0 to 15", () => {
  test.each<[string, RowOptions, string]>([
    ["seed 42", { seed: 42 }, "0,0,1,2,0,1,1,1,2,2,0,2,0,2,0,0"],
    ["choice 1", { seed: 42, choice: 1 }, "2,2,1,1,0,2,2,2,1,1,6,3,2,2,1,0"],
    ["seed 43", { seed: 43 }, "0,0,1,1,3,1,0,3,1,6,2,2,4,4,4,0"],
    ["seed −5", { seed: -5 }, "0,0,0,0,1,0,0,1,0,1,0,1,4,1,2,0"],
    ["seed 2^40 + 7", { seed: 2n ** 40n + 7n }, "0,0,2,7,1,1,0,0,1,1,1,5,2,0,1,0"],
    [
      "T .7, k 3, p .9",
      { seed: 42, temperature: 0.7, topK: 3, topP: 0.9 },
      "0,0,1,1,0,1,1,1,2,2,0,2,0,2,0,0",
    ],
    ["T 2", { seed: 42, temperature: 2 }, "6,5,1,3,7,1,1,1,2,2,0,2,0,2,3,0"],
    ["mask 0xAA", { seed: 42, bits: 0xaa }, "1,5,1,1,1,1,1,1,3,3,1,1,1,3,1,1"],
  ])("%s", async (_, options, expected) => {
    const logits = Float32Array.of(2, 1.5, 1, 0.5, 0, -0.5, -1, -1.5)
    const rows = Array.from({ length: 16 }, (_, position) => rowOf(8, { ...options, position }))
    expect(rows.map((row) => sampleRow(logits, row).token).join()).toBe(expected)
    expect((await createCpuSampler().sample(logits, 8, rows)).map(({ token }) => token).join()).toBe(expected)
  })
})

describe("surviving ids in pinned order", () => {
  const equal4 = [0, 0, 0, 0]
  test.each<[string, readonly number[], RowOptions, number[]]>([
    ["S0-08: top-k 1 is greedy", P4, { topK: 1 }, [3]],
    ["S0-08: top-k 3", P4, { topK: 3 }, [3, 2, 1]],
    ["S0-08: top-k 0 is off", P4, { topK: 0 }, [3, 2, 1, 0]],
    ["S1-07, S4-05: top-k of the width is off", P4, { topK: 4 }, [3, 2, 1, 0]],
    ["S2-09: exactly k among ties, lowest ids", [1, 2, 2, 2, 0], { topK: 2 }, [1, 2]],
    ["S2-09: four equal, k 2", equal4, { topK: 2 }, [0, 1]],
    ["S0-09: top-p .7", P4, { topP: 0.7 }, [3, 2]],
    ["S0-10: top-p .8 keeps the token that crosses", P4, { topP: 0.8 }, [3, 2, 1]],
    ["top-p 1 is off", P4, { topP: 1 }, [3, 2, 1, 0]],
    ["S1-08: four equal .25, ≥ removes", equal4, { topP: 0.25 }, [0]],
    ["S4-06: four equal .25, > removes", equal4, { topP: 0.25, boundary: "gt" }, [0, 1]],
    ["S1-08: four equal .5, ≥ removes", equal4, { topP: 0.5 }, [0, 1]],
    ["S4-06: four equal .5, > removes", equal4, { topP: 0.5, boundary: "gt" }, [0, 1, 2]],
    ["four equal .51", equal4, { topP: 0.51 }, [0, 1, 2]],
    ["top-p .8 with ties", [log(0.15), log(0.3), log(0.3), log(0.25)], { topP: 0.8 }, [1, 2, 3]],
    ["S1-20, S3-08: the mask comes before top-p", D4, { bits: 0b1110, topP: 0.6 }, [1, 2]],
    ["S2-11, S4-T08: top-p on the k renormalised", P4, { topK: 2, topP: 0.57 }, [3]],
    ["S2-11, S4-T08: top-p on the k renormalised, .58", P4, { topK: 2, topP: 0.58 }, [3, 2]],
    ["S0-05: temperature before top-p", P4, { temperature: 2, topP: 0.65 }, [3, 2, 1]],
    ["order llamacpp: top-p first", P4, { temperature: 2, topP: 0.65, samplerOrder: "llamacpp" }, [3, 2]],
    ["temperature before min-p", P4, { temperature: 2, minP: 0.6 }, [3, 2, 1]],
    ["order llamacpp: min-p first", P4, { temperature: 2, minP: 0.6, samplerOrder: "llamacpp" }, [3, 2]],
    ["S1-17: min-p 0 is off", P4, { minP: 0 }, [3, 2, 1, 0]],
    ["S1-17: min-p .24", P4, { minP: 0.24 }, [3, 2, 1, 0]],
    ["S1-17: min-p .26", P4, { minP: 0.26 }, [3, 2, 1]],
    ["S1-17: min-p .49", P4, { minP: 0.49 }, [3, 2, 1]],
    ["S1-17: min-p .51", P4, { minP: 0.51 }, [3, 2]],
    ["S1-17: min-p .74", P4, { minP: 0.74 }, [3, 2]],
    ["S1-17: min-p .76", P4, { minP: 0.76 }, [3]],
    ["S1-17: min-p 1", P4, { minP: 1 }, [3]],
    ["top-nσ 1", P4, { topNSigma: 1 }, [3, 2]],
    ["top-nσ 3", P4, { topNSigma: 3 }, [3, 2, 1, 0]],
    ["top-nσ without masked tokens", [5, 4, 0, 0, -100, -100], { topNSigma: 1, bits: 0b1111 }, [0, 1]],
    ["top-nσ over all", [5, 4, 0, 0, -100, -100], { topNSigma: 1 }, [0, 1, 2, 3]],
    ["typical .5, one likely", [log(0.97), log(0.01), log(0.01), log(0.01)], { typicalP: 0.5 }, [0]],
    [
      "typical .5, the likeliest is untypical",
      [log(0.4), log(0.2), log(0.2), log(0.2)],
      { typicalP: 0.5 },
      [1, 2, 3],
    ],
    ["XTC .09", D4, { xtcProbability: 1, xtcThreshold: 0.09 }, [3]],
    ["XTC .19", D4, { xtcProbability: 1, xtcThreshold: 0.19 }, [2, 3]],
    ["XTC .29", D4, { xtcProbability: 1, xtcThreshold: 0.29 }, [1, 2, 3]],
    ["XTC .39", D4, { xtcProbability: 1, xtcThreshold: 0.39 }, [0, 1, 2, 3]],
    ["XTC above .5 is off", D4, { xtcProbability: 1, xtcThreshold: 0.51 }, [0, 1, 2, 3]],
    ["epsilon .15", P4, { epsilonCutoff: 0.15 }, [3, 2, 1]],
    ["epsilon keeps the first", [0, 0, 0, 0], { epsilonCutoff: 0.9 }, [0]],
    [
      "mirostat 2, τ 1.1",
      [log(0.5), log(0.25), log(0.125), log(0.125)],
      { mirostat: 2, mirostatTau: 1.1 },
      [0, 1],
    ],
    [
      "mirostat 1 finds k 10 in a Zipf row",
      Array.from({ length: 1000 }, (_, i) => -1.2 * log(i + 1)),
      { mirostat: 1, mirostatTau: 3 },
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    ],
    [
      "S4-12: contrastive bans the implausible",
      [3, 2, 1, 0],
      { contrastive: {}, amateur: [4, 0, 1, 1] },
      [1, 0, 2],
    ],
    ["n-gram 2", [0, 0, 0], { noRepeatNgramSize: 2, output: [1, 1, 2, 1] }, [0]],
    ["n-gram 3", [0, 0, 0], { noRepeatNgramSize: 3, output: [1, 1, 2, 1] }, [0, 1, 2]],
    [
      "n-gram 2 over prompt and output",
      [0, 0],
      { noRepeatNgramSize: 2, prompt: [0, 1], output: [0, 1] },
      [1],
    ],
    [
      "n-gram 3 over prompt and output",
      [0, 0],
      { noRepeatNgramSize: 3, prompt: [0, 1], output: [0, 1] },
      [1],
    ],
  ])("%s", (_, logits, options, expected) => expect(kept(logits, options)).toEqual(expected))

  const badWordIds = [[1], [4], [1, 0], [0, 1, 2], [1, 3, 1, 3]]
  test.each<[number[], number[]]>([
    [
      [0, 1, 3, 1],
      [2, 4],
    ],
    [
      [0, 1, 0, 1],
      [3, 4],
    ],
  ])("bad words after %j leave %j", (output, expected) => {
    expect(kept(Array(5).fill(0), { badWordIds, endIds: [4], output })).toEqual(expected)
  })
})

describe("values and probabilities", () => {
  const close = (actual: readonly number[], expected: readonly number[], digits = 6) => {
    expect(actual.length).toBe(expected.length)
    for (const [at, value] of expected.entries()) expect(actual[at]).toBeCloseTo(value, digits)
  }
  const values = (logits: readonly number[], options: RowOptions) => {
    const { candidates } = lawOf(Float32Array.from(logits), rowOf(logits.length, options))
    return survivors(candidates).map((id) => candidates.values[id])
  }

  test("probabilities of top-k 3 and top-p .7", () => {
    close(
      law(P4, { topK: 3 }).map(([, p]) => p),
      [0.4444444, 0.3333333, 0.2222222],
    )
    close(
      law(P4, { topP: 0.7 }).map(([, p]) => p),
      [0.5714286, 0.4285714],
    )
  })

  const mixed = { repetitionPenalty: 2, frequencyPenalty: 0.5, presencePenalty: 0.25 }
  test.each<[string, readonly number[], RowOptions, number[]]>([
    [
      "S2-31, S0-11, S1-04, S1-05, S2-02, S2-06: all three",
      [2, -2, 0.5, 1, -1],
      { ...mixed, prompt: [0, 1], output: [1, 2, 2] },
      [1, -4.75, -1, 1, -1],
    ],
    [
      "the sign is read after the bias",
      [2, -2, 0.5, 1, -1],
      { ...mixed, logitBias: { 0: -3, 4: 4 }, prompt: [0, 1, 4], output: [1, 2, 2] },
      [-2, -4.75, -1, 1, 1.5],
    ],
    ["S1-03: r 2", [2, -2, 3], { repetitionPenalty: 2, prompt: [0, 1] }, [1, -4, 3]],
    ["S1-03: r .5", [2, -2, 3], { repetitionPenalty: 0.5, prompt: [0, 1] }, [4, -1, 3]],
    ["contrastive", [3, 2, 1, 0], { contrastive: {}, amateur: [4, 0, 1, 1] }, [2.5, 3, 1]],
  ])("%s", (_, logits, options, expected) => expect(values(logits, options)).toEqual(expected))

  test("frequency 5 and presence 5 on five equal tokens", () => {
    const options = { output: [0, 1, 2, 0, 0] }
    const row = rowOf(5, options)
    const params = { ...row.params, frequencyPenalty: 5, presencePenalty: 5 }
    const found = probabilities(lawOf(Float32Array.from(Array(5).fill(log(0.2))), { ...row, params }))
    const byId = found.sort((a, b) => a[0] - b[0]).map(([, p]) => p)
    close(byId, [0, 0.000023, 0.000023, 0.499977, 0.499977])
  })

  test.each<[string, number, RowOptions, number[]]>([
    [
      "repeats [0, 1]",
      4,
      { dryMultiplier: 1, output: [0, 1, 2, 0, 1] },
      [0.296923, 0.296923, 0.109232, 0.296923],
    ],
    [
      "multiplier 2",
      5,
      { dryMultiplier: 2, output: [0, 1, 2, 0, 1] },
      [0.241818, 0.241818, 0.032727, 0.241818, 0.241818],
    ],
    ["nothing repeated", 2, { dryMultiplier: 1, output: [0, 1] }, [0.5, 0.5]],
    [
      "a breaker in between",
      5,
      { dryMultiplier: 1, drySequenceBreakerIds: [[3]], output: [0, 1, 3, 4, 0, 1] },
      [0.2, 0.2, 0.2, 0.2, 0.2],
    ],
    [
      "shorter than allowed",
      5,
      { dryMultiplier: 1, dryAllowedLength: 4, output: [0, 1, 2, 3, 4, 0, 1] },
      [0.2, 0.2, 0.2, 0.2, 0.2],
    ],
  ])("DRY, base 1.1: %s", (_, width, options, expected) => {
    const found = law(Array(width).fill(0), { dryBase: 1.1, ...options }).sort((a, b) => a[0] - b[0])
    close(
      found.map(([, p]) => p),
      expected,
    )
  })

  test("DRY takes the longest repetition of each id, and only behind the last breaker of several tokens", () => {
    const tokens = rowOf(9, { output: [1, 2, 3, 4, 2, 3, 5, 1, 2, 3] }).tokens
    const { params } = rowOf(9, { dryMultiplier: 1, dryBase: 2 })
    expect([...dryPenalties(tokens, params)].sort()).toEqual([
      [4, 2],
      [5, 1],
    ])
    const broken = rowOf(9, { dryMultiplier: 1, dryBase: 2, drySequenceBreakerIds: [[5, 1]] }).params
    expect([...dryPenalties(tokens, broken)].sort()).toEqual([
      [4, 1],
      [5, 1],
    ])
  })

  test.each<[number, number]>([
    [0, 2.251504],
    [1, 2.151504],
  ])("S4-11: mirostat 2, token %i moves μ to %f", (token, mu) => {
    const logits = Float32Array.from([log(0.5), log(0.25), log(0.125), log(0.125)])
    for (let seed = 0; ; seed++) {
      const row = rowOf(4, { mirostat: 2, mirostatTau: 1.1, seed })
      if (sampleRow(logits, row).token !== token) continue
      expect(row.tokens.muBefore(1, 0)).toBeCloseTo(mu, 6)
      break
    }
  })

  test.each<[string, RowOptions, number[]]>([
    ["unmasked_logprobs", { bits: 0b011 }, [-0.407606, -1.407606, -2.407606]],
    ["raw_logprobs", { bits: 0b011 }, [-0.313262, -1.313262]],
    ["processed_logprobs", { bits: 0b011, temperature: 0.5 }, [-0.126928, -2.126928]],
    ["raw_logits", { bits: 0b011 }, [2, 1]],
    ["processed_logits", { bits: 0b011, temperature: 0.5 }, [4, 2]],
  ])("S1-02, S3-07: %s of [2, 1, 0]", (logprobsMode, options, expected) => {
    const row = rowOf(3, { ...options, logprobsMode, logprobs: 3 })
    const { logprobs } = sampleRow(Float32Array.of(2, 1, 0), row)
    close(
      logprobs!.top.map(({ logprob }) => logprob),
      expected,
    )
    expect(logprobs!.top.map(({ rank }) => rank)).toEqual(expected.map((_, at) => at + 1))
  })
})
