/** Sums over all tokenisations, against enumeration: options with one beginning and many spellings. */
import { describe, expect, test } from "vitest"
import { Vocabulary } from "../../../mask/vocabulary.ts"
import { logSum, spell } from "../../../runtime/decisions/spelled.ts"
import { spellingsOf } from "../../../runtime/decisions/spellings.ts"
import { ModelError } from "../../../runtime/errors.ts"

const toy = (pieces: readonly string[], dropsFirstSpace = false): Vocabulary =>
  Vocabulary.fromBytes([...pieces.map((piece) => new TextEncoder().encode(piece)), null, null], {
    width: pieces.length + 3,
    endIds: [pieces.length, pieces.length + 1],
    dropsFirstSpace,
  })

/** A model whose logits depend on all tokens so far, and on nothing else. */
const logitsAfter =
  (width: number, spread: number) =>
  (written: readonly number[]): Float32Array => {
    let state = written.reduce((hash, token) => Math.imul(hash ^ (token + 1), 0x01000193) >>> 0, 0x811c9dc5)
    return Float32Array.from({ length: width }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return spread * (state / 2 ** 32 - 0.5)
    })
  }

/** P(text) by walking every token sequence that spells it, in plain probabilities. */
function enumerate(text: string, vocabulary: Vocabulary, look: (written: readonly number[]) => Float32Array) {
  const walk = (written: readonly number[], rest: string): number => {
    const row = Array.from(look(written), Math.exp)
    const sum = row.reduce((a, b) => a + b, 0)
    let total = rest === "" ? vocabulary.endIds.reduce((p, id) => p + row[id] / sum, 0) : 0
    for (let token = 0; token < vocabulary.width; token++) {
      let piece = new TextDecoder().decode(vocabulary.bytes(token))
      if (piece === "") continue
      if (vocabulary.dropsFirstSpace && written.length === 0) piece = piece.replace(/^ /, "")
      if (!rest.startsWith(piece) || (rest === "" && piece !== "")) continue
      if (piece === "" && written.length > 0) continue
      total += (row[token] / sum) * walk([...written, token], rest.slice(piece.length))
    }
    return total
  }
  return walk([], text)
}

const pieces = ["a", "b", "c", "ab", "ba", "aa", "abc", "bc", "abab", "aba", "a"]
const sets = [
  ["a", "b"],
  ["a", "ab", "abc", "abca"],
  ["abababab", "ababababa", "ba", "aaaa", "cab"],
  ["abcabcabc", "abcabcab", "abcabca", "bcabc"],
]

const asked = (vocabulary: Vocabulary, look: (written: readonly number[]) => Float32Array) => ({
  spellings: spellingsOf(vocabulary),
  endIds: vocabulary.endIds,
  look: async (written: readonly number[]) => look(written),
  maxNodes: 100_000,
})

describe("equal enumeration to 1e-12", () => {
  const vocabulary = toy(pieces)
  test.each(sets)("%s, %s and others", async (...texts) => {
    for (const spread of [0.5, 8, 40]) {
      const look = logitsAfter(vocabulary.width, spread)
      const { logprobs, isComplete } = await spell(texts, asked(vocabulary, look))
      const exact = texts.map((text) => enumerate(text, vocabulary, look))
      const [mass, exactMass] = [Math.exp(logSum(logprobs)), exact.reduce((a, b) => a + b, 0)]
      expect(isComplete).toBe(true)
      expect(Math.abs(mass - exactMass)).toBeLessThan(1e-12 * exactMass)
      for (const [index, logprob] of logprobs.entries())
        expect(Math.abs(Math.exp(logprob) / mass - exact[index] / exactMass)).toBeLessThan(1e-12)
    }
  })

  test("where the first token drops its leading space", async () => {
    const spaced = toy([" a", "a", " ab", "b", " ", "  a"], true)
    const look = logitsAfter(spaced.width, 4)
    const texts = ["a", "ab", " a", " ab"]
    const { logprobs } = await spell(texts, asked(spaced, look))
    for (const [index, text] of texts.entries())
      expect(Math.exp(logprobs[index])).toBeCloseTo(enumerate(text, spaced, look), 13)
  })
})

test("spellings that cannot change a result are not visited", async () => {
  const vocabulary = toy(pieces)
  const likely = (written: readonly number[]): Float32Array => {
    const row = new Float32Array(vocabulary.width).fill(-40)
    row[written.length < 6 ? pieces.indexOf("abab") : pieces.length] = 40
    return row
  }
  const { nodes, isComplete } = await spell(["abab".repeat(6)], {
    ...asked(vocabulary, likely),
    maxNodes: 64,
  })
  expect(isComplete).toBe(true)
  expect(nodes).toBeLessThan(64)
})

test("too many spellings are told, not cut off", async () => {
  const vocabulary = toy(pieces)
  const flat = () => new Float32Array(vocabulary.width)
  const { isComplete, nodes } = await spell(["ab".repeat(20)], { ...asked(vocabulary, flat), maxNodes: 100 })
  expect([isComplete, nodes]).toEqual([false, 100])
})

test("texts of a probability below the least float64 are still compared", async () => {
  const vocabulary = toy(pieces)
  const hates = (written: readonly number[]): Float32Array => {
    const row = new Float32Array(vocabulary.width)
    row.fill(-800)
    row[vocabulary.width - 1] = 0
    if (written.length === 0) row[pieces.indexOf("b")] = -799
    return row
  }
  const { logprobs } = await spell(["c", "b"], asked(vocabulary, hates))
  expect(logprobs[1] - logprobs[0]).toBeCloseTo(1, 9)
})

test.each([Number.NaN, Number.POSITIVE_INFINITY])("a logit of %d is an error of the model", async (bad) => {
  const vocabulary = toy(pieces)
  const broken = () => new Float32Array(vocabulary.width).fill(bad, 0, 1)
  await expect(spell(["a"], asked(vocabulary, broken))).rejects.toThrow(ModelError)
})
