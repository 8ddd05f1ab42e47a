/** Steps that share what lies below, against all of them with their frames, and grammars that have too many to be listed. */
import { expect, test } from "vitest"
import { larkRule } from "../../../grammar/ebnf/lark/lark.ts"
import { NormalRules } from "../../../grammar/ebnf/normal.ts"
import { Rules } from "../../../grammar/ebnf/rules.ts"
import { RuleLanguage } from "../../../grammar/ebnf/steps.ts"
import { defaultLimits } from "../../../grammar/errors.ts"
import type { SharedSteps, Step } from "../../../grammar/frame.ts"
import { compile } from "../../../grammar/index.ts"
import { Matcher, TokenFsm } from "../../../mask/index.ts"
import { vocabularyOf } from "../../support/oracle.ts"

type Frames = Step["frames"]

/** Each step with all its frames. */
function listed({ places, steps }: SharedSteps): Step[] {
  const ways: Frames[][] = []
  for (const [i, from] of places.entries()) {
    const all = from.flatMap(({ place, frames }) => ways[place].map((below): Frames => [...below, ...frames]))
    ways.push(i === 0 ? [[]] : all)
  }
  return steps.flatMap(({ place, step }) =>
    ways[place].map((below) => ({ lexeme: step.lexeme, frames: [...below, ...step.frames] })),
  )
}

const spelled = (steps: readonly Step[]) =>
  steps.map(({ lexeme, frames }) => [lexeme, ...frames.map(({ id }) => id)].join(" ")).sort()

const texts = [
  'start: sum\nsum: sum "+" product | product\nproduct: product "*" value | value\nvalue: /[0-9]+/ | "(" sum ")"',
  'start: a? b* "x"\na: "a" b | b "c"\nb: "b" | c\nc: "c" a? | /d+/',
  'start: s\ns: s s | "a" | t\nt: u "b" | u "c" | u\nu: "d" | "e" t',
]

test.each(texts)("%s", (text) => {
  const rules = new Rules(defaultLimits)
  const { rule } = larkRule(text, rules, { schema: () => null as never })
  rules.grammar(rule, { key: () => text, title: text })
  const normal = new NormalRules(rules.terms, (each) => rules.termOf(each))
  const language = new RuleLanguage(normal, 0, 0)
  const seen = new Set<string>()
  let next = [rules.terms.rule(rule)]
  for (let depth = 0; depth < 4; depth++) {
    const after: number[] = []
    for (const term of next) {
      const shared = language.shared(term)
      if (shared === null) continue
      expect(spelled(listed(shared))).toEqual(spelled(language.steps(term)))
      seen.add(`${term}`)
      for (const [, rest] of normal.linear(term)) if (rest !== rules.terms.empty) after.push(rest)
    }
    next = after
  }
  expect(seen.size).toBeGreaterThan(0)
})

const operators = ["or", "and", "is", "<", "like", "+", "in"]
const greedy = `%options {"greedy": true}
start: e0
${operators.map((text, i) => `e${i}: e${i + 1} ("${text}" e${i + 1})*`).join("\n")}
e7: ID | NUM | "(" e0 ")" | e7 "." ID | "not" e7
ID: /[a-z_][a-z0-9_]*/
NUM: /[0-9]+(\\.[0-9]+)?([eu][0-9]*)?/
%ignore /[ \\n]+/
%ignore /#[^\\n]*/
`

test("levels of operators that greedy lexemes could go on with take no product of their versions", () => {
  const vocabulary = vocabularyOf([
    ..." ()+<.#\nabcdeiklnorst_u123",
    ...["not", " or", "and ", " is", "1.5", ") + ", "ab1", "like"],
  ])
  const fsm = new TokenFsm(compile({ kind: "lark", text: greedy }).grammar, vocabulary)
  const row = new Uint32Array(vocabulary.words)
  const read = (text: string): boolean => {
    const matcher = new Matcher(fsm)
    for (const byte of Buffer.from(text)) {
      matcher.fillMask(row)
      if (!matcher.acceptBytes(Uint8Array.of(byte))) return false
    }
    return matcher.isAccepting()
  }
  expect(read("a + b1 or (not ab < 1.5e2) like 2\n")).toBe(true)
  expect(read("a.b in 1 or(a)and 2 # note")).toBe(true)
  expect(read("nota is 1or 2")).toBe(true)
  // "aor" is a name, and nothing stands between it and the next one.
  expect(read("aor b")).toBe(false)
  expect(read("a + + b")).toBe(false)
  expect(read("12a")).toBe(false)
  expect(fsm.states.stacks.top.length).toBeLessThan(100_000)
})

test("a grammar that begins in too many ways is empty where its text may be", () => {
  const inner = greedy.replace("start: e0", "start: e0?")
  const whole = compile({ kind: "lark", text: inner }).grammar
  expect(whole.isNullable).toBe(true)
  const text = `start: "[" @inner "]" | @inner "!"\n`
  const { grammar } = compile({ kind: "lark", text, named: { inner: { kind: "lark", text: inner } } })
  expect(grammar.isNullable).toBe(false)
  const vocabulary = vocabularyOf([..."[]! abdnor1"])
  const read = (text: string): boolean => {
    const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
    return matcher.acceptBytes(Buffer.from(text)) && matcher.isAccepting()
  }
  for (const accepted of ["[]", "!", "[a or b]", "a and b!", "[not a]"])
    expect([accepted, read(accepted)]).toEqual([accepted, true])
  for (const refused of ["", "[", "[!", "[a or]", "a", "a b!"])
    expect([refused, read(refused)]).toEqual([refused, false])
})

test("thousands of alternatives that share nothing stay one lexeme", () => {
  const calls = Array.from({ length: 2_500 }, (_, i) => `c${i}: "n${i}:" %json {"type":"boolean"} "!"`)
  const text = `start: call+\ncall: ${calls.map((_, i) => `c${i}`).join(" | ")}\n${calls.join("\n")}\n`
  const fsm = new TokenFsm(
    compile({ kind: "lark", text }).grammar,
    vocabularyOf([..."n0123456789:truefals!"]),
  )
  expect(fsm.states.threadCount(fsm.start)).toBeLessThan(10)
  const matcher = new Matcher(fsm)
  expect(matcher.acceptBytes(Buffer.from("n7:true!n2499:false!")) && matcher.isAccepting()).toBe(true)
  expect(matcher.acceptBytes(Buffer.from("n2500:"))).toBe(false)
})
