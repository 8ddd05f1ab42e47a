import { describe, expect, test } from "vitest"
import { GrammarError } from "../../../grammar/errors.ts"
import { type ExprId, exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"

function accepts(id: ExprId, text: string): boolean {
  let left = id
  for (const byte of new TextEncoder().encode(text)) left = exprs.derivative(left, byte)
  return exprs.nullable(left)
}

/** [pattern, flags, accepted, rejected], read as a search. */
type Row = [string, string, string[], string[]]

const vectors: Row[] = [
  ["abc", "", ["xabcx", "abc", "💩abc"], ["ab", "", "acb"]],
  ["^$|(^a+$)", "", ["", "aaa"], ["b", "ab"]],
  ["^(?!foo)[a-z]+$", "", ["fo", "fox", "afoo"], ["foo", "foobar", ""]],
  ["^(?:(?!END).)*END$", "", ["xEND", "END"], ["ENDEND", "x"]],
  ["^(?=.*\\d)(?=.*[a-z]).{4,8}$", "", ["ab12", "1abc5678"], ["abcd", "1234", "ab1", "1abc56789"]],
  ["(?<=\\$)\\d+$", "", ["a$42"], ["5", "42$"]],
  ["(?<![-\\d])\\d+$", "", ["x7", "7"], ["-7", "x-12"]],
  ["\\bfoo\\b", "", ["foo", "a foo b", "foo."], ["afoo", "foob", "fo"]],
  ["^.$", "", ["💩", "a"], ["\n", "\u2028", "ab", ""]],
  ["^.$", "s", ["\n", "\u2028"], ["ab"]],
  ["^[k]$", "i", ["K", "k", "\u212a"], ["l"]],
  ["^\\w$", "iu", ["\u017f", "\u212a", "Z"], ["é"]],
  ["^\\w$", "u", ["_"], ["\u017f"]],
  ["^\\W$", "iu", ["é"], ["\u017f", "s"]],
  ["^\\s$", "", ["\ufeff", "\u00a0", "\u2029", "\t"], ["\u0085", "\u200b"]],
  ["^\\d$", "", ["3"], ["٣"]],
  ["^\\-[\\w-.]$", "", ["-.", "--", "-a"], ["-!"]],
  ["^\\p{L}\\-$", "", ["é-"], ["p{L}-"]],
  ["^a$", "", ["a"], ["a\n", "b\na"]],
  ["^a$", "m", ["b\na", "a\nb", "a"], ["ba"]],
  ["^(?:a|ab)(?:c|bcd)$", "", ["abcd", "ac", "abc", "abbcd"], ["abbc", "ab"]],
  ["^(?:aa){2,3}$", "", ["aaaa", "aaaaaa"], ["aaaaa", "aa"]],
  ["^[\\p{L}--[a-z]]$", "v", ["Z", "é"], ["a", "1"]],
  ["^[\\w&&[^\\d]]$", "v", ["a", "_"], ["1", "-"]],
  ["^[\\q{abc|d|}x]$", "v", ["abc", "d", "", "x"], ["ab", "c"]],
  ["^[\\q{KM}]$", "iv", ["km", "kM", "\u212am"], ["k"]],
  ["^(?i:a)b$", "", ["Ab", "ab"], ["aB"]],
  ["^(?s-i:.A)$", "i", ["\nA"], ["\na"]],
  ["^(?:(?=a)|b){2}c", "", ["bbc"], ["bc", "ac"]],
  ["^(?:(?=b)|b){2}c", "", ["bc", "bbc"], ["c"]],
  ["^(?:(?<=a)b|a)+$", "", ["ab", "aab", "abab", "a"], ["b", "abb"]],
  ["(?<=^|,)x(?=,|$)", "", ["x", "a,x", "x,b"], ["ax", "xb"]],
  ["^(?<year>\\d{4})$", "", ["2024"], ["24"]],
  ["^\\ud83d\\udca9$", "", ["💩"], ["\ufffd"]],
  ['^\\_\\%\\@\\"$', "", ['_%@"'], ["\\_\\%\\@"]],
  ["^]{}$", "", ["]{}"], ["]"]],
  ["^[💩\\_]$", "", ["💩", "_"], ["\ud83d", "\\"]],
  ["^💩+\\_$", "", ["💩💩_"], ["\\_"]],
  ["^\\cA$", "", ["\u0001"], ["A"]],
  ["^[^]$", "", ["\n", "💩"], [""]],
  ["^\\p{Script=Greek}\\P{Lu}$", "", ["αa"], ["aα", "αA"]],
  ["^\\0\\x41\\u0042$", "", ["\0AB"], ["AB"]],
  ["\\B", "", ["", "ab", " "], ["a"]],
]

describe("vectors", () => {
  test.each(vectors)("/%s/%s", (pattern, flags, accepted, rejected) => {
    const id = parseRegex(pattern, { flags, mode: "search", path: "" })
    for (const text of accepted) expect([text, accepts(id, text)]).toEqual([text, true])
    for (const text of rejected) expect([text, accepts(id, text)]).toEqual([text, false])
  })
})

test("match mode reads the whole text, with redundant anchors", () => {
  for (const pattern of ["a|bc", "^(?:a|bc)$", "^a|bc$"]) {
    const id = parseRegex(pattern, { mode: "match", path: "" })
    expect(["a", "bc", "xa", "ab", "bcx"].map((text) => accepts(id, text))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  }
  expect(parseRegex("^a+$", { mode: "match", path: "" })).toBe(parseRegex("a+", { mode: "match", path: "" }))
})

test("the dot of a notation leaves out the line feed alone", () => {
  const expr = parseRegex("(?s:.).(?-s:.)*", { mode: "match", path: "", dot: "lineFeed" })
  for (const text of ["\n\r", "a\u2028b"]) expect([text, accepts(expr, text)]).toEqual([text, true])
  for (const text of ["a\n", "\na\n"]) expect([text, accepts(expr, text)]).toEqual([text, false])
})

test("assertions see only the text of their own pattern", () => {
  const sealed = parseRegex("(?:a(?!b))+", { mode: "match", path: "" })
  const id = exprs.concat(sealed, exprs.literal("b"))
  expect(accepts(id, "aab")).toBe(true)
  const back = exprs.concat(exprs.literal("a"), parseRegex("(?:(?<!a)b)+", { mode: "match", path: "" }))
  expect(accepts(back, "abb")).toBe(true)
})

describe("refusals", () => {
  test.each<[string, string, string, string]>([
    [
      "(a)\\1",
      "",
      "unsupported",
      "backreference \\1 at 3 is not regular; list the alternatives or use a parametric Lark rule",
    ],
    ["(?<n>a)\\k<n>", "", "unsupported", "backreference \\k<n> at 7 is not regular"],
    ["(?<=a(?=b))", "", "unsupported", "lookahead (?=b) at 5 inside the lookbehind at 0: move it outside"],
    ["(?<=a\\b)", "", "unsupported", "move it outside"],
    ["(?=a)".repeat(33), "", "limit", "33 at 160 is above the bound of 32"],
    ["a{1000001}", "", "limit", "repetition {1000001} at 0: 1000001 is above the bound of 1000000"],
    ["(".repeat(600) + ")".repeat(600), "", "limit", "513 is above the bound of 512"],
    ["a".repeat(70_000), "", "limit", "70000 is above the bound of 65536"],
    ["a(b", "", "syntax", "Unterminated group at 3"],
    ["[b-a]", "", "syntax", "Range out of order in character class at 4"],
    ["\\p{Nope}\\-", "", "syntax", "Invalid property name"],
    ["(?P<n>a", "", "syntax", "Unterminated group at 7"],
    ["a", "x", "syntax", 'flag "x" is unknown'],
    ["a", "ii", "syntax", 'flag "i" is given twice'],
    ["a", "uv", "syntax", "exclude each other"],
    ["[a--b]-", "v", "", ""],
    ["\\-", "v", "syntax", "Invalid escape at 1"],
    ["\\_", "v", "syntax", "Invalid escape"],
    ["[]", "", "unsatisfiable", "no text matches"],
    ["a$b", "", "unsatisfiable", "no text matches"],
    ["a\\bb", "", "unsatisfiable", "no text matches"],
    ["\\p{RGI_Emoji}", "v", "unsupported", "property of strings"],
  ])("%#: /%.20s/%s is %s", (pattern, flags, kind, message) => {
    let thrown: unknown
    try {
      parseRegex(pattern, { flags, mode: "match", path: "#/pattern" })
    } catch (error) {
      thrown = error
    }
    if (kind === "") return expect(thrown).toBeUndefined()
    expect(thrown).toBeInstanceOf(GrammarError)
    expect(thrown).toMatchObject({ kind, path: "#/pattern", message: expect.stringContaining(message) })
  })

  test("an offset stands in for a missing path", () => {
    expect(() => parseRegex("(a)\\1", { mode: "match", path: "" })).toThrow(/^offset 3: backreference/)
  })

  test("a search that nothing matches is the empty language, for schemas decide with the rest", () => {
    expect(exprs.isNever(parseRegex("a$b", { mode: "search", path: "" }))).toBe(true)
  })
})
