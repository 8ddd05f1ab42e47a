/** What structural tags may cost, what a vocabulary refuses, and that whatever is written ends in a grammar or a refusal. */
import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { Completions } from "../../../grammar/completions.ts"
import type { TokenNames } from "../../../grammar/ebnf/tokennames.ts"
import { GrammarError, type Limits } from "../../../grammar/errors.ts"
import { compile } from "../../../grammar/index.ts"
import { DeadState, States } from "../../../grammar/state.ts"
import { parseCases, refusalOf } from "../../support/cases.ts"
import { randomOf } from "../../support/oracle.ts"

const utf8 = new TextEncoder()
const words = ["ab", "<x>", "</x>", "end"]
const tokens: TokenNames = {
  specials: new Map([
    ["<x>", 1],
    ["</x>", 2],
    ["end", 3],
  ]),
  endIds: [3],
  width: 8,
  hash: "few tokens",
  bytes: (id) => utf8.encode(id === 0 ? words[0] : id > 3 && id < 7 ? "</>"[id - 4] : ""),
}
const text = { type: "any_text" }
const tag = (begin: string, content: unknown = text, end: unknown = "") => ({ begin, content, end })

test.each<[string, Partial<Limits>, unknown, string, string]>([
  [
    "tags",
    { tags: 2 },
    { type: "tags_with_separator", separator: "", tags: [tag("a"), tag("b"), tag("c")] },
    "/tags/2",
    "tags: 3 is above the bound of 2. Raise limits.tags",
  ],
  [
    "tags inside each other",
    { tags: 1 },
    { type: "tag", ...tag("a", { type: "tag", ...tag("b") }) },
    "/content",
    "tags: 2 is above the bound of 1",
  ],
  [
    "tags of the older form",
    { tags: 1 },
    {
      structures: [
        { begin: "a", schema: {}, end: "" },
        { begin: "a", schema: {}, end: "" },
      ],
      triggers: ["a"],
    },
    "/structures/1",
    "tags: 2 is above the bound of 1",
  ],
  [
    "triggers",
    { triggers: 1 },
    { type: "triggered_tags", triggers: ["a", "b"], tags: [tag("a")] },
    "/triggers",
    "triggers: 2 is above the bound of 1. Raise limits.triggers",
  ],
  [
    "excludes",
    { triggers: 1 },
    { ...text, excludes: ["a", "b"] },
    "/excludes",
    "triggers: 2 is above the bound of 1",
  ],
  [
    "rules of a dispatch",
    { triggers: 1 },
    {
      type: "dispatch",
      rules: [
        ["a", text],
        ["b", text],
      ],
    },
    "/rules",
    "triggers: 2 is above the bound of 1",
  ],
  [
    "nesting",
    { grammarDepth: 3 },
    { type: "star", content: { type: "star", content: { type: "star", content: text } } },
    "/content/content/content",
    "nesting of formats: 4 is above the bound of 3",
  ],
  [
    "the text",
    { schemaBytes: 10 },
    '{"type": "any_text"}',
    "",
    "length of the structural tag: 20 is above the bound of 10",
  ],
  [
    "a schema inside",
    { schemaDepth: 2 },
    { type: "json_schema", json_schema: { not: { not: {} } } },
    "/json_schema/not/not",
    "nests too deep",
  ],
  [
    "a grammar inside",
    { rules: 2 },
    { type: "grammar", grammar: 'root ::= a\na ::= b\nb ::= "c"' },
    "/grammar, line 3, column 1",
    "rules of the grammar: 3 is above the bound of 2",
  ],
])("at most so many: %s", (_, limits, format, path, message) => {
  const error = refusalOf(() => compile({ kind: "tag", format }, { limits }))
  expect([error.kind, error.path]).toEqual(["limit", path])
  expect(error.message).toContain(message)
})

