/**
 * A seeded mutation loop over the grammars of the cases: whatever a text has become, the outcome is a grammar or a GrammarError,
 * and a grammar can be read with. TOKENRAIL_TESTS=full runs it for longer.
 */
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { gbnfRule } from "../../../../grammar/ebnf/gbnf/gbnf.ts"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits, GrammarError } from "../../../../grammar/errors.ts"
import { DeadState, States } from "../../../../grammar/state.ts"
import { parseCases } from "../../../support/cases.ts"
import { randomOf } from "../../../support/oracle.ts"

const cases = readdirSync("test/cases/gbnf").flatMap((file) =>
  parseCases(readFileSync(`test/cases/gbnf/${file}`, "utf8")),
)
const grammars = cases
  .filter(({ error }, i) => error === undefined || i % 4 === 0)
  .map(({ grammar }) => grammar)
/** What grammars are made of, and what they are not. */
const pieces = [
  ..."()[]{}|*+?.!<>\"'\\^-,=:#\n\r\t 09az_é💩\0\ud800".split(/(?!^)/u),
  ...'::= root|{2}|{0,3}|{,2}|{900}|{1,70}|[^a-z]|\\x41|\\u3042|<[1]>|<a>|!<[1]>|Regex("a*")|Substring("a", "b")'.split(
    "|",
  ),
  ...'TagDispatch(("a", root))|Token(1)|[lazy]|[greedy, max_chars=3]|[capture]|[max_tokens=2]|\na ::= root "b"|((('.split(
    "|",
  ),
]
const limits = { ...defaultLimits, rules: 200, symbols: 5_000, threads: 64, stackDepth: 64, compileMs: 5_000 }
const rounds = process.env.TOKENRAIL_TESTS === "full" ? 40_000 : 1_500
const utf8 = new TextEncoder()

function mutated(text: string, random: () => number): string {
  const at = (length: number) => Math.floor(random() * (length + 1))
  // Mostly between two words, where more of what comes of it is a grammar.
  const near = at(text.length)
  const from = random() < 0.7 ? Math.max(text.indexOf(" ", near), 0) : near
  switch (Math.floor(random() * 5)) {
    case 0:
      return text.slice(0, from) + text.slice(from + 1 + at(4))
    case 1:
      return text.slice(0, from) + pieces[at(pieces.length - 1)] + text.slice(from)
    case 2:
      return text.slice(0, from) + pieces[at(pieces.length - 1)] + text.slice(from + 1)
    case 3: {
      const start = at(text.length)
      return text.slice(0, from) + text.slice(start, start + at(30)) + text.slice(from)
    }
    default: {
      const other = grammars[at(grammars.length - 1)]
      const start = at(other.length)
      return text.slice(0, from) + other.slice(start, start + at(60)) + text.slice(from)
    }
  }
}

/** What came of it, for the counts at the end. */
function outcome(text: string, random: () => number): string {
  try {
    const rules = new Rules(limits)
    const grammar = rules.grammar(gbnfRule(text, rules), { key: () => text, title: "mutant" })
    if (grammar === null) return "empty"
    const states = new States(grammar)
    let state = states.start
    for (let step = 0; step < 12 && state !== DeadState; step++) {
      const bytes = states.nextBytes(state, 8)
      if (bytes.length === 0) break
      state = states.advance(state, Uint8Array.of(bytes[Math.floor(random() * bytes.length)]))
    }
    expect(state).not.toBe(DeadState)
    const end = states.shortest(state)
    expect(states.isAccepting(states.advance(state, end))).toBe(true)
    states.advance(states.start, utf8.encode('<a>aab1 {"é\n'))
    return "grammar"
  } catch (error) {
    if (!(error instanceof GrammarError))
      throw new Error(`${String(error)} in ${JSON.stringify(text)}`, { cause: error })
    expect(error.message.length).toBeLessThan(6_000)
    return error.kind
  }
}

describe("mutants of grammars", () => {
  test.each([1, 2, 3, 4])("seed %i", { timeout: 3_600_000 }, (seed) => {
    const random = randomOf(seed)
    const counts: Record<string, number> = {}
    for (let round = 0; round < rounds; round++) {
      let text = grammars[Math.floor(random() * grammars.length)]
      for (let i = Math.floor(random() * random() * 4); i >= 0; i--) text = mutated(text, random)
      const what = outcome(text, random)
      counts[what] = (counts[what] ?? 0) + 1
    }
    expect(counts.grammar).toBeGreaterThan(rounds / 20)
    expect(counts.syntax).toBeGreaterThan(rounds / 20)
  })
})
