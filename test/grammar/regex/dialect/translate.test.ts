// What other dialects mean. `peers.jsonl` has random patterns and texts with what Python 3.11's re (ASCII), Perl 5 (/a) and Java's
// regex say of them: found somewhere, matched as a whole.
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { defaultLimits } from "../../../../grammar/errors.ts"
import { compile, GrammarError, type GrammarInput } from "../../../../grammar/index.ts"
import { type ExprId, exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { translate } from "../../../../grammar/regex/dialect/translate.ts"
import { foreignNote } from "../../../../grammar/regex/foreign.ts"
import { parseRegex } from "../../../../grammar/regex/parse.ts"
import { groupOf } from "../../../../grammar/regex/read.ts"

function accepts(id: ExprId, text: string): boolean {
  let left = id
  for (const byte of new TextEncoder().encode(text)) left = exprs.derivative(left, byte)
  return exprs.nullable(left)
}

interface PeerRow {
  from: string
  pattern: string
  texts: [text: string, isFound: boolean, isWhole: boolean][]
}

test("patterns mean what they mean to Python, Perl and Java", () => {
  const lines = readFileSync("test/grammar/regex/dialect/peers.jsonl", "utf8").trim().split("\n")
  const wrong: string[] = []
  for (const { from, pattern, texts } of lines.map((line): PeerRow => JSON.parse(line))) {
    for (const mode of ["search", "match"] as const) {
      const id = parseRegex(pattern, { mode, path: "", unsatisfiable: "empty" })
      for (const [text, isFound, isWhole] of texts) {
        const expected = mode === "search" ? isFound : isWhole
        if (accepts(id, text) !== expected)
          wrong.push(`${from}: ${mode} ${pattern} ${JSON.stringify(text)} is ${expected}`)
      }
    }
  }
  expect(lines.length).toBeGreaterThan(200)
  expect(wrong).toEqual([])
})

/** [pattern, accepted, rejected], read as a search. */
const read: [string, string[], string[]][] = [
  ["\\Aab\\z", ["ab"], ["Aabz", "xab", "ab\n"]],
  ["^a\\Z", ["a"], ["aZ", "a\n"]],
  ["^[[:alpha:]]+$", ["abc"], [":]", "a1", "é"]],
  ["^[[:^digit:]_]$", ["a", "_", "é"], ["1"]],
  ["^[^[:space:][:punct:]]$", ["a"], [" ", "!", "ab"]],
  ["^\\h+$", [" ", "\t\u00a0"], ["h", "\n"]],
  ["^[\\H]$", ["h"], [" "]],
  ["^a\\Rb$", ["a\r\nb", "a\nb", "a\u2028b"], ["aRb", "a\n\nb"]],
  ["^\\R{2}$", ["\n\n", "\r\n\r"], ["\r\n", "\n"]],
  ["^\\a\\e$", ["\u0007\u001b"], ["ae"]],
  ["^\\Qa.b\\E$", ["a.b"], ["QabE", "axb"]],
  ["^\\Qa+\\E+$", ["a+", "a++"], ["aa", "a"]],
  ["^[\\Q^]\\E]$", ["^", "]"], ["a", "Q"]],
  ["^\\Q[a", ["[a", "[ab"], ["a"]],
  ["^\\x{41}\\x{1F600}$", ["A😀"], ["x".repeat(41)]],
  ["^\\pL\\PL\\p{^Lu}$", ["é1a"], ["pLL", "11a"]],
  ["^\\p{L&}$", ["a"], ["ª"]],
  ["^\\U0001F600\\N{U+e9}\\o{101}\\101\\012$", ["😀éAA\n"], ["U0001F600"]],
  ["^\\N$", ["a", "\r"], ["\n", "aN"]],
  ["(?i)^abc$", ["ABC", "abc"], ["abd"]],
  ["^(?s).$", ["\n"], ["ab"]],
  ["(?m)^b$", ["a\nb\nc"], ["ab"]],
  ["^a(?i)b|c$", ["ab", "aB", "xC"], ["Ab"]],
  ["^(a(?i)b|c)d$", ["aBd", "Cd"], ["ABd", "CD"]],
  ["^(?im-s:a.)$", ["Ab"], ["A\n"]],
  ["^(?-i)a$", ["a"], ["A"]],
  ["(?x) ^ a + \\  [b ] # the end\n $ ".replace("[b ]", "[b]"), ["aa b"], ["a + b", "ab"]],
  ["^(?x: a b )c d$", ["abc d"], ["abcd"]],
  ["^(?x) \\Q a\\E$", [" a"], ["a"]],
  ["^(?P<y>[0-9]{4})(?'m'-)$", ["2026-"], ["x"]],
  ["^a(?#note)+$", ["aa"], ["a+"]],
  ["^(?|a|b)(?n:(c))$", ["ac", "bc"], ["c"]],
  ["^[a-z]++-$", ["ab-"], ["ab"]],
  ["^[ab]*+b$", [], ["b", "ab", "bb"]],
  ["^a?+a$", ["aa"], ["a"]],
  ["^a{1,2}+a$", ["aaa"], ["aa"]],
  ["^(?>a|ab)c$", ["ac"], ["abc"]],
  ["^(?>ab|a)c$", ["abc", "ac"], ["aab"]],
  ["^(?>a*?)b$", ["b"], ["ab"]],
  ['^"(?>[^"\\\\]++|\\\\.)*+"$', ['"a\\"b"'], ['"a\\"', '"']],
  ["^(?>(?:(?!END).)*)END$", ["xEND"], ["ENDEND"]],
  ["^(?i:(?>a|B))$", ["A", "b"], ["c"]],
  ["^(?:(?=a))*a(?=b)?b$", ["ab"], ["a"]],
  // Annex B, where nobody means anything else.
  ["^\\_\\%\\é[\\w-.][a-\\d]$", ["_%éa-", "_%é.5"], ["_%é,a"]],
  ["^a{}{x}]$", ["a{}{x}]"], ["a"]],
]

describe("read", () => {
  test.each(read)("%s", (pattern, accepted, rejected) => {
    const id = parseRegex(pattern, { mode: "search", path: "" })
    for (const text of accepted) expect([text, accepts(id, text)]).toEqual([text, true])
    for (const text of rejected) expect([text, accepts(id, text)]).toEqual([text, false])
  })
})

/** [pattern, offset, kind, a part of the message] */
const refused: [string, number, string, string][] = [
  ["a\\G", 1, "syntax", "\\G is the end of the match before"],
  ["\\Kb", 0, "syntax", "\\K moves the start of a match"],
  ["\\X", 0, "syntax", "write (?:\\P{M}\\p{M}*)"],
  ["\\C", 0, "syntax", "\\C is a single byte"],
  ["\\b{g}", 0, "syntax", "\\b{…} is no boundary"],
  ["\\y", 0, "syntax", "write \\b"],
  ["\\i\\c*", 0, "syntax", "write [A-Za-z_:]"],
  ["[\\c]", 1, "syntax", "\\c is a control character"],
  ["\\V", 0, "syntax", "write [^\\n"],
  ["\\E", 0, "syntax", "leave it out"],
  ["\\m", 0, "syntax", "write \\b(?=\\w)"],
  ["\\j", 0, "syntax", "\\j is no escape of ECMAScript: write j"],
  ["[\\Z]", 1, "syntax", "\\Z is no character"],
  ["\\u12", 0, "syntax", "\\u is written"],
  ["\\x4", 0, "syntax", "\\x is written"],
  ["\\x{110000}", 0, "syntax", "above the last code point"],
  ["\\U1F600", 0, "syntax", "eight digits"],
  ["\\N{DOT}", 0, "syntax", "names a character"],
  ["\\p{Greek}", 8, "syntax", "\\p{Script=…}"],
  ["\\0101", 0, "syntax", "no octal number of one meaning"],
  ["\\1", 0, "syntax", "refers to a group, and there are 0"],
  ["[a&&[b]]", 2, "syntax", "write (?=[b])[a]"],
  ["[a--[b]]", 2, "syntax", "write (?![b])[a]"],
  ["[[ab]]", 0, "syntax", "a union in Java and Rust"],
  ["[[:foo:]]", 1, "syntax", "[:foo:] is no class. There are alnum"],
  ["[[.a.]]", 1, "syntax", "collating element"],
  ["[[:<:]]a", 1, "syntax", "the edge of a word"],
  ["[]a]", 3, "syntax", 'a "]" at the beginning of a class is written \\]'],
  ["[\\d-a-z]", 3, "syntax", "write \\-"],
  ["a{,3}", 1, "syntax", "write {0,3}, or \\{"],
  ["a{2, 3}", 1, "syntax", "write {2,3}, or \\{"],
  ["(?P=n)", 0, "unsupported", "backreference (?P=n) is not regular"],
  ["(a)\\g{1}", 3, "unsupported", "backreference \\g{1} is not regular"],
  ["(?P>n)", 0, "unsupported", "calls a group"],
  ["(a(?R)?)", 2, "unsupported", "calls a group"],
  ["(a)?(?(1)b|c)", 4, "unsupported", "a condition"],
  ["(*UTF8)a", 0, "unsupported", "(*UTF8) is a verb of PCRE"],
  ["(?a)x", 0, "syntax", 'flag "a" of (?a)'],
  ["(?i-i)x", 0, "syntax", "keep one"],
  ["(?<a-b>c)", 0, "syntax", "begins no group of ECMAScript"],
  ["(?#a", 0, "syntax", "close it with )"],
  ["a**", 2, "syntax", "Nothing to repeat"],
  ["(?x)a+ +", 7, "syntax", "Nothing to repeat"],
  ["(?x)( ?:a)", 6, "syntax", "Nothing to repeat"],
  ["(?x)[ a]", 5, "syntax", "white space and # in a class"],
  ["(?i)a)|(b", 5, "syntax", "Unmatched ')'"],
  ["(?i)(a", 6, "syntax", "Unterminated group"],
  ["(?>a*b?c?b)d", 0, "unsupported", "keeps one of several matches"],
]

describe("refused by name", () => {
  test.each(refused)("%s", (pattern, offset, kind, message) => {
    const run = () => parseRegex(pattern, { mode: "search", path: "" })
    expect(run).toThrow(GrammarError)
    expect(run).toThrow(
      expect.objectContaining({ kind, path: `offset ${offset}`, message: expect.stringContaining(message) }),
    )
  })
})

test("what ECMAScript gives a meaning keeps it", () => {
  for (const pattern of ["[a&&b]", "\\v", "^[:alpha:]$", "\\cA", "[+--b]", "(?i:a)", "\\k<n>(?<n>a)"])
    expect(foreignNote([{ path: "", pattern }], defaultLimits)).toBe(undefined)
})

test("all places read alike", () => {
  const pattern = "(?i)\\A[[:digit:]]\\x{41}\\h?+\\Z"
  const quoted = JSON.stringify(pattern)
  const whole: GrammarInput[] = [
    { kind: "json", schema: { type: "string", pattern } },
    { kind: "regex", pattern },
    { kind: "gbnf", text: `root ::= Regex(${quoted})` },
    { kind: "lark", text: `start: /${pattern}/` },
    { kind: "tag", format: { type: "structural_tag", format: { type: "regex", pattern } } },
    { kind: "json", schema: { patternProperties: { [pattern]: {} } } },
  ]
  for (const input of whole) {
    const { keywords } = compile(input).report
    const notes = keywords.filter(({ note }) => note !== undefined)
    expect(notes.map(({ note }) => note)).toEqual([
      "another dialect's: read (?i) as (?i:…), \\A as (?-m:^), [:digit:] as 0-9, \\x{41} as A, " +
        "\\h as [\\x09\\x20\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000], " +
        "?+ as a quantifier that gives nothing back, \\Z as (?-m:$)",
    ])
  }
  const refusedInputs: GrammarInput[] = [
    { kind: "json", schema: { type: "string", pattern: "a\\y" } },
    { kind: "json", schema: { propertyNames: { pattern: "a\\y" } } },
    { kind: "regex", pattern: "a\\y" },
    { kind: "gbnf", text: 'root ::= Regex("a\\\\y")' },
    { kind: "lark", text: "start: /a\\y/" },
    { kind: "tag", format: { type: "structural_tag", format: { type: "regex", pattern: "a\\y" } } },
  ]
  for (const input of refusedInputs)
    expect(() => compile(input)).toThrow("\\y is a word boundary in Tcl and PostgreSQL: write \\b")
})

test("a pattern that stands in a group of another one leaks nothing into it", () => {
  for (const pattern of ["\\Qa", "(?x)a # b", "[\\Qa", "(?i)a"]) {
    if (pattern === "[\\Qa") expect(() => groupOf(pattern, "", "")).toThrow("Unterminated")
    else {
      const id = parseRegex(`${groupOf(pattern, "", "")}B`, { mode: "match", path: "" })
      expect([accepts(id, "aB"), accepts(id, "ab")]).toEqual([true, false])
    }
  }
})

test("places are those of the source", () => {
  const { text, offsets } = translate("(?i)a[[:digit:]]{2}+b", false, "")
  expect(text).toBe("(?i:a(?:[0-9]{2})b)")
  expect(offsets[text.indexOf("a")]).toBe(4)
  expect(offsets[text.indexOf("0")]).toBe(6)
  expect(offsets[text.indexOf("b")]).toBe(20)
  expect(() => parseRegex("\\h(?=a)\\R(?<=b(?=c))", { mode: "search", path: "" })).toThrow(
    "lookahead (?=c) at 14 inside the lookbehind at 9",
  )
})

test("long patterns take time in proportion", () => {
  const limits = { ...defaultLimits, compileMs: 20_000 }
  for (const part of ["a++b", "(?>a|b)", "\\x{41}", "(?=a)*", "[[:alpha:]]", "\\Qab\\E"]) {
    const pattern = part.repeat(Math.floor(20_000 / part.length))
    const count = exprs.count
    try {
      parseRegex(pattern, { mode: "search", path: "", limits, unsatisfiable: "empty" })
    } catch (error) {
      expect(error).toMatchObject({ kind: "limit" })
    }
    expect(exprs.count - count).toBeLessThan(400_000)
  }
})
