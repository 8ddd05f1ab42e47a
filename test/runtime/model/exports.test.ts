/** Tiny exports by the public exporters (`test/exports/make.py`): the engine writes what transformers' own model writes, alone and together. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { rawGreedy } from "../../support/rawgreedy.ts"

const folder = "test/exports"
const states = "with states, of which a slot keeps up to 16"

/** How each runs, where that is not in batches of rows alone. */
const ways: Readonly<Record<string, string>> = {
  lfm2_genai: `batched, ${states}`,
  lfm2_merged: `batched, ${states}, prompts token by token behind their first chunk, as the graph takes several tokens without a past only`,
  granite_hybrid: `batched, ${states}, token by token, as the graph takes no more at once`,
  qwen3_5: `batched, ${states}`,
  gemma3_optimum:
    "one row at a time: in no layout do rows of several lengths have the logits that they have alone",
  gemma3_positions: "batched, each step copying its rows, which a sliding window needs",
}

const expectedOf = (name: string): { prompts: number[][]; answers: number[][] } =>
  JSON.parse(readFileSync(join(folder, name, "expected.json"), "utf8"))

const answer = async (engine: Engine, prompt: readonly number[]) => {
  const options = { temperature: 0, maxTokens: 64, ignoreEos: true }
  return (await engine.generate(prompt, options)).tokens
}

/** Every prompt by itself, and the log line. */
async function read(model: string, prompts: readonly number[][], dtype?: string) {
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  const engine = await open({ model, device: "cpu", threads: 1, slots: 8, log, ...(dtype && { dtype }) })
  const alone: (readonly number[])[] = []
  for (const prompt of prompts) alone.push(await answer(engine, prompt))
  const together = await Promise.all(prompts.map((prompt) => answer(engine, prompt)))
  await engine.close()
  return { alone, together, log: lines.join("\n") }
}

const named = readdirSync(folder).filter((name) => existsSync(join(folder, name, "expected.json")))

test.each(named)(
  "%s: greedy texts are those of transformers, alone and in a batch of eight",
  async (name) => {
    const { prompts, answers } = expectedOf(name)
    const { alone, together, log } = await read(join(folder, name), prompts)
    expect(log).toContain(`onnxruntime-node/cpu, ${ways[name] ?? "batched"}, threads: `)
    expect(alone).toEqual(answers)
    expect(together).toEqual(answers)
  },
)

test.each(["lfm2_genai", "lfm2_merged", "granite_hybrid", "qwen3_5"])(
  "%s: prompts with the same beginning share its states, and write what they write alone",
  async (name) => {
    const shared = Array.from({ length: 300 }, (_, i) => (7 * i) % 251)
    const prompts = [3, 5, 8].map((last) => [...shared, ...shared.slice(last, 20)])
    const options = { temperature: 0, maxTokens: 24, ignoreEos: true }
    const read = async (model: Engine, prompt: readonly number[]) => {
      const { tokens, usage } = await model.generate(prompt, options)
      return { tokens, cached: usage.cachedTokens }
    }
    const settings = {
      model: join(folder, name),
      device: "cpu",
      threads: 1,
      slots: 3,
      log: () => {},
    } as const
    const expected: (readonly number[])[] = []
    for (const prompt of prompts) {
      const engine = await open(settings)
      expected.push((await read(engine, prompt)).tokens)
      await engine.close()
    }
    const engine = await open(settings)
    const first = await read(engine, prompts[0])
    // One goes back in the slot that was left, the other takes over from it.
    const others = await Promise.all(prompts.slice(1).map((prompt) => read(engine, prompt)))
    await engine.close()
    expect([first, ...others].map(({ tokens }) => tokens)).toEqual(expected)
    expect([first, ...others].map(({ cached }) => cached)).toEqual([0, 288, 288])
  },
)

test.each([
  ["llama_dtypes", "fp16"],
  ["llama_dtypes", "int8"],
  ["llama_dtypes", "q4"],
  ["llama_dtypes", "bnb4"],
  ["llama_genai_q4", undefined],
])("%s, dtype %s: the same texts alone and in a batch of eight", async (name, dtype) => {
  const prompts = expectedOf("llama_dtypes").prompts.slice(0, 9)
  const { alone, together, log } = await read(join(folder, name), prompts, dtype)
  const apart = /cpu, one row at a time: together they change each other's logits by \d.* of the largest/
  if (dtype === "int8") expect(log).toMatch(apart)
  expect(together).toEqual(alone)
  const allowed = (id: number) => id < 256 || id === 258
  const raw = await rawGreedy(join(folder, name), dtype, prompts, { count: 64, allowed })
  expect(alone).toEqual(raw)
})

