/** Texts are cut where Python's `tokenizers` cuts them; what cannot be is refused by the name of the step. */
import { expect, test } from "vitest"
import { ModelError } from "../../../runtime/errors.ts"
import { openEncoder } from "../../../runtime/model/encoder.ts"
import { piecesById, stepCases, tokenizerOfSteps } from "../../support/steps.ts"

test.each(stepCases)("%s", (_, steps, text, pieces) => {
  const json = tokenizerOfSteps(steps, pieces)
  const vocab = piecesById(pieces)
  expect(openEncoder("", json, {})(text, false).map((id) => vocab[id])).toEqual(pieces)
})

const token = { id: 0, content: "<t>", special: true }
const bpe = tokenizerOfSteps({}, ["a"])

test.each([
  ['added token "<t>" with single_word', { added_tokens: [{ ...token, single_word: true }] }],
  [
    "pre_tokenizer Split with invert and behavior Contiguous",
    { pre_tokenizer: { type: "Split", pattern: { Regex: "a" }, behavior: "Contiguous", invert: true } },
  ],
  ['pre_tokenizer with behavior "Whole"', { pre_tokenizer: { type: "Punctuation", behavior: "Whole" } }],
  [
    "model BPE with continuing_subword_prefix",
    { model: { ...(bpe.model as object), continuing_subword_prefix: "##" } },
  ],
])("%s is refused", (name, changes) => {
  expect(() => openEncoder("folder", { ...bpe, ...changes }, {})).toThrow(
    new ModelError(
      `folder/tokenizer.json: ${name} is not supported: texts would get other ids than the model was trained on. Take a model whose tokenizer does without it`,
    ),
  )
})

test("what a Unigram model does not know is written by its bytes, where all are tokens", () => {
  const pieces = ["<unk>", "a", "<0xC3>", "<0xA9>"]
  const model = {
    type: "Unigram",
    unk_id: 0,
    vocab: pieces.map((piece, at) => [piece, -at]),
    byte_fallback: true,
  }
  const encode = openEncoder("", { ...bpe, model }, {})
  expect(encode("aéa日", false)).toEqual([1, 2, 3, 1, 0])
})

test("half a surrogate pair is U+FFFD to a vocabulary of characters", () => {
  const encode = openEncoder("", tokenizerOfSteps({}, ["a", "\ufffd"]), {})
  expect(encode("a\ud800a", false)).toEqual(encode("a\ufffda", false))
})

test("a table that is cut off is refused", () => {
  const normalizer = { type: "Precompiled", precompiled_charsmap: "/////w==" }
  expect(() => openEncoder("folder", { ...bpe, normalizer }, {})).toThrow(
    new ModelError("folder/tokenizer.json: precompiled_charsmap: 4 bytes hold no trie of 4294967295"),
  )
})

test("an unknown step is refused by the package, with the file", () => {
  expect(() => openEncoder("folder", { ...bpe, pre_tokenizer: { type: "UnicodeScripts" } }, {})).toThrow(
    /^folder\/tokenizer\.json: .*UnicodeScripts/,
  )
})
