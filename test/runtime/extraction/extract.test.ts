/**
 * Extraction through the engine: copied strings and their places, probabilities against their
 * definition, refusals, aborts.
 */
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import { type ExtractHost, extract } from "../../../runtime/extraction/extract.ts"
import {
  type Engine,
  type Extraction,
  type ExtractOptions,
  GrammarError,
  IncompleteError,
  open,
} from "../../../runtime/index.ts"
import { copyingSchemas, extractMany, openRandom } from "../../support/extractions.ts"

let engine: Engine
beforeAll(async () => {
  engine = await openRandom()
})
afterAll(() => engine.close())

const short = (messages = "go"): ExtractOptions => ({ messages: [{ role: "user", content: messages }] })

test("200 extractions with random weights: places, schema, copies", async () => {
  expect(await extractMany(engine, 200)).toBeGreaterThan(100)
})

describe("the place of a copied string", () => {
  const pick = (value: string) => ({ type: "string", "x-copied": true, enum: [value] })
  test.each<[text: string, value: string, source: [number, number]]>([
    ["👩‍👧 ann, ann", "ann", [6, 9]],
    ['a\r\n"b\\c"\u0000', '"b\\c"\u0000', [3, 9]],
    ["e\u0301é", "\u0301é", [1, 3]],
    ["𝒳𝒴𝒴", "𝒴", [2, 4]],
    ["abc", "", [0, 0]],
    ["", "", [0, 0]],
  ])("in %j of %j", async (text, value, source) => {
    const { value: found, fields } = await engine.extract(text, pick(value), short())
    expect(found).toBe(value)
    expect(fields[""].source).toEqual(source)
    expect(text.slice(...fields[""].source!)).toBe(value)
  })

  test("is told of other strings that the text has, and of no other value", async () => {
    const schema = {
      type: "object",
      properties: {
        kind: { enum: ["bc"] },
        own: { const: "x" },
        count: { const: 1 },
        none: { type: "null" },
      },
      required: ["kind", "own", "count", "none"],
      additionalProperties: false,
    }
    const { fields } = await engine.extract("abc 1", schema, short())
    expect(Object.entries(fields).map(([path, { source }]) => [path, source])).toEqual([
      ["/kind", [1, 3]],
      ["/own", null],
      ["/count", null],
      ["/none", null],
    ])
  })
})

const place = {
  type: "object",
  properties: {
    a: { type: ["string", "null"], maxLength: 4 },
    b: { type: ["integer", "null"], minimum: 0, maximum: 99 },
    list: { type: "array", items: { type: ["string", "null"], maxLength: 2 }, minItems: 2, maxItems: 2 },
    c: { type: "boolean" },
  },
  required: ["a", "b", "list", "c"],
  additionalProperties: false,
}
const source = 'null "b" nab\\n'

interface Row {
  readonly token: number
  /** Ids that the mask allowed, and their logits. */
  readonly allowed: readonly (readonly [id: number, logit: number])[]
}

/** An extraction, and the rows that its tokens were drawn from. */
async function rowsOf(seed: number): Promise<{ rows: Row[]; found: Extraction }> {
  const rows: Row[] = []
  const host: ExtractHost = {
    vocabulary: engine.vocabulary,
    tokenize: (messages, how, constraint) => engine.tokenize(messages, { ...how, constraint }),
    answer: (prompt, asked, watch) =>
      // biome-ignore lint/complexity/useLiteralKeys: it is private
      engine["answer"](prompt, asked, (logits, mask, token, tokens) => {
        const allowed = [...logits.entries()].filter(([id]) => (mask[id >>> 5] >>> (id & 31)) & 1)
        rows[tokens.length - prompt.length] = { token, allowed }
        watch(logits, mask, token, tokens)
      }),
  }
  const found = await extract(host, source, place, { ...short(), temperature: 1.2, seed })
  return { rows, found }
}

