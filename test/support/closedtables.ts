/** The tables of `ab*` over bytes: state 1 reads the a, state 2 the b's. */
import { type ClosedTables, CompleteStep } from "../../mask/stored/closed.ts"

export const abTables: ClosedTables = {
  start: 1,
  edgeOffsets: Uint32Array.of(0, 0, 1, 2),
  lows: Uint8Array.of(0x61, 0x62),
  highs: Uint8Array.of(0x61, 0x62),
  targets: Uint32Array.of(2, 2),
  accepting: Uint8Array.of(0, 0, 1),
  steps: Uint16Array.of(CompleteStep, 0x61, CompleteStep),
  completions: new Map(),
  explanationOf: Uint32Array.of(0, 1, 0),
  explanations: [[], [{ what: '"a"', example: "a", path: "" }]],
  maskOf: Uint32Array.of(0, 0, 0),
  maskOffsets: Uint32Array.of(0),
  maskValues: new Uint32Array(0),
}
