/** JSON strings under both escape policies, judged by JSON.parse and JSON.stringify. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { shortestCompletion } from "../../../../grammar/lexeme/completion.ts"
import { exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import {
  anyContent,
  exprContent,
  lengthContent,
  NoContent,
  namesContent,
} from "../../../../grammar/lexeme/string/content.ts"
import { buildNames } from "../../../../grammar/lexeme/string/names.ts"
import { type Escapes, stringLexeme } from "../../../../grammar/lexeme/string/string.ts"
import { Dead, lexemes } from "../../../../grammar/lexeme/table.ts"

const encoder = new TextEncoder()
const tagOf = (lexeme: number, text: string) => lexemes.tagAfter(lexeme, encoder.encode(text))

const unit = fc.oneof(
  fc.constantFrom(
    "a",
    '"',
    "\\",
    "/",
    "\n",
    "\u0000",
    "\u001f",
    "\u007f",
    "é",
    "€",
    "\ud7ff",
    "\ue000",
    "💩",
  ),
  fc.constantFrom("\ud83d", "\ude00", "\u2028"),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
)
const decodedText = fc.array(unit, { maxLength: 6 }).map((units) => units.join(""))

/** One of the spellings that RFC 8259 §7 has for each unit of `text`. */
function spell(text: string, choices: readonly number[]): string {
  const short: Record<string, string> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t" }
  const spelled = [...text].map((character, i) => {
    const choice = choices[i % choices.length] % 4
    const hex = Array.from({ length: character.length }, (_, at) => {
      const digits = character.charCodeAt(at).toString(16).padStart(4, "0")
      return `\\u${choice === 2 ? digits.toUpperCase() : digits}`
    }).join("")
    const letter = '"\\/'.includes(character) ? character : short[character]
    if (choice === 1 && letter !== undefined) return `\\${letter}`
    const mustEscape = character < " " || character === '"' || character === "\\" || !character.isWellFormed()
    return choice > 1 || mustEscape ? hex : character
  })
  return `"${spelled.join("")}"`
}

const parsed = (text: string): string | null => {
  try {
    return JSON.parse(text) as string
  } catch {
    return null
  }
}

const all = stringLexeme(anyContent, "json")
const minimal = stringLexeme(anyContent, "canonical")

test("all: every spelling of every text without lone surrogates", () => {
  fc.assert(
    fc.property(decodedText, fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }), (text, choices) => {
      const spelling = spell(text, choices)
      expect(parsed(spelling)).toBe(text)
      expect(tagOf(all, spelling)).toBe(text.isWellFormed() ? 1 : 0)
      expect(tagOf(minimal, spelling) !== 0).toBe(text.isWellFormed() && spelling === JSON.stringify(text))
      expect(tagOf(minimal, JSON.stringify(text)) !== 0).toBe(text.isWellFormed())
    }),
    { seed: 1, numRuns: 3_000 },
  )
})

test("near misses: what JSON.parse refuses is refused", () => {
  const piece = fc.constantFrom(
    "\\",
    '"',
    "u",
    "n",
    "D",
    "8",
    "0",
    "c",
    "a",
    "\n",
    "é",
    "\\ud83d",
    "\\ude00",
    "/",
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = `"${pieces.join("")}"`
      const value = parsed(text)
      const isText = value?.isWellFormed() === true
      expect(tagOf(all, text) !== 0).toBe(isText)
      expect(tagOf(minimal, text) !== 0).toBe(isText && JSON.stringify(value) === text)
    }),
    { seed: 2, numRuns: 5_000 },
  )
})