test.each<[string, unknown, string, string, string]>([
  ["an unknown name", { type: "token", token: "<y>" }, "/token", "syntax", 'no token is spelled "<y>"'],
  [
    "an id above all",
    { type: "token", token: 8 },
    "/token",
    "syntax",
    "there is no token 8: the vocabulary has the ids 0 to 7",
  ],
  [
    "an excluded token that is none",
    { type: "any_tokens", exclude_tokens: ["<x>", "no"] },
    "/exclude_tokens/1",
    "syntax",
    'no token is spelled "no"',
  ],
  [
    "any tokens up to bytes",
    { type: "tag", ...tag("", { type: "any_tokens" }, ["</x>", "b</x>"]) },
    "/content",
    "unsupported",
    'any tokens up to the text "b</x>"',
  ],
  [
    "any tokens up to an ordinary token's bytes",
    { type: "tag", ...tag("", { type: "token_dispatch", rules: [["<x>", text]] }, "ab") },
    "/content",
    "unsupported",
    'any tokens up to the text "ab"',
  ],
  [
    "a trigger that is excluded",
    { type: "token_triggered_tags", trigger_tokens: ["<x>"], exclude_tokens: [1], tags: [tag("<x>")] },
    "/trigger_tokens/0",
    "syntax",
    'the token "<x>" is a trigger and is excluded',
  ],
  [
    "a trigger that ends the tag around",
    {
      type: "tag",
      ...tag("", { type: "token_dispatch", rules: [["<x>", text]] }, { type: "token", token: 1 }),
    },
    "/content/rules/0/0",
    "syntax",
    'the token "<x>" is a trigger and ends the tag around it',
  ],
  [
    "a tag behind no trigger",
    { type: "token_triggered_tags", trigger_tokens: ["<x>"], tags: [tag("<x>"), tag("a<x>")] },
    "/tags/1/begin",
    "syntax",
    'begins with "a<x>", not with one of trigger_tokens',
  ],
  [
    "a tag behind nothing",
    { type: "token_triggered_tags", trigger_tokens: ["<x>"], tags: [tag("")] },
    "/tags/0/begin",
    "syntax",
    "begins with nothing",
  ],
])("a vocabulary refuses %s", (_, format, path, kind, message) => {
  const error = refusalOf(() => compile({ kind: "tag", format }, { tokens }))
  expect([error.kind, error.path]).toEqual([kind, path])
  expect(error.message).toContain(message)
})

test("many tools behind one trigger, each with its own arguments", () => {
  const tools = Array.from({ length: 400 }, (_, i) => `tool_${i}`)
  const tags = tools.map((name, i) =>
    tag(`<f=${name}>`, { type: "json_schema", json_schema: { const: i } }, "</f>"),
  )
  const { grammar } = compile({ kind: "tag", format: { type: "triggered_tags", triggers: ["<f="], tags } })
  const states = new States(grammar)
  const isAccepted = (written: string) =>
    states.isAccepting(states.advance(states.start, utf8.encode(written)))
  for (const i of [0, 7, 39, 399]) {
    expect(isAccepted(`so <f=tool_${i}>${i}</f> and <f=tool_3>3</f>`)).toBe(true)
    expect(isAccepted(`<f=tool_${i}>${i + 1}</f>`)).toBe(false)
  }
  // One reading of the text, however many tools there are.
  expect(states.threadCount(states.advance(states.start, utf8.encode("text <f=tool_")))).toBe(1)
})

test("one tool that nothing can call is refused by its begin", () => {
  const tags = [{ type: "integer" }, { enum: [] }].map((json_schema, i) =>
    tag(`<f=${i}>`, { type: "json_schema", json_schema }, "</f>"),
  )
  const format = { type: "triggered_tags", triggers: ["<f="], tags }
  const error = refusalOf(() => compile({ kind: "tag", format }))
  expect(error.path).toBe("/tags/1/content/json_schema")
  expect(error.message).toContain('in the tag "<f=1>"')
  // Nothing else is lost where such a tag is left out instead.
  const { grammar } = compile({ kind: "tag", format }, { unsatisfiable: "empty" })
  const states = new States(grammar)
  expect(states.advance(states.start, utf8.encode("<f=1"))).toBe(DeadState)
  expect(states.isAccepting(states.advance(states.start, utf8.encode("<f=0>5</f>")))).toBe(true)
})

