/**
 * Splits a template's text into tokens, without the white space that tags remove.
 *
 * The rules are Jinja's with `trim_blocks` and `lstrip_blocks`, which chat templates are written
 * for: a newline after `%}` or `#}` is removed, and so is the white space of a line before `{%` or
 * `{#`; a `-` removes all white space on its side, a `+` keeps it. Source: the Jinja documentation,
 * "Whitespace Control".
 */
import { TemplateError } from "./value.ts"

export type Token =
  | { kind: "text" | "name" | "operator" | "string"; text: string; at: number }
  | { kind: "integer" | "float"; text: string; value: number; at: number }
  /** The ends of `{{ }}` and `{% %}`. */
  | { kind: "{{" | "}}" | "{%" | "%}" | "end"; text: string; at: number }

/**
 * Python's white space. In contrast, JavaScript's `\s` also contains U+FEFF and lacks five control
 * characters.
 */
export const space = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
const spaces = new RegExp(`[${space}]*`, "y")
const spacesAtEnd = new RegExp(`[${space}]*$`)
const blankToEnd = new RegExp(`(?<=^|\\n)(?:(?!\\n)[${space}])+$`)

const raw = new RegExp(`\\{%([-+]?)[${space}]*raw[${space}]*(-?)%\\}`, "y")
const rawEnd = new RegExp(`\\{%([-+]?)[${space}]*endraw[${space}]*([-+]?)%\\}`, "g")
const token =
  /(?<float>(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+))|(?<integer>0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*)|(?<name>[\p{ID_Start}_]\p{ID_Continue}*)|(?<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")|(?<operator>\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}<>=.:|,;])/suy

/**
 * Returns the tokens of a template; the last one is `end`. Throws TemplateError naming the line.
 */
export function tokensOf(source: string): Token[] {
  return new Lexer(source.replace(/\r\n?/g, "\n").replace(/\n$/, "")).read()
}

class Lexer {
  private readonly text: string
  private readonly tokens: Token[] = []

  constructor(text: string) {
    this.text = text
  }

  read(): Token[] {
    const { text, tokens } = this
    for (let at = 0; at < text.length; ) {
      const open = nextOpen(text, at)
      if (open < 0) {
        this.pushText(at, text.length, "", false)
        break
      }
      const sign = signAt(text, open + 2)
      this.pushText(at, open, sign, text[open + 1] !== "{")
      raw.lastIndex = open
      const rawOpen = raw.exec(text)
      if (rawOpen) at = this.readRaw(open, rawOpen)
      else if (text[open + 1] === "#") at = this.skipComment(open)
      else at = this.readTag(open, open + 2 + sign.length)
    }
    tokens.push({ kind: "end", text: "the end", at: text.length })
    return tokens
  }

  /** Reads the text of a raw block. Returns the offset of the text after the block. */
  private readRaw(open: number, rawOpen: RegExpExecArray): number {
    const from = this.behind(open + rawOpen[0].length, rawOpen[2], false)
    rawEnd.lastIndex = from
    const close = rawEnd.exec(this.text) ?? this.fail(open, "{% raw %} has no end")
    this.pushText(from, close.index, close[1], true)
    return this.behind(close.index + close[0].length, close[2], true)
  }

  /** Returns the offset of the text after a comment. */
  private skipComment(open: number): number {
    const end = this.text.indexOf("#}", open + 2)
    if (end < 0) this.fail(open, "a comment has no end")
    return this.behind(end + 2, end > open + 2 ? signAt(this.text, end - 1) : "", true)
  }

  /** Reads the tokens of one tag. Returns the offset of the text after it. */
  private readTag(open: number, from: number): number {
    const { text, tokens } = this
    const isBlock = text[open + 1] === "%"
    const close = isBlock ? "%}" : "}}"
    tokens.push({ kind: isBlock ? "{%" : "{{", text: text.slice(open, open + 2), at: open })
    const brackets: string[] = []
    for (let at = this.spacesFrom(from); at < text.length; at = this.spacesFrom(at)) {
      if (brackets.length === 0) {
        const isSigned = text.startsWith(close, at + 1) && (isBlock || text[at] === "-")
        const sign = isSigned ? signAt(text, at) : ""
        if (text.startsWith(close, at + sign.length)) {
          tokens.push({ kind: close, text: close, at })
          return this.behind(at + sign.length + 2, sign, isBlock)
        }
      }
      token.lastIndex = at
      const found = token.exec(text)
      if (found === null) return this.fail(at, `unexpected ${JSON.stringify(text[at])}`)
      tokens.push(tokenOf(found, at))
      if ("([{".includes(found[0])) brackets.push(found[0])
      if (")]}".includes(found[0]) && brackets.pop() !== "([{"[")]}".indexOf(found[0])]) {
        this.fail(at, `unexpected ${JSON.stringify(found[0])}`)
      }
      at += found[0].length
    }
    return this.fail(open, `${text.slice(open, open + 2)} has no end`)
  }

  /**
   * Adds the text between two tags. `sign` and `strips` say what the following tag removes from its
   * end.
   */
  private pushText(from: number, to: number, sign: string, strips: boolean): void {
    let part = this.text.slice(from, to)
    if (sign === "-") part = part.replace(spacesAtEnd, "")
    else if (strips && sign !== "+") {
      // A part that begins after a tag begins in the middle of a line, unless the tag removed the
      // newline.
      const startsLine = from === 0 || this.text[from - 1] === "\n"
      if (startsLine || part.includes("\n")) part = part.replace(blankToEnd, "")
    }
    if (part !== "") this.tokens.push({ kind: "text", text: part, at: from })
  }

  /** Returns the offset of the text after the end of a tag. */
  private behind(at: number, sign: string, trims: boolean): number {
    if (sign === "-") return this.spacesFrom(at)
    return trims && sign !== "+" && this.text[at] === "\n" ? at + 1 : at
  }

  private spacesFrom(at: number): number {
    spaces.lastIndex = at
    return at + spaces.exec(this.text)![0].length
  }

  private fail(at: number, message: string): never {
    throw new TemplateError(`line ${lineOf(this.text, at)}: ${message}`)
  }
}

/** Returns the `-` or `+` at an offset, or "". */
function signAt(text: string, at: number): string {
  return /[-+]/.test(text[at] ?? "") ? text[at] : ""
}

export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split("\n").length
}

function nextOpen(text: string, from: number): number {
  for (let at = text.indexOf("{", from); at >= 0; at = text.indexOf("{", at + 1)) {
    if ("{%#".includes(text[at + 1] ?? " ")) return at
  }
  return -1
}

function tokenOf(found: RegExpExecArray, at: number): Token {
  const { float, integer, name, string, operator } = found.groups!
  if (float !== undefined) return { kind: "float", text: float, value: Number(float.replaceAll("_", "")), at }
  if (integer !== undefined)
    return { kind: "integer", text: integer, value: Number(integer.replaceAll("_", "")), at }
  if (name !== undefined) return { kind: "name", text: name, at }
  if (operator !== undefined) return { kind: "operator", text: operator, at }
  return { kind: "string", text: unescaped(string.slice(1, -1)), at }
}

const escapes: Readonly<Record<string, string>> = {
  ...{ n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", a: "\x07" },
  ...{ "\\": "\\", "'": "'", '"': '"', "\n": "" },
}

/**
 * Unescapes a text as Python reads it between quotes; an escape that Python does not know is kept.
 */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|(.))/gs,
    (whole, ...[x, u, long, octal, char]) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
      const hex = x ?? u ?? long
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
      return escapes[char] ?? whole
    },
  )
}
