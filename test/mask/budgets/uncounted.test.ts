/**
 * Masks of states that are far from the end of their budgets are taken from the grammar without budgets. Every one of them
 * must equal the mask for which each token is tried.
 */

import { describe, expect, test } from "vitest"
import { Rules } from "../../../grammar/ebnf/rules.ts"
import type { Term, Terms } from "../../../grammar/ebnf/terms.ts"
import { defaultLimits } from "../../../grammar/errors.ts"
import type { Grammar } from "../../../grammar/grammar.ts"
import { compile } from "../../../grammar/index.ts"
import { exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { DeadState } from "../../../grammar/state.ts"
import { BudgetMachine } from "../../../mask/budgets/machine.ts"
import { bindGrammar, Matcher, TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { allowedIds, randomOf } from "../../support/oracle.ts"

/** All bytes, and some longer tokens that cross what the grammars below are made of. */
const words = [
  "aa",
  'a"',
  '"}',
  "}{",
  '{"',
  "a,a",
  '":',
  "é",
  "éa",
  "\n\n",
  "]]",
  "[[1",
  "true",
  "aaaaaaaa",
  "--",
  "->",
]
const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const vocabulary = Vocabulary.fromBytes([...bytes, ...words.map((word) => new TextEncoder().encode(word))], {
  endIds: [300, 301],
  specials: { "<tool>": 290, "</tool>": 291 },
})

function grammarOf(lower: (terms: Terms, self: Term) => Term): Grammar {
  const rules = new Rules({ ...defaultLimits }, vocabulary)
  const start = rules.declare("start")
  rules.define(start, [start], () => lower(rules.terms, rules.use(start)))
  return rules.grammar(start, { key: () => "", title: "" }) as Grammar
}

const text = exprs.loop(exprs.anyChar, 0, Number.POSITIVE_INFINITY)
const letters = exprs.loop(exprs.byteRange(0x61, 0x7a), 0, Number.POSITIVE_INFINITY)
const json = (schema: unknown) =>
  compile({ kind: "json", schema }, { surface: "conform", whitespace: "compact" }).grammar

const grammars: [name: string, grammar: Grammar, maxTokens: number][] = [
  [
    "free text and an end",
    grammarOf((t) => t.concat(t.budget(t.whole(text), 12), t.text("->"), t.whole(letters))),
    40,
  ],
  [
    "a quoted string",
    grammarOf((t) => t.budget(t.concat(t.text('"'), t.whole(letters), t.text('"}')), 9)),
    20,
  ],
  ["parts in a row", grammarOf((t) => t.star(t.concat(t.budget(t.whole(letters), 5), t.text(",")))), 30],
  [
    "a part in a part",
    grammarOf((t) =>
      t.budget(t.concat(t.text("{"), t.budget(t.whole(letters), 6), t.text("}"), t.whole(text)), 11),
    ),
    20,
  ],
  [
    "nested brackets",
    grammarOf((t, self) => t.budget(t.or([t.text("1"), t.concat(t.text("["), self, t.text("]"))]), 9)),
    20,
  ],
  [
    "a bounded length",
    grammarOf((t) => t.budget(t.concat(t.maxChars(t.whole(text), 20), t.text("-")), 14)),
    20,
  ],
  [
    "JSON",
    grammarOf((t) =>
      t.budget(
        t.nested(
          json({
            properties: { a: { type: "string" }, b: { type: "array", items: { type: "integer" } } },
            required: ["a"],
            additionalProperties: false,
            type: "object",
          }),
        ),
        30,
      ),
    ),
    40,
  ],
  [
    "JSON with names of its own",
    grammarOf((t) =>
      t.budget(t.nested(json({ type: "object", additionalProperties: { type: "boolean" } })), 24),
    ),
    30,
  ],
  [
    "tokens by their ids",
    grammarOf((t) => {
      const run = t.star(t.token([97, 98, 258, 260, 290]))
      return t.concat(t.budget(t.concat(t.token([290]), run, t.token([291])), 7), t.whole(letters))
    }),
    20,
  ],
]

describe.each(grammars)("%s", (_name, grammar, maxTokens) => {
  test("masks are the same as when each token is tried", () => {
    const fsm = new BudgetMachine(new TokenFsm(grammar, vocabulary, { ignoresBudgets: true }))
    const plain = new BudgetMachine(new TokenFsm(grammar, vocabulary, { ignoresBudgets: true }), {
      isPlain: true,
    })
    const mask = new Uint32Array(vocabulary.words)
    const expected = new Uint32Array(vocabulary.words)
    let shared = 0
    for (let seed = 1; seed <= 12; seed++) {
      const random = randomOf(seed)
      const matcher = new Matcher(fsm)
      const other = new Matcher(plain)
      for (let count = 0; ; count++) {
        const { state } = matcher
        matcher.fillMask(mask)
        other.fillMask(expected)
        expect(mask).toEqual(expected)
        if (fsm.budgets.uncounted(state) !== DeadState) shared++
        const allowed = allowedIds(mask, vocabulary.width)
        for (let i = 0; i < 20; i++) {
          const token = Math.floor(random() * vocabulary.width)
          if (vocabulary.isEnd(token)) continue
          expect([token, fsm.next(state, token) !== DeadState]).toEqual([token, allowed.includes(token)])
        }
        expect(allowed).not.toEqual([])
        const token = allowed[Math.floor(random() * allowed.length)]
        matcher.accept(token)
        other.accept(token)
        if (matcher.isTerminated() || count === maxTokens) break
      }
    }
    expect(shared).toBeGreaterThan(10)
  })
})

test("a part that begins inside a token has its budget there, where nothing was counted before", () => {
  const part = (t: Terms) =>
    t.concat(t.text("a"), t.budget(t.or([t.text(""), t.text("abc")]), 2), t.text(";"))
  const fsm = bindGrammar(
    grammarOf((t) => part(t)),
    vocabulary,
  )
  const mask = new Uint32Array(vocabulary.words)
  new Matcher(fsm).fillMask(mask)
  // Behind "aa" one token is left for "bc".
  expect(allowedIds(mask, vocabulary.width)).toEqual(["a".charCodeAt(0)])
})
