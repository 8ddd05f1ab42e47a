import { expect, test } from "vitest"
import { Rules } from "../../grammar/ebnf/rules.ts"
import { defaultLimits, GrammarError } from "../../grammar/errors.ts"
import type { Grammar } from "../../grammar/grammar.ts"
import { exprs } from "../../grammar/lexeme/expr/expr.ts"
import { type CaseCompiler, parseCases, runCase } from "./cases.ts"

const utf8 = new TextEncoder()

test("a case says what it holds", () => {
  const [one, two] = parseCases(`What it is about.
=== one
root ::= "a"
b ::= "-- reject"
--- start b
--- special <x> <y>
--- vocabulary
a⏎
--- tokens
--- accept
∅
a⏎⇥␍␠⟨E3 81⟩⟨3×ab⟩

⟨#7⟩b⟨<x>⟩
--- reject
b
=== two
c
--- error 3:7 syntax no "way"
--- also 4:1 nor this
`)
  expect([one.name, one.grammar, one.start]).toEqual(["one", 'root ::= "a"\nb ::= "-- reject"\n', "b"])
  expect([one.specials, one.words, one.byTokens]).toEqual([["<x>", "<y>"], [utf8.encode("a\n")], true])
  expect(one.texts.map(({ verdict, pieces }) => [verdict, ...pieces])).toEqual([
    ["accept"],
    ["accept", Uint8Array.of(...utf8.encode("a\n\t\r "), 0xe3, 0x81, ...utf8.encode("ababab"))],
    ["accept", 7, utf8.encode("b"), "<x>"],
    ["reject", utf8.encode("b")],
  ])
  expect(two.error).toEqual({
    place: "3:7",
    kind: "syntax",
    message: 'no "way"',
    also: [{ place: "4:1", message: "nor this" }],
  })
})

test("what is not as a case says fails", () => {
  const texts: CaseCompiler = ({ grammar }): Grammar => {
    const rules = new Rules(defaultLimits)
    const start = rules.declare("start")
    rules.define(start, [], () => rules.terms.expr(exprs.literal(grammar.trim())))
    return rules.grammar(start, { key: () => "", title: "test" }) as Grammar
  }
  const run = (text: string) => () => runCase(parseCases(text)[0], texts)
  run("=== a\nabc\n--- accept\nabc\n--- prefix\n∅\na\nab\n--- reject\nb\nabcd\n")()
  for (const section of ["accept\nab", "prefix\nabc", "reject\nab", "prefix\nabd", "error 1:1 syntax no"]) {
    expect(run(`=== a\nabc\n--- ${section}\n`), section).toThrow()
  }
  const refuse: CaseCompiler = () => {
    throw new GrammarError("syntax", "line 1, column 2", "not so")
  }
  const runRefused = (section: string) => () => runCase(parseCases(`=== a\nabc\n--- ${section}\n`)[0], refuse)
  runRefused("error 1:2 syntax not")()
  for (const section of ["error 1:1 syntax not", "error 1:2 limit not", "error 1:2 syntax so"]) {
    expect(runRefused(section), section).toThrow()
  }
})
