/** What tokens count, token by token, and what a vocabulary cannot keep at all. */
import { describe, expect, test } from "vitest"
import { Rules } from "../../../grammar/ebnf/rules.ts"
import type { Term, Terms } from "../../../grammar/ebnf/terms.ts"
import { defaultLimits, GrammarError } from "../../../grammar/errors.ts"
import type { Grammar } from "../../../grammar/grammar.ts"
import { exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { DeadState } from "../../../grammar/state.ts"
import {
  bindGrammar,
  forcedTokens,
  heal,
  Matcher,
  precompile,
  TokenFsm,
  type TokenMachine,
  Vocabulary,
} from "../../../mask/index.ts"
import { allowedIds } from "../../support/oracle.ts"

const tokens = ["a", "b", "c", "x", "ab", "bc", "xa", "cx", "abc", "xab", "aaa", "bx", "é", "\xc3", "\xa9"]
const bytesOf = (token: string) =>
  token.charCodeAt(0) > 0x7f && token !== "é"
    ? Uint8Array.of(token.charCodeAt(0))
    : new TextEncoder().encode(token)
const vocabulary = Vocabulary.fromBytes(tokens.map(bytesOf), { endIds: [tokens.length] })

function grammarOf(lower: (terms: Terms, self: Term) => Term): Grammar {
  const rules = new Rules(defaultLimits)
  const start = rules.declare("start")
  rules.define(start, [start], () => lower(rules.terms, rules.use(start)))
  return rules.grammar(start, { key: () => "", title: "" }) as Grammar
}

const letters = exprs.loop(exprs.codePoints([0x61, 0x63]), 0, Number.POSITIVE_INFINITY)

/** The tokens that may come after `text`, which is cut at spaces; $ for the end. Null where it is not read. */
function after(fsm: TokenMachine, text: string): string[] | null {
  const matcher = new Matcher(fsm)
  for (const token of text.split(" ").filter((each) => each !== "")) {
    if (!matcher.accept(tokens.indexOf(token))) return null
  }
  const mask = new Uint32Array(vocabulary.words)
  matcher.fillMask(mask)
  return allowedIds(mask, vocabulary.width).map((id) => tokens[id] ?? "$")
}

describe.each<
  [name: string, lower: (terms: Terms) => Term, rows: [text: string, allowed: string[] | null][]]
>([
  [
    "a token counts that begins before the part and ends inside",
    (t) => t.concat(t.whole(exprs.literal("x")), t.budget(t.whole(exprs.literal("abc")), 2), t.text("x")),
    [
      ["", ["x", "xa", "xab"]],
      ["x", ["a", "ab", "abc"]],
      // One of two is used: the rest must be one token, or end in one.
      ["xa", ["bc"]],
      ["xab", ["c", "cx"]],
      ["x a", ["bc"]],
      ["x ab", ["c", "cx"]],
      ["x abc", ["x"]],
      ["x ab cx", ["$"]],
      ["x a b", null],
    ],
  ],
  [
    "a token counts that begins inside and ends behind the part",
    (t) => t.concat(t.budget(t.whole(letters), 2), t.text("x")),
    [
      ["", ["a", "b", "c", "x", "ab", "bc", "cx", "abc", "aaa", "bx"]],
      ["a", ["a", "b", "c", "x", "ab", "bc", "cx", "abc", "aaa", "bx"]],
      ["a a", ["x"]],
      ["a cx", ["$"]],
    ],
  ],
  [
    "each part has a budget of its own",
    (t) => t.star(t.concat(t.budget(t.whole(letters), 1), t.text("x"))),
    [
      ["a", ["x", "xa", "xab"]],
      ["a xa", ["x", "xa", "xab"]],
      ["a x", ["a", "b", "c", "x", "ab", "bc", "xa", "cx", "abc", "xab", "aaa", "bx", "$"]],
    ],
  ],
  [
    "the smaller of two budgets holds",
    (t) => t.budget(t.concat(t.budget(t.whole(letters), 3), t.text("x")), 2),
    [
      ["a", ["x", "cx", "bx"]],
      ["a x", ["$"]],
    ],
  ],
  [
    "a character needs its last bytes too",
    (t) => t.budget(t.expr(exprs.loop(exprs.codePoints([0xe9, 0xe9]), 1, 9)), 3),
    [
      ["é é", ["é", "$"]],
      ["é", ["é", "\xc3", "$"]],
      ["\xc3 \xa9", ["é", "$"]],
      ["é é é", ["$"]],
    ],
  ],
  ["none: nothing", (t) => t.concat(t.budget(t.whole(letters), 0), t.text("x")), [["", ["x"]]]],
  [
    "none for a part that is never empty",
    (t) => t.or([t.budget(t.text("a"), 0), t.text("x")]),
    [["", ["x"]]],
  ],
])("%s", (_name, lower, rows) => {
  test.each(rows)("after '%s'", (text, allowed) => {
    expect(after(bindGrammar(grammarOf(lower), vocabulary), text)).toEqual(allowed)
  })
})

function refusal(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (error instanceof GrammarError) return `${error.kind}: ${error.message}`
    throw error
  }
  return "none"
}