test("the JSON text of a structural tag keeps numbers and the order of keys", () => {
  const schema =
    '{"properties": {"2": {"const": 18446744073709551615}, "1": {}}, "additionalProperties": false}'
  const read = (format: unknown) => {
    const states = new States(compile({ kind: "tag", format }).grammar)
    return (written: string) => states.isAccepting(states.advance(states.start, utf8.encode(written)))
  }
  const isAccepted = read(
    `{"type": "structural_tag", "format": {"type": "json_schema", "json_schema": ${schema}}}`,
  )
  expect(isAccepted('{"2":18446744073709551615,"1":0}')).toBe(true)
  expect(isAccepted('{"2":18446744073709551616}')).toBe(false)
  expect(isAccepted('{"1":0,"2":18446744073709551615}')).toBe(false)
  const older = `{"structures": [{"begin": "<f>", "schema": ${JSON.stringify(schema)}, "end": ""}], "triggers": ["<f>"]}`
  expect(read(older)('<f>{"2":18446744073709551615}')).toBe(true)
  expect(refusalOf(() => read('{"type": "any_text",}')).path).toBe("line 1, column 21")
})

/** Every node of a value, with what leads to it. */
function* nodesOf(value: unknown): Generator<{ parent: Record<string, unknown>; key: string }> {
  if (typeof value !== "object" || value === null) return
  for (const key of Object.keys(value)) {
    yield { parent: value as Record<string, unknown>, key }
    yield* nodesOf((value as Record<string, unknown>)[key])
  }
}

test("whatever is written, the outcome is a grammar or a refusal", { timeout: 120_000 }, () => {
  const seeds = readdirSync("test/cases/tags").flatMap((file) =>
    parseCases(readFileSync(`test/cases/tags/${file}`, "utf8")).map(({ grammar }) => grammar),
  )
  const random = randomOf(20261125)
  const any = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]
  const limits = { satSteps: 20_000, threads: 64, maxRepeat: 1_000, symbols: 20_000 }
  const scalars = [null, true, 0, -1, 1e9, 0.5, "", "<x>", "a", "\ud800", [], {}, "any_text", "tag", "é", 3]
  const outcomes = { grammar: 0, refusal: 0 }
  for (let round = 0; round < 2_000; round++) {
    const format = JSON.parse(any(seeds))
    for (let edits = 1 + Math.floor(random() * 3); edits > 0; edits--) {
      const nodes = [...nodesOf(format)]
      if (nodes.length === 0) break
      const { parent, key } = any(nodes)
      const other = any(nodes)
      switch (Math.floor(random() * 5)) {
        case 0:
          delete parent[key]
          break
        case 1:
          parent[key] = any(scalars)
          break
        case 2:
          parent[key] = structuredClone(other.parent[other.key])
          break
        case 3:
          parent[any(["excludes", "end", "content", "max_tokens", "tags", "style", "x"])] = parent[key]
          break
        default: {
          const own = parent[key]
          if (typeof own === "string") parent[key] = own.slice(Math.floor(random() * (own.length + 1)))
          else parent[key] = [own, own]
        }
      }
    }
    try {
      const { grammar } = compile({ kind: "tag", format }, { limits, tokens: any([undefined, tokens]) })
      const states = new States(grammar)
      expect(
        states.isAccepting(states.advance(states.start, new Completions(states).shortest(states.start))),
      ).toBe(true)
      outcomes.grammar++
    } catch (error) {
      if (!(error instanceof GrammarError))
        throw new Error(`${round}: ${JSON.stringify(format)}`, { cause: error })
      outcomes.refusal++
    }
  }
  expect(Math.min(outcomes.grammar, outcomes.refusal)).toBeGreaterThan(100)
})
