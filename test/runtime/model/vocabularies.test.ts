/** Text → ids → bytes, over the kinds of vocabulary: what is encoded is what the token bytes spell. */

import fc from "fast-check"
import { expect, test } from "vitest"
import type { Tokenizer } from "../../../runtime/model/tokenizer.ts"
import { byteFallback, llama, shipped, unigram } from "../../support/tokenizers.ts"

const anyText = fc.string({ unit: "grapheme", maxLength: 24 })
// Without bytes to fall back on, a Unigram vocabulary can write its own letters only.
const knownText = fc.string({ unit: fc.constantFrom(..."the ahz09.,é日 "), maxLength: 24 })

test.each<[name: string, make: () => Tokenizer, texts: fc.Arbitrary<string>, runs: number]>([
  ["the shipped model's", shipped, anyText, 4000],
  ["Llama 3, byte-level with 128 k tokens", llama, anyText, 3000],
  ["byte fallback", byteFallback, anyText.filter((text) => !text.includes("▁")), 3000],
  ["Unigram", unigram, knownText, 3000],
])("%s: the bytes of the ids are the text", (_, make, texts, numRuns) => {
  const tokenizer = make()
  const { vocabulary } = tokenizer
  fc.assert(
    fc.property(texts, (text) => {
      const ids = tokenizer.encode(text, { addSpecialTokens: false, parseSpecial: false })
      expect(ids.some((id) => vocabulary.isSpecial(id))).toBe(false)
      expect(Buffer.concat(ids.map((id) => vocabulary.bytes(id))).toString()).toBe(text)
    }),
    { numRuns, seed: 11 },
  )
})

test("1,000 users who spell control tokens get none of them", () => {
  const tokenizer = shipped()
  const spellings = [...tokenizer.vocabulary.specials.keys()]
  const part = fc.oneof(fc.constantFrom(...spellings), fc.constantFrom("a", " ", "<|", "|>", "im_end", "\n"))
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const ids = tokenizer.encode(parts.join(""), { addSpecialTokens: false, parseSpecial: false })
      expect(ids.filter((id) => tokenizer.vocabulary.isSpecial(id))).toEqual([])
      expect(Buffer.concat(ids.map((id) => tokenizer.vocabulary.bytes(id))).toString()).toBe(parts.join(""))
    }),
    { numRuns: 1000, seed: 12 },
  )
})
