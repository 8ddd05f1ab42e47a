/**
 * The lexemes of a GBNF text, found with chevrotain.
 *
 * Only white space spans lines. So the beginnings of rules are found line by line, before anything
 * else is read: a name and `::=` at the beginning of a line, whatever precedes it. Each rule is
 * then read by itself, so that a mistake does not affect other rules, and the lexemes of a large
 * grammar are not all in memory. Strings and classes have their own scanners, which end at the
 * line: one that is not closed spoils only its line, and no regular expression backtracks over
 * them.
 */
import { createToken, type IToken, Lexer, type TokenType } from "../chevrotain.ts"

/** The half-open span of one rule. */
export interface RuleSpan {
  name: string
  start: number
  /** Offset after the attributes and `::=`. */
  bodyStart: number
  end: number
}

/** Greatest length of a list of attributes. */
const MaxAttributes = 4_096
const namePattern = /[A-Za-z_-][\w-]*(?:\.[\w-]+)*/
const attributesPattern = `\\[(?:[^\\]"\\r\\n]|"(?:[^"\\\\\\r\\n]|\\\\[^\\r\\n])*"){0,${MaxAttributes}}\\]`
const headPattern = new RegExp(
  `[^\\S\\r\\n]*(${namePattern.source})(?:\\s*${attributesPattern})?\\s*::=`,
  "y",
)

/**
 * Matches one character: a pattern for whole lines would keep a backtracking point for each of
 * their characters.
 */
const lineStart = /(?<![^\r\n])[^\r\n]/g

/** Returns the rules of a text in order, with the offset of each. Linear. */
export function ruleSpans(text: string): RuleSpan[] {
  const spans: RuleSpan[] = []
  let bodyStart = 0
  for (const { index } of text.matchAll(lineStart)) {
    if (index < bodyStart) continue
    headPattern.lastIndex = index
    const head = headPattern.exec(text)
    if (head === null) continue
    const start = index + head[0].search(/\S/)
    bodyStart = headPattern.lastIndex
    if (spans.length > 0) spans[spans.length - 1].end = start
    spans.push({ name: head[1], start, bodyStart, end: text.length })
  }
  return spans
}

const WhiteSpace = createToken({ name: "WhiteSpace", pattern: /\s+/, group: Lexer.SKIPPED })
const Comment = createToken({ name: "Comment", pattern: /#[^\r\n]*/, group: Lexer.SKIPPED })
export const Name = createToken({ name: "Name", pattern: namePattern, label: "a name" })
/** A name of a macro in front of its parenthesis. It is also a name. */
export const MacroName = createToken({
  name: "MacroName",
  pattern: /(?:Regex|Substring|Token|ExcludeToken|TagDispatch|TokenTagDispatch)(?=\s*\()/,
  categories: [Name],
})
export const Text = createToken({ name: "Text", label: "a string", ...scanner('"', '"') })
export const Class = createToken({ name: "Class", ...scanner("[", "]") })
export const Assign = createToken({ name: "Assign", pattern: "::=", label: '"::="' })
export const Bounds = createToken({
  name: "Bounds",
  pattern: /\{\s*\d+\s*(?:,\s*(?:-?\d+\s*)?)?\}/,
})
export const Star = createToken({ name: "Star", pattern: "*" })
export const Plus = createToken({ name: "Plus", pattern: "+" })
export const Question = createToken({ name: "Question", pattern: "?" })
export const Pipe = createToken({ name: "Pipe", pattern: "|" })
export const LeftParen = createToken({ name: "LeftParen", pattern: "(", label: '"("' })
export const RightParen = createToken({ name: "RightParen", pattern: ")", label: '")"' })
export const Dot = createToken({ name: "Dot", pattern: "." })
export const Bang = createToken({ name: "Bang", pattern: "!" })
/** `<[1-3,9]>` or `<name>`. */
export const TokenIds = createToken({ name: "TokenIds", pattern: /<\[[^\]<>\r\n]*\]>/ })
export const TokenName = createToken({ name: "TokenName", pattern: /<[^[<>\r\n][^<>\r\n]*>/ })
export const Equals = createToken({ name: "Equals", pattern: "=", label: '"="' })
export const Comma = createToken({ name: "Comma", pattern: ",", label: '","' })
export const NumberText = createToken({
  name: "Number",
  pattern: /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/,
  label: "a number",
})
export const LeftSquare = createToken({ name: "LeftSquare", pattern: "[", label: '"["' })
export const RightSquare = createToken({ name: "RightSquare", pattern: "]", label: '"]"' })
/** Anything that has no place in a grammar; no alternative of the parser accepts it. */
const Other = createToken({ name: "Other", pattern: /[\ud800-\udbff][\udc00-\udfff]|[\0-\uffff]/ })

const symbols = [Assign, Bounds, Star, Plus, Question, Pipe, LeftParen, RightParen, Dot, Bang, Equals, Comma]
const shared = [WhiteSpace, Comment, Text, NumberText, MacroName, Name, ...symbols, TokenIds, TokenName]

/** All types of lexemes that the parser uses. */
export const lexemeTypes: TokenType[] = [...shared, Class, LeftSquare, RightSquare, Other]

let lexer: Lexer | null = null

/**
 * Returns the lexemes from `start` to `end` of `text`. They are a rule's body, or its head, in
 * which a bracket opens attributes. Offsets are those of `text`.
 */
export function lexemesOf(text: string, start: number, end: number, mode: "head" | "body"): IToken[] {
  lexer ??= new Lexer(
    {
      modes: {
        head: [...shared, LeftSquare, RightSquare, Other],
        body: [...shared, Class, RightSquare, Other],
      },
      defaultMode: "body",
    },
    { positionTracking: "onlyOffset", ensureOptimizations: true },
  )
  const { tokens } = lexer.tokenize(text.slice(start, end), mode)
  for (const lexeme of tokens) lexeme.startOffset += start
  return tokens
}

/**
 * Returns whether a string or a class ends with its own quote or bracket, and not at the end of its
 * line.
 */
export function isClosed(image: string, close: '"' | "]"): boolean {
  if (image.length < 2 || !image.endsWith(close)) return false
  let backslashes = 0
  while (image[image.length - 2 - backslashes] === "\\") backslashes++
  return backslashes % 2 === 0
}

/**
 * Returns a scanner from `open` to the first `close` without a backslash, or to the end of the
 * line.
 */
function scanner(open: string, close: string) {
  const pattern = (text: string, offset: number): [string] | null => {
    if (text[offset] !== open) return null
    let at = offset + 1
    for (; at < text.length; at++) {
      const character = text[at]
      if (character === close) return [text.slice(offset, at + 1)]
      if (character === "\n" || character === "\r") break
      if (character === "\\" && at + 1 < text.length && text[at + 1] !== "\n" && text[at + 1] !== "\r") at++
    }
    return [text.slice(offset, at)]
  }
  return { pattern, start_chars_hint: [open], line_breaks: false }
}
