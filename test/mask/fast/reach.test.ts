/** The reach of a vocabulary: counts that no token reaches make no difference, and it is no wider than it must be. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { VocabularyReach } from "../../../mask/fast/reach.ts"
import { shortcuts } from "../../../mask/fast/shortcuts.ts"
import { TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { LocalMasks } from "../../../mask/local.ts"

const encoder = new TextEncoder()

function vocabularyOf(texts: readonly string[]): Vocabulary {
  const tokens: (Uint8Array | null)[] = texts.map((text) => encoder.encode(text))
  return Vocabulary.fromBytes([...tokens, null], { endIds: [texts.length] })
}

test.each([
  [["ab ab ab"], 4],
  [["abab", "a", " "], 2],
  [["a\\na\\na"], 4],
  [["\\\\\\\\\\\\"], 2],
  [["漢字漢字漢字"], 2],
  [["\u00a0\u00a0\u00a0é\u00a0é"], 3],
])("words that may begin in one of the tokens %j", (texts, expected) => {
  const vocabulary = vocabularyOf(texts)
  const isSpace = (code: number) => /\s/u.test(String.fromCodePoint(code))
  const reach = new VocabularyReach(vocabulary, 100)
  const words = { has: (code: number) => !isSpace(code), hasNone: () => false }
  expect(reach.iterations(0, words, { has: isSpace, hasNone: (first) => first > 0xe3 })).toBe(expected)
})

test("masks within counted words are those of a walk, whatever the tokens", () => {
  const piece = fc.constantFrom("a", "b", " ", "ab ", " a", "\\n", "\\", "\\u0020", "n", '"', "é", "\u3000")
  const token = fc.array(piece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(""))
  const pattern = fc.constantFrom(
    "^(\\S+\\s+){0,19}\\S+$",
    "^(ab? ){5,18}$",
    "^((a|b é?)+ ){0,17}a?$",
    "^([^ ]+( |$)){6,}$",
  )
  const run = (texts: string[], source: string, steps: number[]) => {
    const pieces = ["a", "b", " ", '"', "\\", "n", "u", "0", "2"]
    const vocabulary = vocabularyOf([...new Set([...texts, ...pieces])])
    const schema = JSON.stringify({ type: "string", pattern: source })
    const fsms = [shortcuts({ minSliceNodes: 4 }), null].map((make) => {
      const { grammar } = compile({ kind: "json", schema }, { surface: "conform" })
      return new TokenFsm(grammar, vocabulary, { locals: new LocalMasks(vocabulary, make) })
    })
    const states = fsms.map((fsm) => fsm.start)
    for (const step of steps) {
      const [fast, plain] = fsms.map((fsm, i) => {
        const row = new Uint32Array(vocabulary.words)
        fsm.fillMask(states[i], row)
        return row
      })
      expect(fast).toEqual(plain)
      const allowed: number[] = []
      for (let id = 0; id < vocabulary.width - 1; id++)
        if ((plain[id >>> 5] >>> (id & 31)) & 1) allowed.push(id)
      if (allowed.length === 0) break
      const next = allowed[step % allowed.length]
      for (const [i, fsm] of fsms.entries()) states[i] = fsm.next(states[i], next)
    }
  }
  const tokens = fc.array(token, { minLength: 1, maxLength: 25 })
  const steps = fc.array(fc.nat(1_000), { minLength: 8, maxLength: 14 })
  fc.assert(fc.property(tokens, pattern, steps, run), { numRuns: 300, seed: 20261121 })
})
