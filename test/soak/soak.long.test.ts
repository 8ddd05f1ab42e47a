/**
 * A small part of the long runs (`main.ts`): some schemas of the corpus over the shipped vocabulary, and for each run a
 * mistake that it must find.
 *
 * TOKENRAIL_SOAK=n takes every n-th schema.
 */
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { compile } from "../../grammar/index.ts"
import { toText } from "../../grammar/json/read/reader.ts"
import { parseVocabulary, TokenFsm } from "../../mask/index.ts"
import { Tokenizer } from "../../runtime/model/tokenizer.ts"
import { hasMaskBench, maskBenchLines } from "../support/validate/corpora.ts"
import { soakForced } from "./forced.ts"
import { compareMasks, plainLocals } from "./masks.ts"
import { soakRoam } from "./roam.ts"
import { soakSpellings } from "./spellings.ts"
import { soakStored } from "./stored.ts"
import { soakWalks } from "./walks.ts"

const read = (name: string) => JSON.parse(readFileSync(`runtime/embedded/${name}`, "utf8"))
const [tokenizerJson, tokenizerConfig] = [read("tokenizer.json"), read("tokenizer_config.json")]
const vocabulary = parseVocabulary(tokenizerJson, tokenizerConfig, { endIds: [0, 2] })
const directory = { path: "", tokenizerJson, tokenizerConfig, chatTemplates: new Map() }
const encode = new Tokenizer(directory, vocabulary).encodePart
const step = Number(process.env.TOKENRAIL_SOAK ?? 50)
const surfaces = ["generate", "conform"] as const
const shared = { vocabulary, seed: 1, draw: "byte" } as const
const unhurried = { compileMs: 60_000, maskMs: 60_000, slowMs: 60_000 }
const roaming = { vocabulary, seed: 1, walkTokens: 60, ...unhurried } as const

describe.skipIf(!hasMaskBench)("MaskBench (skipped without ../shared)", () => {
  const rows = hasMaskBench ? [...maskBenchLines()].filter((_, index) => index % step === 7) : []

  test.each(surfaces)(
    "fast masks are the plain walks, surface %s",
    (surface) => {
      const plain = plainLocals(vocabulary)
      let masks = 0
      for (const { id, schema, tests } of rows) {
        const texts = tests.map(({ text }) => text)
        const compile = { surface, unsatisfiable: "empty" } as const
        const more = { ...shared, plain, compile, walks: 2, steps: 3, tries: 20 }
        const soak = compareMasks(toText(schema), texts, more)
        expect([id, soak.disagreements]).toEqual([id, []])
        masks += soak.masks
      }
      expect(masks).toBeGreaterThan(5 * rows.length)
    },
    120_000,
  )

  test.each(surfaces)(
    "every walk can be finished, and what it writes is valid, surface %s",
    (surface) => {
      for (const { id, schema } of rows) {
        const compile = { surface, unsatisfiable: "empty" } as const
        const soak = soakWalks(toText(schema), { ...shared, compile, tokens: 30, walkTokens: 15 })
        expect([id, soak.disagreements, soak.limits]).toEqual([id, [], []])
        expect(soak.tokens + 30 * soak.unsatisfiable).toBeGreaterThanOrEqual(30)
      }
    },
    120_000,
  )

  test("no walk ends in an error, wherever in a text it begins", () => {
    for (const { id, schema, tests } of rows) {
      const compile = { surface: "conform", unsatisfiable: "empty" } as const
      const texts = tests.filter(({ valid }) => valid).map(({ text }) => text)
      const soak = soakRoam(toText(schema), { ...roaming, compile, texts, tokens: 240 })
      expect([id, soak.disagreements]).toEqual([id, []])
    }
  }, 120_000)

  test("what went through a file is what is compiled here", () => {
    let machines = 0
    for (const { id, schema } of rows) {
      const compile = { surface: "generate", unsatisfiable: "empty" } as const
      const soak = soakStored(toText(schema), { ...shared, compile, walks: 2, steps: 12, maxStates: 2_000 })
      expect([id, soak.disagreements]).toEqual([id, []])
      machines += soak.machines
    }
    expect(machines).toBeGreaterThan(0)
  }, 120_000)

  test("what is forced is what the tokenizer writes", () => {
    let forced = 0
    for (const { id, schema, tests } of rows) {
      const compile = { surface: "generate", unsatisfiable: "empty" } as const
      const soak = soakForced(toText(schema), tests, { vocabulary, encode, compile })
      expect([id, soak.disagreements]).toEqual([id, []])
      forced += soak.forced
    }
    expect(forced).toBeGreaterThan(10 * rows.length)
  }, 120_000)

  test("valid texts are accepted in any order and spelling", () => {
    let texts = 0
    for (const { id, schema, tests } of rows) {
      const compile = { surface: "conform", unsatisfiable: "empty" } as const
      const soak = soakSpellings(toText(schema), tests, { ...shared, compile, count: 3 })
      expect([id, soak.disagreements]).toEqual([id, []])
      texts += soak.texts
    }
    expect(texts).toBeGreaterThan(rows.length)
  }, 120_000)
})

