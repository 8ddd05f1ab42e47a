/** Graphs that are built of tiny GGUF files (`test/decoders/make.py`), opened as any model: they answer what llama.cpp answers. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { decoderOfGguf } from "../../../../runtime/model/build/decoder.ts"
import { type OnnxNode, readGraph } from "../../../../runtime/model/ort/onnx.ts"
import { openGguf } from "../../../../runtime/model/weights/gguf.ts"
import { buildTiny, expectedAnswers, ggufPath } from "../../../support/builtmodels.ts"
import { openGraph } from "../../../support/ortsession.ts"

/** The number of an attribute; undefined if it is absent. */
function intOf({ attributes }: OnnxNode, name: string): number | undefined {
  for (const bytes of attributes) {
    const length = bytes[1]
    if (Buffer.from(bytes.subarray(2, 2 + length)).toString() === name) return bytes[2 + length + 1]
  }
  return undefined
}

describe.each(Object.entries(expectedAnswers))("%s", (name, rows) => {
  test("answers the tokens of llama.cpp, by fast kernels alone", async () => {
    const { folder, decoder } = await buildTiny(name)
    const graph = readGraph(readFileSync(join(folder, "model.onnx")))
    const products = graph.nodes.filter(({ op }) => op === "MatMulNBits")
    expect(products.length).toBeGreaterThan(4)
    for (const node of products) {
      expect(intOf(node, "accuracy_level")).toBe(4)
      expect([4, 8]).toContain(intOf(node, "bits"))
      expect([16, 32]).toContain(intOf(node, "block_size"))
      expect(node.inputs.length, "no zero points").toBe(3)
    }
    const session = await openGraph(folder, { slotCount: 2, contextLength: decoder.context })
    expect(session.isBatched).toBe(true)
    for (const { prompt, tokens, logits } of rows) {
      const made: number[] = []
      let start = 0
      let feed = prompt
      while (made.length < tokens.length) {
        const row = await session.forward([{ slot: 0, start, tokens: feed, logitsCount: 1 }])
        const [least, most] = [Math.min(...row), Math.max(...row)]
        // Both round activations to 8 bits, and differently.
        if (made.length === 0) {
          for (const [id, logit] of logits)
            expect(Math.abs(row[id] - logit) / (most - least), `logit ${id}`).toBeLessThan(0.02)
        }
        made.push(row.indexOf(most))
        start += feed.length
        feed = made.slice(-1)
      }
      expect(made).toEqual(tokens)
    }
  })
})

test.each(Object.keys(expectedAnswers))("%s: every parameter and tensor is accounted for", async (name) => {
  const gguf = await openGguf(ggufPath(name))
  const withKey = new Map([...gguf.metadata, [`${name}.attention.unheard_of`, 1] as const])
  expect(() => decoderOfGguf({ ...gguf, metadata: withKey })).toThrow(
    `${name}.attention.unheard_of is "1", and what it changes is not known here`,
  )
  gguf.close()
})
