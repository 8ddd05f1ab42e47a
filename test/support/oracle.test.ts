import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compile } from "../../grammar/index.ts"
import { readJson, toText } from "../../grammar/json/read/reader.ts"
import { Matcher, TokenFsm } from "../../mask/index.ts"
import { differential } from "./oracle/differential.ts"
import { escapeAll, mutate, respell } from "./oracle/mutate.ts"
import { shrink } from "./oracle/shrink.ts"
import { jsonTexts, smallAlphabet, stringsOver } from "./oracle/texts.ts"
import { acceptsText, jsonVocabulary, randomOf, randomWalk, searchCompletion } from "./oracle.ts"
import { randomInstances, randomSchema } from "./schemas.ts"
import { keyOf } from "./validate/evaluate.ts"
import { Validator } from "./validate.ts"

const machine = (schema: string) =>
  new TokenFsm(compile({ kind: "json", schema }, { surface: "conform" }).grammar, jsonVocabulary)

describe("enumerated texts", () => {
  test("are JSON, without repetition, and all there is", () => {
    const alphabet = { ...smallAlphabet, characters: ["a"], digits: "01", exponents: true }
    const texts = jsonTexts(4, alphabet)
    expect(new Set(texts).size).toBe(texts.length)
    const all = stringsOver([...'{}[]",:a01-.e+', "null", "true", "fals"], 4).filter((text) => {
      try {
        readJson(text)
        return text.length <= 4 && !text.replaceAll(/"a*"/g, "").includes('"')
      } catch {
        return false
      }
    })
    expect(texts.toSorted()).toEqual(all.toSorted())
  })
  test("hold objects with several names", () => {
    const texts = jsonTexts(13, { ...smallAlphabet, characters: [], digits: "1", names: ["a", "b"] })
    expect(texts).toContain('{"a":1,"b":1}')
    expect(texts).toContain('{"b":1,"a":1}')
    expect(texts).not.toContain('{"a":1,"a":1}')
  })
})

describe("mutations", () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((json) => readJson(JSON.stringify(json)))
  test("are JSON texts, and repeat with their seed", () => {
    fc.assert(
      fc.property(value, fc.nat(1000), (node, seed) => {
        const { text } = mutate(node, randomOf(seed))
        expect(() => readJson(text)).not.toThrow()
        expect(mutate(node, randomOf(seed)).text).toBe(text)
      }),
      { seed: 11, numRuns: 500 },
    )
  })
  test("other spellings have the same value", () => {
    fc.assert(
      fc.property(value, fc.nat(1000), (node, seed) => {
        expect(keyOf(readJson(respell(node, randomOf(seed))))).toBe(keyOf(node))
        expect(keyOf(readJson(escapeAll(node)))).toBe(keyOf(node))
      }),
      { seed: 12, numRuns: 500 },
    )
  })
  test("every kind occurs", () => {
    const random = randomOf(1)
    const node = readJson('{"a":[1,2],"b":"x"}')
    const kinds = new Set(Array.from({ length: 100 }, () => mutate(node, random).mutation))
    expect([...kinds].sort()).toEqual(["count", "key", "order", "spelling", "value"])
  })
})

describe("random walks", () => {
  test("repeat with their seed and validate", () => {
    const schema = '{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}'
    const fsm = machine(schema)
    const validator = new Validator(schema)
    for (let seed = 1; seed <= 20; seed++) {
      const walk = randomWalk(fsm, seed, 15)
      expect(validator.accepts(walk.text), walk.text).toBe(true)
      expect(randomWalk(fsm, seed, 15)).toEqual(walk)
    }
  })
  test("a grammar of nothing has an empty mask, which is noticed", () => {
    const { grammar } = compile({ kind: "json", schema: false }, { unsatisfiable: "empty" })
    expect(() => randomWalk(new TokenFsm(grammar, jsonVocabulary), 1)).toThrow("the mask is empty")
  })
  test("the search for a completion agrees with the matcher's own", () => {
    for (const [schema, prefix] of [
      ['{"type":"array","items":{"enum":["ab",12]},"minItems":2}', '["a'],
      ['{"type":"integer","minimum":100}', "1"],
      ['{"properties":{"a":{"type":"null"}},"type":"object"}', '{"a"'],
    ]) {
      const matcher = new Matcher(machine(schema))
      matcher.acceptBytes(new TextEncoder().encode(prefix))
      const validator = new Validator(schema)
      for (const rest of [searchCompletion(matcher), matcher.shortest()]) {
        const text = prefix + new TextDecoder().decode(rest as Uint8Array)
        expect(validator.accepts(text), text).toBe(true)
      }
    }
  })
})

describe("random schemas", () => {
  test("repeat with their seed, and meet both verdicts", () => {
    let accepted = 0
    let count = 0
    const keywords = new Set<string>()
    for (let seed = 1; seed <= 300; seed++) {
      const schema = randomSchema(seed)
      expect(randomSchema(seed)).toEqual(schema)
      for (const [, keyword] of JSON.stringify(schema).matchAll(/"(\$?[a-zA-Z]+)":/g)) keywords.add(keyword)
      const validator = new Validator(JSON.stringify(schema))
      for (const text of randomInstances(schema, seed)) {
        count++
        if (validator.validate(text).valid) accepted++
      }
    }
    expect(accepted / count).toBeGreaterThan(0.3)
    expect(accepted / count).toBeLessThan(0.7)
    for (const keyword of [
      "not",
      "oneOf",
      "if",
      "contains",
      "uniqueItems",
      "dependentSchemas",
      "propertyNames",
      "$ref",
    ])
      expect(keywords).toContain(keyword)
  })
})

describe("the differential oracle", () => {
  test("sees a compiler that means another schema", () => {
    const compileOptions = { dialect: "draft-04" }
    const { disagreements } = differential('{"const":1}', ["1", "2"], { compile: compileOptions, walks: 0 })
    expect(disagreements).not.toEqual([])
  })
  test("a failing pair shrinks to its core", () => {
    const fails = (schema: string, instance: string) => schema.includes("minLength") && instance.includes("ä")
    const schema = '{"type":"object","properties":{"a":{"type":"string","minLength":3},"b":true}}'
    expect(shrink(schema, '{"a":["xäx",1]}', fails)).toEqual({ schema: '{"minLength":3}', instance: '"ä"' })
  })
  test("toText and the reader are inverse on what it makes", () => {
    const { text } = mutate(readJson('{"a":[1.0,"\\ud83d\\udca9"]}'), randomOf(5))
    expect(toText(readJson(toText(readJson(text))))).toBe(toText(readJson(text)))
  })
})

test("acceptsText wants the whole text", () => {
  const fsm = machine('{"type":"integer"}')
  expect([acceptsText(fsm, "12"), acceptsText(fsm, "-"), acceptsText(fsm, "1x")]).toEqual([
    true,
    false,
    false,
  ])
})
