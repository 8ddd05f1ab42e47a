/** Requests that carry the same tool share what was read of its schema, and nothing else. */
import { expect, test } from "vitest"
import { defaultLimits } from "../../../../grammar/errors.ts"
import { type ArgumentOptions, openArguments } from "../../../../grammar/tags/styles/arguments.ts"
import type { Tool } from "../../../../grammar/tags/styles/tools.ts"

const options: ArgumentOptions = {
  policy: { order: "schema", whitespace: "flexible", escapes: "minimal", numbers: "plain" },
  limits: defaultLimits,
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
