/** What is plain to see of a schema, against the proof: the same compiler with nothing taken as plain. */
import { describe, expect, test } from "vitest"
import { defaultLimits, GrammarError } from "../../../../grammar/errors.ts"
import { formats } from "../../../../grammar/frontends/formats.ts"
import { regex } from "../../../../grammar/frontends/regex.ts"
import { JsonLanguage } from "../../../../grammar/json/language.ts"
import { KeywordReader } from "../../../../grammar/json/read/keywordreader.ts"
import { fromValue, type JsonNode } from "../../../../grammar/json/read/reader.ts"
import { SchemaGraph, type SchemaNode } from "../../../../grammar/json/refs/refs.ts"
import { randomSchema } from "../../../support/schemas.ts"
import { hasMaskBench, maskBenchLines } from "../../../support/validate/corpora.ts"
import { Validator } from "../../../support/validate.ts"

const policy = { order: "any", whitespace: "none", escapes: "canonical", numbers: "plain" } as const
const limits = { ...defaultLimits, satSteps: 20_000 }

function languageOf(schema: JsonNode, isBlind: boolean): { language: JsonLanguage; nodes: SchemaNode[] } {
  const reader = new KeywordReader(new SchemaGraph(schema), {
    limits,
    parts: { ...regex, ...formats },
    formats: "assert",
    unknownKeywords: "ignore",
  })
  const nodes = [reader.graph.root]
  for (const node of nodes) {
    for (const child of reader.of(node).below) if (!nodes.includes(child)) nodes.push(child)
    if (nodes.length > 300) break
  }
  return { language: new JsonLanguage(reader, policy, limits, isBlind), nodes }
}

/** For each schema below `schema`: whether it has values, how they begin, and a shortest one. */
function answers(schema: JsonNode, isBlind: boolean): string[] {
  const { language, nodes } = languageOf(schema, isBlind)
  return nodes.map((node) => {
    try {
      const conjunction = language.all.of([language.all.schema(node)])
      if (!language.isProductive(conjunction)) return `${node.pointer} nothing`
      const begins = language.valueSteps(conjunction).map(({ lexeme }) => lexeme)
      return `${node.pointer} ${begins.sort((a, b) => a - b)}`
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error
      return "refused"
    }
  })
}

function compare(name: string, schema: JsonNode): number {
  const plain = answers(schema, false)
  for (const [i, proven] of answers(schema, true).entries()) {
    // What is plain may be known where the proof is too long.
    if (proven !== "refused") expect(plain[i], name).toBe(proven)
  }
  return plain.length
}

test("of random schemas", () => {
  for (let seed = 1; seed <= 150; seed++) compare(`seed ${seed}`, fromValue(randomSchema(seed)))
})

describe("MaskBench (skipped without ../shared)", () => {
  test.skipIf(!hasMaskBench)("of every tenth schema", { timeout: 120_000 }, () => {
    let index = 0
    let count = 0
    for (const { id, schema } of maskBenchLines()) {
      if (index++ % 10 === 0 && schema.end - schema.start < 10_000) count += compare(id, schema)
    }
    expect(count).toBeGreaterThan(1_000)
  })
})

test.each([
  { type: "object", required: ["a", "b"], properties: { a: { required: ["c"], type: "object" } } },
  { type: "array", minItems: 3, items: { type: "array", prefixItems: [{ const: 1 }], minItems: 2 } },
  { type: "object", minProperties: 2, additionalProperties: { type: "object", required: ["x"] } },
  { oneOf: [{ type: "object", required: ["k"], properties: { k: { const: 1 } } }, { type: "string" }] },
  { type: "object", not: { required: ["a"] } },
  { type: "object", required: ["n"], properties: { n: { anyOf: [{ $ref: "#" }, { type: "null" }] } } },
  { allOf: [{ type: "object" }, { required: ["z"], properties: { z: { enum: [{}, []] } } }] },
])("a plain value can be written down: %j", (schema) => {
  const node = fromValue(schema)
  const { language } = languageOf(node, false)
  const { graph } = language.reader
  const text = language.witness(language.all.of([language.all.schema(graph.root)]))
  expect(new Validator(node).accepts(text), text).toBe(true)
})
