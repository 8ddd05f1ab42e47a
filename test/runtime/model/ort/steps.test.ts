import { describe, expect, test } from "vitest"
import type { Feed } from "../../../../runtime/model/model.ts"
import type { OnnxGraph, OnnxNode } from "../../../../runtime/model/ort/onnx.ts"

import { stepwise } from "../../../../runtime/model/ort/steps.ts"
import { generator } from "../../../support/onnx.ts"
import { type HostSession, openGraph, openTiny } from "../../../support/ortsession.ts"

const grouped = { isGrouped: true, hasPositions: false }
const graphs: [name: string, open: () => Promise<HostSession>][] = [
  ["a tiny graph", () => openTiny(grouped)],
  ...["llama_genai_q4", "gemma3_genai", "lfm2_genai", "qwen2_5_vl"].map(
    (name): [string, () => Promise<HostSession>] => [
      `the export ${name}`,
      () => openGraph(`test/exports/${name}`),
    ],
  ),
]

describe.each(graphs)("several tokens in one run, %s", (_name, open) => {
  test("have the bits that they have one by one, alone and in company, however they are cut", async () => {
    const session = await open()
    expect([session.readsSteps, session.joinsFeeds]).toEqual([true, true])
    const { width } = session.signature
    const random = generator(31)
    const texts = [20, 41, 62].map((prompt) => ({
      prompt,
      tokens: Array.from({ length: prompt + 100 }, () => Math.floor(random() * Math.min(256, width))),
    }))
    const promptOf = (slot: number): Feed => {
      const { prompt, tokens } = texts[slot]
      return { slot, start: 0, tokens: tokens.slice(0, prompt), logitsCount: 1 }
    }
    // By text and token.
    const expected: Float32Array[][] = []
    for (const [slot, { prompt, tokens }] of texts.entries()) {
      await session.forward([promptOf(slot)])
      const rows: Float32Array[] = []
      for (let at = prompt; at < tokens.length; at++)
        rows.push(
          (await session.forward([{ slot, start: at, tokens: [tokens[at]], logitsCount: 1 }])).slice(),
        )
      expected.push(rows)
    }
    for (const company of [[0], [1], [0, 1, 2]]) {
      for (const slot of company) await session.forward([promptOf(slot)])
      const at = texts.map(({ prompt }) => prompt)
      let compared = 0
      for (;;) {
        const feeds = company.flatMap((slot): Feed[] => {
          const tokens = texts[slot].tokens.slice(
            at[slot],
            at[slot] + 1 + Math.floor((company.length === 1 ? 90 : 9) * random()),
          )
          return tokens.length === 0
            ? []
            : [{ slot, start: at[slot], tokens, logitsCount: tokens.length, isStepwise: true }]
        })
        if (feeds.length === 0) break
        const logits = await session.forward(feeds)
        let row = 0
        for (const { slot, start, tokens } of feeds) {
          for (const index of tokens.keys()) {
            const wanted = expected[slot][start - texts[slot].prompt + index]
            expect(logits.subarray(row * width, ++row * width)).toEqual(wanted)
            compared++
          }
          at[slot] += tokens.length
        }
      }
      expect(compared).toBe(100 * company.length)
    }
  })
})

test("a graph without the operator, and one that keeps less of a token than it computes with, read no steps", async () => {
  expect((await openTiny()).readsSteps).toBe(false)
  expect((await openTiny({ isQuantised: true })).readsSteps).toBe(false)
  expect((await openTiny({ ...grouped, isHalf: true })).readsSteps).toBe(false)
  expect((await openTiny(grouped, { isSlim: false })).readsSteps).toBe(false)
})

/** Attributes as a file has them: a name and an integer each. */
function attributesOf(values: Record<string, number>): Uint8Array[] {
  return Object.entries(values).map(([name, value]) =>
    Uint8Array.of(10, name.length, ...Buffer.from(name), 24, value, 160, 1, 2),
  )
}

test("attention with an unsupported input or attribute is not replaced", () => {
  const inputs = [
    "qkv",
    "",
    "",
    "past_key_values.0.key",
    "past_key_values.0.value",
    "lengths",
    "total",
    "cosines",
    "sines",
  ]
  const node = (names: readonly string[], told: Record<string, number>): OnnxNode => ({
    at: 0,
    op: "GroupQueryAttention",
    domain: "com.microsoft",
    inputs: names.map((name) => ({ name, start: 0 })),
    outputs: ["out", "present.0.key", "present.0.value"],
    attributes: attributesOf({ num_heads: 4, kv_num_heads: 2, do_rotary: 1, ...told }),
  })
  const graphOf = (names: readonly string[], told: Record<string, number> = {}): OnnxGraph => ({
    opset: 17,
    nodes: [node(names, told)],
    inputs: [{ name: "past_key_values.0.key", type: 1, dims: [0, 2, 0, 16] }],
    outputs: [],
    sizes: new Map([["cosines", [64, 8]]]),
  })
  expect(stepwise(graphOf(inputs))?.replaced).toHaveLength(1)
  expect(stepwise(graphOf([...inputs, "positions"]))).toBeNull()
  expect(stepwise(graphOf([...inputs, "", "bias"]))).toBeNull()
  expect(stepwise(graphOf(inputs, { qk_output: 0 }))?.replaced).toHaveLength(1)
  expect(stepwise(graphOf(inputs, { qk_output: 1 }))).toBeNull()
})
