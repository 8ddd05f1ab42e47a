import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Worker } from "node:worker_threads"
import { expect, test } from "vitest"
import { ModelError } from "../../runtime/errors.ts"
import { open } from "../../runtime/open.ts"
import { type TinyOptions, writeTinyModel } from "../support/onnx.ts"

const make = (options: TinyOptions = {}): string =>
  writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), options)

test("an engine knows its model, and one line says what was chosen", async () => {
  const lines: string[] = []
  const model = make()
  const engine = await open({ model, slots: 3, context: 100, device: "cpu", log: (line) => lines.push(line) })
  expect(engine.model).toMatchObject({ contextLength: 100, width: 261, tokenCount: 259, endIds: [258] })
  expect(engine.model.createdAt).toBeGreaterThan(1.6e9)
  expect(engine.load()).toEqual({ running: 0, waiting: 0, slots: 3 })
  expect(lines).toEqual([
    expect.stringMatching(
      `^model ${engine.model.id} on onnxruntime-node/cpu, batched, threads: \\d+, sampler cpu$`,
    ),
  ])
  await engine.close()
})

test.each<[name: string, options: Parameters<typeof open>[0], message: RegExp]>([
  [
    "an unknown input",
    { model: make({ extraInput: "token_type_ids" }) },
    /model\.onnx: input token_type_ids is unknown/,
  ],
  ["no cache", { model: make({ hasCache: false }) }, /model\.onnx: it has no past_key_values inputs/],
  [
    "a vocabulary wider than the logits",
    { model: make({ width: 250, config: { eos_token_id: 3 } }) },
    /tokenizer\.json: .* is outside the 250 columns/,
  ],
  [
    "an end id outside the logits",
    { model: make({ config: { eos_token_id: 999 } }) },
    /end of sequence: id 999/,
  ],
  ["no directory", { model: "/nowhere" }, /\/nowhere: not a directory/],
  [
    "no context",
    { model: make({ config: { max_position_embeddings: null } }) },
    /max_position_embeddings is missing/,
  ],
])("refused at load, by the name of the file or input: %s", async (_, options, message) => {
  const refusal = await open({ ...options, device: "cpu" }).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(ModelError)
  expect((refusal as Error).message).toMatch(message)
})

test("a control token that the logits have no column for is text, unless a chat template spells it", async () => {
  const image = "<|image|>"
  const tiny = { width: 259, controls: [image] }
  const engine = await open({ model: make(tiny), device: "cpu" })
  expect(engine.vocabulary.specials.has(image)).toBe(false)
  const { text } = await engine.generate("Hi", { maxTokens: 2, ignoreEos: true, seed: 1 })
  expect(typeof text).toBe("string")
  expect(await engine.tokenize(image, { raw: true })).toHaveLength(image.length)
  await engine.close()
  const spelt = open({
    model: make({ ...tiny, template: `${image}{{ messages[0].content }}` }),
    device: "cpu",
  })
  await expect(spelt).rejects.toThrow(/writes "<\|image\|>", whose id is 259, outside the 259/)
})

test("impossible options are RangeErrors with the value and the bound", async () => {
  const model = make()
  await expect(open({ model, slots: 0 })).rejects.toThrow("slots: 0 is not an integer ≥ 1")
  await expect(open({ model, context: 513, device: "cpu" })).rejects.toThrow(
    "context: 513 is above the 512 positions",
  )
  await expect(open({ model, maxWaiting: -1 })).rejects.toThrow(/maxWaiting/)
})

test("a model whose positions the graph counts answers one row at a time, with the same tokens", async () => {
  const engine = await open({ model: make({ hasPositions: false }), slots: 3, device: "cpu" })
  const ask = (seed: number) =>
    engine.generate("x".repeat(1 + 70 * seed), { seed: BigInt(seed), maxTokens: 12, ignoreEos: true })
  const alone = [await ask(1), await ask(2), await ask(3)].map(({ text }) => text)
  const together = await Promise.all([ask(1), ask(2), ask(3)])
  expect(together.map(({ text }) => text)).toEqual(alone)
  await engine.close()
})

test("a model that dies ends what runs, and what waits goes on; when it dies again, later requests are told", async () => {
  const lines: string[] = []
  const engine = await open({ model: make(), slots: 1, device: "cpu", log: (line) => lines.push(line) })
  const kill = (): void => {
    // The thread ends without being asked by the engine. (Killing it inside a run would abort the process.)
    const { worker } = (engine as unknown as { parts: { model: { worker: Worker } } }).parts.model
    worker.postMessage({ kind: "close" })
  }
  const running = await engine.start("a", { ignoreEos: true })
  const waiting = await engine.start("b", { ignoreEos: true })
  kill()
  const results = await Promise.all([running.result, waiting.result])
  expect(results.map(({ finishReason }) => finishReason)).toEqual(["error", "length"])
  expect(results[0].message).toMatch(/the model's thread ended/)
  const last = await engine.start("c", { ignoreEos: true })
  kill()
  expect((await last.result).finishReason).toBe("error")
  await expect(engine.start("d")).rejects.toMatchObject({ code: "engine_dead" })
  expect(engine.load()).toEqual({ running: 0, waiting: 0, slots: 1 })
  await engine.close()
})

test("tokens of the tokenizer's own configuration are read", async () => {
  const model = make()
  const path = join(model, "tokenizer_config.json")
  const config = JSON.parse(readFileSync(path, "utf8"))
  const added_tokens_decoder = { 259: { content: "<|late|>", special: true } }
  writeFileSync(path, JSON.stringify({ ...config, added_tokens_decoder }))
  const engine = await open({ model, device: "cpu" })
  expect(engine.vocabulary.specials.get("<|late|>")).toBe(259)
  await engine.close()
})
