/**
 * Compilers with some front ends: they compile what `compile` compiles, and refuse what they lack
 * by name.
 */
import { expect, test } from "vitest"
import {
  type Compiled,
  type CompileOptions,
  compile,
  compileJson,
  compilerOf,
  formats,
  GrammarError,
  type GrammarInput,
  gbnf,
  json,
  lark,
  regex,
  tags,
  texts,
} from "../../grammar/index.ts"
import { DeadState, States } from "../../grammar/state.ts"

type Compile = (input: never, options?: CompileOptions) => Compiled

/** The error of a compilation. */
function refusal(run: () => unknown): GrammarError {
  try {
    run()
  } catch (error) {
    if (error instanceof GrammarError) return error
    throw error
  }
  throw new Error("nothing was refused")
}

function accepts({ grammar }: Compiled, text: string): boolean {
  const states = new States(grammar)
  const state = states.advance(states.start, new TextEncoder().encode(text))
  return state !== DeadState && states.isAccepting(state)
}

const turn = { style: "hermes", tools: [{ type: "function", function: { name: "f", parameters: {} } }] }

const alone: [name: string, compile: Compile, input: GrammarInput, accept: string, reject: string][] = [
  ["json", compilerOf(json), { kind: "json", schema: { type: "array", maxItems: 1 } }, "[1]", "[1,2]"],
  ["regex", compilerOf(regex), { kind: "regex", pattern: "a+" }, "aa", "ab"],
  ["choice", compilerOf(texts), { kind: "choice", options: ["a", "b"] }, "b", "c"],
  ["substring", compilerOf(texts), { kind: "substring", text: "abc" }, "bc", "ac"],
  ["gbnf", compilerOf(gbnf), { kind: "gbnf", text: 'root ::= "a" [bc]' }, "ab", "a"],
  ["lark", compilerOf(lark), { kind: "lark", text: 'start: "a" /b|c/' }, "ac", "a"],
  ["grammar", compilerOf(lark), { kind: "grammar", text: 'root ::= "a"' }, "a", "b"],
  ["tag", compilerOf(tags), { kind: "tag", format: { type: "const_string", value: "a" } }, "a", "b"],
  ["tools", compilerOf(tags), { kind: "tools", ...turn }, "Hello", "<tool_call>"],
  [
    "json with regex",
    compilerOf({ ...json, ...regex }),
    { kind: "json", schema: { pattern: "^a$", type: "string" } },
    '"a"',
    '"b"',
  ],
  [
    "json with formats",
    compilerOf({ ...json, ...formats }),
    { kind: "json", schema: { format: "ipv4", type: "string" } },
    '"1.2.3.4"',
    '"1.2.3"',
  ],
  [
    "lark with json",
    compilerOf({ ...lark, ...json }),
    { kind: "lark", text: 'start: "a" %json {"type":"null"}' },
    "anull",
    "a1",
  ],
]

test.each(alone)("%s", (_, compileSome, input, accept, reject) => {
  for (const compiled of [compileSome(input as never), compile(input)]) {
    expect(accepts(compiled, accept)).toBe(true)
    expect(accepts(compiled, reject)).toBe(false)
  }
  expect(compileSome(input as never).grammar.key).toBe(compile(input).grammar.key)
  expect(compileSome(input as never).report.keywords).toEqual(compile(input).report.keywords)
})

const jsonAlone: Compile = compilerOf(json)
const needsRegex = "this compiler cannot read regular expressions. Add `...regex` to its table"
const needsMetaschemas = "this compiler cannot read metaschemas. Add `...metaschemas` to its table"
const needsFormats = "this compiler cannot read formats. Add `...formats` to its table"

test.each([
  ["pattern", { properties: { a: { pattern: "a" } } }, "/properties/a/pattern", needsRegex],
  ["patternProperties", { patternProperties: { "^a": {} } }, "/patternProperties/^a", needsRegex],
  ["a white space of x-guidance", { "x-guidance": { whitespace_pattern: " " } }, "/x-guidance", needsRegex],
  ["a metaschema", { $ref: "https://json-schema.org/draft/2020-12/schema" }, "/$ref", needsMetaschemas],
  ["a format", { anyOf: [{ format: "date" }, {}] }, "/anyOf/0/format", needsFormats],
])("json alone refuses %s", (_, schema, path, message) => {
  const error = refusal(() => jsonAlone({ kind: "json", schema } as never))
  expect([error.kind, error.path]).toEqual(["unsupported", path])
  expect(error.message).toContain(message)
})

test("json alone takes formats that assert nothing", () => {
  for (const [schema, options] of [
    [{ format: "no such format" }, {}],
    [{ format: "date" }, { formats: "annotate" as const }],
  ] as const) {
    const { report } = jsonAlone({ kind: "json", schema } as never, options)
    expect(report.keywords).toEqual(compile({ kind: "json", schema }, options).report.keywords)
  }
})

test.each([
  ["a kind", jsonAlone, { kind: "gbnf", text: 'root ::= "a"' }, "gbnf"],
  ["a schema in a grammar", compilerOf(lark), { kind: "lark", text: 'start: %json {"type":"null"}' }, "json"],
  [
    "a grammar in a grammar",
    compilerOf(lark),
    { kind: "lark", text: "start: @a", named: { a: { kind: "regex", pattern: "a" } } },
    "regex",
  ],
] as [string, Compile, GrammarInput, string][])(
  "%s without its front end is refused",
  (_, compileSome, input, kind) => {
    const error = refusal(() => compileSome(input as never))
    expect(error.kind).toBe("unsupported")
    expect(error.message).toContain(
      `this compiler has no front end of kind ${kind}. Add it to the table of compilerOf`,
    )
  },
)

test("json alone refuses a source, whose quotations it lacks", () => {
  const error = refusal(() => jsonAlone({ kind: "json", schema: { type: "string" }, source: "a" } as never))
  expect([error.kind, error.message]).toEqual([
    "unsupported",
    "this compiler cannot read quotations. Add `...texts` to its table",
  ])
})

test("options and inputs are checked whatever the table holds", () => {
  expect(() => jsonAlone({ kind: "json" } as never)).toThrow("schema")
  expect(() => jsonAlone({ kind: "json", schema: {} } as never, { surfaces: 1 } as never)).toThrow("surfaces")
})

test("compileJson loads what a schema needs", async () => {
  const schema = { properties: { a: { pattern: "^a$" }, b: { format: "date" } } }
  const compiled = await compileJson({ kind: "json", schema })
  expect(accepts(compiled, '{"a":"a","b":"2024-02-29"}')).toBe(true)
  expect(accepts(compiled, '{"a":"b"}')).toBe(false)
  expect(accepts(compiled, '{"b":"2023-02-29"}')).toBe(false)
  const copied = await compileJson({ kind: "json", schema: { type: "string" }, source: "abc" })
  expect([accepts(copied, '"bc"'), accepts(copied, '"ac"')]).toEqual([true, false])
  const meta = await compileJson({
    kind: "json",
    schema: { $ref: "https://json-schema.org/draft/2020-12/schema" },
  })
  expect([accepts(meta, '{"minimum":1}'), accepts(meta, '{"minimum":"1"}')]).toEqual([true, false])
  await expect(compileJson({ kind: "json", schema: { pattern: "(" } })).rejects.toThrow(GrammarError)
  await expect(compileJson({ kind: "json", schema: false })).rejects.toThrow("no value")
})
