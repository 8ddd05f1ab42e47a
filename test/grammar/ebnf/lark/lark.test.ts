/** The notation by its cases, which are text files: one for each kind of behaviour. */
import { describe, expect, test } from "vitest"
import { compile } from "../../../../grammar/compile.ts"
import { larkRule } from "../../../../grammar/ebnf/lark/lark.ts"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits, GrammarError } from "../../../../grammar/errors.ts"
import { compilation } from "../../../../grammar/worlds.ts"
import { type CaseCompiler, testCases } from "../../../support/cases.ts"

const compileCase: CaseCompiler = ({ grammar, start }, tokens) =>
  // The schemas inside are compiled in the world of the grammar.
  compilation(() => {
    const rules = new Rules(defaultLimits, tokens)
    const schema = (text: string) => compile({ kind: "json", schema: text }).grammar
    const { rule } = larkRule(grammar, rules, { start, schema })
    const compiled = rules.grammar(rule, { key: () => grammar, title: "case" })
    if (compiled === null) throw new GrammarError("unsatisfiable", "", "no text satisfies the grammar")
    return compiled
  })

testCases("lark", compileCase)

describe("values of templates that hold each other many times", () => {
  test("are read once each", () => {
    const levels = Array.from({ length: 60 }, (_, i) => `t${i}{a}: "(" [a "b" r a] ")"`)
    const use = `${levels.map((_, i) => `t${59 - i}{`).join("")}r${"}".repeat(60)}`
    const { grammar } = compile({
      kind: "lark",
      text: `start: ${use}\n${levels.join("\n")}\nr: "q" r | "z"\n`,
    })
    expect(grammar.isEmpty).toBe(false)
  })

  test.each([
    'nest{a}: "(" nest{")" | a\na} ")" | a',
    'nest{a}: "(" nest{a a} ")" | a',
    'nest{a}: "(" nest{(a r a)} ")" | a\nr: "q" r | "z"',
  ])("end in a limit where they grow without end: %j", (rules) => {
    const text = `start: nest{"x"}\n${rules}\n`
    expect(() => compile({ kind: "lark", text }, { limits: { compileMs: 300 } })).toThrow(
      expect.objectContaining({ kind: "limit" }),
    )
  })

  test("end in a limit however deep they lie in one another", () => {
    const text = 'start: nest{"x"}\nnest{a}: "(" nest{")" | a\na} ")" | a\n'
    const templates = 6_000
    expect(() => compile({ kind: "lark", text }, { limits: { templates } })).toThrow(
      /uses of templates with different values: 6001/,
    )
  }, 180_000)
})
