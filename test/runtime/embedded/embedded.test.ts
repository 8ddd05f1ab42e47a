/**
 * The model that ships with the package: its files, its tokenizer, its template and its graph, all by the real parts.
 *
 * The graph's laws are those the engine relies on: decoding with the cache equals the full forward pass, and a row's logits
 * do not depend on padding, wherever the attention mask puts it.
 */

import { readdirSync, readFileSync, statSync } from "node:fs"
import { join, sep } from "node:path"
import type { InferenceSession, Tensor } from "onnxruntime-node"
import { beforeAll, expect, test } from "vitest"
import { parseVocabulary } from "../../../mask/tokenizers/tokenizerjson.ts"
import type { ModelDirectory } from "../../../runtime/model/directory.ts"
import { readModelDirectory } from "../../../runtime/model/folder.ts"
import { readSignature, type ValueInfo } from "../../../runtime/model/ort/signature.ts"
import { Tokenizer } from "../../../runtime/model/tokenizer.ts"

const path = "runtime/embedded"
const megabyte = 2 ** 20

let directory: ModelDirectory
let tokenizer: Tokenizer

beforeAll(async () => {
  directory = await readModelDirectory(path)
  const { tokenizerJson, tokenizerConfig, endIds } = directory
  tokenizer = new Tokenizer(directory, parseVocabulary(tokenizerJson, tokenizerConfig, { endIds }))
})

test("what ships is complete, at most 20 MB in all and 15 MB a file", () => {
  let total = 0
  for (const name of readdirSync(path, { recursive: true, encoding: "utf8" })) {
    if (name.split(sep)[0] === "train") continue // scripts and texts, which the package leaves out
    const file = statSync(join(path, name))
    if (!file.isFile()) continue
    total += file.size
    expect(file.size, name).toBeLessThan(15 * megabyte)
  }
  expect(total).toBeLessThanOrEqual(20 * megabyte)
  for (const name of ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"]) {
    expect(() => JSON.parse(readFileSync(join(path, name), "utf8")), name).not.toThrow()
  }
  expect(readFileSync(join(path, "README.md"), "utf8")).toMatch(/^# /)
})

test("turns end by <|im_end|> or <|endoftext|>; the context is at least 2,048", () => {
  const { specials } = tokenizer.vocabulary
  expect(directory.endIds.map((id) => [...specials].find((entry) => entry[1] === id)?.[0])).toEqual([
    "<|endoftext|>",
    "<|im_end|>",
  ])
  expect(directory.contextLength).toBeGreaterThanOrEqual(2048)
})

test("every single byte is a token, so any text can be written", () => {
  const { vocabulary } = tokenizer
  const single = new Set<number>()
  for (let id = 0; id < vocabulary.width; id++) {
    const bytes = vocabulary.bytes(id)
    if (bytes.length === 1) single.add(bytes[0])
  }
  expect(single.size).toBe(256)
  expect(vocabulary.width).toBeGreaterThanOrEqual(4096)
  expect(vocabulary.width).toBeLessThanOrEqual(8192)
})

test.each([
  "Anna Meyer ordered 3 lamps.",
  '{"a":{"b":[1,-2.5e3,null,true,""]},"c d":"x\\ny"}',
  "  two  spaces,\n\n\ttabs and\r\nbreaks \u00a0\u2028",
  "Grüße, Ωmega, 日本語, עברית, हिन्दी, 👩‍👩‍👧 🇩🇪 \ud835\udd4f",
  "orderDate order_date OrderDate ORDER-DATE",
  String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code)),
])("token bytes of %j concatenate to the text", (text) => {
  const ids = tokenizer.encode(text, { addSpecialTokens: false })
  const bytes = ids.flatMap((id) => [...tokenizer.vocabulary.bytes(id)])
  expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes))).toBe(text)
})

test("a digit is a token of its own, and a word is spelt alike after a space and after a quote", () => {
  expect(tokenizer.encode("2026", { addSpecialTokens: false })).toHaveLength(4)
  const word = tokenizer.encode("Zanovik", { addSpecialTokens: false })
  expect(tokenizer.encode(" Zanovik", { addSpecialTokens: false }).slice(1)).toEqual(word)
  expect(tokenizer.encode('"Zanovik"', { addSpecialTokens: false }).slice(1, -1)).toEqual(word)
})

test("the template writes system, user, assistant and tool turns", () => {
  const call = {
    id: "c1",
    type: "function",
    function: { name: "get_weather", arguments: '{"city":"Bern"}' },
  }
  const text = tokenizer.template.render([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Weather in Bern?" },
    { role: "assistant", content: "", tool_calls: [call] },
    { role: "tool", content: "sunny", tool_call_id: "c1" },
    { role: "assistant", content: "It is sunny." },
    { role: "user", content: "Thanks" },
  ])
  expect(text).toBe(
    [
      "<|im_start|>system\nBe brief.<|im_end|>",
      "<|im_start|>user\nWeather in Bern?<|im_end|>",
      '<|im_start|>assistant\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bern"}}\n</tool_call><|im_end|>',
      "<|im_start|>user\n<tool_response>\nsunny\n</tool_response><|im_end|>",
      "<|im_start|>assistant\nIt is sunny.<|im_end|>",
      "<|im_start|>user\nThanks<|im_end|>",
      "<|im_start|>assistant\n",
    ].join("\n"),
  )
})

