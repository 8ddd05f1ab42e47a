import fc from "fast-check"
import { expect, test } from "vitest"
import { StoreError } from "../../../mask/stored/error.ts"
import { deserializeVocabulary, serializeVocabulary } from "../../../mask/stored/vocabulary.ts"
import { TokenTrie } from "../../../mask/trie.ts"
import { Vocabulary } from "../../../mask/vocabulary.ts"

const example = Vocabulary.fromBytes(
  ["b", "a", "", "abc", "a", "é"].map((text) => new TextEncoder().encode(text)),
  { endIds: [6, 9], specials: { "<|end|>": 6, "<é>": 8 }, width: 11, dropsFirstSpace: true },
)

function expectSame(stored: Vocabulary, made: Vocabulary): void {
  expect(stored.hash).toBe(made.hash)
  for (const name of ["width", "words", "tokenCount", "endIds", "specials", "freeRow", "offsets"] as const)
    expect(stored[name]).toEqual(made[name])
  for (const name of ["values", "maxTokenBytes", "dropsFirstSpace"] as const)
    expect(stored[name]).toEqual(made[name])
  expect([8, 9, 10].map((id) => stored.name(id))).toEqual([8, 9, 10].map((id) => made.name(id)))
  const [one, other] = [new TokenTrie(stored), new TokenTrie(made)]
  expect(one.nodes).toEqual(other.nodes)
  expect(one.duplicates).toEqual(other.duplicates)
}

test("a stored vocabulary is the one it was made from, and so is its trie", () => {
  expectSame(deserializeVocabulary(serializeVocabulary(example)), example)
  // Bytes need not begin where words do.
  const shifted = new Uint8Array([0, ...serializeVocabulary(example)]).subarray(1)
  expectSame(deserializeVocabulary(shifted), example)
  expectSame(deserializeVocabulary(Buffer.from(serializeVocabulary(example))), example)
})

test("random vocabularies", () => {
  const tokens = fc.array(fc.uint8Array({ maxLength: 4, max: 3 }), { maxLength: 40 })
  fc.assert(
    fc.property(tokens, (bytes) => {
      const vocabulary = Vocabulary.fromBytes(bytes, { endIds: [bytes.length] })
      expectSame(deserializeVocabulary(serializeVocabulary(vocabulary)), vocabulary)
    }),
    { seed: 8, numRuns: 200 },
  )
})

test("every damaged byte and every cut is refused", () => {
  const bytes = serializeVocabulary(example)
  for (let at = 0; at < bytes.length; at++) {
    const damaged = bytes.slice()
    damaged[at] ^= 1 << (at % 8)
    expect(() => deserializeVocabulary(damaged)).toThrow(StoreError)
    expect(() => deserializeVocabulary(bytes.subarray(0, at))).toThrow(StoreError)
  }
  expect(() => deserializeVocabulary(new Uint8Array([...bytes, 0]))).toThrow(StoreError)
})

test.each([
  ["magic", new TextEncoder().encode('{"model": {}}')],
  ["content", new Uint8Array(3)],
])("refused by its %s", (part, bytes) => {
  expect(() => deserializeVocabulary(bytes)).toThrow(expect.objectContaining({ part }))
})
