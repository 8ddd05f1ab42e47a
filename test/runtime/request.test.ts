import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { parseVocabulary } from "../../mask/tokenizerjson.ts"
import { readModelDirectory } from "../../runtime/directory.ts"
import { type GenerateOptions, type Prompt, readRequest } from "../../runtime/request.ts"
import { Tokenizer } from "../../runtime/tokenizer.ts"
import { writeTinyModel } from "./onnx.ts"

const directory = await readModelDirectory(writeTinyModel(mkdtempSync(join(tmpdir(), "model-"))))
const { tokenizerJson, tokenizerConfig, endIds } = directory
const tokenizer = new Tokenizer(
  directory,
  parseVocabulary(tokenizerJson, tokenizerConfig, { width: 261, endIds }),
)
const read = (prompt: Prompt, options: GenerateOptions = {}) =>
  readRequest(prompt, options, { tokenizer, contextLength: 20, seed: 77n, maxDraftTokens: 0 })

describe("prompts", () => {
  test("a string is a user's message, or with raw the text itself; ids are taken as they are", () => {
    expect(read("ab").promptIds).toEqual([256, 97, 98, 258, 257])
    expect(read("ab", { raw: true }).promptIds).toEqual([97, 98])
    expect(read([5, 6]).promptIds).toEqual([5, 6])
    expect(read([{ role: "user", content: "a" }]).promptIds).toEqual([256, 97, 258, 257])
  })

  test("refused: no token, a foreign id, raw messages", () => {
    expect(() => read("", { raw: true })).toThrow("prompt: it has no token")
    expect(() => read([261])).toThrow("prompt: 261 is not an integer from 0 to 260")
    expect(() => read([{ role: "user", content: "a" }], { raw: true })).toThrow(
      /raw: messages have no raw form/,
    )
  })
})

describe("budget", () => {
  test("the default is the rest of the context; an explicit one must fit", () => {
    expect(read("abc", { raw: true }).maxTokens).toBe(17)
    expect(read("abc", { raw: true, maxTokens: 17 }).maxTokens).toBe(17)
    expect(() => read("abc", { raw: true, maxTokens: 18 })).toThrow(
      "3 prompt tokens and max_tokens 18 are too many for the context of 20 tokens",
    )
    expect(() => read("a".repeat(20), { raw: true })).toThrow(
      "20 prompt tokens are too many for the context of 20",
    )
    expect(read("a".repeat(19), { raw: true }).maxTokens).toBe(1)
  })

  test.each<[options: GenerateOptions, message: RegExp]>([
    [{ maxTokens: 0 }, /max_tokens: 0 is not an integer at least 1/],
    [{ minTokens: 5, maxTokens: 4 }, /min_tokens: 5 is not an integer from 0 to 4/],
    [{ n: 0 }, /n: 0/],
    [{ onLength: "stop" as "close" }, /on_length: "stop" is not truncate or close/],
  ])("%j is refused", (options, message) => {
    expect(() => read("a", options)).toThrow(message)
  })
})

test("seed: the request's, else the engine's; bad words reach the sampler as tokens, bare and after a space", () => {
  expect([read("a").params.seed, read("a", { seed: 5 }).params.seed]).toEqual([77n, 5n])
  expect(read("a", { badWords: ["hi"] }).params.badWords).toEqual([
    [104, 105],
    [32, 104, 105],
  ])
  // The spelling of a control token is banned as text: the control token itself is no word.
  expect(read("a", { badWords: ["<|end|>"] }).params.badWords[0]).not.toContain(258)
})

test("stops: one string or many, ids as a set", () => {
  expect(read("a", { stop: "x" }).stops.strings).toEqual(["x"])
  const { stops, stopTokenIds, includesStop } = read("a", {
    stop: ["x", "y"],
    stopTokenIds: [3, 3],
    includeStopStrInOutput: true,
  })
  expect([stops.strings, [...stopTokenIds], includesStop]).toEqual([["x", "y"], [3], true])
})

test("stops by pattern, structure and repetition", () => {
  const { stopRegexes, stopWhen, repetition, byWords } = read("a", {
    stopRegex: [/\d+x/i, "y"],
    stopWhen: "xml",
    repetitionDetection: { max: 5, count: 3 },
    streamGranularity: "word",
  })
  expect(stopRegexes.patterns.map(({ source }) => source)).toEqual(["\\d+x", "y"])
  expect([stopWhen, repetition, byWords]).toEqual(["xml", { min: 1, max: 5, count: 3 }, true])
  expect(() => read("a", { stopWhen: "html" as never })).toThrow(
    'stop_when: "html" is not json or xml or tool_call',
  )
  expect(() => read("a", { streamGranularity: "line" as never })).toThrow('"line" is not token or word')
  expect(() =>
    readRequest(
      "a",
      { stopWhen: "json" },
      {
        tokenizer,
        contextLength: 20,
        seed: 1n,
        maxDraftTokens: 0,
        constraint: { kind: "regex", pattern: "a" },
      },
    ),
  ).toThrow("stop_when: json ends text without a constraint")
})
