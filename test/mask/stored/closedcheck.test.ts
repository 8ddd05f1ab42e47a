/** Each way in which tables can fail to be a machine is found, and said. */
import { expect, test } from "vitest"
import { Vocabulary } from "../../../mask/index.ts"
import type { ClosedTables } from "../../../mask/stored/closed.ts"
import { CompleteStep, OwnStep } from "../../../mask/stored/closed.ts"
import { checkTables } from "../../../mask/stored/closedcheck.ts"
import { abTables } from "../../support/closedtables.ts"

// Tokens a, b, a hole, two ends.
const tokens = ["a", "b"].map((text) => new TextEncoder().encode(text))
const vocabulary = Vocabulary.fromBytes([...tokens, null], { width: 5, endIds: [3, 4] })

const masks = (maskValues: number[], maskOf = [0, 1, 0]): Partial<ClosedTables> => ({
  maskOf: Uint32Array.from(maskOf),
  maskOffsets: Uint32Array.of(0, maskValues.length),
  maskValues: Uint32Array.from(maskValues),
})

test.each<[what: string, tables: Partial<ClosedTables>]>([
  ["as it is", {}],
  [
    "a completion of its own",
    {
      steps: Uint16Array.of(CompleteStep, OwnStep, CompleteStep),
      completions: new Map([[1, Uint8Array.of(0x61, 0x62)]]),
    },
  ],
  ["a mask of ids", masks([0, 0])],
  ["a mask as a row", masks([1, 0b00001])],
  ["a mask with the ends", masks([0, 1, 3, 4], [0, 0, 1])],
  ["a mask of nothing", masks([0])],
])("taken: %s", (_, tables) => {
  expect(checkTables({ ...abTables, ...tables }, vocabulary)).toBeNull()
})

test.each<[message: RegExp, tables: Partial<ClosedTables>]>([
  [/start 3 is not one of the 3 states/, { start: 3 }],
  [/start 0 is not one of the 0 states/, { start: 0, accepting: new Uint8Array(0) }],
  [/offsets of edges/, { edgeOffsets: Uint32Array.of(0, 0, 2, 1) }],
  [/offsets of edges/, { edgeOffsets: Uint32Array.of(0, 0, 1, 9) }],
  [/the dead state has edges/, { edgeOffsets: Uint32Array.of(0, 1, 1, 2) }],
  [/the dead state accepts/, { accepting: Uint8Array.of(1, 0, 1) }],
  [/accepting of state 2 is neither 0 nor 1/, { accepting: Uint8Array.of(0, 0, 2) }],
  [/edges of state 1 do not ascend/, { highs: Uint8Array.of(0x60, 0x62) }],
  [
    /edges of state 1 do not ascend/,
    { edgeOffsets: Uint32Array.of(0, 0, 2, 2), highs: Uint8Array.of(0x62, 0x62) },
  ],
  [/state 2 leads to 3, of 3 states/, { targets: Uint32Array.of(2, 3) }],
  [/state 2 leads to 0, of 3 states/, { targets: Uint32Array.of(2, 0) }],
  [/state 2 and its completion differ/, { accepting: Uint8Array.of(0, 0, 0) }],
  [/state 1 has no way to the end/, { steps: Uint16Array.of(CompleteStep, 0x7a, CompleteStep) }],
  [/state 1 has no way to the end/, { targets: Uint32Array.of(1, 2) }],
  [/state 1 has no way to the end/, { steps: Uint16Array.of(CompleteStep, OwnStep, CompleteStep) }],
  [/state 1 has no way to the end/, { steps: Uint16Array.of(CompleteStep, 300, CompleteStep) }],
  [/a completion of state 2, which has none/, { completions: new Map([[2, Uint8Array.of(0x62)]]) }],
  [/a completion of state 7, which has none/, { completions: new Map([[7, Uint8Array.of(0x62)]]) }],
  [
    /completion of state 1 does not complete it/,
    {
      steps: Uint16Array.of(CompleteStep, OwnStep, CompleteStep),
      completions: new Map([[1, Uint8Array.of(0x62)]]),
    },
  ],
  [/explanation 2 is not one of the 2/, { explanationOf: Uint32Array.of(0, 2, 0) }],
  [/offsets of masks/, { maskOffsets: Uint32Array.of(0, 1) }],
  [/mask 0 is neither/, masks([2, 0])],
  [/mask 0 is neither/, masks([])],
  [/mask 0 is neither/, masks([0, 1, 0])],
  [/mask 0 is neither/, masks([0, 5])],
  [/mask 0 is neither/, masks([1, 1, 1])],
  [/mask 0 allows a token that writes nothing/, masks([0, 2])],
  [/mask 0 allows a token that writes nothing/, masks([1, 1 << 5])],
  [/mask 0 holds only some of the end ids/, masks([0, 3], [0, 0, 1])],
  [/mask of state 1 and the state differ/, masks([0, 0, 3, 4])],
  [/mask of state 2 and the state differ/, masks([0, 1], [0, 0, 1])],
  [/mask 2 is not one of the 1/, masks([0, 0], [0, 2, 0])],
])("refused: %s", (message, tables) => {
  expect(checkTables({ ...abTables, ...tables }, vocabulary)).toMatch(message)
})