test("the template lists tools, with and without a system message, and refuses unknown roles", () => {
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]
  const list =
    '# Tools\n{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}\n' +
    "Call a tool with its name and its arguments as JSON.<|im_end|>\n"
  const user = { role: "user", content: "Go" }
  const rest = "<|im_start|>user\nGo<|im_end|>\n"
  const options = { tools, addGenerationPrompt: false }
  expect(tokenizer.template.render([user], options)).toBe(`<|im_start|>system\n${list}${rest}`)
  const system = { role: "system", content: "Be brief." }
  expect(tokenizer.template.render([system, user], options)).toBe(
    `<|im_start|>system\nBe brief.\n\n${list}${rest}`,
  )
  expect(() => tokenizer.template.render([{ role: "wizard", content: "Go" }])).toThrow("unknown role wizard")
})

interface Graph {
  run(
    rows: number[][],
    options?: { mask?: number[][]; positions?: number[][]; past?: Record<string, Tensor> },
  ): Promise<Record<string, Tensor>>
  session: InferenceSession
  layers: number
}

async function openGraph(): Promise<Graph> {
  const { InferenceSession, Tensor } = await import("onnxruntime-node")
  const session = await InferenceSession.create(directory.graphPath, { intraOpNumThreads: 1 })
  const { config } = directory
  const layers = Number(config.num_hidden_layers)
  const heads = Number(config.num_key_value_heads)
  const dim = Number(config.head_dim)
  const int64 = (rows: number[][]) =>
    new Tensor("int64", BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0].length])
  return {
    session,
    layers,
    run(rows, { mask, positions, past } = {}) {
      const pastLength = past ? past["present.0.key"].dims[2] : 0
      const feeds: Record<string, Tensor> = {
        input_ids: int64(rows),
        attention_mask: int64(mask ?? rows.map((row) => new Array<number>(pastLength + row.length).fill(1))),
        position_ids: int64(positions ?? rows.map((row) => row.map((_, i) => pastLength + i))),
      }
      for (let i = 0; i < layers; i++) {
        for (const part of ["key", "value"]) {
          feeds[`past_key_values.${i}.${part}`] =
            past?.[`present.${i}.${part}`] ??
            new Tensor("float32", new Float32Array(0), [rows.length, heads, 0, dim])
        }
      }
      return session.run(feeds)
    },
  }
}

/** Logits of one row from position `start` on. */
function logitsOf(outputs: Record<string, Tensor>, row: number, start: number, count: number): Float32Array {
  const [, length, width] = outputs.logits.dims
  const from = (row * length + start) * width
  return (outputs.logits.data as Float32Array).subarray(from, from + count * width)
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length)
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - b[i])), 0)
}

test("the graph has the inputs and outputs that the engine reads, and runs by cache as in one pass", async () => {
  const { session, run, layers } = await openGraph()
  const plain = (list: readonly InferenceSession.ValueMetadata[]) => list as unknown as ValueInfo[]
  const signature = readSignature(
    directory.graphPath,
    plain(session.inputMetadata),
    plain(session.outputMetadata),
    directory.config,
  )
  expect(signature.width).toBe(tokenizer.vocabulary.width)
  expect(signature.caches).toHaveLength(2 * layers)
  expect(signature.positionPlanes).toBe(1)

  const ids = tokenizer.encodeMessages([{ role: "user", content: "Anna Meyer ordered 3 lamps for $45." }])
  const full = await run([ids])
  let past = await run([ids.slice(0, 9)])
  for (let i = 9; i < ids.length; i++) {
    past = await run([[ids[i]]], { past })
    expect(largestDifference(logitsOf(past, 0, 0, 1), logitsOf(full, 0, i, 1))).toBeLessThan(1e-3)
  }
  const spread = largestDifference(logitsOf(full, 0, 0, 1), logitsOf(full, 0, ids.length - 1, 1))
  expect(spread).toBeGreaterThan(0.1)
})

test("padding on the left and on the right changes nothing", async () => {
  const { run } = await openGraph()
  const texts = ["Short.", "A longer one: Ben lives at 7 Oak Lane."]
  const [a, b] = texts.map((text) => tokenizer.encode(text, { addSpecialTokens: false }))
  const gap = b.length - a.length
  expect(gap).toBeGreaterThan(2)
  const single = await run([a])
  const zeros = new Array<number>(gap).fill(0)
  const ones = (row: number[]) => row.map(() => 1)
  const count = (row: number[]) => row.map((_, i) => i)
  const left = await run([[...zeros, ...a], b], {
    mask: [[...zeros, ...ones(a)], ones(b)],
    positions: [[...zeros, ...count(a)], count(b)],
  })
  const right = await run([[...a, ...zeros], b], { mask: [[...ones(a), ...zeros], ones(b)] })
  const want = logitsOf(single, 0, 0, a.length)
  expect(largestDifference(logitsOf(left, 0, gap, a.length), want)).toBeLessThan(1e-3)
  expect(largestDifference(logitsOf(right, 0, 0, a.length), want)).toBeLessThan(1e-3)
})
