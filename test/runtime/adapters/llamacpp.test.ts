/** Tokens drawn from few logits, against tokens drawn from all of them. */
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { applyMask, bindGrammar, Matcher, parseVocabulary, Vocabulary } from "../../../mask/index.ts"
import {
  type LlamaCppOptions,
  type LlamaCppSequence,
  llamaCppTokens,
  llamaCppVocabulary,
} from "../../../runtime/adapters/llamacpp.ts"
import { createCpuSampler, resolveParams, TokenCounts } from "../../../sampler/index.ts"
import { randomOf } from "../../support/oracle.ts"

const json = JSON.parse(readFileSync("runtime/embedded/tokenizer.json", "utf8"))
const shipped = parseVocabulary(json, null, { width: 8000, endIds: [2] })
/** The bytes and the most frequent tokens. */
const vocabulary = Vocabulary.fromBytes(
  Array.from({ length: 1000 }, (_, id) => shipped.bytes(id)),
  { endIds: [2] },
)
const { width } = vocabulary

interface Asked {
  logits: true | { filter: { tokens: number[] } }
  options: { temperature: number; topK?: number }
}

/** Answers as node-llama-cpp does, with logits that depend on all tokens before. */
class Toy implements LlamaCppSequence {
  readonly tokens: number[] = []
  readonly asked: string[] = []
  private readonly seed: number

  constructor(seed: number) {
    this.seed = seed
  }

  get nextTokenIndex() {
    return this.tokens.length
  }

  /** Few tokens are likely, as of a model. */
  static logits(seed: number, tokens: readonly number[]): Float32Array {
    const random = randomOf(tokens.reduce((hash, token) => Math.imul(hash, 31) + token, seed))
    return Float32Array.from({ length: width }, () => 12 * random() ** 8)
  }

  async controlledEvaluate(input: (number | [token: number, options: object])[]) {
    expect(input.slice(0, -1).every((item) => typeof item === "number")).toBe(true)
    const [token, { generateNext }] = input.at(-1) as [number, { generateNext: Asked }]
    this.tokens.push(...(input.slice(0, -1) as number[]), token)
    const all = [...Toy.logits(this.seed, this.tokens).entries()]
    all.sort((a, b) => b[1] - a[1])
    const { logits, options } = generateNext
    if (logits !== true) {
      this.asked.push("few")
      return [
        ...input.slice(0, -1).map(() => undefined),
        { next: { logits: all.filter(([id]) => logits.filter.tokens.includes(id)) } },
      ]
    }
    this.asked.push(options.topK === undefined ? "all" : "top")
    return [...input.slice(0, -1).map(() => undefined), { next: { logits: all.slice(0, options.topK) } }]
  }

  async eraseContextTokenRanges([{ start, end }]: { start: number; end: number }[]) {
    expect([start, end]).toEqual([this.tokens.length - 1, this.tokens.length])
    this.tokens.pop()
  }
}

const grammars = {
  object: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        name: { type: "string", maxLength: 9 },
        age: { type: "integer", minimum: 0, maximum: 120 },
      },
      required: ["name", "age"],
    },
  },
  rare: { kind: "regex", pattern: "[b-df-hj-np-tv-z ]{12}" },
} as const

async function textOf(seed: number, name: keyof typeof grammars, options: LlamaCppOptions) {
  const toy = new Toy(seed)
  const machine = bindGrammar(compile(grammars[name]).grammar, vocabulary)
  const tokens: number[] = []
  const text = llamaCppTokens(toy, [5, 6, 7], machine, options)
  for (;;) {
    const { value, done } = await text.next()
    if (done) return { toy, machine, tokens, end: value }
    tokens.push(value)
  }
}

const ways: [string, LlamaCppOptions][] = [
  ["greedy", {}],
  ["the defaults of node-llama-cpp", { temperature: 0.8 }],
  ["few of the likeliest", { temperature: 1.5, topK: 3, topP: 1 }],
  ["more than are fetched at once", { temperature: 2, topK: 300 }],
  ["without top-k", { temperature: 1, topK: 0, minP: 0.01 }],
]

