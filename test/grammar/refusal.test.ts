/** Refusals by a bound. */
import { expect, test } from "vitest"
import { fixedBounds } from "../../grammar/errors.ts"
import { checkLimit, type GrammarError, limitError, placed } from "../../grammar/refusal.ts"

test("a value at its bound passes, one above it is refused", () => {
  expect(() => checkLimit({ threads: 8 }, "threads.open", 8)).not.toThrow()
  expect(() => checkLimit({ threads: 8 }, "threads.open", 9)).toThrow(
    "readings of the text so far that are still open: 9 is above the bound of 8. Raise limits.threads or make the input smaller",
  )
})

test("a bound without an option says only what to simplify", () => {
  expect(limitError(fixedBounds, "lookaroundTerms", 5_000).message).toBe(
    "lookarounds inside repetitions combine in more than 4096 ways. Move them out of the repetition",
  )
})

test("a refusal gets the first place that is known, and no other", () => {
  const bare = limitError({ rules: 1 }, "rules", 2)
  const at = placed(bare, "/a") as GrammarError
  expect([at.kind, at.path, at.message]).toEqual(["limit", "/a", `/a: ${bare.message}`])
  expect(placed(at, "/b")).toBe(at)
  expect(placed(bare, () => "")).toBe(bare)
  const other = new TypeError("no refusal")
  expect(placed(other, "/a")).toBe(other)
})
