/** `contains`, counts and unique items over few values: satisfiable iff some array is valid, and no state is a dead end. */
import { describe, expect, test } from "vitest"
import { Completions } from "../../../../grammar/completions.ts"
import type { GrammarError } from "../../../../grammar/errors.ts"
import { compile } from "../../../../grammar/index.ts"
import { States } from "../../../../grammar/state.ts"
import { randomOf } from "../../../support/oracle.ts"
import { Validator } from "../../../support/validate.ts"

const values = ["a", "b", "c", "d"]
const MaxLength = 5

/** All arrays of up to `MaxLength` of the values, as texts. Strings: numbers have many spellings. */
const arrays: string[] = []
let rows = [""]
for (let length = 0; length <= MaxLength; length++) {
  for (const row of rows) arrays.push(`[${row}]`)
  rows = rows.flatMap((row) => values.map((value) => `${row}${row === "" ? "" : ","}"${value}"`))
}

function randomArray(random: () => number): object {
  const below = (n: number) => Math.floor(random() * n)
  const some = () => values.filter(() => random() < 0.6)
  const rule = () => {
    const min = below(4)
    return {
      contains: { enum: some() },
      minContains: min,
      ...(random() < 0.4 ? { maxContains: min + below(2) } : {}),
    }
  }
  return {
    type: "array",
    items: { enum: random() < 0.6 ? values : some() },
    ...(random() < 0.3
      ? { prefixItems: Array.from({ length: 1 + below(2) }, () => ({ enum: some() })) }
      : {}),
    allOf: Array.from({ length: 1 + below(3) }, rule),
    minItems: below(4),
    maxItems: 2 + below(MaxLength - 1),
    ...(random() < 0.7 ? { uniqueItems: true } : {}),
  }
}

describe("contains over few values", () => {
  test.each([1, 2, 3])("random arrays, seed %i", { timeout: 60_000 }, (seed) => {
    const random = randomOf(seed)
    for (let i = 0; i < 25; i++) {
      const schema = randomArray(random)
      const validator = new Validator(JSON.stringify(schema))
      const valid = arrays.filter((text) => validator.accepts(text))
      let states: States
      try {
        states = new States(
          compile({ kind: "json", schema }, { surface: "conform", unsatisfiable: "empty" }).grammar,
        )
      } catch (error) {
        expect((error as GrammarError).kind).toBe("limit")
        continue
      }
      const told = JSON.stringify(schema)
      expect(states.start !== 0, told).toBe(valid.length > 0)
      if (valid.length > 0) {
        const shortest = new TextDecoder().decode(new Completions(states).shortest(states.start))
        expect(valid, told).toContain(shortest)
      }
      // Every beginning of a valid text is read, and no other: each byte that may follow leads to one.
      const beginnings = new Set<string>()
      for (const text of valid)
        for (let end = 0; end <= text.length; end++) beginnings.add(text.slice(0, end))
      for (const beginning of beginnings) {
        const state = states.advance(states.start, new TextEncoder().encode(beginning))
        expect(state, `${told} ${beginning}`).not.toBe(0)
        for (const next of '"abcd,]') {
          const isRead = states.advance(state, new TextEncoder().encode(next)) !== 0
          expect(isRead, `${told} ${beginning + next}`).toBe(beginnings.has(beginning + next))
        }
      }
    }
  })
})
