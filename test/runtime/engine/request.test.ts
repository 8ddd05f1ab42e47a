import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { parseVocabulary } from "../../../mask/tokenizers/tokenizerjson.ts"
import { type GenerateOptions, type Prompt, readRequest } from "../../../runtime/engine/request.ts"
import { readModelDirectory } from "../../../runtime/model/folder.ts"
import { Tokenizer } from "../../../runtime/model/tokenizer.ts"
import { PromptEncoder } from "../../../runtime/prompt/encoder.ts"
import { readConstraint } from "../../../runtime/schema.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const directory = await readModelDirectory(writeTinyModel(mkdtempSync(join(tmpdir(), "model-"))))
const { tokenizerJson, tokenizerConfig, endIds } = directory
const tokenizer = new Tokenizer(
  directory,
  parseVocabulary(tokenizerJson, tokenizerConfig, { width: 261, endIds }),
)
const prompts = new PromptEncoder({ tokenizer, contextLength: 20, threads: null, promptMs: 1_000 })
const style = { style: "hermes", reasoning: null }
const read = (prompt: Prompt, options: GenerateOptions = {}) =>
  readRequest(prompt, options, { tokenizer, prompts, contextLength: 20, seed: 77n, maxDraftTokens: 0, style })

describe("prompts", () => {
  test("a string is a user's message, or with raw the text itself; ids are taken as they are", async () => {
    expect((await read("ab")).promptIds).toEqual([256, 97, 98, 258, 257])
    expect((await read("ab", { raw: true })).promptIds).toEqual([97, 98])
    expect((await read([5, 6])).promptIds).toEqual([5, 6])
    expect((await read([{ role: "user", content: "a" }])).promptIds).toEqual([256, 97, 258, 257])
  })

  test("refused: no token, a foreign id, raw messages", async () => {
    await expect(read("", { raw: true })).rejects.toThrow("prompt: it has no token")
    await expect(read([261])).rejects.toThrow("prompt: 261 is not an integer from 0 to 260")
    await expect(read([{ role: "user", content: "a" }], { raw: true })).rejects.toThrow(
      /raw: messages have no raw form/,
    )
  })
})

describe("budget", () => {
  test("the default is the rest of the context; an explicit one must fit", async () => {
    expect((await read("abc", { raw: true })).maxTokens).toBe(17)
    expect((await read("abc", { raw: true, maxTokens: 17 })).maxTokens).toBe(17)
    await expect(read("abc", { raw: true, maxTokens: 18 })).rejects.toThrow(
      "3 prompt tokens and max_tokens 18 are too many for the context of 20 tokens",
    )
    await expect(read("a".repeat(20), { raw: true })).rejects.toThrow(
      "20 prompt tokens are too many for the context of 20",
    )
    expect((await read("a".repeat(19), { raw: true })).maxTokens).toBe(1)
  })

  test.each<[options: GenerateOptions, message: RegExp]>([
    [{ maxTokens: 0 }, /max_tokens: 0 is not an integer at least 1/],
    [
      { minTokens: 5, maxTokens: 4 },
      /^min_tokens: 5 is more than max_tokens, 4: lower it or raise max_tokens$/,
    ],
    [{ n: 0 }, /n: 0/],
    [{ onLength: "stop" as "close" }, /on_length: "stop" is not truncate or close/],
  ])("%j is refused", async (options, message) => {
    await expect(read("a", options)).rejects.toThrow(message)
  })
})

test.each<[maxTokens: number | undefined]>([[undefined], [100]])(
  "min_tokens above what the context leaves, with max_tokens %s, is refused by the context's figures",
  async (maxTokens) => {
    const asked = { raw: true, strictMaxTokens: false, ...(maxTokens && { maxTokens }) }
    expect((await read("a".repeat(7), { ...asked, minTokens: 13 })).minTokens).toBe(13)
    const refusal = await read("a".repeat(7), { ...asked, minTokens: 14 }).catch((error) => error)
    expect(refusal).toMatchObject({ code: "context_length_exceeded", param: "min_tokens" })
    expect(refusal.message).toBe(
      "min_tokens: 14 is more than the 13 tokens that 7 tokens of the prompt leave of the context of 20: shorten the prompt or lower min_tokens",
    )
  },
)

test("seed: the request's, else the engine's; bad words reach the sampler as tokens, bare and after a space", async () => {
  expect([(await read("a")).params.seed, (await read("a", { seed: 5 })).params.seed]).toEqual([77n, 5n])
  expect((await read("a", { badWords: ["hi"] })).params.badWords).toEqual([
    [104, 105],
    [32, 104, 105],
  ])
  // The spelling of a control token is banned as text: the control token itself is no word.
  expect((await read("a", { badWords: ["<|end|>"] })).params.badWords[0]).not.toContain(258)
})

test("stops: one string or many, ids as a set", async () => {
  expect((await read("a", { stop: "x" })).stops.strings).toEqual(["x"])
  const { stops, stopTokenIds, includesStop } = await read("a", {
    stop: ["x", "y"],
    stopTokenIds: [3, 3],
    includeStopStrInOutput: true,
  })
  expect([stops.strings, [...stopTokenIds], includesStop]).toEqual([["x", "y"], [3], true])
})

test("stops by pattern, structure and repetition", async () => {
  const { walk, hasPatterns, stopWhen, repetition, byWords } = await read("a", {
    stopRegex: [/\d+x/i, "y"],
    stopWhen: "xml",
    repetitionDetection: { max: 5, count: 3 },
    streamGranularity: "word",
  })
  expect([walk?.stopRegexes, hasPatterns]).toEqual([[/\d+x/i, "y"], true])
  expect([stopWhen, repetition, byWords]).toEqual(["xml", { min: 1, max: 5, count: 3 }, true])
  await expect(read("a", { stopWhen: "html" as never })).rejects.toThrow(
    'stop_when: "html" is not json or xml or tool_call',
  )
  await expect(read("a", { streamGranularity: "line" as never })).rejects.toThrow(
    '"line" is not token or word',
  )
  await expect(
    readRequest(
      "a",
      { stopWhen: "json" },
      {
        tokenizer,
        prompts,
        contextLength: 20,
        seed: 1n,
        maxDraftTokens: 0,
        style,
        constraint: readConstraint({ regex: "a" }),
      },
    ),
  ).rejects.toThrow("stop_when: json ends text without a constraint")
})
