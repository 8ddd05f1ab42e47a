/** A sequence fails alone: whatever throws in a step ends one sequence, and nothing else changes. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest"
import { Sequence } from "../../../runtime/engine/sequence.ts"
import { Walk } from "../../../runtime/guides/walk.ts"
import type { Engine, GenerateOptions } from "../../../runtime/index.ts"
import { Detokenizer } from "../../../runtime/model/detokenizer.ts"
import { open } from "../../../runtime/open.ts"
import { StopWatch } from "../../../runtime/stops/stops.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const directory = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
let engine: Engine
beforeAll(async () => {
  engine = await open({ model: directory, device: "cpu", slots: 4, threads: 1, isolation: "none" })
})
afterAll(() => engine.close())
afterEach(() => {
  vi.restoreAllMocks()
})

const bound: GenerateOptions = {
  regex: "[a-c]{3}x{4}[0-9]{4,9}",
  n: 9,
  seed: 3n,
  temperature: 1,
  stop: ["zz"],
}
const free: GenerateOptions = { maxTokens: 12, ignoreEos: true, seed: 8n, n: 2 }

async function run() {
  const [first, second] = await Promise.all([engine.start("p", bound), engine.start("q", free)])
  const results = [...(await first.result).choices, ...(await second.result).choices]
  expect(engine.load()).toEqual({ running: 0, waiting: 0, slots: 4 })
  return results.map(({ text, finishReason, message }) => ({ text, finishReason, message }))
}

/** Makes the `call`-th call of a method throw. */
function breakAt(target: object, method: string, call: number): void {
  const holder = target as Record<string, (...args: unknown[]) => unknown>
  const original = holder[method]
  let count = 0
  vi.spyOn(holder, method).mockImplementation(function (this: unknown, ...args: unknown[]) {
    if (++count === call) throw new Error(`broken ${method}`)
    return original.apply(this, args)
  })
}

const points: [name: string, target: object, method: string][] = [
  ["a mask", Walk.prototype, "look"],
  ["the grammar's step", Walk.prototype, "accept"],
  ["the sequence's step", Sequence.prototype, "accept"],
  ["the detokenizer", Detokenizer.prototype, "push"],
  ["a stop", StopWatch.prototype, "push"],
]
// Rows of the first step, of later ones, and of sequences that waited for a slot.
const calls = [1, 2, 4, 5, 9, 14, 30, 55]

test.each(points)("%s that throws ends its own sequence", async (_, target, method) => {
  const expected = await run()
  for (const call of calls) {
    breakAt(target, method, call)
    const results = await run()
    vi.restoreAllMocks()
    const changed = results.filter((result, index) => result.text !== expected[index].text || result.message)
    expect(changed.length, `${method} ${call}`).toBe(1)
    expect(changed[0]).toMatchObject({ finishReason: "error", message: `broken ${method}` })
  }
})

test("a sampler that throws for one row draws the others", async () => {
  const { sampler } = (engine as unknown as { parts: { sampler: { sample: (...args: never[]) => unknown } } })
    .parts
  const expected = await run()
  const original = sampler.sample.bind(sampler)
  let broken: unknown
  vi.spyOn(sampler, "sample").mockImplementation((...args: never[]) => {
    const rows = args[2] as unknown as { tokens: unknown; choice: number; position: number }[]
    broken ??= rows.find(({ choice, position }) => choice === 2 && position > 6)?.tokens
    if (rows.some(({ tokens }) => tokens === broken)) throw new Error("broken sampler")
    return original(...args)
  })
  const results = await run()
  const changed = results.filter((result, index) => result.text !== expected[index].text)
  expect(changed).toMatchObject([{ finishReason: "error", message: "broken sampler" }])
})

test.each([1, 2, 3, 8])(
  "a run of the model that fails once (call %i) costs nobody the answer",
  async (call) => {
    const expected = await run()
    const { model } = (
      engine as unknown as { parts: { model: { forward: (...args: never[]) => Promise<unknown> } } }
    ).parts
    const original = model.forward.bind(model)
    let count = 0
    vi.spyOn(model, "forward").mockImplementation((...args: never[]) =>
      ++count === call ? Promise.reject(new Error("broken run")) : original(...args),
    )
    const results = await run()
    const failed = results.filter(({ finishReason }) => finishReason === "error")
    // A run of one sequence has nobody else to blame.
    expect(failed.length).toBeLessThanOrEqual(1)
    for (const [index, result] of results.entries())
      if (!failed.includes(result)) expect(result).toEqual(expected[index])
  },
)

test("a prompt that the graph refuses fails, and those that ran with it answer as ever", async () => {
  const wide = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { failsAbove: 300, width: 320 })
  const fragile = await open({ model: wide, device: "cpu", slots: 4, threads: 1 })
  const ask = async (prompt: string | number[]) => (await fragile.start(prompt, { ...free, n: 1 })).result
  const prompts = ["a", "bb".repeat(90), "c"]
  const expected = await Promise.all(prompts.map(ask))
  const [first, bad, ...rest] = await Promise.all([ask(prompts[0]), ask([310]), ...prompts.slice(1).map(ask)])
  expect(bad.finishReason).toBe("error")
  expect([first, ...rest].map(({ text }) => text)).toEqual(expected.map(({ text }) => text))
  await fragile.close()
})
