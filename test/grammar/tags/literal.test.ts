/** Fixed texts in pieces, and choices of them. */
import { expect, test } from "vitest"
import { Rules } from "../../../grammar/ebnf/rules.ts"
import type { TokenNames } from "../../../grammar/ebnf/tokennames.ts"
import { defaultLimits } from "../../../grammar/errors.ts"
import { tokenBytes } from "../../../grammar/lexeme/token.ts"
import { States } from "../../../grammar/state.ts"
import { piecesChoice, piecesOf, piecesTerm, splitPieces } from "../../../grammar/tags/literal.ts"
import { randomOf } from "../../support/oracle.ts"

const utf8 = new TextEncoder()

function named(...names: string[]): TokenNames {
  const specials = new Map(names.map((name, id) => [name, id]))
  return { specials, endIds: [], width: names.length, hash: "", bytes: () => new Uint8Array(0) }
}

const read = (text: string, tokens: TokenNames | null) =>
  piecesOf(text, tokens).map(({ text: part, token }) => (token === null ? part : token))

test.each<[string, string[], string, (string | number)[]]>([
  ["no vocabulary", [], "a<x>b", ["a<x>b"]],
  ["no name", ["<x>"], "a<y>", ["a<y>"]],
  ["names and bytes", ["<x>", "</x>"], "<x>a</x></x>é", [0, "a", 1, 1, "é"]],
  ["the longest name", ["<|im|>", "<|im|>x", "<|i"], "<|im|>x<|im|>y<|ix", [1, 0, "y", 2, "x"]],
  ["names of one unit", ["a", "ab", "abc"], "xabcaba", ["x", 2, 1, 0]],
  ["the first place", ["<<x", "<x"], "<<<x<x", ["<", 0, 1]],
  ["signs of patterns", ["[INST]", "a+b", "\\w"], "[INST]\\wa+bb", [0, 2, 1, "b"]],
  ["the empty text", ["<x>", ""], "", []],
])("pieces: %s", (_, names, text, pieces) => {
  expect(read(text, named(...names))).toEqual(pieces)
})

test("pieces are what looking at every place finds", () => {
  const random = randomOf(3)
  const word = (most: number) =>
    Array.from({ length: 1 + Math.floor(random() * most) }, () => "<|>a"[Math.floor(random() * 4)]).join("")
  for (let round = 0; round < 500; round++) {
    const names = [...new Set(Array.from({ length: 4 }, () => word(4)))]
    const text = word(14)
    const expected: (string | number)[] = []
    let bytes = ""
    for (let at = 0; at < text.length; ) {
      const found = names.filter((name) => text.startsWith(name, at)).sort((a, b) => b.length - a.length)[0]
      if (found === undefined) bytes += text[at++]
      else {
        if (bytes !== "") expected.push(bytes)
        bytes = ""
        expected.push(names.indexOf(found))
        at += found.length
      }
    }
    if (bytes !== "") expected.push(bytes)
    expect([names, text, read(text, named(...names))]).toEqual([names, text, expected])
  }
})

test.each<[string, number, (string | number)[], (string | number)[]]>([
  ["ab<x>c", 0, [], ["ab", 0, "c"]],
  ["ab<x>c", 1, ["a"], ["b", 0, "c"]],
  ["ab<x>c", 2, ["ab"], [0, "c"]],
  ["ab<x>c", 3, ["ab", 0], ["c"]],
  ["ab<x>c", 6, ["ab", 0, "c"], []],
])("the first units of %j: %d", (text, units, front, back) => {
  const said = (pieces: readonly { text: string; token: number | null }[]) =>
    pieces.map(({ text: part, token }) => token ?? part)
  const [first, second] = splitPieces(piecesOf(text, named("<x>")), units)
  expect([said(first), said(second)]).toEqual([front, back])
})

test("a choice leads from each text to what follows it", () => {
  const tokens = named("<x>", "<y>")
  const rules = new Rules(defaultLimits, tokens)
  const texts = ["a", "a<x>", "a<x>b", "ab", "<y>", "<y>a", "", "a"]
  const rule = rules.declare("choice")
  rules.define(rule, [], () =>
    piecesChoice(
      rules,
      texts.map((text, i) => [piecesOf(text, tokens), rules.terms.text(`=${i}`)] as const),
    ),
  )
  const states = new States(rules.grammar(rule, { key: () => "", title: "choice" })!)
  const bytesOf = (text: string) =>
    piecesOf(text, tokens).flatMap((piece) => [
      ...(piece.token === null ? utf8.encode(piece.text) : tokenBytes(piece.token)),
    ])
  for (const text of new Set(texts)) {
    for (let i = 0; i < texts.length; i++) {
      const bytes = Uint8Array.from([...bytesOf(text), ...utf8.encode(`=${i}`)])
      const isAccepted = states.isAccepting(states.advance(states.start, bytes))
      expect([text, i, isAccepted]).toEqual([text, i, texts[i] === text])
    }
  }
})

test("many texts of one letter more are no deeper than one", () => {
  const rules = new Rules(defaultLimits)
  const rule = rules.declare("text")
  rules.define(rule, [], () => piecesTerm(rules, piecesOf("a".repeat(10_000), null)))
  expect(rules.grammar(rule, { key: () => "", title: "" })).not.toBeNull()
})
