import fc from "fast-check"
import { expect, test } from "vitest"
import { Vocabulary } from "../../../mask/vocabulary.ts"
import { Detokenizer } from "../../../runtime/model/detokenizer.ts"

const oneByte = Vocabulary.fromBytes(
  Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  { endIds: [256], specials: { "<|x|>": 257 } },
)

test.each([
  [
    [[0xc3], [0xa9]],
    ["", "é"],
  ],
  [
    [
      [0xf0, 0x9f],
      [0x98, 0x80],
    ],
    ["", "😀"],
  ],
  [
    [[0xf0, 0x9f], [0x41]],
    ["", "\ufffdA"],
  ],
  [[[0xe2, 0x82]], [""]],
  [[[0xef, 0xbb, 0xbf, 0x61]], ["\ufeffa"]],
  [[[0xed, 0xa0, 0x80]], ["\ufffd\ufffd\ufffd"]],
  [
    [[0xc0], [0x80]],
    ["\ufffd", "\ufffd"],
  ],
])("%j → %j", (chunks, texts) => {
  const detokenizer = new Detokenizer(oneByte)
  expect(chunks.map((chunk) => detokenizer.pushBytes(Uint8Array.from(chunk)))).toEqual(texts)
})

test("S2-22: the sum of the pieces is the decoding of all bytes; at most three bytes are held", () => {
  const utf8 = fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => [...Buffer.from(text)])
  const bytes = fc.oneof(utf8, fc.array(fc.nat(255), { maxLength: 12 }))
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 5 }), fc.nat(4), (parts, size) => {
      const all = Uint8Array.from(parts.flat())
      const detokenizer = new Detokenizer(oneByte)
      let text = ""
      for (let at = 0; at < all.length; at += size + 1) {
        const piece = detokenizer.pushBytes(all.subarray(at, at + size + 1))
        expect(piece).not.toMatch(/\p{Surrogate}/u)
        expect(detokenizer.heldCount).toBeLessThanOrEqual(3)
        text += piece
      }
      const rest = detokenizer.heldCount
      expect(text).toBe(
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(all.subarray(0, all.length - rest)),
      )
      // What is held is a prefix of one character: decoded on its own it is one replacement.
      if (rest > 0) expect(new TextDecoder().decode(all.subarray(all.length - rest))).toBe("\ufffd")
    }),
    { numRuns: 3000, seed: 5 },
  )
})

test("special tokens are skipped, or rendered on request", () => {
  expect([97, 257, 98, 256].map((id) => new Detokenizer(oneByte).push(id))).toEqual(["a", "", "b", ""])
  expect(new Detokenizer(oneByte, { rendersSpecials: true }).push(257)).toBe("<|x|>")
})

test("a fork goes its own way", () => {
  const one = new Detokenizer(oneByte)
  one.push(0xc3)
  const other = one.fork()
  expect([one.push(0xa9), other.push(0xa8)]).toEqual(["é", "è"])
})

test("S2-23: WordPiece: only the first token of an output drops its space", () => {
  const vocabulary = Vocabulary.fromBytes([Buffer.from(" play"), Buffer.from("ing")], {
    endIds: [2],
    dropsFirstSpace: true,
  })
  const detokenizer = new Detokenizer(vocabulary)
  expect([0, 1, 0].map((id) => detokenizer.push(id)).join("")).toBe("playing play")
  const behind = new Detokenizer(vocabulary, { continues: true })
  expect([0, 1].map((id) => behind.push(id)).join("")).toBe(" playing")
})

test("skipped bytes are left out, those of a token's beginning and of several tokens; a fork goes on skipping", () => {
  for (const skip of [0, 1, 2, 3, 7]) {
    const one = new Detokenizer(oneByte, { skip })
    const bytes = [...Buffer.from("abéd")]
    const pieces = bytes.slice(0, 2).map((byte) => one.push(byte))
    const other = one.fork()
    const ends = [one, other].map((each) =>
      bytes
        .slice(2)
        .map((byte) => each.push(byte))
        .join(""),
    )
    const left = Buffer.from(bytes.slice(skip)).toString()
    expect(ends.map((end) => pieces.join("") + end)).toEqual([left, left])
  }
})
