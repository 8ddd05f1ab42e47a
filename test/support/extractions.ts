/**
 * Random extractions: texts full of escapes, schemas with copied strings, and what every result
 * must satisfy.
 */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { expect } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { byteLevelAlphabet, writeTinyModel } from "./onnx.ts"

const odd = [
  '"',
  "\\",
  "/",
  "\n",
  "\r\n",
  "\t",
  "\u0000",
  "\u007f",
  "\u2028",
  "é",
  "e\u0301",
  "👩‍👧",
  "𝒳",
  "\ufeff",
  " ",
]

/** Well-formed texts with quotes, controls, combining marks and surrogate pairs. */
const oddTexts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(fc.constantFrom(...odd, "ab", "null", "abab"), fc.string({ unit: "grapheme", maxLength: 4 })),
    { maxLength: 16 },
  )
  .map((parts) => parts.join(""))
  .filter((text) => text.isWellFormed())

const name = { type: "string", maxLength: 9 }
const item = {
  type: "object",
  properties: {
    sku: { type: ["string", "null"], maxLength: 5 },
    count: { type: "integer", minimum: 0, maximum: 99 },
  },
  required: ["sku", "count"],
  additionalProperties: false,
}
const closed = (properties: object) => ({
  ...{ type: "object", properties, required: Object.keys(properties), additionalProperties: false },
})

/** Schemas whose strings are copied, all but those at `/own` and `/kind`. */
export const copyingSchemas: readonly object[] = [
  closed({ name, other: { type: ["string", "null"], maxLength: 6, "x-copied": "words" } }),
  closed({ items: { type: "array", items: item, maxItems: 3 }, kind: { enum: ["ab", "c"] } }),
  closed({
    own: { ...name, "x-copied": false },
    inner: closed({ list: { type: "array", items: name, maxItems: 3 } }),
  }),
  {
    anyOf: [
      name,
      { type: "null" },
      closed({ kind: { const: "x" }, value: { ...name, pattern: "^[^\\n]*$", "x-copied": true } }),
    ],
  },
]

const ajv = new Ajv2020({ strict: false })
const validators = copyingSchemas.map((schema) => ajv.compile(schema))

/**
 * Runs `count` extractions with random weights and returns how many copied strings they had that
 * are not empty.
 */
export async function extractMany(engine: Engine, count: number, from = 0): Promise<number> {
  const texts = fc.sample(oddTexts, { seed: 77 + from, numRuns: count })
  let copied = 0
  let next = 0
  const worker = async () => {
    for (let i = next++; i < count; i = next++) {
      const text = texts[i]
      const at = (from + i) % copyingSchemas.length
      const { value, fields } = await engine.extract(text, copyingSchemas[at], {
        ...{ messages: [{ role: "user", content: `${from + i}` }], temperature: 1.5, seed: from + i },
      })
      const told = JSON.stringify([text, value])
      expect(validators[at](value), told).toBe(true)
      for (const [path, { value, source, confidence, mass, pNull }] of Object.entries(fields)) {
        const isCopied = typeof value === "string" && !/\/(?:own|kind)$/.test(path)
        if (isCopied) expect(text.includes(value), told).toBe(true)
        if (isCopied && value !== "") copied++
        if (isCopied || source !== null) expect(text.slice(...source!), told).toBe(value)
        for (const share of [confidence, mass, pNull])
          expect(share >= 0 && share <= 1 + 1e-12, told).toBe(true)
        if (value === null) expect(pNull, told).toBeGreaterThan(0)
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return copied
}

/** Opens a model of random weights whose tokens are the bytes and pieces of JSON. */
export function openRandom(): Promise<Engine> {
  const pieces = ["null", "nu", "ab", "ba", '":', '":"', '","', '{"', '["', "],", "\\u", "\\n", "\\\\"]
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "extract-")), {
    tokens: [...byteLevelAlphabet(), ...pieces],
    contextLength: 1_024,
  })
  return open({ model, device: "cpu", threads: 1, slots: 8, isolation: "none" })
}
