/** Keys that no schema declares: unique however many there are, and one state whatever their order. */
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { compile } from "../../../../grammar/index.ts"
import { Matcher, parseVocabulary, TokenFsm } from "../../../../mask/index.ts"

const read = (name: string) => JSON.parse(readFileSync(`runtime/embedded/${name}`, "utf8"))
const vocabulary = parseVocabulary(read("tokenizer.json"), read("tokenizer_config.json"), { endIds: [0, 2] })
const reader = (schema: object) => {
  const { grammar } = compile({ kind: "json", schema: JSON.stringify(schema) }, { surface: "conform" })
  return new Matcher(new TokenFsm(grammar, vocabulary))
}
const members = (names: readonly string[]) => names.map((name) => `${JSON.stringify(name)}:1`).join(",")

describe("other keys", () => {
  const names = Array.from({ length: 3_000 }, (_, i) => `key ${(i * 1_237) % 3_000}`)

  test("thousands of them are read, and each once", () => {
    const matcher = reader({ type: "object", properties: { a: {} } })
    expect(matcher.acceptBytes(Buffer.from(`{${members(names)}`))).toBe(true)
    for (const name of ["key 0", "key 2999", names[2_998]]) {
      expect(matcher.acceptBytes(Buffer.from(`,${JSON.stringify(name)}`)), name).toBe(false)
    }
    expect(matcher.acceptBytes(Buffer.from(`,"key 3000":1,"":1,"a":1}`))).toBe(true)
  })

  test("declared keys among them, in any order", () => {
    const matcher = reader({ type: "object", properties: { a: {}, b: {} } })
    expect(matcher.acceptBytes(Buffer.from(`{"x":1,"b":1,"":1,"y":1,"a":1,"z":1`))).toBe(true)
    for (const name of ["x", "", "y", "z", "a", "b"]) {
      expect(matcher.acceptBytes(Buffer.from(`,"${name}"`)), name).toBe(false)
    }
    expect(matcher.acceptBytes(Buffer.from(`,"xy":1}`))).toBe(true)
  })

  test("the shortest completion takes none that was read", () => {
    const schema = { type: "object", minProperties: 40, additionalProperties: { type: "integer" } }
    const matcher = reader(schema)
    expect(matcher.acceptBytes(Buffer.from(`{${members([..."abcdefghijklmnopqrstuvwxyz", ""])}`))).toBe(true)
    expect(matcher.acceptBytes(matcher.shortest())).toBe(true)
    expect(matcher.isAccepting()).toBe(true)
  })
})