describe.each(ways)("%s", (_, options) => {
  test.each(Object.keys(grammars) as (keyof typeof grammars)[])("%s", async (name) => {
    for (let seed = 0; seed < 3; seed++) {
      const { toy, machine, tokens, end } = await textOf(seed, name, { ...options, seed, maxTokens: 40 })
      const { temperature = 0, topK = 40, topP = 0.95, minP = 0 } = options
      const params = resolveParams({ temperature, topK, topP, minP, seed }, { width })
      const matcher = new Matcher(machine)
      const mask = new Uint32Array(vocabulary.words)
      const seen = [5, 6, 7]
      const plain: number[] = []
      let plainEnd = "length"
      while (plain.length < 40) {
        matcher.fillMask(mask)
        const logits = Toy.logits(seed, seen)
        applyMask(logits, mask)
        const row = {
          logitsRow: 0,
          params,
          mask,
          tokens: new TokenCounts([]),
          position: seen.length,
          choice: 0,
        }
        const [{ token }] = await createCpuSampler().sample(logits, width, [row])
        matcher.accept(token)
        if (matcher.isTerminated()) {
          plainEnd = "stop"
          break
        }
        plain.push(token)
        seen.push(token)
      }
      expect([tokens, end]).toEqual([plain, plainEnd])
      // What is evaluated is the text, in its order; the last tokens may be missing.
      expect([5, 6, 7, ...tokens].slice(0, toy.tokens.length)).toEqual(toy.tokens)
    }
  })
})

test("each way of asking for logits is used, and forced tokens ask for none", async () => {
  const asked = new Set<string>()
  for (const seed of [1, 2, 3, 4]) {
    const { toy, tokens } = await textOf(seed, "object", { temperature: 0.8, maxTokens: 60 })
    expect(toy.asked.length).toBeLessThan(tokens.length)
    for (const way of toy.asked) asked.add(way)
  }
  expect(asked).toEqual(new Set(["few", "top", "all"]))
})

test("logits that are not numbers are an error", async () => {
  const machine = bindGrammar(compile({ kind: "choice", options: ["a", "b"] }).grammar, vocabulary)
  const logits = Array.from({ length: width }, (_, id): [number, number] => [id, Number.NaN])
  const sequence: LlamaCppSequence = {
    nextTokenIndex: 1,
    controlledEvaluate: async () => [{ next: { logits } }],
    eraseContextTokenRanges: async () => {},
  }
  await expect(llamaCppTokens(sequence, [1], machine).next()).rejects.toThrow(
    "token 1 of the sequence: the model computed logits that are not numbers",
  )
})

test("wrong uses are refused before the first token", async () => {
  const machine = bindGrammar(compile(grammars.rare).grammar, vocabulary)
  const first = (prompt: number[], options: object = {}) =>
    llamaCppTokens(new Toy(1), prompt, machine, options).next()
  await expect(first([])).rejects.toThrow("the prompt has no token")
  await expect(first([1, 1000])).rejects.toThrow(
    "the prompt has the token 1000, and the vocabulary is 1000 wide",
  )
  await expect(first([1], { topk: 3 })).rejects.toThrow("topk")
  await expect(first([1], { temperature: -1 })).rejects.toThrow("temperature")
  await expect(first([1], { maxTokens: -1 })).rejects.toThrow("maxTokens: -1 is not an integer of at least 0")
  expect(await first([1], { maxTokens: 0 })).toEqual({ done: true, value: "length" })
})

test("a vocabulary that is not the model's is refused", async () => {
  const choice = bindGrammar(compile({ kind: "choice", options: ["a", "b"] }).grammar, vocabulary)
  const answer = (logits: [number, number][]): LlamaCppSequence => ({
    nextTokenIndex: 1,
    controlledEvaluate: async () => [{ next: { logits } }],
    eraseContextTokenRanges: async () => {},
  })
  await expect(llamaCppTokens(answer([]), [1], choice).next()).rejects.toThrow("are not 1000 wide")
  await expect(llamaCppTokens(answer([[1001, 1]]), [1], choice).next()).rejects.toThrow("are not 1000 wide")
  const nothing = { ...answer([]), controlledEvaluate: async () => [] }
  await expect(llamaCppTokens(nothing, [1], choice).next()).rejects.toThrow("are not 1000 wide")
})

test("the vocabulary of a GGUF file, and of what is none", async () => {
  const vocabulary = await llamaCppVocabulary("test/decoders/llama.gguf")
  expect([vocabulary.width, vocabulary.endIds]).toEqual([288, [285]])
  await expect(llamaCppVocabulary("package.json")).rejects.toThrow("package.json")
  await expect(llamaCppVocabulary("missing.gguf")).rejects.toThrow("missing.gguf")
})
