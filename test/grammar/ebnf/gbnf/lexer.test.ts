import { expect, test } from "vitest"
import { isClosed, lexemesOf, ruleSpans } from "../../../../grammar/ebnf/gbnf/lexer.ts"

test.each([
  ["", []],
  ["# root ::= a", []],
  ["root::=a", ["root::=a"]],
  ["a ::= b\nb ::= c", ["a ::= b\n", "b ::= c"]],
  ["  a ::= b\n\tb ::= c", ["a ::= b\n\t", "b ::= c"]],
  ["a ::= b\r\nb ::= c\rc ::= d", ["a ::= b\r\n", "b ::= c\r", "c ::= d"]],
  ["a ::= b b ::= c", ["a ::= b b ::= c"]],
  ["a\n::=\nb\n::=", ["a\n::=\n", "b\n::="]],
  ["a ::= b\nc [d]\n", ["a ::= b\nc [d]\n"]],
  ["a ::= b\nc [d] ::= e\n", ["a ::= b\n", "c [d] ::= e\n"]],
  ['a ::= "x\nb ::= y"', ['a ::= "x\n', 'b ::= y"']],
  ['a[capture="]\\"", lazy] ::= b', ['a[capture="]\\"", lazy] ::= b']],
  ['a ::= "\u2028b ::= c"', ['a ::= "\u2028b ::= c"']],
  ["junk\na ::= b", ["a ::= b"]],
])("rules of %j", (text, rules) => {
  expect(ruleSpans(text).map(({ start, end }) => text.slice(start, end))).toEqual(rules)
})

test.each([
  ['"a\\"b"c', ["Text", "Name"]],
  ['"a # b" # c', ["Text"]],
  ['"a\nb', ["Text", "Name"]],
  ["[^\\]]]", ["Class", "RightSquare"]],
  ["a.b.c a.. .", ["Name", "Name", "Dot", "Dot", "Dot"]],
  ["a-b -c 1", ["Name", "Name", "Number"]],
  ["::= := |()*+?!", "Assign Other Equals Pipe LeftParen RightParen Star Plus Question Bang".split(" ")],
  ["{2}{ 2 , 3 }{2,}{2, -1}", ["Bounds", "Bounds", "Bounds", "Bounds"]],
  ["{,2}{}{a}", ["Other", "Comma", "Number", "Other", "Other", "Other", "Other", "Name", "Other"]],
  ["<[1-3,9]><|a b|></x><", ["TokenIds", "TokenName", "TokenName", "Other"]],
  ["Regex( Regex Token (Tokens(", "MacroName LeftParen Name MacroName LeftParen Name LeftParen".split(" ")],
  ["💩@", ["Other", "Other"]],
])("lexemes of %j", (text, types) => {
  const lexemes = lexemesOf(text, 0, text.length, "body")
  expect(lexemes.map(({ tokenType }) => tokenType.name)).toEqual(types)
  for (const { image, startOffset } of lexemes) expect(text.slice(startOffset).startsWith(image)).toBe(true)
})

test("a bracket in a head opens attributes", () => {
  const text = 'x ::= y\na[lazy, max_chars=3, capture="]"] ::='
  const lexemes = lexemesOf(text, 8, text.length, "head")
  expect(lexemes.map(({ tokenType }) => tokenType.name).slice(0, 4)).toEqual([
    "Name",
    "LeftSquare",
    "Name",
    "Comma",
  ])
  expect(lexemes.at(-1)?.startOffset).toBe(text.length - 3)
})

test.each([
  ['"a"', true],
  ['""', true],
  ['"', false],
  ['"a', false],
  ['"a\\"', false],
  ['"a\\\\"', true],
  ['"a\\\\\\"', false],
])("%s is closed: %s", (image, closed) => expect(isClosed(image, '"')).toBe(closed))
