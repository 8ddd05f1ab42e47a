// These must stay alone in their file: each test file begins with empty tables, and the symptom showed only then.
import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../../mask/index.ts"

const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const vocabulary = Vocabulary.fromBytes([...bytes, null], { endIds: [256] })

test("the first schema of a process keeps its declared names: expanding a state expands its base in the middle", () => {
  const schema = { type: "object", properties: { b: { type: "integer" } }, patternProperties: { "^a": true } }
  const matcher = new Matcher(new TokenFsm(compile({ kind: "json", schema }).grammar, vocabulary))
  expect(matcher.acceptBytes(new TextEncoder().encode('{"b":'))).toBe(true)
  expect(matcher.acceptBytes(new TextEncoder().encode("true"))).toBe(false)
  expect(matcher.acceptBytes(new TextEncoder().encode("1}"))).toBe(true)
})
