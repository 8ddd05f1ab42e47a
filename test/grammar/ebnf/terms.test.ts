import { describe, expect, test } from "vitest"
import { Rules } from "../../../grammar/ebnf/rules.ts"
import type { Term, Terms } from "../../../grammar/ebnf/terms.ts"
import { defaultLimits } from "../../../grammar/errors.ts"
import type { Grammar } from "../../../grammar/grammar.ts"
import { exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { States } from "../../../grammar/state.ts"

function grammarOf(lower: (terms: Terms) => Term): Grammar | null {
  const rules = new Rules(defaultLimits)
  const start = rules.declare("start")
  rules.define(start, [], () => lower(rules.terms))
  return rules.grammar(start, { key: () => "", title: "" })
}

/** The texts out of `texts` that are accepted, and those that an accepted one begins with. */
function read(
  lower: (terms: Terms) => Term,
  texts: readonly string[],
): { accepted: string[]; begun: string[] } {
  const grammar = grammarOf(lower)
  if (grammar === null) return { accepted: [], begun: [] }
  const states = new States(grammar)
  const at = (text: string) => states.advance(states.start, new TextEncoder().encode(text))
  return {
    accepted: texts.filter((text) => states.isAccepting(at(text))),
    begun: texts.filter((text) => at(text) !== 0),
  }
}

const regex = (pattern: string) =>
  parseRegex(pattern, { flags: "s", mode: "match", path: "", unsatisfiable: "empty", limits: defaultLimits })

describe("lazy lexemes end at the first point where they can", () => {
  test.each<[name: string, lower: (terms: Terms) => Term, accepted: string[], rejected: string[]]>([
    ["one digit", (t) => t.lazy(regex("[0-9]+")), ["1"], ["", "12"]],
    ["nothing", (t) => t.lazy(regex(".*")), [""], ["a"]],
    ["nothing, then what follows", (t) => t.concat(t.lazy(regex(".*")), t.text("ab")), ["ab"], ["aab"]],
    ["up to a quote", (t) => t.lazy(regex('.*"')), ['a"', '"', 'é\n"'], ['""', 'a"b"', "a"]],
    [
      "up to a suffix",
      (t) => t.lazy(regex(".*</end>")),
      ["</end>", "a</</end>", "</en</end>"],
      ["</end></end>", "</end>x"],
    ],
    [
      "a suffix that overlaps itself",
      (t) => t.concat(t.lazy(regex(".*aba")), t.text("c")),
      ["abac", "xabac", "ababac".slice(2), "aabac"],
      ["ababac", "abaabac"],
    ],
    [
      "a pattern as suffix",
      (t) => t.lazy(exprs.concat(regex("[a-z]*"), regex("[0-9]{2}|!"))),
      ["ab!", "ab12", "12"],
      ["ab1", "!!", "12!"],
    ],
    [
      "the shorter of two",
      (t) => t.concat(t.lazy(regex("ab|abc|b")), t.text("c")),
      ["abc", "bc"],
      ["abcc", "ab"],
    ],
    ["twice", (t) => t.concat(t.lazy(regex("a+")), t.lazy(regex("[ab]+"))), ["aa", "ab"], ["aab", "a", "b"]],
    [
      "never twice the same way: one lexeme each",
      (t) => t.star(t.lazy(regex("a+b?"))),
      ["", "a", "aa", "aaa"],
      ["ab", "aab"],
    ],
  ])("%s", (_name, lower, accepted, rejected) => {
    expect(read(lower, [...accepted, ...rejected]).accepted).toEqual(accepted)
  })
})

describe("a bounded number of characters", () => {
  test.each<[name: string, lower: (terms: Terms) => Term, accepted: string[], rejected: string[]]>([
    ["of a text", (t) => t.maxChars(t.expr(regex("a*")), 2), ["", "a", "aa"], ["aaa"]],
    ["not of bytes", (t) => t.maxChars(t.expr(regex(".*")), 2), ["é💩"], ["é💩a"]],
    ["none", (t) => t.maxChars(t.expr(regex("a*")), 0), [""], ["a"]],
    ["too few", (t) => t.maxChars(t.expr(regex("a+")), 0), [], ["", "a"]],
    ["of a lexeme of its own", (t) => t.maxChars(t.whole(regex("a+b?")), 2), ["a", "aa", "ab"], ["aab", ""]],
    ["of a lazy one", (t) => t.maxChars(t.lazy(regex(".*b")), 2), ["b", "ab"], ["aab", "bb"]],
    [
      "of parts that fuse",
      (t) => t.maxChars(t.concat(t.expr(regex("a*")), t.expr(regex("b"))), 2),
      ["b", "ab"],
      ["aab"],
    ],
  ])("%s", (_name, lower, accepted, rejected) => {
    expect(read(lower, [...accepted, ...rejected]).accepted).toEqual(accepted)
  })

  test("of a part that is not regular is refused", () => {
    const lower = (t: Terms) => t.maxChars(t.concat(t.token([1]), t.text("a")), 7)
    expect(() => grammarOf(lower)).toThrow(/^max_chars=7 counts the characters of a part that is no regular/)
  })
})
