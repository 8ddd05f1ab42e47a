/** A closed machine written down by hand: `ab*`, with a completion and an explanation for each state. */
import { expect, test } from "vitest"
import { DeadState } from "../../../grammar/state.ts"
import { ClosedFsm, Matcher, Vocabulary } from "../../../mask/index.ts"
import { abTables } from "../../support/closedtables.ts"

const encoder = new TextEncoder()
const pieces = ["a", "b", "ab", "bb", "ba", "b", ""].map((text) => encoder.encode(text))
const endId = pieces.length
const vocabulary = Vocabulary.fromBytes([...pieces, null], { width: endId + 5, endIds: [endId] })
const machine = new ClosedFsm(abTables, vocabulary, "0".repeat(64))

const allowed = (matcher: Matcher): number[] => {
  const row = new Uint32Array(vocabulary.words)
  matcher.fillMask(row)
  return Array.from({ length: 32 * vocabulary.words }, (_, id) => id).filter((id) => (row[0] >>> id) & 1)
}

test("masks that are not stored are walked, once a state", () => {
  const matcher = new Matcher(machine)
  expect(allowed(matcher)).toEqual([0, 2])
  expect(matcher.accept(2)).toBe(true)
  expect(allowed(matcher)).toEqual([1, 3, 5, endId])
  expect(allowed(matcher)).toEqual([1, 3, 5, endId])
  expect(machine.stats()).toMatchObject({ states: 3, transitions: 2, walks: 2, maskBytes: 8 })
})

test("a stored mask is taken as it is, ids or row", () => {
  const stored = { maskOf: Uint32Array.of(0, 1, 2), maskOffsets: Uint32Array.of(0, 2, 4) }
  const tables = { ...abTables, ...stored, maskValues: Uint32Array.of(0, 2, 1, 1 << endId) }
  const matcher = new Matcher(new ClosedFsm(tables, vocabulary, ""))
  expect(allowed(matcher)).toEqual([2])
  matcher.accept(2)
  expect([allowed(matcher), matcher.stats().walks]).toEqual([[endId], 0])
})

test("nothing leads on from the dead state, and holes and ends lead nowhere", () => {
  for (const id of [4, 6, endId, endId + 1, endId + 5, 1e6])
    expect(machine.next(machine.start, id)).toBe(DeadState)
  expect(machine.advance(DeadState, encoder.encode("a"))).toBe(DeadState)
  expect(machine.advance(machine.start, new Uint8Array(0))).toBe(machine.start)
  expect(() => machine.shortest(DeadState)).toThrow(RangeError)
})

test("completions and explanations are looked up, and cannot be changed", () => {
  expect(Array.from(machine.shortest(machine.start))).toEqual([0x61])
  const after = machine.advance(machine.start, encoder.encode("abb"))
  expect([machine.isAccepting(after), machine.isExhausted(after), machine.shortest(after).length]).toEqual([
    true,
    false,
    0,
  ])
  machine.explain(machine.start)[0].what = "changed"
  expect(machine.explain(machine.start)).toEqual([{ what: '"a"', example: "a", path: "" }])
})
