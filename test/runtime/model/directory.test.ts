import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { ModelError } from "../../../runtime/errors.ts"
import { packageFile } from "../../../runtime/files.ts"
import { readModelDirectory } from "../../../runtime/model/folder.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const make = (options = {}) => writeTinyModel(mkdtempSync(join(tmpdir(), "model-")), options)

const edit = (directory: string, name: string, change: (json: Record<string, unknown>) => unknown) => {
  const path = join(directory, name)
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, "utf8")))))
}

test("a whole directory: graph, context, end ids, templates", async () => {
  const directory = make()
  writeFileSync(join(directory, "generation_config.json"), JSON.stringify({ eos_token_id: [256, 258] }))
  const model = await readModelDirectory(directory)
  expect(model.endIds).toEqual([256, 258])
  expect(model.contextLength).toBe(512)
  expect(model.graphPath).toBe(join(directory, "onnx/model.onnx"))
  expect([...model.chatTemplates.keys()]).toEqual(["default"])
  expect(model.createdAt).toBeGreaterThan(1.6e9)
})

test("end ids are the union of three files, names included", async () => {
  const directory = make({ config: { eos_token_id: 257 } })
  edit(directory, "tokenizer_config.json", (json) => ({ ...json, eos_token: { content: "<|user|>" } }))
  expect((await readModelDirectory(directory)).endIds).toEqual([256, 257])
})

test("chat_template.jinja wins over the configuration; a list is read by name", async () => {
  const directory = make()
  const list = [
    { name: "default", template: "A" },
    { name: "tool_use", template: "B" },
  ]
  edit(directory, "tokenizer_config.json", (json) => ({ ...json, chat_template: list }))
  expect((await readModelDirectory(directory)).chatTemplates.get("tool_use")).toBe("B")
  writeFileSync(join(directory, "chat_template.jinja"), "J")
  expect([...(await readModelDirectory(directory)).chatTemplates]).toEqual([["default", "J"]])
})

test("further templates have files of their names; those of models that see a JSON file", async () => {
  const directory = make()
  edit(directory, "tokenizer_config.json", ({ chat_template: _, ...json }) => json)
  writeFileSync(join(directory, "chat_template.json"), JSON.stringify({ chat_template: "S" }))
  expect([...(await readModelDirectory(directory)).chatTemplates]).toEqual([["default", "S"]])
  writeFileSync(join(directory, "chat_template.jinja"), "J")
  mkdirSync(join(directory, "additional_chat_templates"))
  writeFileSync(join(directory, "additional_chat_templates", "tool_use.jinja"), "T")
  writeFileSync(join(directory, "additional_chat_templates", "notes.txt"), "no template")
  expect([...(await readModelDirectory(directory)).chatTemplates]).toEqual([
    ["default", "J"],
    ["tool_use", "T"],
  ])
})

test.each<[name: string, spoil: (directory: string) => void, message: string | RegExp]>([
  ["no directory", (directory) => rmSync(directory, { recursive: true }), "not a directory"],
  ["no config", (directory) => rmSync(join(directory, "config.json")), /config\.json: is missing/],
  ["no tokenizer", (directory) => rmSync(join(directory, "tokenizer.json")), /tokenizer\.json: is missing/],
  [
    "no graph",
    (directory) => rmSync(join(directory, "onnx"), { recursive: true }),
    /dtype fp32 needs onnx\/model\.onnx or model\.onnx, and there is no graph/,
  ],
  ["not JSON", (directory) => writeFileSync(join(directory, "config.json"), "{"), /config\.json: not JSON/],
  [
    "no object",
    (directory) => writeFileSync(join(directory, "config.json"), "[]"),
    /must hold a JSON object/,
  ],
  [
    "no end id",
    (directory) => {
      edit(directory, "config.json", ({ eos_token_id: _, ...json }) => json)
      edit(directory, "tokenizer_config.json", ({ eos_token: _, ...json }) => json)
    },
    /no end-of-sequence id.*generation_config\.json/,
  ],
  [
    "a context that is no number",
    (directory) => edit(directory, "config.json", (json) => ({ ...json, max_position_embeddings: "512" })),
    /config\.json: max_position_embeddings is "512"/,
  ],
])("refused by the file's name: %s", async (_, spoil, message) => {
  const directory = make()
  spoil(directory)
  const refusal = await readModelDirectory(directory).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(ModelError)
  expect((refusal as Error).message).toMatch(message)
})

