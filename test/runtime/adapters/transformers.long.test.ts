/**
 * transformers.js and onnxruntime-web themselves under masks, on the model that ships with the
 * package. They are installed into a temporary folder, and use what has been built.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, beforeAll, expect, test } from "vitest"
import { open } from "../../../runtime/index.ts"
import { installPackages } from "../../support/runtimes.ts"

const folder = mkdtempSync(join(tmpdir(), "transformers-"))
let missing: string | undefined

// Some 180 MB. onnxruntime-node is the one of the project, and nothing here reads images.
beforeAll(() => {
  mkdirSync(join(folder, "sharp"))
  writeFileSync(
    join(folder, "sharp/package.json"),
    JSON.stringify({ name: "sharp", version: "0.35.4", main: "index.js" }),
  )
  writeFileSync(join(folder, "sharp/index.js"), "module.exports = () => { throw new Error('no images') }")
  const overrides = {
    sharp: "file:./sharp",
    "onnxruntime-node": `file:${resolve("node_modules/onnxruntime-node")}`,
    "onnxruntime-web": "1.30.0",
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", overrides }))
  const packages = ["@huggingface/transformers@4.3.2", "onnxruntime-web@1.30.0", "@mlc-ai/web-llm@0.2.86"]
  missing = installPackages(folder, ["--omit=optional", ...packages])
  if (missing === undefined) symlinkSync(resolve("."), join(folder, "node_modules/tokenrail"))
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function node(file: string, ...args: string[]): string[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    cwd: folder,
    encoding: "utf8",
  })
  expect([status, stderr]).toEqual([0, ""])
  return stdout.trimEnd().split("\n")
}

const schemas = [
  {
    type: "object",
    properties: {
      name: { type: "string", maxLength: 12 },
      age: { type: "integer", minimum: 0, maximum: 120 },
    },
    required: ["name", "age"],
    additionalProperties: false,
  },
  { type: "array", items: { enum: ["red", "green", "blue"] }, minItems: 1, maxItems: 3, uniqueItems: true },
  { enum: ["yes", "no"] },
  {
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
    additionalProperties: false,
    maxProperties: 1,
  },
]

const batches = `
  import { AutoModelForCausalLM, AutoTokenizer, env } from "@huggingface/transformers"
  import { transformersProcessor, transformersVocabulary } from "tokenrail/adapters"
  import { compile } from "tokenrail/grammar"
  import { bindGrammar } from "tokenrail/mask"
  const [root, schemas] = JSON.parse(process.argv[2])
  env.localModelPath = root
  const tokenizer = await AutoTokenizer.from_pretrained("runtime/embedded")
  const model = await AutoModelForCausalLM.from_pretrained("runtime/embedded", { dtype: "fp32" })
  const vocabulary = transformersVocabulary(tokenizer, model)
  const machines = schemas.map((schema) => bindGrammar(compile({ kind: "json", schema }, { whitespace: "compact" }).grammar, vocabulary))
  const processor = transformersProcessor(machines)
  tokenizer.padding_side = "left"
  const facts = ["Ann Miller turned 34 last week.", "Red.", "Is the sky green? Answer yes or no, and nothing else.", "A number"]
  for (let round = 0; round < 14; round++) {
    const contents = facts.map((_, row) => facts[(row + round) % 4])
    const prompts = contents.map((content) =>
      tokenizer.apply_chat_template([{ role: "user", content }], { tokenize: false, add_generation_prompt: true }))
    const inputs = tokenizer(prompts, { padding: true, add_special_tokens: false })
    const way = round === 0 ? {} : { do_sample: true, temperature: 1 + round / 10, top_k: round % 2 === 0 ? 0 : 50 }
    const ids = await model.generate({ ...inputs, ...way, max_new_tokens: 120, logits_processor: [processor] })
    const rows = ids.slice(null, [inputs.input_ids.dims[1], null]).tolist()
    for (const [row, tokens] of rows.entries())
      console.log(JSON.stringify([row, tokens.includes(2n), tokenizer.decode(tokens, { skip_special_tokens: true })]))
  }`

test("transformers.js: batches of four grammars, greedy and drawn, one generate after the other", ({
  skip,
}) => {
  if (missing) return skip(missing)
  writeFileSync(join(folder, "batches.mjs"), batches)
  const lines = node("batches.mjs", JSON.stringify([resolve("."), schemas])).map((line) => JSON.parse(line))
  expect(lines.length).toBe(56)
  const ajv = new Ajv2020()
  const validators = schemas.map((schema) => ajv.compile(schema))
  for (const [row, ended, text] of lines) {
    expect([ended, text]).toEqual([true, expect.any(String)])
    expect(validators[row](JSON.parse(text)), text).toBe(true)
  }
  expect(new Set(lines.map(([, , text]) => text)).size).toBeGreaterThan(15)
})

test("examples/transformers.js", ({ skip }) => {
  if (missing) return skip(missing)
  cpSync("examples/transformers.js", join(folder, "transformers.js"))
  const texts = node("transformers.js").map((line) => JSON.parse(line))
  expect(texts.length).toBe(2)
  for (const { name, age } of texts)
    expect([typeof name, Number.isInteger(age) && age >= 0 && age <= 120]).toEqual(["string", true])
})

test("examples/onnxruntime.js writes what the engine does, greedily under the same mask", async ({
  skip,
}) => {
  if (missing) return skip(missing)
  cpSync("examples/onnxruntime.js", join(folder, "onnxruntime.js"))
  const [text, ...rest] = node("onnxruntime.js")
  expect(rest).toEqual([])
  const engine = await open()
  try {
    const prompt = "<|im_start|>user\nWhat time is it?<|im_end|>\n<|im_start|>assistant\n"
    const own = await engine.generate(prompt, {
      raw: true,
      temperature: 0,
      regex: "[0-9]{2}:[0-9]{2} o'clock",
    })
    expect(text).toBe(own.text)
  } finally {
    await engine.close()
  }
}, 120_000)

test("the types of transformers.js, onnxruntime-web and WebLLM are those that the adapters take", ({
  skip,
}) => {
  if (missing) return skip(missing)
  const source = `
    import { LogitsProcessorList, type PreTrainedModel, type PreTrainedTokenizer } from "@huggingface/transformers"
    import type { LogitProcessor } from "@mlc-ai/web-llm"
    import type { Tensor } from "onnxruntime-web"
    import { constrain, transformersProcessor, transformersVocabulary, webllmProcessor } from "tokenrail/adapters"
    import type { TokenMachine, Vocabulary } from "tokenrail/mask"
    export function uses(fsm: TokenMachine, tensor: Tensor, tokenizer: PreTrainedTokenizer, model: PreTrainedModel) {
      const list = new LogitsProcessorList()
      list.push(transformersProcessor(fsm))
      const processor: LogitProcessor = webllmProcessor(fsm)
      const vocabulary: Vocabulary = transformersVocabulary(tokenizer, model)
      const masked: Tensor = constrain(fsm).apply(tensor)
      return [list, processor, vocabulary, masked]
    }`
  writeFileSync(join(folder, "types.ts"), source)
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023"]
  const types = ["--types", "node", "--typeRoots", resolve("node_modules/@types")]
  const tsc = resolve("node_modules/typescript/bin/tsc")
  const { stdout } = spawnSync(process.execPath, [tsc, ...options, ...types, "types.ts"], {
    cwd: folder,
    encoding: "utf8",
  })
  expect(stdout).toBe("")
})
