import { expect, test } from "vitest"
import { compile } from "../../grammar/index.ts"
import { tableBytes, trimTables } from "../../grammar/tables.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../mask/index.ts"

const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const vocabulary = Vocabulary.fromBytes([...bytes, null], { endIds: [256] })
const encoder = new TextEncoder()

const schema = {
  type: "object",
  properties: {
    a: { type: "string", pattern: "^(?=.*x)([a-z][0-9])+", minLength: 5, maxLength: 20 },
    b: { type: "number", multipleOf: 0.25, maximum: 100 },
    c: { type: "array", uniqueItems: true, items: { type: "string", format: "date" } },
    // Each character is a state of its own, so that the rows take more than the room that an empty table has.
    d: { type: "string", pattern: "^([a-z]|-[0-9]){1,900}$" },
  },
  required: ["a", "b"],
}

/** The mask after each byte of `text`. */
function masksAlong(matcher: Matcher, text: string): number[][] {
  matcher.reset()
  const masks: number[][] = []
  for (const byte of encoder.encode(text)) {
    const row = new Uint32Array(vocabulary.words)
    matcher.fillMask(row)
    masks.push([...row])
    expect(matcher.acceptBytes(Uint8Array.of(byte))).toBe(true)
  }
  expect(matcher.isAccepting()).toBe(true)
  return masks
}

test("a grammar in use answers alike after its rows, derivatives and lengths were forgotten", () => {
  const { grammar } = compile({ kind: "json", schema }, { surface: "conform" })
  const text = `{"c":["2024-02-29","2024-03-01"],"b":99.75,"a":"a1x2b3","d":"${"abc-1".repeat(80)}"}`
  const machine = new TokenFsm(grammar, vocabulary)
  const before = masksAlong(new Matcher(machine), text)
  const full = tableBytes()
  trimTables({ rows: 0, derivatives: 0, lengths: 0 })
  const empty = tableBytes()
  expect(empty.rows).toBeLessThan(full.rows)
  expect(empty.derivatives).toBeLessThan(full.derivatives)
  expect(empty.lengths).toBe(0)
  expect(empty.expressions).toBe(full.expressions)
  // The machine that was half way, a new one over the same grammar, and the same schema once more.
  expect(masksAlong(new Matcher(machine), text)).toEqual(before)
  expect(masksAlong(new Matcher(new TokenFsm(grammar, vocabulary)), text)).toEqual(before)
  const again = compile({ kind: "json", schema }, { surface: "conform" })
  expect(masksAlong(new Matcher(new TokenFsm(again.grammar, vocabulary)), text)).toEqual(before)
  expect(tableBytes().expressions).toBe(full.expressions)
})
