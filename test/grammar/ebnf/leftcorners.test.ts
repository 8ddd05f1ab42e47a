/** Rules that begin with each other, beside one rule that says the same: equal masks, and chains that do not nest. */
import { describe, expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { Matcher, TokenFsm } from "../../../mask/index.ts"
import { allowedIds, randomOf, vocabularyOf } from "../../support/oracle.ts"

const signs = [..."+-*/%^&|<>=!@$~?"]

const grammarOf = (...rules: string[]) =>
  ["start: expr", ...rules, 'atom: ID | "(" expr ")"', "ID: /[a-z]+/"].join("\n")

/** Each operator is a rule. */
const apart = (operators: readonly string[], right: string) =>
  grammarOf(
    `expr: ${["atom", ...operators.map((_, i) => `op${i}`)].join(" | ")}`,
    ...operators.map((sign, i) => `op${i}: expr "${sign}" ${right}`),
  )

/** The left side of each operator is a rule, as grammars of comparisons have it. */
const halves = (operators: readonly string[]) =>
  grammarOf(
    `expr: [${operators.map((_, i) => `half${i}`).join(" | ")}] atom`,
    ...operators.map((sign, i) => `half${i}: expr "${sign}"`),
  )

const together = (operators: readonly string[], right: string) =>
  grammarOf(`expr: ${["atom", ...operators.map((sign) => `expr "${sign}" ${right}`)].join(" | ")}`)

const words = ["ab", "a+", "+b", ")*(", "((", "<>=", "+-*/", "a-b*"]
const vocabulary = vocabularyOf([...signs, ..."ab()", ...words])

const fsmOf = (text: string) => new TokenFsm(compile({ kind: "lark", text }).grammar, vocabulary)

function walk(fsm: TokenFsm, other: TokenFsm, seed: number, steps: number): void {
  const random = randomOf(seed)
  const [mine, its] = [new Uint32Array(vocabulary.words), new Uint32Array(vocabulary.words)]
  const [matcher, reference] = [new Matcher(fsm), new Matcher(other)]
  const text: string[] = []
  for (let step = 0; step < steps; step++) {
    matcher.fillMask(mine)
    reference.fillMask(its)
    expect(mine, `seed ${seed} after ${text.join("")}`).toEqual(its)
    const allowed = allowedIds(mine, vocabulary.width).filter((id) => !vocabulary.endIds.includes(id))
    const id = allowed[Math.floor(random() * allowed.length)]
    text.push(new TextDecoder().decode(vocabulary.bytes(id)))
    matcher.accept(id)
    reference.accept(id)
  }
}

describe.each([2, 5, 16])("%i operators", (count) => {
  const operators = signs.slice(0, count)
  test.each([
    ["before an operand", apart(operators, "expr"), together(operators, "expr")],
    ["behind it", apart(operators, ""), together(operators, "")],
    ["as left sides", halves(operators), together(operators, "atom")],
  ])("%s", (_name, text, reference) => {
    const [fsm, other] = [fsmOf(text), fsmOf(reference)]
    for (let seed = 1; seed <= 6; seed++) walk(fsm, other, seed, 60)
  })
})

test.each([
  ["each a rule of its own", 'root ::= e\ne ::= c | l | "x"\nc ::= e "=" e\nl ::= e "&" e', "x", "&x=x"],
  ["some behind their operand", 'root ::= e\ne ::= e "+" e | e "!" | e "?" e | "x"', "x!", "+x!!?x"],
  ["in loops", 'root ::= e\ne ::= "x" ("!" | "+" e)*', "x!", "+x!!"],
])("a chain of operators does not nest: %s", (_name, text, first, more) => {
  const { grammar } = compile({ kind: "gbnf", text }, { limits: { stackDepth: 8 } })
  const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
  expect(matcher.acceptBytes(new TextEncoder().encode(`${first}${more.repeat(3_000)}`))).toBe(true)
  expect(matcher.isAccepting()).toBe(true)
})

test("rules that are loops of each other are read as soon as one of them", () => {
  const rules = Array.from({ length: 7 }, (_, i) => {
    const loops = Array.from({ length: 7 }, (_, j) => `r${j}* "x" "(" r${i} ")"`).filter((_, j) => j !== i)
    return `r${i} ::= ${loops.join(" | ")} | [a-c]`
  })
  const { grammar } = compile({ kind: "gbnf", text: `root ::= r0\n${rules.join("\n")}` })
  const matcher = new Matcher(new TokenFsm(grammar, vocabularyOf([..."abcx()"])))
  expect(matcher.acceptBytes(new TextEncoder().encode("abx(c)"))).toBe(true)
  expect(matcher.isAccepting()).toBe(true)
})
