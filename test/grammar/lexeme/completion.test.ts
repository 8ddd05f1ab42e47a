/**
 * Shortest texts of lexeme states whose kinds bound them, or know them. The kinds of the grammar
 * floor: `expr/shortest.test.ts`.
 */
import { expect, test } from "vitest"
import { type CompletedKind, leastBytes, shortestCompletion } from "../../../grammar/lexeme/completion.ts"
import { Dead, lexemes } from "../../../grammar/lexeme/table.ts"

test.each([[3], [16], [17], [200]])("a sum that is a multiple of %s: one byte, the last one", (modulus) => {
  const kind: number = lexemes.register<CompletedKind>({
    tag: (a) => (a === 0 ? 1 + (modulus % 3) : 0),
    expand(a, _b, _c, row) {
      for (let byte = 0; byte < modulus; byte++) row.targets[byte] = lexemes.state(kind, (a + byte) % modulus)
    },
    least: (a) => (a === 0 ? 0 : 1),
  })
  const end = { bytes: new Uint8Array(0), tag: 1 + (modulus % 3) }
  expect(shortestCompletion(lexemes.state(kind, 0))).toEqual(end)
  expect(shortestCompletion(lexemes.state(kind, 1)).bytes).toEqual(Uint8Array.of(modulus - 1))
})

test("long steps are found behind a lower bound", () => {
  const kind: number = lexemes.register<CompletedKind>({
    tag: (a) => (a === 0 ? 1 : 0),
    expand(a, _b, _c, row) {
      row.targets[0x61] = a === 0 ? Dead : lexemes.state(kind, a - 1)
      row.targets[0x62] = a > 2 ? lexemes.state(kind, a - 3) : Dead
    },
    least: (a) => Math.ceil(a / 3),
  })
  expect(shortestCompletion(lexemes.state(kind, 2_999)).bytes.length).toBe(1_001)
})

test("a kind that knows its rest is not searched, and one that bounds nothing has zero", () => {
  const kind: number = lexemes.register<CompletedKind>({
    tag: (a) => a,
    expand(_a, _b, _c, row) {
      row.targets[0x61] = lexemes.state(kind, 1)
    },
    shortest: () => ({ bytes: Uint8Array.of(0x61), tag: 7 }),
  })
  expect(shortestCompletion(lexemes.state(kind, 0))).toEqual({ bytes: Uint8Array.of(0x61), tag: 7 })
  expect(leastBytes(lexemes.state(kind, 0))).toBe(0)
})
