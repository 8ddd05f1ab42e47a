/**
 * A seeded mutation loop over the grammars of the cases: whatever a text has become, the outcome is a grammar or a GrammarError,
 * and a grammar can be read with. TOKENRAIL_TESTS=full runs it for longer.
 */

import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { Completions } from "../../../../grammar/completions.ts"
import { gbnfRule } from "../../../../grammar/ebnf/gbnf/gbnf.ts"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits, GrammarError } from "../../../../grammar/errors.ts"
import { nextBytes } from "../../../../grammar/explain.ts"
import { DeadState, States } from "../../../../grammar/state.ts"
import { parseCases } from "../../../support/cases.ts"
import { mutated } from "../../../support/mutants.ts"
import { randomOf } from "../../../support/oracle.ts"

const cases = readdirSync("test/cases/gbnf").flatMap((file) =>
  parseCases(readFileSync(`test/cases/gbnf/${file}`, "utf8")),
)
const grammars = cases
  .filter(({ error }, i) => error === undefined || i % 4 === 0)
  .map(({ grammar }) => grammar)
const limits = { ...defaultLimits, rules: 200, symbols: 5_000, threads: 64, stackDepth: 64, compileMs: 5_000 }
const rounds = process.env.TOKENRAIL_TESTS === "full" ? 40_000 : 1_500
const utf8 = new TextEncoder()

/** What came of it, for the counts at the end. */
function outcome(text: string, random: () => number): string {
  try {
    const rules = new Rules(limits)
    const grammar = rules.grammar(gbnfRule(text, rules), { key: () => text, title: "mutant" })
    if (grammar === null) return "empty"
    const states = new States(grammar)
    let state = states.start
    for (let step = 0; step < 12 && state !== DeadState; step++) {
      const bytes = nextBytes(states, state, 8)
      if (bytes.length === 0) break
      state = states.advance(state, Uint8Array.of(bytes[Math.floor(random() * bytes.length)]))
    }
    expect(state).not.toBe(DeadState)
    const end = new Completions(states).shortest(state)
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
      for (let i = Math.floor(random() * random() * 4); i >= 0; i--) text = mutated(text, grammars, random)
      const what = outcome(text, random)
      counts[what] = (counts[what] ?? 0) + 1
    }
    expect(counts.grammar).toBeGreaterThan(rounds / 20)
    expect(counts.syntax).toBeGreaterThan(rounds / 20)
  })
})