describe("each run finds a mistake", () => {
  const schema = '{"type":"array","items":{"type":"integer"}}'

  test("a mask that lacks a token", () => {
    const plain = plainLocals(vocabulary)
    const local = plain.local.bind(plain)
    plain.local = (list, state) => {
      const { row, ...rest } = local(list, state)
      return { ...rest, row, common: row === null ? rest.common : Int32Array.of(1), ids: [Int32Array.of(5)] }
    }
    const more = { ...shared, plain, compile: {}, walks: 1, steps: 1, tries: 0 }
    expect(compareMasks(schema, ["[1, 2]"], more).disagreements[0]).toMatch(/tokens missing/)
  })

  test("a machine that is another one", () => {
    const other = compile({ kind: "json", schema: { type: "array", items: { type: "number" } } }).grammar
    const read = () => new TokenFsm(other, vocabulary)
    const more = { ...shared, compile: {}, walks: 4, steps: 20, maxStates: 2_000, read }
    expect(soakStored(schema, more).disagreements[0]).toMatch(/after .*: masked,masked, ends/)
  })

  test("a text that is not valid", () => {
    const judge = { accepts: (text: string) => !text.includes("1") }
    const soak = soakWalks(schema, { ...shared, compile: {}, tokens: 200, walkTokens: 20, judge })
    expect(soak.disagreements[0]).toMatch(/not valid/)
  })

  test("a text that is not valid where others begin", () => {
    const judge = { accepts: (text: string) => !text.includes("1") }
    const texts = ["[1, 2, 3, 4]"]
    const soak = soakRoam(schema, { ...roaming, compile: {}, texts, tokens: 400, judge })
    expect(soak.disagreements[0]).toMatch(/not valid/)
  })

  test("a bound that is met behind the first token", () => {
    const nested = '{"type":"array","items":{"$ref":"#"}}'
    const compile = { surface: "conform", limits: { stackDepth: 6 } } as const
    const soak = soakRoam(nested, { ...roaming, compile, texts: [], tokens: 4_000 })
    expect(soak.disagreements[0]).toMatch(/deeper than 6 levels/)
  })

  test("a token that the tokenizer writes otherwise", () => {
    const named = '{"type":"object","properties":{"name":{"type":"integer"}},"required":["name"]}'
    const text = '{"name":1}'
    const [name] = encode("name")
    const letters = [..."name"].flatMap((letter) => encode(letter))
    const odd = (part: string) =>
      part === text ? encode(part).flatMap((id) => (id === name ? letters : [id])) : encode(part)
    const soak = soakForced(named, [{ valid: true, text }], { vocabulary, encode: odd, compile: {} })
    expect(soak.disagreements[0]).toMatch(/token 1 of .*: forced/)
  })

  test("a spelling that is valid and not accepted", () => {
    const more = { ...shared, compile: { surface: "generate" }, count: 8 } as const
    const { disagreements } = soakSpellings(schema, [{ valid: true, text: "[1, 2]" }], more)
    expect(disagreements[0]).toMatch(/stops at byte/)
  })
})