describe("what cannot be kept", () => {
  test.each<[string, (terms: Terms) => Term, string]>([
    [
      "too few tokens",
      (t) => t.concat(t.text("x"), t.budget(t.text("cab"), 1, "name")),
      "unsatisfiable: rule name: max_tokens=1 is too small: its shortest text takes 2 in the tokens of this vocabulary. Raise max_tokens or leave it out",
    ],
    [
      "a text that no tokens write",
      (t) => t.or([t.text("x"), t.budget(t.text("zz"), 9)]),
      "unsatisfiable: max_tokens=9 is too small: its shortest text cannot be written in the tokens of this vocabulary. Raise max_tokens or leave it out",
    ],
    ["enough", (t) => t.budget(t.text("cab"), 2), "none"],
  ])("%s", (_name, lower, message) => {
    expect(refusal(() => bindGrammar(grammarOf(lower), vocabulary))).toBe(message)
  })

  test("a TokenFsm counts nothing where it may, and refuses elsewhere", () => {
    const fsm = new TokenFsm(
      grammarOf((t) => t.budget(t.text("cab"), 1)),
      vocabulary,
      { ignoresBudgets: true },
    )
    expect(fsm.next(fsm.next(fsm.start, tokens.indexOf("c")), tokens.indexOf("ab"))).not.toBe(DeadState)
    expect(() => new TokenFsm(fsm.grammar, vocabulary)).toThrow("use bindGrammar(grammar, vocabulary)")
  })

  test("a part that begins with itself", () => {
    expect(
      refusal(() =>
        grammarOf((t, self) => t.budget(t.or([t.text("a"), t.concat(self, t.text("b"))]), 3, "start")),
      ),
    ).toBe(
      "unsupported: rule start with max_tokens begins with itself. Let it repeat by * or +, or recur at its end",
    )
  })

  test("a machine of all states", () => {
    const fsm = bindGrammar(
      grammarOf((t) => t.budget(t.text("ab"), 2)),
      vocabulary,
    )
    expect(refusal(() => precompile(fsm))).toMatch(/^unsupported: a grammar with budgets/)
  })
})

test("caches have the bounds of the options", () => {
  const grammar = grammarOf((t) => t.star(t.concat(t.budget(t.whole(letters), 3), t.text("x"))))
  const bounded = bindGrammar(grammar, vocabulary, { maskBytes: 300, transitionCount: 4 })
  const free = bindGrammar(grammar, vocabulary)
  for (const text of ["ab c x a b x", "a a a x bc x ab", "c cx a bx"]) {
    expect(after(bounded, text)).toEqual(after(free, text))
    const { transitions, maskBytes } = bounded.stats()
    expect(transitions).toBeLessThanOrEqual(2 * 4)
    // A cache holds at most its bound, or one mask above it.
    expect(maskBytes).toBeLessThanOrEqual(2 * (300 + 200))
  }
  expect(free.stats().transitions).toBeGreaterThan(8)
})

describe("other ways to read", () => {
  const fsm = bindGrammar(
    grammarOf((t) => t.concat(t.budget(t.concat(t.text("a"), t.whole(letters)), 2), t.text("x"))),
    vocabulary,
  )
  const id = (token: string) => tokens.indexOf(token)

  test("bytes count nothing, and leave enough for the rest", () => {
    const matcher = new Matcher(fsm)
    expect(matcher.acceptBytes(new TextEncoder().encode("abcabc"))).toBe(true)
    expect([matcher.accept(id("a")), matcher.accept(id("a")), matcher.accept(id("a"))]).toEqual([
      true,
      true,
      false,
    ])
    matcher.rollback(2)
    expect([matcher.accept(id("bx")), matcher.isAccepting()]).toEqual([true, true])
  })

  test("a healed prompt counts the token that reaches across its end", () => {
    const { drop, prefix, machine } = heal(fsm, [id("x")])
    expect({ drop, prefix }).toEqual({ drop: 1, prefix: Uint8Array.of(0x78) })
    const matcher = new Matcher(machine)
    expect(matcher.accept(id("xab"))).toBe(true)
    expect([matcher.accept(id("c")), matcher.accept(id("c"))]).toEqual([true, false])
  })

  test("forced tokens end where the tokenizer would write too many", () => {
    const forced = bindGrammar(
      grammarOf((t) => t.budget(t.text("abcabc"), 3)),
      vocabulary,
    )
    const letterwise = (text: string) => [...text].map(id)
    const matcher = new Matcher(forced)
    const run = forcedTokens(matcher, [], letterwise)
    expect(run.map((token) => tokens[token])).toEqual(["a"])
    expect(matcher.validate(run)).toBe(run.length)
  })
})
