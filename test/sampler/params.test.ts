/** Every parameter: its off values are off, its bounds hold, and what is out of range is refused by its wire name. */
import { describe, expect, test } from "vitest"
import {
  greedyParams,
  isGreedy,
  resolveParams,
  SamplingError,
  type SamplingOptions,
} from "../../sampler/params.ts"

const width = 100

describe("S0-15, S2-26, S4-05, S4-T12: refused by name", () => {
  test.each<[string, SamplingOptions, string]>([
    ["temperature", { temperature: -0.1 }, "temperature: -0.1 is outside 0 to 1000000"],
    ["temperature", { temperature: Number.NaN }, "temperature: NaN is not a finite number"],
    ["temperature", { temperature: 1_000_001 }, "temperature: 1000001 is outside 0 to 1000000"],
    ["top_k", { topK: -2 }, "top_k: -2 is not an integer ≥ -1"],
    ["top_k", { topK: 1.5 }, "top_k: 1.5 is not an integer ≥ -1"],
    ["top_p", { topP: 0 }, "top_p: 0 is not above 0 and at most 1; for greedy decoding use temperature 0"],
    ["top_p", { topP: 1.1 }, "top_p: 1.1 is not above 0"],
    ["min_p", { minP: 1.5 }, "min_p: 1.5 is outside 0 to 1"],
    ["typical_p", { typicalP: 0 }, "typical_p: 0"],
    ["top_n_sigma", { topNSigma: Infinity }, "top_n_sigma: Infinity"],
    ["epsilon_cutoff", { epsilonCutoff: 1 }, "epsilon_cutoff: 1 is not from 0 to below 1"],
    ["eta_cutoff", { etaCutoff: -1 }, "eta_cutoff: -1"],
    ["xtc_probability", { xtcProbability: 2 }, "xtc_probability: 2"],
    ["xtc_threshold", { xtcThreshold: -1 }, "xtc_threshold: -1"],
    ["mirostat", { mirostat: 3 }, "mirostat: 3 is not an integer from 0 to 2"],
    ["mirostat_tau", { mirostatTau: 0 }, "mirostat_tau: 0"],
    ["mirostat_eta", { mirostatEta: 2 }, "mirostat_eta: 2"],
    ["repetition_penalty", { repetitionPenalty: 0 }, "repetition_penalty: 0 is not above 0"],
    ["frequency_penalty", { frequencyPenalty: 2.5 }, "frequency_penalty: 2.5 is outside -2 to 2"],
    ["presence_penalty", { presencePenalty: -3 }, "presence_penalty: -3"],
    ["penalty_window", { penaltyWindow: 0 }, "penalty_window: 0"],
    ["penalty_exempt", { penaltyExempt: "all" }, "penalty_exempt: all is none of none, structural"],
    ["dry_multiplier", { dryMultiplier: -1 }, "dry_multiplier: -1"],
    ["dry_base", { dryBase: 0.5 }, "dry_base: 0.5"],
    ["dry_allowed_length", { dryAllowedLength: 0 }, "dry_allowed_length: 0"],
    ["dry_last_n", { dryLastN: -2 }, "dry_last_n: -2"],
    ["dry_sequence_breakers", { dryMultiplier: 1, drySequenceBreakers: ["x"] }, "there is no tokenizer here"],
    ["no_repeat_ngram_size", { noRepeatNgramSize: -1 }, "no_repeat_ngram_size: -1"],
    ["logit_bias", { logitBias: { 100: 1 } }, "logit_bias: 100 is not an integer from 0 to 99"],
    ["logit_bias", { logitBias: { 1: 101 } }, "logit_bias: 101 is outside -100 to 100"],
    ["logit_bias", { logitBias: [[100, 1]] }, "logit_bias: 100 is not an integer from 0 to 99"],
    ["logit_bias", { logitBias: [[1, true]] as never }, "a member of the list is not a pair of a token"],
    ["logit_bias", { logitBias: [1, 2] as never }, "a member of the list is not a pair of a token"],
    [
      "logit_bias",
      { logitBias: "x" as never },
      "neither an object of biases by token id nor a list of pairs",
    ],
    ["logit_bias", { logitBias: [["", 1]] }, "an empty text has no token"],
    ["logit_bias", { logitBias: [["a", 1]] }, "there is no tokenizer here: name tokens by their ids"],
    [
      "logit_bias",
      {
        logitBias: [
          [1, 60],
          [1, 60],
        ],
      },
      "logit_bias: 120 is outside -100 to 100",
    ],
    ["allowed_token_ids", { allowedTokenIds: [] }, "an empty list allows nothing"],
    ["allowed_token_ids", { allowedTokenIds: [-1] }, "allowed_token_ids: -1"],
    ["bad_words", { badWords: [""] }, "an empty string would ban everything: leave it out"],
    ["bad_words", { badWordIds: [[100]] }, "bad_words: 100"],
    ["min_tokens", { minTokens: -1 }, "min_tokens: -1"],
    ["stop_token_ids", { stopTokenIds: [100] }, "stop_token_ids: 100"],
    ["seed", { seed: 2 ** 53 }, "is not an exact integer: send it as digits or as a bigint"],
    ["seed", { seed: "9223372036854775808" }, "does not fit 64 bits"],
    ["seed", { seed: "1.5" }, "is not an exact integer"],
    ["logprobs", { logprobs: 21 }, "logprobs: 21 is not an integer from -1 to 20"],
    ["logprob_token_ids", { logprobTokenIds: [100] }, "logprob_token_ids: 100"],
    ["logprobs_mode", { logprobsMode: "raw" }, "logprobs_mode: raw is none of raw_logprobs"],
    ["dynatemp_range", { dynatempRange: -1 }, "dynatemp_range: -1 is below 0"],
    ["dynatemp_exponent", { dynatempExponent: 0 }, "dynatemp_exponent: 0"],
    ["contrastive.alpha", { contrastive: { alpha: 0 } }, "contrastive.alpha: 0"],
    ["contrastive.beta", { contrastive: { beta: -1 } }, "contrastive.beta: -1"],
    ["sampler_order", { samplerOrder: "vlllm" }, 'is not "vllm", "llamacpp" or a permutation'],
    ["sampler_order", { samplerOrder: ["top_k"] }, "permutation of penalties, dry, temperature"],
    ["top_p", { mirostat: 2, topP: 0.9 }, "top_p: 0.9 has no effect with mirostat 2: leave one out"],
    ["min_p", { mirostat: 1, minP: 0.1 }, "has no effect with mirostat 1"],
  ])("%s %j", (param, options, message) => {
    let error: unknown
    try {
      resolveParams(options, { width })
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(SamplingError)
    expect((error as SamplingError).param).toBe(param)
    expect((error as SamplingError).message).toContain(message)
    expect((error as SamplingError).message.startsWith(`${param}: `)).toBe(true)
  })

  test("texts are bounded before a tokenizer sees one of them", () => {
    let encodedCount = 0
    const encode = () => {
      encodedCount++
      return [[1]]
    }
    const context = { width, encodeBadWord: encode, encodeBreaker: encode }
    const refused = (options: SamplingOptions) => expect(() => resolveParams(options, context))
    refused({ badWords: ["x".repeat(8_193)] }).toThrow(
      "bad_words: 8193 UTF-16 units in all are more than 8192",
    )
    refused({ dryMultiplier: 1, drySequenceBreakers: Array(65).fill("x") }).toThrow("65 are more than 64")
    refused({ dryMultiplier: 1, drySequenceBreakers: ["x".repeat(1_025)] }).toThrow(
      "1025 UTF-16 units in all",
    )
    expect(encodedCount).toBe(0)
    resolveParams({ badWords: ["x".repeat(8_192)], dryMultiplier: 1 }, context)
    expect(encodedCount).toBe(5)
  })

  test("a text of megabytes makes a short message", () => {
    const long = "1".repeat(4_000_000)
    for (const options of [{ seed: long }, { samplerOrder: long }, { logprobsMode: long }]) {
      let message = ""
      try {
        resolveParams(options, { width })
      } catch (error) {
        message = (error as Error).message
      }
      expect(message.length).toBeGreaterThan(0)
      expect(message.length).toBeLessThan(300)
    }
  })

  test("more than the bounds of lists", () => {
    const ids = Array.from({ length: 1025 }, (_, id) => id)
    const bias = new Map(ids.map((id) => [id, 1]))
    expect(() => resolveParams({ logitBias: bias }, { width: 2000 })).toThrow(/1025 ids are more than 1024/)
    expect(() => resolveParams({ badWordIds: [ids] }, { width: 2000 })).toThrow(/1025 tokens in all/)
    expect(() => resolveParams({ stopTokenIds: ids.slice(0, 129) }, { width: 2000 })).toThrow(
      /129 are more than 128/,
    )
    const words = ids.slice(0, 129).map(String)
    expect(() => resolveParams({ badWords: words }, { width })).toThrow(/129 are more than 128/)
  })
})

test("pairs of a bias: ids, texts for each of their tokens, and false, which bans", () => {
  const encodeText = (text: string) => [...text].map((letter) => letter.charCodeAt(0) - 97)
  const { biasIds, biasValues, badWords } = resolveParams(
    {
      logitBias: [
        [7, 2],
        ["ab", -1],
        [1, 3],
        ["c", false],
        [9, false],
      ],
    },
    { width, encodeText },
  )
  expect([[...biasIds], [...biasValues], badWords]).toEqual([
    [0, 1, 7],
    [-1, 2, 2],
    [[2], [9]],
  ])
})

describe("off values and defaults", () => {
  test("S1-07: all spellings of no top-k", () => {
    for (const topK of [0, -1, null, undefined, 100, 5000])
      expect(resolveParams({ topK }, { width }).topK).toBe(0)
    expect(resolveParams({ topK: 1 }, { width: 1 }).topK).toBe(1)
  })

  test("null is as good as missing, and unknown fields are someone else's", () => {
    const nulls = { temperature: null, topP: null, seed: null, logitBias: null, minP: null, unknown: 5 }
    expect(resolveParams(nulls, { width })).toEqual(resolveParams({}, { width }))
    const { temperature, topP, topK, minP, repetitionPenalty, logprobs, seed } = resolveParams({}, { width })
    expect([temperature, topP, topK, minP, repetitionPenalty, logprobs, seed]).toEqual([
      1,
      1,
      0,
      0,
      1,
      null,
      0n,
    ])
  })

  test("S4-10: the context's seed is the default, the request's wins; −1 is random, that is, the default", () => {
    expect(resolveParams({}, { width, seed: 42n }).seed).toBe(42n)
    expect(resolveParams({ seed: -1 }, { width, seed: 42n }).seed).toBe(42n)
    expect(resolveParams({ seed: 7 }, { width, seed: 42n }).seed).toBe(7n)
    expect(resolveParams({ seed: "-9223372036854775808" }, { width }).seed).toBe(-(2n ** 63n))
  })

  test("S4-03, S4-T01, S4-04, S4-T03: what is greedy", () => {
    expect(isGreedy(greedyParams(width))).toBe(true)
    expect(isGreedy(resolveParams({ topK: 1, topP: 0.5 }, { width }))).toBe(true)
    expect(isGreedy(resolveParams({ temperature: 1e-6 }, { width }))).toBe(true)
    expect(isGreedy(resolveParams({ temperature: 0.01 }, { width }))).toBe(false)
    // The row function has no edge: what is no temperature is greedy.
    expect(isGreedy({ ...resolveParams({}, { width }), temperature: -1 })).toBe(true)
    expect(isGreedy({ ...resolveParams({}, { width }), temperature: Number.NaN })).toBe(true)
  })

  test("strings are encoded by the caller's tokenizer", () => {
    const encodeBadWord = (text: string) => [[text.length], [9, text.length]]
    const { badWords } = resolveParams({ badWords: ["abc"], badWordIds: [[1]] }, { width, encodeBadWord })
    expect(badWords).toEqual([[1], [3], [9, 3]])
    const encodeBreaker = (text: string) => [[text.charCodeAt(0)]]
    const dry = { dryMultiplier: 1 }
    expect(resolveParams(dry, { width, encodeBreaker }).dryBreakers).toEqual([[10], [58], [34], [42]])
    const own = { ...dry, drySequenceBreakers: ["!"] }
    expect(resolveParams(own, { width, encodeBreaker }).dryBreakers).toEqual([[33]])
    expect(resolveParams({}, { width, encodeBreaker }).dryBreakers).toEqual([])
  })

  test("llama.cpp's order has its window of 64 unless another is given", () => {
    expect(resolveParams({ samplerOrder: "llamacpp" }, { width }).penaltyWindow).toBe(64)
    expect(resolveParams({ samplerOrder: "llamacpp", penaltyWindow: 5 }, { width }).penaltyWindow).toBe(5)
    expect(resolveParams({}, { width }).penaltyWindow).toBeNull()
  })
})
