/** Requests that carry the same tool share what was read of its schema, and nothing else. */
import { describe, expect, test } from "vitest"
import { defaultLimits } from "../../../../grammar/errors.ts"
import { formats } from "../../../../grammar/frontends/formats.ts"
import { regex } from "../../../../grammar/frontends/regex.ts"
import { compile, type GrammarInput } from "../../../../grammar/index.ts"
import { styles } from "../../../../grammar/tags/styles/all.ts"
import { type ArgumentOptions, openArguments } from "../../../../grammar/tags/styles/arguments.ts"
import type { Tool } from "../../../../grammar/tags/styles/tools.ts"
import { randomOf } from "../../../support/oracle.ts"
import { Reader, tool, Writer, written } from "./support.ts"

const options: ArgumentOptions = {
  policy: { order: "schema", whitespace: "bounded", escapes: "canonical", numbers: "plain" },
  limits: defaultLimits,
  parts: { ...regex, ...formats },
  formats: "assert",
  unknownKeywords: "ignore",
}
const toolOf = (schema: unknown, rest: Partial<Tool> = {}): Tool => {
  return { name: "f", schema, path: "/0/function/parameters", isCustom: false, lark: null, ...rest }
}
const place = () => ({ type: "object", properties: { city: { type: "string" } } })

test("equal schemas are opened once, whatever the tool is called and where it stands", () => {
  const first = openArguments(toolOf(place()), options)
  const tool = toolOf(place(), { name: "g", path: "/7/function/parameters" })
  const second = openArguments(tool, { ...options, limits: { ...defaultLimits, compileMs: 1_000 } })
  expect(second.language).toBe(first.language)
  expect(second.tool).toBe(tool)
})

test.each<[string, Partial<ArgumentOptions>]>([
  ["another policy", { policy: { ...options.policy, order: "any" } }],
  ["other texts that no string holds", { excludes: ["</tool>"] }],
  ["other limits", { limits: { ...defaultLimits, nodes: 7 } }],
  ["another draft", { dialect: "http://json-schema.org/draft-04/schema#" }],
  ["formats that are notes", { formats: "annotate" }],
  ["objects that are closed", { openObjects: "declared" }],
])("%s: opened anew", (_, other) => {
  const first = openArguments(toolOf(place()), options)
  expect(openArguments(toolOf(place()), { ...options, ...other }).language).not.toBe(first.language)
})

test("what is written as another schema is not taken for it", () => {
  const schema = (value: unknown) => ({ type: "object", properties: { n: { const: value } } })
  openArguments(toolOf(schema(null)), options)
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => 1])
    expect(() => openArguments(toolOf(schema(value)), options), String(value)).toThrow()
  expect(openArguments(toolOf(schema(10n)), options).specs.length).toBe(1)
})

test("a refusal is told with each tool's own name and place", () => {
  const bad = { type: "odd" }
  for (const i of [0, 1]) {
    const tool = toolOf(bad, { name: `f${i}`, path: `/${i}/function/parameters` })
    expect(() => openArguments(tool, options)).toThrow(`/${i}/function/parameters/type: the tool "f${i}"`)
  }
})

describe("arguments that no schema declares", () => {
  const integers = { type: "object", properties: { a: { type: "integer" } } }
  const turn = (style: string, parameters: unknown): GrammarInput => {
    return { kind: "tools", style, tools: [tool("f", parameters)], tool_choice: "required" }
  }
  test.each(styles.map((style) => [style.name, style] as const))("%s", (name, style) => {
    const accepts = (parameters: unknown, given: object, openObjects?: "declared" | "always") => {
      const calls = [{ name: "f", arguments: { ...given } }]
      const reader = new Reader(compile(turn(name, parameters), openObjects && { openObjects }).grammar)
      return [...style.blocks.keys()].map((at) =>
        reader.accepts(written(new Writer(randomOf(3)).calls(style, at, calls))),
      )
    }
    const each = (verdict: boolean) => style.blocks.map(() => verdict)
    expect(accepts(integers, { a: 1 })).toEqual(each(true))
    expect(accepts(integers, { a: 1, b: 2 })).toEqual(each(false))
    expect(accepts(integers, { a: 1, b: 2 }, "always")).toEqual(each(true))
    expect(accepts({ ...integers, additionalProperties: true }, { a: 1, b: 2 })).toEqual(each(true))
    expect(accepts({ type: "object" }, { b: 2 })).toEqual(each(true))
    expect(accepts({ type: "object", properties: {} }, { b: 2 })).toEqual(each(false))
  })

  test.each(styles.map((style) => [style.name, style] as const))("in any order: %s", (name, style) => {
    const parameters = {
      type: "object",
      properties: { id: { type: "integer" } },
      patternProperties: { "^[a-c]$": { type: "integer" } },
      additionalProperties: false,
    }
    const reader = new Reader(compile(turn(name, parameters)).grammar)
    const accepts = (given: Record<string, unknown>) =>
      [...style.blocks.keys()].map((at) =>
        reader.accepts(written(new Writer(randomOf(3)).calls(style, at, [{ name: "f", arguments: given }]))),
      )
    const each = (verdict: boolean) => style.blocks.map(() => verdict)
    expect(accepts({ id: 1, c: 2, a: 3, b: 4 })).toEqual(each(true))
    expect(accepts({ b: 1, a: 2 })).toEqual(each(true))
    expect(accepts({ b: 1, id: 2 })).toEqual(each(false))
    expect(accepts({ d: 1 })).toEqual(each(false))
  })

  test("the report names the place within the tools, and within the answer", () => {
    const schema = { properties: { b: {} } }
    const input = { ...turn("hermes", integers), tool_choice: "auto" } as const
    const closed = (strict: boolean) =>
      compile({ ...input, response_format: { kind: "json", schema, strict } } as GrammarInput)
        .report.keywords.filter(({ note }) => note?.includes("openObjects"))
        .map(({ path }) => path)
    expect(closed(false)).toEqual(["/0/function/parameters/properties"])
    expect(closed(true)).toEqual(["response_format/properties", "/0/function/parameters/properties"])
  })
})
