/** Tokenizers' directories as they come with models, without one. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { UsageError } from "../../../server/cli/exit.ts"
import { readTokenizer, readVocabulary } from "../../../server/cli/vocabulary.ts"
import { tekkenFile, tiktokenFile } from "../../support/rankfiles.ts"

const made: string[] = []
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true })
})

function directoryOf(files: Record<string, unknown>): string {
  const directory = mkdtempSync(join(tmpdir(), "vocabulary-"))
  made.push(directory)
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(directory, name), typeof content === "string" ? content : JSON.stringify(content))
  }
  return directory
}

const added_tokens_decoder = {
  261: { content: "<|end|>", special: true },
  262: { content: "<tool>", special: false },
}
const tokenizerConfig = { eos_token: "<|end|>", added_tokens_decoder }
const byteLevel = {
  model: { type: "BPE", vocab: { a: 0, b: 1 }, merges: [] },
  decoder: { type: "ByteLevel" },
  added_tokens: [{ id: 2, content: "<|end|>", special: true }],
}

test("tokenizer.json: the width is the configuration's, the end each that is named", async () => {
  const config = { vocab_size: 40, eos_token_id: [1] }
  const named = { eos_token: { content: "<|end|>" } }
  const files = { "tokenizer.json": byteLevel, "tokenizer_config.json": named, "config.json": config }
  const vocabulary = await readVocabulary(directoryOf(files))
  expect([vocabulary.width, vocabulary.endIds]).toEqual([40, [1, 2]])
})

test("an end that stands in the model's own vocabulary, and a configuration of the text's part", async () => {
  const own = { ...byteLevel, added_tokens: [], model: { ...byteLevel.model, vocab: { a: 0, "<eos>": 1 } } }
  const config = { text_config: { vocab_size: 9, eos_token_id: 0 } }
  const files = {
    "tokenizer.json": own,
    "tokenizer_config.json": { eos_token: "<eos>" },
    "config.json": config,
  }
  const vocabulary = await readVocabulary(directoryOf(files))
  expect([vocabulary.width, vocabulary.endIds]).toEqual([9, [0, 1]])
})

test("tiktoken ranks: special tokens and the end stand in tokenizer_config.json", async () => {
  for (const name of ["model.tiktoken", "tokenizer.model", "tiktoken.model"]) {
    const directory = directoryOf({ [name]: tiktokenFile(), "tokenizer_config.json": tokenizerConfig })
    const vocabulary = await readVocabulary(directory)
    expect([vocabulary.width, vocabulary.endIds, vocabulary.name(261)]).toEqual([263, [261], "<|end|>"])
    expect(Buffer.from(vocabulary.bytes(262)).toString()).toBe("<tool>")
  }
})

test("tekken.json: special tokens and the end are its own", async () => {
  const vocabulary = await readVocabulary(directoryOf({ "tekken.json": tekkenFile() }))
  expect([vocabulary.width, vocabulary.endIds]).toEqual([264, [2]])
  const config = { vocab_size: 300, eos_token_id: 3 }
  const wider = await readVocabulary(directoryOf({ "tekken.json": tekkenFile(), "config.json": config }))
  expect([wider.width, wider.endIds]).toEqual([300, [3]])
})

test.each<[what: string, files: Record<string, unknown>, message: RegExp]>([
  ["nothing", {}, /cannot read .*tokenizer\.json, and neither tekken\.json nor a \.tiktoken file exists/],
  ["two rank files", { "a.tiktoken": "", "b.tiktoken": "" }, /a\.tiktoken and b\.tiktoken both exist/],
  ["ranks without an end", { "a.tiktoken": tiktokenFile() }, /no end-of-sequence id\. Set eos_token_id/],
  [
    "a damaged rank file",
    { "a.tiktoken": "YQ== 0\n#", "generation_config.json": { eos_token_id: 1 } },
    /a\.tiktoken: line 2: "#" is not base64/,
  ],
  ["a damaged tekken.json", { "tekken.json": { config: {} } }, /tekken\.json: config\.default_vocab_size/],
  ["text that is not JSON", { "tokenizer.json": "{" }, /tokenizer\.json is not JSON/],
  [
    "a model of no known kind",
    { "tokenizer.json": {}, "config.json": { eos_token_id: 1 } },
    /tokenizer\.json: model\.vocab is missing/,
  ],
])("refused: %s", async (_, files, message) => {
  const directory = directoryOf(files)
  await expect(readVocabulary(directory)).rejects.toThrow(message)
  await expect(readVocabulary(directory)).rejects.toThrow(UsageError)
})

test("texts are read token by token only where the tokenizer says how they are split", async () => {
  await expect(readTokenizer(directoryOf({ "tekken.json": tekkenFile() }))).rejects.toThrow(
    /needs tokenizer\.json/,
  )
  const tokenizer = await readTokenizer("runtime/embedded")
  expect(tokenizer.encode("ab").length).toBeGreaterThan(0)
})
