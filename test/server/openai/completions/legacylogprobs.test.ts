import { expect, test } from "vitest"
import { type TokenLogprobs, Vocabulary } from "../../../../runtime/index.ts"
import {
  legacyLogprobs,
  promptRows,
  RowWriter,
  spell,
  textOf,
} from "../../../../server/openai/completions/legacylogprobs.ts"

const party = [...Buffer.from("\u{1f389}")]
const texts = ["a", " b", "__proto__", party.slice(0, 2), party.slice(2), "\u{1f389}", "a"]
const vocabulary = Vocabulary.fromBytes(
  texts.map((text) => Buffer.from(text as string)),
  { endIds: [7], specials: new Map([["<s>", 8]]), width: 9 },
)
const [A, B, Proto, Left, Right, Party, OtherA, Begin] = [0, 1, 2, 3, 4, 5, 6, 8]

const ranked = (token: number, logprob: number) => ({ token, logprob, rank: 1 })
const row = (token: number, logprob: number, top: [number, number][] = []): TokenLogprobs => ({
  ...ranked(token, logprob),
  top: top.map(([id, value]) => ranked(id, value)),
  named: [],
})

test.each([
  [A, "a"],
  [Left, "bytes:\\xf0\\x9f"],
  [Party, "\u{1f389}"],
  [Begin, "<s>"],
])("token %i is spelled %s", (id, spelling) => {
  expect(spell(id, vocabulary)).toBe(spelling)
})

test("offsets count the units of whole characters before a token", () => {
  const rows = new RowWriter(vocabulary, 3).write([A, Left, Right, B].map((id) => row(id, -1)))
  expect(legacyLogprobs(rows)).toEqual({
    tokens: ["a", "bytes:\\xf0\\x9f", "bytes:\\x8e\\x89", " b"],
    token_logprobs: [-1, -1, -1, -1],
    top_logprobs: rows.map(({ token }) => ({ [token]: -1 })),
    text_offset: [3, 4, 4, 6],
  })
})

test("rows in pieces are the rows in one", () => {
  const rows = [Party, Left, Right, A].map((id) => row(id, -2))
  const writer = new RowWriter(vocabulary)
  expect(rows.flatMap((each) => writer.write([each]))).toEqual(new RowWriter(vocabulary).write(rows))
})

test("the token is among its alternatives once, of two with one name the likelier, and any name is a key", () => {
  const top: [number, number][] = [
    [A, -1],
    [OtherA, -2],
    [Proto, -3],
  ]
  const [first, second] = new RowWriter(vocabulary).write([row(B, -4, top), row(OtherA, -2, top)])
  expect(Object.entries(first.top!)).toEqual([
    ["a", -1],
    ["__proto__", -3],
    [" b", -4],
  ])
  expect(JSON.parse(JSON.stringify(second.top))).toEqual(JSON.parse('{"a":-1,"__proto__":-3}'))
})

test.each<[name: string, ids: number[], text: string, offsets: number[]]>([
  ["a begin token that is not in the text", [Begin, A, B], "a b", [0, 0, 1]],
  ["a begin token that is", [Begin, A, B], "<s>a b", [0, 3, 4]],
  ["a tokenizer that wrote less than the text", [A, A], "abc", [0, 1]],
  ["a tokenizer that wrote more", [A, B, A, A], "a", [0, 1, 1, 1]],
])("the places of a prompt's tokens: %s", (_, ids, text, offsets) => {
  const judged = ids.map((id, index) => (index === 0 ? null : row(id, -1)))
  const rows = promptRows(ids, judged, text, vocabulary)
  expect(rows.map(({ offset }) => offset)).toEqual(offsets)
  expect([rows[0].logprob, rows[0].top, rows[1].logprob]).toEqual([null, null, -1])
})

test("the text of tokens has control tokens by name, and characters that tokens share", () => {
  expect(textOf([Begin, A, Left, Right, Begin], vocabulary)).toBe("<s>a\u{1f389}<s>")
})
