import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { distance } from "../../../../runtime/model/ort/layout.ts"
import { readGraph } from "../../../../runtime/model/ort/onnx.ts"

import { slimmed } from "../../../../runtime/model/ort/slim.ts"
import { generator, type TinyOptions } from "../../../support/onnx.ts"
import { type HostSession, openGraph, openTiny } from "../../../support/ortsession.ts"

/** The logits of three texts in turn, each with a prompt, several tokens at once and tokens one by one. */
async function logitsOf(session: HostSession): Promise<Float32Array[]> {
  const random = generator(7)
  const texts = [70, 3, 40].map((length) => Array.from({ length }, () => Math.floor(random() * 256)))
  const steps: Float32Array[] = []
  const at = texts.map(() => 0)
  for (const count of [9, 1, 1, 4, 1, 60]) {
    const feeds = texts.flatMap((text, slot) => {
      const tokens = text.slice(at[slot], at[slot] + (count > 4 ? count - 2 * slot : count))
      if (tokens.length === 0) return []
      const feed = { slot, start: at[slot], tokens, logitsCount: Math.min(2, tokens.length) }
      at[slot] += tokens.length
      return [feed]
    })
    steps.push((await session.forward(feeds)).slice())
  }
  return steps
}

/**
 * Tokens read one by one are attended by products, whose sums have another order; elsewhere nothing
 * is computed otherwise.
 */
async function expectSame(slim: HostSession, whole: HostSession, bound: number): Promise<void> {
  const [said, wanted] = [await logitsOf(slim), await logitsOf(whole)]
  if (!slim.signature.takesSteps) expect(said).toEqual(wanted)
  for (const [step, logits] of said.entries()) {
    expect(logits.length).toBe(wanted[step].length)
    expect(distance(logits, wanted[step])).toBeLessThan(bound)
  }
}

const grouped = { isGrouped: true, hasPositions: false }

const tiny: [string, TinyOptions][] = [
  ["keys behind a gap", {}],
  ["halves", { isHalf: true }],
  ["grouped-query attention", grouped],
  ["grouped-query attention with a window", { ...grouped, grouped: { window: 7 } }],
  ["grouped-query attention with bounded scores", { ...grouped, grouped: { softcap: 0.5 } }],
  ["grouped-query attention with sinks", { ...grouped, grouped: { hasSinks: true } }],
  ["grouped-query attention of halves", { ...grouped, isHalf: true }],
  ["rows that depend on each other", { isQuantised: true }],
]

test.each(tiny)("%s: a slim graph says what the whole one says", async (_name, options) => {
  const [whole, slim] = [await openTiny(options, { isSlim: false }), await openTiny(options)]
  expect(slim.description).toBe(whole.description)
  expect(slim.signature.caches.every(({ fresh }) => fresh !== undefined)).toBe(true)
  expect(whole.signature.caches.every(({ fresh }) => fresh === undefined)).toBe(true)
  await expectSame(slim, whole, 1e-5)
})

test.each([
  "gemma3_genai",
  "gemma3_optimum",
  "gpt2_merged",
  "granite_hybrid",
  "lfm2_genai",
  "lfm2_merged",
  "llama_dtypes",
  "llama_genai_q4",
  "qwen2_5_vl",
  "qwen3_5",
])("the export %s: the same", async (name) => {
  const model = `test/exports/${name}`
  const [whole, slim] = [await openGraph(model, { isSlim: false }), await openGraph(model)]
  expect(slim.description).toBe(whole.description)
  // Some round their activations to 8 bits.
  await expectSame(slim, whole, 0.02)
})

test("what is no model, or part of one, stays what it is", () => {
  const model = readFileSync("test/exports/llama_genai_q4/model.onnx")
  expect(slimmed(Buffer.from("not a model"))).toBeNull()
  expect(slimmed(Buffer.alloc(0))).toBeNull()
  expect(slimmed(model.subarray(0, model.length - 100))).toBeNull()
  expect(readGraph(slimmed(model)!).outputs.length).toBeGreaterThan(readGraph(model).outputs.length)
})