describe("what does not run is refused by name", () => {
  const change = (name: string, by: (directory: string) => void): string => {
    const directory = mkdtempSync(join(tmpdir(), "export-"))
    cpSync(join(folder, name), directory, { recursive: true })
    by(directory)
    return directory
  }
  const refusal = async (model: string, dtype?: string) => {
    const error = await open({ model, device: "cpu", threads: 1, ...(dtype && { dtype }) }).then(
      async (engine) => engine.close(),
      (error: unknown) => error,
    )
    expect(error).toBeInstanceOf(Error)
    return (error as Error).message
  }

  test.each([
    [
      "a graph that came in part",
      "onnx/model_q4.onnx",
      "q4",
      60_000,
      /model_q4.onnx: .*Protobuf parsing failed/,
    ],
    ["an empty graph", "onnx/model_q4.onnx", "q4", 0, /model_q4.onnx: .*ModelProto does not have a graph/],
    ["data that came in part", "onnx/model.onnx_data_1", undefined, 1_000, /given file_length: 1000 are/],
    [
      "data that did not come",
      "onnx/model.onnx_data_1",
      undefined,
      -1,
      /does not exist: .*model.onnx_data_1"/,
    ],
  ])("%s", async (_, file, dtype, bytes, what) => {
    const model = change("llama_dtypes", (directory) => {
      if (bytes < 0) rmSync(join(directory, file))
      else truncateSync(join(directory, file), bytes)
    })
    const message = await refusal(model, dtype)
    expect(message).toMatch(what)
    expect(message).toMatch(/\. A file is incomplete or missing. Download it again, with all its data files$/)
    expect(message).not.toMatch(/\.cc:/)
  })

  test("an operator that there is not", async () => {
    const model = change("llama_dtypes", (directory) => {
      const path = join(directory, "onnx/model_bnb4.onnx")
      writeFileSync(path, readFileSync(path, "latin1").replaceAll("MatMulBnb4", "MatMulBnb9"), "latin1")
    })
    expect(await refusal(model, "bnb4")).toMatch(
      /model_bnb4.onnx: .*com.microsoft:MatMulBnb9.* This onnxruntime has no such operator on this device. Choose another dtype/,
    )
  })

  test("a type of weights that there is not", async () => {
    expect(await refusal(join(folder, "llama_dtypes"), "q8")).toMatch(
      /dtype q8 needs onnx\/model_quantized.onnx or model_quantized.onnx, and there is onnx\/model.onnx \(dtype fp32\), .*Choose its dtype$/,
    )
  })

  test.each([
    [
      "bert_encoder",
      /model.onnx: output last_hidden_state and no logits: it is an encoder or an embedding model/,
    ],
    ["t5_decoder", /merged.onnx: input encoder_hidden_states belongs to a decoder with an encoder/],
  ])("%s", async (name, what) => {
    const message = await refusal(join(folder, name))
    expect(message).toMatch(what)
    expect(message).toMatch(/Choose a model that writes text: a decoder with its cache$/)
  })

  test("embeddings that are missing, that are no embeddings, or of another type", async () => {
    const put = (file: string, from?: string) =>
      change("qwen2_5_vl", (directory) => {
        const path = join(directory, "onnx/embed_tokens.onnx")
        rmSync(path)
        if (from !== undefined) cpSync(join(folder, from), join(directory, "onnx", file))
      })
    expect(await refusal(put(""))).toMatch(
      /merged.onnx: input inputs_embeds: the graph that makes it of tokens is missing. Put the embed_tokens.onnx of the same export beside it$/,
    )
    expect(await refusal(put("embed_tokens.onnx", "llama_genai_q4/model.onnx"))).toMatch(
      /embed_tokens.onnx: input attention_mask is unknown. It must take input_ids alone and give inputs_embeds$/,
    )
  })
})