/** Where a value begins: what must stand before it, read from the text alone. */
const before: Readonly<Record<string, RegExp>> = {
  "/a": /^\{\s*"a"\s*:\s*(?=\S)/,
  "/b": /^\{\s*"a"[\s\S]*?"b"\s*:\s*(?=\S)/,
  "/list/0": /"list"\s*:\s*\[\s*(?=\S)/,
  "/c": /"c"\s*:\s*(?=\S)/,
}

test("pNull and confidence are what their definitions say, to 1e-12", async () => {
  let [nulls, others] = [0, 0]
  for (let seed = 1; seed <= 12; seed++) {
    const { rows, found } = await rowsOf(seed)
    const { fields, text } = found
    const piece = (id: number) => Buffer.from(engine.vocabulary.bytes(id)).toString("latin1")
    const pieces = rows.map(({ token }) => piece(token))
    const whole = Buffer.from(text).toString("latin1")
    expect(pieces.join("")).toBe(whole)
    for (const [path, pattern] of Object.entries(before)) {
      const { value, pNull, confidence } = fields[path]
      const start = pattern.exec(whole)!
      const at = start.index + start[0].length
      const lengths = [0, ...pieces.map((_, i) => pieces.slice(0, i + 1).join("").length)]
      const begins = rows.findIndex((_, i) => lengths[i + 1] > at)
      const said = whole.slice(0, lengths[begins])
      const opening = rows[begins].allowed.flatMap(([id, logit]) => {
        const next = said + piece(id)
        const opened = next === said ? null : pattern.exec(next)
        return opened === null
          ? []
          : [{ first: next[opened.index + opened[0].length], share: Math.exp(logit) }]
      })
      const sum = (terms: readonly { share: number }[]) =>
        terms.reduce((total, { share }) => total + share, 0)
      const naive = sum(opening.filter(({ first }) => first === "n")) / sum(opening)
      expect(Math.abs(pNull - naive), `${text} ${path}`).toBeLessThan(1e-12)
      if (naive > 0.01 && naive < 0.99) nulls++
      // A number is closed by the character after it.
      const end = at + JSON.stringify(value).length + (typeof value === "number" ? 1 : 0)
      const product = rows
        .filter((_, i) => lengths[i + 1] > at && lengths[i] < end)
        .map(({ token, allowed }) => {
          const shares = allowed.map(([id, logit]) => ({ id, share: Math.exp(logit) }))
          return shares.find(({ id }) => id === token)!.share / sum(shares)
        })
        .reduce((total, share) => total * share, 1)
      expect(Math.abs(confidence - product), `${text} ${path}`).toBeLessThan(1e-12)
      others++
    }
  }
  expect([nulls > 8, others]).toEqual([true, 48])
})

test("a schema's own validator gives the value and its type", async () => {
  const Order = z.object({
    id: z
      .string()
      .max(4)
      .transform((id) => id.length),
    total: z.number().int().min(0).max(9).nullable(),
  })
  const { value, fields } = await engine.extract("A-17", Order, short())
  expectTypeOf(value).toEqualTypeOf<{ id: number; total: number | null }>()
  expect(value.id).toBe(String(fields["/id"].value).length)
  const literal = await engine.extract(
    "ab",
    { type: "array", items: { type: "string", maxLength: 2 }, maxItems: 2 },
    short(),
  )
  expectTypeOf(literal.value).toEqualTypeOf<string[]>()
})

describe("refusals", () => {
  test.each<[name: string, args: readonly unknown[], param: RegExp]>([
    ["a text that is none", [7, {}], /^text: it is not a text/],
    ["half a pair", ["\ud800", {}], /^text: it holds half/],
    ["two prompts", ["a", {}, { instructions: "x", messages: [] }], /^instructions: .*leave one out/],
    ["an unknown option", ["a", {}, { copied: [] }], /copied/],
    ["no schema", ["a", undefined], /^schema: it is undefined/],
    ["a schema of no value", ["a", { type: "string", minLength: 2 }], /contradict/],
    [
      "a pattern that no substring has",
      ["abc", { type: "string", "x-copied": true, pattern: "[0-9]" }],
      /no string|no value|contradict/,
    ],
    ["a text above the bound", ["abc", { type: "string" }, { limits: { chunks: 2 } }], /limits\.chunks/],
    ["a text that fills the context", ["x".repeat(3_000), { type: "string" }], /context/],
    ["a budget of 0", ["a", {}, { maxTokens: 0 }], /maxTokens/],
  ])("%s", async (_, [text, schema, options], message) => {
    await expect(engine.extract(text as string, schema, options as ExtractOptions)).rejects.toThrow(message)
  })

  test("say where the schema is at fault", async () => {
    const schema = { properties: { a: { not: { type: "string" } } } }
    const error = await engine.extract("abc", schema, short()).catch((caught) => caught)
    expect(error).toBeInstanceOf(GrammarError)
    expect(error.path).toBe("/properties/a/not")
  })

  test("a budget that ends first is an error with the text so far", async () => {
    const asked = engine.extract("abcdefgh", { type: "string", minLength: 8 }, { ...short(), maxTokens: 2 })
    await expect(asked).rejects.toThrow(IncompleteError)
  })

  test("an abort ends the extraction, before and during it", async () => {
    const end = new AbortController()
    const long = { type: "array", items: { type: "string", minLength: 3 }, minItems: 100 }
    const asked = engine.extract("abcdefgh", long, { ...short(), signal: end.signal })
    setTimeout(() => end.abort(), 30)
    await expect(asked).rejects.toThrow("the request was aborted")
    await expect.poll(() => engine.load().running).toBe(0)
    await expect(engine.extract("a", {}, { signal: end.signal })).rejects.toThrow("aborted")
  })
})

test("many at once give what each gives alone", async () => {
  const one = (seed: number) =>
    engine.extract("ab null ba", copyingSchemas[1], { ...short(), temperature: 1, seed })
  const alone = []
  for (let seed = 1; seed <= 6; seed++) {
    const { usage: _, ...rest } = await one(seed)
    alone.push(rest)
  }
  const together = await Promise.all([1, 2, 3, 4, 5, 6].map(one))
  expect(together.map(({ usage: _, ...rest }) => rest)).toEqual(alone)
})

test("the shipped model extracts", async () => {
  const shipped = await open({ device: "cpu", isolation: "none" })
  const text = "Invoice 4711 of Ann Lee, due on 2024-05-06."
  const schema = {
    type: "object",
    properties: {
      invoice: { type: "string", "x-copied": "words", maxLength: 30 },
      due: { type: "string", format: "date", "x-copied": true },
    },
    required: ["invoice", "due"],
    additionalProperties: false,
  }
  const { value, fields } = await shipped.extract(text, schema)
  expect(value).toMatchObject({ due: "2024-05-06" })
  for (const { value, source } of Object.values(fields)) expect(text.slice(...source!)).toBe(value)
  await shipped.close()
})
