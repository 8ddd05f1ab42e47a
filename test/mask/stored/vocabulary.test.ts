import fc from "fast-check"
import { expect, test } from "vitest"
import { StoreError } from "../../../mask/stored/error.ts"
import { checkNodes } from "../../../mask/stored/trie.ts"
import { deserializeVocabulary, serializeVocabulary } from "../../../mask/stored/vocabulary.ts"
import { End, Head, Stride, Token, TokenTrie } from "../../../mask/trie.ts"
import { Vocabulary } from "../../../mask/vocabulary.ts"

const example = Vocabulary.fromBytes(
  ["b", "a", "", "abc", "a", "é"].map((text) => new TextEncoder().encode(text)),
  { endIds: [6, 9], specials: { "<|end|>": 6, "<é>": 8 }, width: 11, dropsFirstSpace: true },
)

/** Without and with the trie. */
const ways = [{}, { trie: true }]

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

test.each(ways)("a stored vocabulary is the one it was made from, and so is its trie: %j", (way) => {
  const bytes = serializeVocabulary(example, way)
  expectSame(deserializeVocabulary(bytes), example)
  // Bytes need not begin where words do.
  const shifted = new Uint8Array([0, ...bytes]).subarray(1)
  expectSame(deserializeVocabulary(shifted), example)
  expectSame(deserializeVocabulary(Buffer.from(bytes)), example)
  // A stored vocabulary can be stored again.
  expect(serializeVocabulary(deserializeVocabulary(bytes), way)).toEqual(bytes)
})

test("random vocabularies", () => {
  const tokens = fc.array(fc.uint8Array({ maxLength: 4, max: 3 }), { maxLength: 40 })
  fc.assert(
    fc.property(tokens, (bytes) => {
      const vocabulary = Vocabulary.fromBytes(bytes, { endIds: [bytes.length] })
      for (const way of ways)
        expectSame(deserializeVocabulary(serializeVocabulary(vocabulary, way)), vocabulary)
    }),
    { seed: 8, numRuns: 200 },
  )
})

test.each(ways)("every damaged byte and every cut is refused: %j", (way) => {
  const bytes = serializeVocabulary(example, way)
  for (let at = 0; at < bytes.length; at++) {
    const damaged = bytes.slice()
    damaged[at] ^= 1 << (at % 8)
    expect(() => deserializeVocabulary(damaged)).toThrow(StoreError)
    expect(() => deserializeVocabulary(bytes.subarray(0, at))).toThrow(StoreError)
  }
  for (const more of [1, 12, 24])
    expect(() => deserializeVocabulary(new Uint8Array([...bytes, ...Array(more).fill(0)]))).toThrow(
      StoreError,
    )
})

test("nodes over which a walk would not end, or would leave an array, are refused", () => {
  const trie = new TokenTrie(example)
  const check = (nodes: Int32Array) => () => checkNodes({ ...trie, nodes }, example)
  expect(check(trie.nodes)).not.toThrow()
  const depth = example.maxTokenBytes
  const { length } = trie.nodes
  const wrong: [number, (at: number) => number[]][] = [
    [Head, () => [97, -1, 97 | ((depth + 1) << 8)]],
    [End, (at) => [at, at + 1, at + Stride + 1, at - 1, 0, -1, length + 1]],
    [Token, () => [-2, example.width]],
  ]
  for (let at = Stride; at < length; at += Stride) {
    for (const [part, values] of wrong) {
      for (const value of values(at)) {
        const nodes = trie.nodes.slice()
        nodes[at + part] = value
        expect(check(nodes)).toThrow(RangeError)
      }
    }
  }
  for (const nodes of [trie.nodes.with(End, 0), trie.nodes.with(Head, 1), new Int32Array(0)])
    expect(check(nodes)).toThrow(RangeError)
  const duplicates = new Map([[0, [example.width]]])
  expect(() => checkNodes({ ...trie, duplicates }, example)).toThrow(RangeError)
})

test.each([
  ["magic", new TextEncoder().encode('{"model": {}}')],
  ["content", new Uint8Array(3)],
])("refused by its %s", (part, bytes) => {
  expect(() => deserializeVocabulary(bytes)).toThrow(expect.objectContaining({ part }))
})
