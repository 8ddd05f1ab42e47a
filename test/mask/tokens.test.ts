/** Tokens that a grammar names by their ids: control tokens, end ids, text tokens, sets; beside text and inside of it. */
import { expect, test } from "vitest"
import { compile } from "../../grammar/compile.ts"
import { Rules } from "../../grammar/ebnf/rules.ts"
import type { Term, Terms } from "../../grammar/ebnf/terms.ts"
import { defaultLimits } from "../../grammar/errors.ts"
import type { Grammar } from "../../grammar/grammar.ts"
import { exprs } from "../../grammar/lexeme/expr/expr.ts"
import { isAllowed } from "../../mask/bits.ts"
import { forcedBytes, Matcher, TokenFsm, Vocabulary } from "../../mask/index.ts"

const texts = ["a", "b", "ab", "ba", " ", "abc", "c"]
/** Ids 0 to 6 are text, 7 is a control token, 8 another, 9 and 10 end a text, 11 is a lone byte 0xff, 12 to 14 spell "\0\0\x07". */
const vocabulary = Vocabulary.fromBytes(
  [
    ...texts.map((text) => new TextEncoder().encode(text)),
    null,
    null,
    null,
    null,
    Uint8Array.of(0xff),
    Uint8Array.of(0),
    Uint8Array.of(7),
    Uint8Array.of(0xff, 0, 0, 7),
  ],
  { endIds: [9, 10], specials: { "<|call|>": 7, "<|end|>": 8 } },
)

function grammarOf(make: (terms: Terms) => Term): Grammar {
  const rules = new Rules(defaultLimits)
  const start = rules.declare("start")
  rules.define(start, [], () => make(rules.terms))
  return rules.grammar(start, { key: () => "tokens", title: "tokens" }) as Grammar
}

/** Every id that may come next by the mask and by `accept`; they must be the same. */
function allowed(matcher: Matcher): number[] {
  const row = new Uint32Array(vocabulary.words)
  matcher.fillMask(row)
  const ids: number[] = []
  for (let id = 0; id < vocabulary.width; id++) {
    expect(matcher.fork().accept(id), `token ${id}`).toBe(isAllowed(row, id))
    if (isAllowed(row, id)) ids.push(id)
  }
  return ids
}

function walk(grammar: Grammar, ...tokens: number[]): Matcher {
  const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
  for (const token of tokens) expect(matcher.accept(token), `token ${token} of ${tokens}`).toBe(true)
  return matcher
}

test("a control token between texts is its one bit, and no text spells it", () => {
  const grammar = grammarOf((terms) => terms.concat(terms.text("ab"), terms.token([7]), terms.text("c")))
  expect(allowed(walk(grammar))).toEqual([0, 2])
  expect(allowed(walk(grammar, 0))).toEqual([1])
  expect(allowed(walk(grammar, 2))).toEqual([7])
  expect(allowed(walk(grammar, 2, 7))).toEqual([6])
  expect(allowed(walk(grammar, 2, 7, 6))).toEqual([9, 10])
})

test("a token whose bytes are those by which another is read is text, and none that may come", () => {
  const grammar = grammarOf((terms) => terms.token([7]))
  expect(allowed(walk(grammar))).toEqual([7])
})

test("a text token named by its id is that token alone, and may be text as well", () => {
  expect(allowed(walk(grammarOf((terms) => terms.token([2, 8]))))).toEqual([2, 8])
  const either = grammarOf((terms) =>
    terms.or([terms.concat(terms.token([2]), terms.text("c")), terms.text("abb")]),
  )
  expect(allowed(walk(either))).toEqual([0, 2])
  expect(allowed(walk(either, 2))).toEqual([1, 6])
  expect(allowed(walk(either, 0))).toEqual([1])
  expect(allowed(walk(either, 0, 1))).toEqual([1])
})

test("an end id inside of a text is a token of it, and ends the text only where that is complete", () => {
  const grammar = grammarOf((terms) => terms.concat(terms.text("a"), terms.token([9]), terms.text("b")))
  expect(allowed(walk(grammar, 0))).toEqual([9])
  expect(allowed(walk(grammar, 0, 9))).toEqual([1])
  const done = walk(grammar, 0, 9, 1, 10)
  expect(done.isTerminated()).toBe(true)
})

test("free text goes on until a control token, and a completion may hold tokens", () => {
  const grammar = grammarOf((terms) =>
    terms.concat(terms.whole(exprs.loop(exprs.codePoints([0x61, 0x62]), 0, 9)), terms.token([7, 8])),
  )
  expect(allowed(walk(grammar))).toEqual([0, 1, 2, 3, 7, 8])
  const matcher = walk(grammar, 2)
  expect([...matcher.shortest()]).toEqual([0xff, 0, 0, 7])
  expect(matcher.acceptBytes(matcher.shortest())).toBe(true)
  expect(matcher.isExhausted()).toBe(true)
  expect(forcedBytes(matcher)).toEqual(new Uint8Array(0))
})

test("tokens are read through rollback, forks and validation as others are", () => {
  const grammar = grammarOf((terms) => terms.star(terms.concat(terms.text("a"), terms.token([7]))))
  const matcher = walk(grammar, 0, 7, 0)
  expect(matcher.validate([7, 0, 7, 9])).toBe(4)
  expect(matcher.validate([7, 7])).toBe(1)
  matcher.rollback(2)
  expect(allowed(matcher)).toEqual([7])
})

test("a name that no control token has is that of the ordinary token which spells it", () => {
  const marks = ["<tool_call>", "a", "<", "tool_call>"].map((text) => new TextEncoder().encode(text))
  const added = Vocabulary.fromBytes([...marks, null], { endIds: [4] })
  const { grammar } = compile({ kind: "gbnf", text: 'root ::= <tool_call> "a"' }, { tokens: added })
  const row = new Uint32Array(added.words)
  new Matcher(new TokenFsm(grammar, added)).fillMask(row)
  expect([...row]).toEqual([1])
  const unknown = () => compile({ kind: "gbnf", text: "root ::= <tool_calls>" }, { tokens: added })
  expect(unknown).toThrow("no token is spelled <tool_calls>")
})
