/** Branches and specs found at first sight are those of the search and of the general way. */
import { expect, test } from "vitest"
import { defaultLimits, GrammarError } from "../../../../grammar/errors.ts"
import { formats } from "../../../../grammar/frontends/formats.ts"
import { regex } from "../../../../grammar/frontends/regex.ts"
import { Branches } from "../../../../grammar/json/facts/branches.ts"
import { Types } from "../../../../grammar/json/facts/conjunction.ts"
import { JsonLanguage } from "../../../../grammar/json/language.ts"
import { objectSpec } from "../../../../grammar/json/object/objectspec.ts"
import { KeywordReader } from "../../../../grammar/json/read/keywordreader.ts"
import { fromValue, type JsonNode } from "../../../../grammar/json/read/reader.ts"
import { SchemaGraph } from "../../../../grammar/json/refs/refs.ts"
import { randomSchema } from "../../../support/schemas.ts"
import { hasMaskBench, maskBenchLines } from "../../../support/validate/corpora.ts"

const limits = { ...defaultLimits, satSteps: 20_000 }
const policy = { order: "any", whitespace: "none", escapes: "canonical", numbers: "plain" } as const
const trusting = {
  isWithinQuestion: () => false,
  mayHaveValue: () => true,
  isPossibleObject: () => true,
  valuesOf: () => null,
  isCutBy: () => false,
  isListed: () => false,
  partsOf: () => null,
}

/** Compares all schemas below `schema`; how many of them were objects with one branch of one schema. */
function compare(name: string, schema: JsonNode): number {
  const reader = new KeywordReader(new SchemaGraph(schema), {
    limits,
    parts: { ...regex, ...formats },
    formats: "assert",
    unknownKeywords: "ignore",
  })
  const nodes = [reader.graph.root]
  const seen = new Set(nodes)
  for (const node of nodes) {
    for (const child of reader.of(node).below) {
      if (seen.has(child) || nodes.length > 300) continue
      seen.add(child)
      nodes.push(child)
    }
  }
  const { all } = new JsonLanguage(reader, policy, limits)
  const branches = new Branches(all, reader, limits, trusting)
  let count = 0
  for (const node of nodes) {
    const facts = [all.schema(node)]
    const place = `${name} ${node.pointer}`
    for (const isComplete of [true, false]) {
      const spec = objectSpec(all, reader, facts, limits, { isComplete })
      expect(spec, place).toEqual(objectSpec(all, reader, facts, limits, { isComplete, isGeneral: true }))
    }
    for (const type of [Types.object, Types.array]) {
      const branch = branches.of(all.of(facts), type)
      expect(branch, place).toEqual(branches.search(all.of(facts), type))
      if (type === Types.object && branch.length === 1 && branch[0].facts.length === 1) count++
    }
  }
  return count
}

test("of random schemas", () => {
  let count = 0
  for (let seed = 1; seed <= 400; seed++) count += compare(`seed ${seed}`, fromValue(randomSchema(seed)))
  expect(count).toBeGreaterThan(50)
})

test.each([
  true,
  false,
  {},
  {
    type: "object",
    required: ["b", "a", "b"],
    properties: { a: { type: "string" } },
    additionalProperties: false,
  },
  { required: ["x"], additionalProperties: { type: "integer" }, minProperties: 2, maxProperties: 4 },
  { properties: { "": true, "\ud800": {}, größe: false }, additionalProperties: {} },
  { properties: { a: {} }, patternProperties: { "^b": false } },
  { properties: { a: {} }, propertyNames: { maxLength: 3 } },
  { properties: { a: {} }, unevaluatedProperties: false },
  { properties: { a: {} }, dependentRequired: { a: ["b"] } },
  { properties: { a: {} }, not: { required: ["a"] } },
  { type: ["object", "array"], enum: [{}, []] },
  { type: "string", properties: { a: {} } },
  { minProperties: 3, maxProperties: 2 },
])("of %j", (schema) => {
  compare("", fromValue(schema))
})

test.skipIf(!hasMaskBench)("of every tenth schema of MaskBench (skipped without ../shared)", () => {
  let index = 0
  let count = 0
  for (const { id, schema } of maskBenchLines()) {
    if (index++ % 10 !== 0 || schema.end - schema.start >= 10_000) continue
    try {
      count += compare(id, schema)
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error
    }
  }
  expect(count).toBeGreaterThan(200)
})
