import { expect, test } from "vitest"
import { type ClampedKind, clampedState, quietState } from "../../../grammar/lexeme/clamp.ts"
import { Dead, lexemes } from "../../../grammar/lexeme/table.ts"
import { reachOf } from "../../support/reach.ts"

test("a state stands for others where its kind says so, and for itself where it says nothing", () => {
  const kind: number = lexemes.register<ClampedKind>({
    tag: () => 1,
    expand: () => {},
    clamp: (a, b, c, { bytes }) => lexemes.state(kind, Math.min(a, bytes), b, c),
    quiet: (a, b) => lexemes.state(kind, a, b, 1),
  })
  const state = lexemes.state(kind, 90, 2, 3)
  expect(clampedState(state, reachOf(5))).toBe(lexemes.state(kind, 5, 2, 3))
  expect(quietState(state)).toBe(lexemes.state(kind, 90, 2, 1))
  const plain = lexemes.state(lexemes.register({ tag: () => 1, expand: () => {} }), 90)
  expect([clampedState(plain, reachOf(5)), quietState(plain)]).toEqual([plain, plain])
  expect([clampedState(Dead, reachOf(5)), quietState(Dead)]).toEqual([Dead, Dead])
})
