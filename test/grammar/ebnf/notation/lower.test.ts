/** Many alternatives against the set of their texts, and grammars of the sizes that must go. */
import { describe, expect, test } from "vitest"
import { gbnfRule } from "../../../../grammar/ebnf/gbnf/gbnf.ts"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits } from "../../../../grammar/errors.ts"
import { DeadState, States } from "../../../../grammar/state.ts"
import { refusalOf } from "../../../support/cases.ts"
import { randomOf } from "../../../support/oracle.ts"

const utf8 = new TextEncoder()

function statesOf(text: string): States {
  const rules = new Rules(defaultLimits)
  const grammar = rules.grammar(gbnfRule(text, rules), { key: () => text, title: "test" })
  if (grammar === null) throw new Error("no text")
  return new States(grammar)
}

function verdict(states: States, text: string): "accept" | "prefix" | "reject" {
  const state = states.advance(states.start, utf8.encode(text))
  if (state === DeadState) return "reject"
  return states.isAccepting(state) ? "accept" : "prefix"
}

describe("many alternatives that begin with strings", () => {
  test.each(Array.from({ length: 24 }, (_, i) => i + 1))("seed %i", (seed) => {
    const random = randomOf(seed)
    const count = [5, 23, 24, 60, 300][seed % 5]
    const word = () =>
      Array.from({ length: Math.floor(random() * 5) }, () => "ab"[Math.floor(random() * 2)]).join("")
    /** What may follow a string: as it is written, and its texts. */
    const rests: [string, string[]][] = [
      ["", [""]],
      ["r", ["x", "xy"]],
      ["[ab]", ["a", "b"]],
      ['("a" | r)', ["a", "x", "xy"]],
      ["s", ["", "(", "()"]],
      ["never", []],
    ]
    const texts = new Set<string>()
    const alternatives = Array.from({ length: count }, () => {
      const [rest, ends] = rests[Math.floor(random() * rests.length)]
      const first = word()
      for (const end of ends) texts.add(first + end)
      return random() < 0.1 ? `("${first}") ${rest}` : `"${first}" ${rest}`
    })
    // These rules recur, so that they stay rules; but no text is longer.
    const states = statesOf(`root ::= ${alternatives.join(" | ")}
r ::= "x" "y"? | never r
s ::= "" | "(" | "()" | s never
never ::= "n" never`)
    const prefixes = new Set([...texts].flatMap((text) => [...text].map((_, i) => text.slice(0, i))))
    for (const text of new Set([
      ...texts,
      ...prefixes,
      ...Array.from({ length: 200 }, () => word() + word()),
    ])) {
      const expected = texts.has(text) ? "accept" : prefixes.has(text) ? "prefix" : "reject"
      expect([text, verdict(states, text)]).toEqual([text, expected])
    }
  })
})

describe("sizes", () => {
  test("an ambiguous rule over many letters", () => {
    const states = statesOf('root ::= root root | "a"')
    expect(verdict(states, "a".repeat(500))).toBe("accept")
    expect(verdict(states, `${"a".repeat(500)}b`)).toBe("reject")
  })
  test("1,500 strings of 500 words", () => {
    const literals = Array.from({ length: 1_500 }, (_, i) =>
      Array.from({ length: 500 }, (_, j) => `word${(i * 31 + j * (i + 1)) % 997}`).join(" "),
    )
    const states = statesOf(`root ::= ${literals.map((literal) => `"${literal}"`).join(" | ")}`)
    expect(verdict(states, literals[777])).toBe("accept")
    expect(verdict(states, literals[1_499].slice(0, -1))).toBe("prefix")
    expect(verdict(states, `${literals[3]}x`)).toBe("reject")
  })
  test("10,000 chunks, and the characters of a long text", () => {
    const chunks = Array.from({ length: 10_000 }, (_, i) => `"w${i % 1_000} "`)
    const states = statesOf(`root ::= Substring(${chunks.join(", ")})`)
    expect(verdict(states, "w998 w999 w0 w1 ")).toBe("accept")
    expect(verdict(states, "w998 w99")).toBe("prefix")
    expect(verdict(states, "w998 w0")).toBe("reject")
  })
  test("30,000 alternatives that begin with strings", () => {
    const alternatives = Array.from({ length: 30_000 }, (_, i) => `"w${i}." root`)
    const states = statesOf(`root ::= ${alternatives.join(" | ")} | [x-z]`)
    expect(verdict(states, "w7.w29999.w12345.x")).toBe("accept")
    expect(verdict(states, "w30000.")).toBe("reject")
  })
  test("20,000 rules, each of which uses the next", () => {
    const rules = Array.from({ length: 20_000 }, (_, i) => `r${i} ::= "a" r${(i + 1) % 20_000} | "${i}."`)
    const states = statesOf(`root ::= r0\n${rules.join("\n")}`)
    expect(verdict(states, "aaa3.")).toBe("accept")
    expect(verdict(states, "aaa2")).toBe("reject")
  })
  test("a lazy rule at the end of a long chain of rules", () => {
    const rules = Array.from({ length: 5_000 }, (_, i) => `r${i} ::= r${i + 1}`)
    const states = statesOf(`root ::= r "b"?\nr[lazy] ::= r0\n${rules.join("\n")}\nr5000 ::= "a"+`)
    expect(verdict(states, "ab")).toBe("accept")
    expect(verdict(states, "aa")).toBe("reject")
  })
  test("counts up to 1,800", () => {
    const states = statesOf('root ::= ([a-z] "-"){3,1800} "!"')
    expect(verdict(states, `${"a-".repeat(1_800)}!`)).toBe("accept")
    expect(verdict(states, `${"a-".repeat(1_801)}`)).toBe("reject")
    expect(verdict(states, "a-b-!")).toBe("reject")
  })
  test("too many ways at once are refused", () => {
    const alternatives = Array.from({ length: 1_100 }, (_, i) => `[w] "${i}" root "x"`)
    const error = refusalOf(() => statesOf(`root ::= ${alternatives.join(" | ")} | "z"`))
    expect(error.kind).toBe("limit")
  })
})
