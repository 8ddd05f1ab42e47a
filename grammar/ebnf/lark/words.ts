/**
 * The words of the Lark dialect, and the ends of its statements.
 *
 * chevrotain cuts the text into words. The JSON after `%json`, `%regex` and the options is one word
 * with its keyword; it is cut out by its brackets and read later. A statement ends with its line,
 * unless a bracket is open, the line ends in the middle of an expression, or the next line
 * continues with `|`. A line that is the head of a definition always begins a statement, so that a
 * bracket that is never closed spoils one definition and not the rest of the text.
 */
import { checkLimit, type Limits } from "../../errors.ts"
import { createToken, type IToken, Lexer, type TokenType } from "../chevrotain.ts"
import type { Mistakes, Source } from "../notation/source.ts"

const word = (name: string, pattern: RegExp | string, label = `"${pattern}"`) =>
  createToken({ name, pattern, label })

const Space = createToken({ name: "Space", pattern: /[ \t\f\ufeff]+/, group: Lexer.SKIPPED })
const Comment = createToken({ name: "Comment", pattern: /(?:#|\/\/)[^\r\n]*/, group: Lexer.SKIPPED })
export const Newline = createToken({
  name: "Newline",
  pattern: /\r\n|\r|\n/,
  label: "the end of the line",
  line_breaks: true,
})

export const JsonBlock = jsonBlock("JsonBlock", ["%json"])
export const RegexBlock = jsonBlock("RegexBlock", ["%regex"])
export const OptionsBlock = jsonBlock("OptionsBlock", ["%options", "%llguidance", "%grammar_options"])
export const NestedKeyword = word("NestedKeyword", /%lark(?![A-Za-z_])/, '"%lark"')
export const IfKeyword = word("IfKeyword", /%if(?![A-Za-z_])/, '"%if"')
export const IgnoreKeyword = word("IgnoreKeyword", /%ignore(?![A-Za-z_])/, '"%ignore"')
export const ImportKeyword = word("ImportKeyword", /%import(?![A-Za-z_])/, '"%import"')
/** `%declare`, and all unknown words with a percent sign. */
export const OtherKeyword = word("OtherKeyword", /%[A-Za-z_]*/, "a statement")

export const Text = word("Text", /"(?:\\[^\r\n]|[^"\\\r\n])*"(?:i(?![A-Za-z0-9_-]))?/, "a string")
export const Regex = word("Regex", /\/(?:\\[^\r\n]|[^/\\\r\n])+\/[A-Za-z]*/, "a regular expression")
export const Special = word("Special", /<[^<>\s]+>/, "a control token")
export const Reference = word("Reference", /@[A-Za-z0-9_-]+/, "a grammar's name")
export const Count = word(
  "Count",
  /-?(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/,
  "a number",
)
export const Identifier = word("Identifier", /[A-Za-z_](?:[A-Za-z0-9_]|-(?!>))*/, "a name")

export const Arrow = word("Arrow", "->")
export const DoubleColon = word("DoubleColon", "::")
export const Colon = word("Colon", ":")
export const DoubleDot = word("DoubleDot", "..")
export const Dot = word("Dot", ".")
export const Comma = word("Comma", ",")
export const Equals = word("Equals", "=")
export const OpenRound = word("OpenRound", "(")
export const CloseRound = word("CloseRound", ")")
export const OpenSquare = word("OpenSquare", "[")
export const CloseSquare = word("CloseSquare", "]")
export const OpenCurly = word("OpenCurly", "{")
export const CloseCurly = word("CloseCurly", "}")
export const Bar = word("Bar", "|")
export const Ampersand = word("Ampersand", "&")
export const Tilde = word("Tilde", "~")
export const Question = word("Question", "?")
export const Bang = word("Bang", "!")
export const Star = word("Star", "*")
export const Plus = word("Plus", "+")

// Words that are never closed. They match only where the complete word does not.
const openEnds = new Map<TokenType, string>([
  [word("OpenText", /"(?:\\[^\r\n]|[^"\\\r\n])*\\?/), "unterminated string"],
  [word("OpenRegex", /\/(?:\\[^\r\n]|[^/\\\r\n])*\\?/), "unterminated regular expression"],
  [
    word("OpenSpecial", /<[^<>\s]*/),
    "unterminated control token: its name stands between < and >, without blanks",
  ],
  [word("OpenReference", /@/), 'expected the name of a grammar behind "@"'],
])

/** All kinds of words. If one kind can be a prefix of another, the longer kind is first. */
export const allWords: TokenType[] = [
  ...[Space, Comment, Newline, JsonBlock, RegexBlock, OptionsBlock],
  ...[NestedKeyword, IfKeyword, IgnoreKeyword, ImportKeyword, OtherKeyword],
  ...[Text, Regex, Special, Reference, Count, Identifier],
  ...[Arrow, DoubleColon, Colon, DoubleDot, Dot, Comma, Equals],
  ...[OpenRound, CloseRound, OpenSquare, CloseSquare, OpenCurly, CloseCurly],
  ...[Bar, Ampersand, Tilde, Question, Bang, Star, Plus],
  ...openEnds.keys(),
]

let lexer: Lexer | null = null

/**
 * Returns the words of each statement of the text. Only the words of a `%lark {…}` include line
 * ends, between its own statements.
 */
export function readStatements(source: Source, limits: Limits, mistakes: Mistakes): IToken[][] {
  lexer ??= new Lexer(allWords, { positionTracking: "onlyOffset", ensureOptimizations: false })
  const { tokens, errors } = lexer.tokenize(source.text)
  for (const { offset, length } of errors) {
    const found = String.fromCodePoint(source.text.codePointAt(offset) as number)
    mistakes.add("syntax", offset, `unexpected character ${JSON.stringify(length === 0 ? "" : found)}`)
  }
  const words: IToken[] = []
  for (const token of tokens) {
    const mistake = openEnds.get(token.tokenType)
    if (mistake === undefined) words.push(token)
    else mistakes.add("syntax", token.startOffset, mistake)
  }
  return split(source, words, limits)
}

function split(source: Source, words: readonly IToken[], limits: Limits): IToken[][] {
  const statements: IToken[][] = []
  let statement: IToken[] = []
  /** The open brackets, `%lark` for those of a nested grammar. */
  const open: TokenType[] = []
  const end = () => {
    if (statement.length > 0) statements.push(statement)
    statement = []
    open.length = 0
  }
  for (let i = 0; i < words.length; i++) {
    const token = words[i]
    const { tokenType } = token
    if (tokenType !== Newline) {
      statement.push(token)
      if (isOpening(tokenType)) {
        const isNested = statement[statement.length - 2]?.tokenType === NestedKeyword
        open.push(isNested ? NestedKeyword : tokenType)
        if (open.length > limits.grammarDepth)
          source.nested(token.startOffset, () => checkLimit(limits, "grammarDepth.brackets", open.length))
      } else if (isClosing(tokenType)) open.pop()
      continue
    }
    while (words[i + 1]?.tokenType === Newline) i++
    if (i + 1 === words.length || statement.length === 0) continue
    const next = words[i + 1].tokenType
    if (next === Bar) continue
    const isNew = beginsStatement(words, i + 1)
    const nested = open.lastIndexOf(NestedKeyword)
    if (isNew && nested >= 0) open.length = nested + 1
    if (open.length === 0 || (isNew && nested < 0)) {
      if (isNew || !goesOn(statement[statement.length - 1].tokenType)) end()
    } else if (open[open.length - 1] === NestedKeyword) {
      const last = statement[statement.length - 1].tokenType
      const isInside = last !== OpenCurly && next !== CloseCurly
      if (isInside && (isNew || !goesOn(last))) statement.push(token)
    }
  }
  end()
  return statements
}

function isOpening(type: TokenType): boolean {
  return type === OpenRound || type === OpenSquare || type === OpenCurly
}

function isClosing(type: TokenType): boolean {
  return type === CloseRound || type === CloseSquare || type === CloseCurly
}

/** Returns whether an expression must go on after this word, even on the next line. */
function goesOn(type: TokenType): boolean {
  return openOperators.includes(type)
}

const openOperators: readonly TokenType[] = [Colon, Bar, Ampersand, Tilde, Arrow, IfKeyword, NestedKeyword]

const statementKeywords: readonly TokenType[] = [IgnoreKeyword, ImportKeyword, OptionsBlock, OtherKeyword]

/**
 * Returns whether a statement begins at `words[at]`: a keyword, or the head of a definition up to
 * its colon, on one line.
 */
function beginsStatement(words: readonly IToken[], at: number): boolean {
  if (statementKeywords.includes(words[at].tokenType)) return true
  let i = at
  while (words[i]?.tokenType === Question || words[i]?.tokenType === Bang) i++
  if (words[i++]?.tokenType !== Identifier) return false
  let depth = 0
  for (; i < words.length; i++) {
    const type = words[i].tokenType
    if (type === Newline) return false
    if (isOpening(type)) depth++
    else if (isClosing(type)) {
      if (depth-- === 0) return false
    } else if (depth === 0) {
      if (type === Colon) return true
      if (type !== Dot && type !== Count && type !== DoubleColon && type !== Identifier) return false
      if (type === Identifier && words[i - 1].tokenType !== DoubleColon) return false
    }
  }
  return false
}

/**
 * Returns the word for a keyword and the JSON value after it. Its payload is the place of the value
 * in the text; null if there is none.
 */
function jsonBlock(name: string, keywords: readonly string[]): TokenType {
  const match = (text: string, at: number): CustomMatch | null => {
    const keyword = keywords.find(
      (each) => text.startsWith(each, at) && !/[A-Za-z_]/.test(text[at + each.length] ?? ""),
    )
    if (keyword === undefined) return null
    const start = endOf(blanks, text, at + keyword.length)
    const end = jsonEnd(text, start)
    const result: CustomMatch = [end > start ? text.slice(at, end) : keyword]
    result.payload = { start, end }
    return result
  }
  return createToken({
    name,
    pattern: match,
    label: `"${keywords[0]}"`,
    start_chars_hint: ["%"],
    line_breaks: true,
  })
}

type CustomMatch = [string] & { payload?: { start: number; end: number } }

/**
 * Returns the end of the JSON value at `start`, found by its brackets; the end of the text if they
 * are never closed.
 */
function jsonEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; ) {
    const mark = text[at]
    if (mark === '"') at = stringEnd(text, at)
    else if (marks.includes(mark)) at++
    else {
      const word = endOf(wordOf, text, at)
      if (word === at) {
        at = endOf(blanks, text, at)
        continue
      }
      at = word
    }
    if (mark === "[" || mark === "{") depth++
    else if (mark === "]" || mark === "}") depth--
    if (depth === 0) return at
    if (depth < 0) return start
  }
  return text.length
}

const marks = "[]{},:"

/**
 * Returns the offset after the string that opens at `start`; the end of the text if it is never
 * closed.
 */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1
  return Math.min(at + 1, text.length)
}

const blanks = /\s*/y
/** A number or a word. */
const wordOf = /[^"[\]{},:\s]*/y

/** Returns the end of the match of `pattern` at `at`, which may be empty. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  pattern.test(text)
  return pattern.lastIndex
}