test("dtype picks the file, at the top or in onnx/; another one is refused with those that are there", async () => {
  const directory = make()
  const graph = join(directory, "onnx/model.onnx")
  copyFileSync(graph, join(directory, "onnx/model_q4f16.onnx"))
  copyFileSync(graph, join(directory, "decoder_model_merged_quantized.onnx"))
  const nameOf = async (dtype: string) => (await readModelDirectory(directory, dtype)).graphPath
  expect(await nameOf("fp32")).toBe(graph)
  expect(await nameOf("q4f16")).toBe(join(directory, "onnx/model_q4f16.onnx"))
  expect(await nameOf("q8")).toBe(join(directory, "decoder_model_merged_quantized.onnx"))
  await expect(nameOf("q4")).rejects.toThrow(
    "dtype q4 needs onnx/model_q4.onnx or model_q4.onnx, and there is onnx/model.onnx (dtype fp32), decoder_model_merged_quantized.onnx (dtype q8), onnx/model_q4f16.onnx (dtype q4f16). Choose its dtype",
  )
  await expect(nameOf("q5")).rejects.toThrow(/dtype "q5": not one of fp32/)
})

describe("the layout of onnxruntime-genai's builder", () => {
  const names = {
    inputs: {
      input_ids: "input_ids",
      attention_mask: "attention_mask",
      past_key_names: "past_key_values.%d.key",
      past_value_names: "past_key_values.%d.value",
    },
    outputs: {
      logits: "logits",
      present_key_names: "present.%d.key",
      present_value_names: "present.%d.value",
    },
  }
  const decoder = {
    ...names,
    filename: "decoder.onnx",
    head_size: 8,
    hidden_size: 16,
    num_attention_heads: 2,
  }
  const model = { type: "llama", vocab_size: 261, context_length: 512, eos_token_id: [258], decoder }

  function makeBuilt(changed: object = {}): string {
    const directory = make()
    renameSync(join(directory, "onnx/model.onnx"), join(directory, "decoder.onnx"))
    rmSync(join(directory, "config.json"))
    writeFileSync(join(directory, "genai_config.json"), JSON.stringify({ model: { ...model, ...changed } }))
    return directory
  }

  test("says what config.json says elsewhere, and names the graph", async () => {
    const directory = makeBuilt()
    const read = await readModelDirectory(directory)
    expect(read.graphPath).toBe(join(directory, "decoder.onnx"))
    expect([read.contextLength, read.endIds, read.config.head_dim]).toEqual([512, [258], 8])
  })

  test.each([
    ["an encoder", { encoder: {} }, "model.encoder: only text decoders run here"],
    ["no decoder", { decoder: null }, "model.decoder must be an object"],
    ["a graph in parts", { decoder: { pipeline: [] } }, "model.decoder.pipeline: a graph in several parts"],
    [
      "other names",
      { decoder: { inputs: { input_ids: "ids" } } },
      'model.decoder.inputs.input_ids is "ids", not "input_ids"',
    ],
    [
      "a state that is no cache",
      { decoder: { inputs: { past_key_scale_names: "past_key_values.%d.key_scale" } } },
      'model.decoder.inputs.past_key_scale_names is "past_key_values.%d.key_scale": it is unknown',
    ],
    [
      "a graph elsewhere",
      { decoder: { filename: "../model.onnx" } },
      'filename is "../model.onnx", not a file',
    ],
    ["a graph that is missing", { decoder: { filename: "other.onnx" } }, "other.onnx is missing"],
  ])("%s is refused", async (_name, changed, message) => {
    await expect(readModelDirectory(makeBuilt(changed))).rejects.toThrow(message)
  })
})

test("files of the package are found by the package's name", () => {
  expect(JSON.parse(readFileSync(packageFile("package.json"), "utf8")).name).toBe("tokenrail")
})
