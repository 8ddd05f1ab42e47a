import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { parseVocabulary } from "../../../mask/tokenizers/tokenizerjson.ts"
import { readModelDirectory } from "../../../runtime/model/folder.ts"
import { Tokenizer } from "../../../runtime/model/tokenizer.ts"
import { PromptEncoder } from "../../../runtime/prompt/encoder.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const directory = await readModelDirectory(writeTinyModel(mkdtempSync(join(tmpdir(), "model-"))))
const { tokenizerJson, tokenizerConfig, endIds } = directory
const tokenizer = new Tokenizer(
  directory,
  parseVocabulary(tokenizerJson, tokenizerConfig, { width: 261, endIds }),
)

test("the prompts of one request have the time of one", async () => {
  const prompts = new PromptEncoder({ tokenizer, contextLength: 20, threads: null, promptMs: 1_000 })
  const spent = { ms: 0 }
  expect(await prompts.encode({ kind: "raw", text: "ab" }, undefined, spent)).toEqual([97, 98])
  expect(spent.ms).toBeGreaterThan(0)
  spent.ms = 1_001
  await expect(prompts.encode({ kind: "raw", text: "ab" }, undefined, spent)).rejects.toMatchObject({
    param: "prompt",
    message: expect.stringContaining("more than 1000 ms"),
  })
  expect(await prompts.encode({ kind: "raw", text: "ab" })).toEqual([97, 98])
})
