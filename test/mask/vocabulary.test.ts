/** The vocabulary itself, made from bytes; tokenizers' files are read in `tokenizerjson.test.ts` and `ranks.test.ts`. */
import { expect, test } from "vitest"
import { isAllowed } from "../../mask/bits.ts"
import { Vocabulary, type VocabularyOptions } from "../../mask/vocabulary.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

test("text, special and holes: bytes, names, and what an output may hold", () => {
  const tokens = [bytesOf("ab"), new Uint8Array(), bytesOf("</s>"), null, bytesOf("é"), undefined]
  const options = {
    width: 40,
    endIds: [2, 9, 2],
    specials: new Map([
      ["</s>", 2],
      ["<tool>", 3],
    ]),
  }
  const vocabulary = Vocabulary.fromBytes(tokens, options)
  const ids = Array.from({ length: 40 }, (_, id) => id)
  expect(ids.filter((id) => isAllowed(vocabulary.freeRow, id))).toEqual([0, 2, 4, 9])
  expect(ids.filter((id) => vocabulary.bytes(id).length > 0)).toEqual([0, 4])
  expect(ids.filter((id) => vocabulary.isSpecial(id))).toEqual([2, 3, 9])
  expect([2, 3, 9, 0].map((id) => vocabulary.name(id))).toEqual(["</s>", "<tool>", "<end 9>", undefined])
  expect([vocabulary.endIds, vocabulary.isEnd(9), vocabulary.isEnd(3)]).toEqual([[2, 9], true, false])
  const { words, tokenCount, maxTokenBytes, values } = vocabulary
  expect([words, tokenCount, maxTokenBytes, Array.from(values)]).toEqual([2, 5, 2, [0x61, 0x62, 0xc3, 0xa9]])
})

test("without a width the highest id decides", () => {
  expect(Vocabulary.fromBytes([bytesOf("a")], { endIds: [5] }).width).toBe(6)
  expect(Vocabulary.fromBytes([bytesOf("a"), null, null], { endIds: [0] }).width).toBe(3)
})

test.each<[what: RegExp, options: VocabularyOptions]>([
  [/no end-of-sequence id/, { endIds: [] }],
  [/end of sequence: id 1.5 is outside/, { endIds: [1.5], width: 4 }],
  [/token: id 1 is outside the 1 columns/, { endIds: [0], width: 1 }],
  [/special token "x": id 9 is outside the 4 columns/, { endIds: [0], width: 4, specials: { x: 9 } }],
  [/width of the vocabulary: 2.5 is not a positive integer/, { endIds: [0], width: 2.5 }],
])("refused: %s", (message, options) => {
  const make = () => Vocabulary.fromBytes([bytesOf("a"), bytesOf("b")], options)
  expect(make).toThrow(message)
  expect(make).toThrow(RangeError)
})

test("hash: equal for equal content; width, end ids, bytes and kinds all count", () => {
  const tokens = [Uint8Array.of(97), Uint8Array.of(98), null, null]
  const make = (options: object) => Vocabulary.fromBytes(tokens, { endIds: [2], ...options }).hash
  expect(make({})).toBe(make({}))
  const swapped = Vocabulary.fromBytes([tokens[1], tokens[0], null, null], { endIds: [2] }).hash
  const all = [make({}), make({ width: 8 }), make({ endIds: [3] }), make({ specials: { x: 3 } }), swapped]
  expect(new Set(all).size).toBe(5)
})

test("sorted ids are all text tokens, in the order of their bytes, equal ones in that of their ids", () => {
  const texts = ["b", "a", "", "abcdf", "abcde", "abcc", "a", "\u0000", "ÿ", "abc"]
  const tokens = texts.map((text) => new TextEncoder().encode(text))
  const vocabulary = Vocabulary.fromBytes([...tokens, null], { endIds: [texts.length] })
  expect([...vocabulary.sortedIds()]).toEqual([7, 1, 6, 9, 5, 4, 3, 0, 8])
})