describe.each<Escapes>(["canonical", "json"])("%s", (escapes) => {
  const listed = ["a", 'a"', "é"]
  const nameTagOf = (text: string) => (listed.includes(text) ? 3 + listed.indexOf(text) : 0)
  const names = buildNames(
    listed
      .map((name, i) => ({ bytes: encoder.encode(name), tag: 3 + i }))
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes)),
  )
  const contents: [name: string, content: number, tag: (text: string) => number][] = [
    [
      "one to three characters",
      lengthContent(anyContent, 1, 3),
      (text) => ([...text].length >= 1 && [...text].length <= 3 ? 1 : 0),
    ],
    ["a literal", exprContent(exprs.literal('a"é')), (text) => (text === 'a"é' ? 1 : 0)],
    ["names over any", namesContent(names, anyContent), (text) => nameTagOf(text) || 1],
    ["names alone", namesContent(names, NoContent), nameTagOf],
  ]
  test.each(contents)("content: %s", (_, content, tag) => {
    const lexeme = stringLexeme(content, escapes)
    const small = fc
      .array(fc.constantFrom("a", '"', "é", "b", "💩", "\n"), { maxLength: 4 })
      .map((units) => units.join(""))
    fc.assert(
      fc.property(small, fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }), (text, choices) => {
        const spelling = escapes === "json" ? spell(text, choices) : JSON.stringify(text)
        expect(tagOf(lexeme, spelling)).toBe(tag(text))
      }),
      { seed: 3, numRuns: 400 },
    )
  })
  test.each(contents)("every live state of %s has an end", (_, content) => {
    const seen = new Set<number>()
    const open = [stringLexeme(content, escapes)]
    for (let state = open.pop(); state !== undefined && seen.size < 400; state = open.pop()) {
      const { bytes, tag } = shortestCompletion(state)
      const end = lexemes.run(state, bytes)
      expect([end !== Dead, lexemes.tags[end]]).toEqual([true, tag])
      for (let byte = 0; byte < 256; byte++) {
        const next = lexemes.next(state, byte)
        if (next !== Dead && !seen.has(next)) {
          seen.add(next)
          open.push(next)
        }
      }
    }
    expect(seen.size).toBeGreaterThan(3)
  })
})

test("nothing is no string", () => {
  expect(stringLexeme(NoContent, "json")).toBe(Dead)
})

test("a step without a row leads where the row does", () => {
  const letters = exprs.codePoints([97, 122])
  const around = (inner: number) => exprs.concat(exprs.anyText, exprs.concat(inner, exprs.anyText))
  const names = buildNames([
    { bytes: encoder.encode("aé"), tag: 5 },
    { bytes: encoder.encode("b\n"), tag: 6 },
  ])
  const words = exprContent(exprs.loop(exprs.concat(letters, exprs.codePoints([0xe9, 0xe9])), 1, 3))
  const contents = [
    anyContent,
    words,
    exprContent(exprs.and([around(letters), exprs.not(around(exprs.codePoints([10, 10])))])),
    lengthContent(anyContent, 2, 4),
    lengthContent(words, 3, 5),
    namesContent(names, anyContent),
    namesContent(names, NoContent),
    namesContent(names, lengthContent(anyContent, 0, 3)),
  ]
  let steps = 0
  const run = (content: number, escapes: Escapes, text: string) => {
    // Rows are forgotten: what is stepped through has none.
    lexemes.forgetRows()
    const bytes = encoder.encode(text)
    const stepped = [stringLexeme(content, escapes)]
    for (const byte of bytes) stepped.push(lexemes.step(stepped[stepped.length - 1], byte))
    let state = stepped[0]
    for (const [i, byte] of bytes.entries()) {
      state = lexemes.next(state, byte)
      expect(stepped[i + 1]).toBe(state)
      if (state !== Dead) steps++
    }
  }
  fc.assert(
    fc.property(
      fc.constantFrom(...contents),
      fc.constantFrom<Escapes>("canonical", "json"),
      fc
        .array(fc.constantFrom("a", "b", "é", "\n", "💩", "z"), { maxLength: 5 })
        .map((units) => units.join("")),
      fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
      (content, escapes, text, choices) => run(content, escapes, spell(text, choices)),
    ),
    { numRuns: 400, seed: 3202 },
  )
  expect(steps).toBeGreaterThan(1_000)
})
