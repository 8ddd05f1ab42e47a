/**
 * Translates patterns of other dialects into ECMAScript's `u` grammar. A construct that has the
 * same meaning in all dialects that have it is translated. The others are refused by name, with
 * what to write instead. Only patterns that the `u` grammar rejects come here, so what has a
 * meaning in ECMAScript keeps it: `[a&&b]` is three characters, `\v` is the vertical tab, `\d` is
 * ASCII.
 *
 * The translation is one pass over the source. An inline flag opens a group up to the end of the
 * group around it. White space and comments of free spacing are dropped. Atomic groups and
 * possessive quantifiers become plain groups that are remembered (`atomic.ts` defines their
 * meaning). Needless backslashes, lone braces and brackets, repeated lookaheads and a `-` beside a
 * set are read as in Annex B. Nothing else of Annex B is accepted: where it would silently read a
 * letter, the author meant something else.
 */
import { GrammarError, type GrammarErrorKind } from "../../errors.ts"
import { errorPath } from "../place.ts"
import { type Brackets, bracketsAt, escaped, type Reader } from "./brackets.ts"
import { escapeAt } from "./escapes.ts"
import { type GroupFlags, openingAt } from "./groups.ts"
import { type Joined, Pieces } from "./pieces.ts"

export interface Translated extends Joined {
  /** Spellings that were read as another dialect's, each with what it became. */
  readonly foreign: ReadonlyMap<string, string>
  /** The text that closes an open quotation or comment at the end, if another text is to follow. */
  readonly closing: string
}

/** An open group. */
interface Level {
  /** The first piece of the group. */
  readonly first: number
  isFree: boolean
  /** Groups of inline flags that are closed with this one. */
  readonly inline: string[]
  readonly isLook: boolean
  readonly isAhead: boolean
  readonly isAtomic: boolean
}

const lineEnd = "(?:\\r\\n|[\\n\\v\\f\\r\\x85\\u2028\\u2029])"
const quantifier = /(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})([?+]?)/y
/** Counts that Perl and Python accept and others do not. */
const otherCount = /\{ *(?:[0-9]+ *(?:, *[0-9]* *)?|, *[0-9]* *)\}/y
/** Most spellings that a report lists. */
const MaxNotes = 8

/**
 * Returns the translation of a pattern. `sets` is the flag `v`, `path` the place of the pattern.
 * Throws GrammarError for what is refused.
 */
export function translate(source: string, sets: boolean, path: string): Translated {
  return new Translator(source, sets, path).translate()
}

class Translator {
  private readonly source: string
  private readonly sets: boolean
  private readonly path: string
  private readonly groupCount: number
  private readonly reader: Reader
  private readonly pieces = new Pieces()
  private readonly levels: Level[] = []
  private readonly foreign = new Map<string, string>()
  /** The offset of the part that is being read. */
  private at = 0
  /** The piece at which the operand of a quantifier begins; null if there is no operand. */
  private atom: number | null = null
  private closing = ""
  /** Whether a class began with `]`, which closes it at once in ECMAScript. */
  private hasEmptyClass = false

  constructor(source: string, sets: boolean, path: string) {
    this.source = source
    this.sets = sets
    this.path = path
    this.groupCount = countGroups(source)
    this.reader = {
      refuse: (at, message, kind) => this.refuse(at, message, kind),
      note: (form, reading) => this.note(form, reading),
    }
    this.open(false, {})
  }

  translate(): Translated {
    while (this.at < this.source.length) this.at += this.readPart()
    if (this.levels.length > 1) this.refuseShape("Unterminated group")
    this.closeInline()
    return { ...this.pieces.join(this.source), foreign: this.foreign, closing: this.closing }
  }

  private get level(): Level {
    return this.levels[this.levels.length - 1]
  }

  private refuse(at: number, message: string, kind: GrammarErrorKind = "syntax"): never {
    throw new GrammarError(kind, errorPath(this.path, at), `${message} (at ${at} of the pattern)`)
  }

  /** Refuses a text that is not a pattern of any dialect, with the parser's message. */
  private refuseShape(reason: string): never {
    const { at } = this
    throw new GrammarError("syntax", errorPath(this.path, at), `${reason} at ${at} of the pattern`)
  }

  private note(form: string, reading: string): void {
    if (this.foreign.size < MaxNotes) this.foreign.set(form, reading)
  }

  /** Adds a part that a quantifier may follow. */
  private putAtom(text: string): void {
    this.atom = this.pieces.count
    this.pieces.put(text, this.at)
  }

  /** Adds a part that cannot be repeated. */
  private putOther(text: string): void {
    this.atom = null
    this.pieces.put(text, this.at)
  }

  /** Reads the part at `at`. Like the other readers, returns its length in units. */
  private readPart(): number {
    const { source, at } = this
    const character = String.fromCodePoint(source.codePointAt(at) as number)
    const skipped = this.level.isFree ? this.readFree(character) : 0
    if (skipped > 0) return skipped
    switch (character) {
      case "\\":
        return this.readEscape()
      case "[":
        return this.readClass()
      case "(":
        return this.readOpening()
      case ")":
        return this.readClosing()
      case "|":
        // Changes of a group's flags also apply to its later alternatives.
        this.closeInline()
        this.putOther(`|${this.level.inline.join("")}`)
        return 1
      case "*":
      case "+":
      case "?":
        return this.readQuantifier()
      case "{":
        return this.readBrace()
      case "^":
      case "$":
        this.putOther(character)
        return 1
      case "]":
        if (this.hasEmptyClass) this.refuse(at, 'a "]" at the beginning of a class is written \\]')
        this.putAtom(this.sets ? "]" : "\\]")
        return 1
      case "}":
        this.putAtom(this.sets ? "}" : "\\}")
        return 1
      default:
        this.putAtom(character)
        return character.length
    }
  }

  /** Reads white space and comments of free spacing. Returns 0 if there are none. */
  private readFree(character: string): number {
    if (/[ \t\n\v\f\r]/.test(character)) return 1
    if (/[\x85\u200e\u200f\u2028\u2029]/.test(character)) {
      const point = character.charCodeAt(0).toString(16).padStart(4, "0")
      this.refuse(this.at, `U+${point} is white space to some dialects under the flag x: escape it`)
    }
    if (character !== "#") return 0
    const end = this.source.indexOf("\n", this.at)
    const comment = this.source.slice(this.at, end < 0 ? undefined : end)
    if (/[\r\x85\u2028\u2029](?!$)/.test(comment))
      this.refuse(
        this.at,
        "dialects disagree where a comment with a line end other than \\n ends: take it out",
      )
    if (end < 0) this.closing = "\n"
    return comment.length
  }

  private readEscape(): number {
    const { source, at } = this
    const read = escapeAt(source, at, false, this.sets, this.groupCount)
    switch (read.kind) {
      case "refused":
        return this.refuse(at, read.message, read.error)
      case "quote":
        return this.readQuote()
      case "lineEnd":
        this.note("\\R", lineEnd)
        this.putAtom(lineEnd.slice(0, 3))
        this.pieces.makeAtomic(this.pieces.count - 1)
        this.pieces.put(lineEnd.slice(3), at)
        return read.length
      default:
        if (read.isForeign) this.note(source.slice(at, at + read.length), read.text)
        if (read.kind === "set") this.putAtom(read.text)
        else this.putOther(read.text)
        return read.length
    }
  }

  /** Reads the characters between `\Q` and `\E`, or the end. */
  private readQuote(): number {
    const { source, at } = this
    const end = source.indexOf("\\E", at + 2)
    const text = source.slice(at + 2, end < 0 ? undefined : end)
    this.note("\\Q…\\E", "the characters between")
    // A quantifier after an empty quotation would repeat what precedes the quotation.
    this.atom = null
    for (const character of text) this.putAtom(escaped(character))
    if (end < 0) this.closing = "\\E"
    return end < 0 ? source.length - at : end + 2 - at
  }

  private readClass(): number {
    const { source, at } = this
    // Under `v` classes nest, and only those of ECMAScript are read.
    const brackets = this.sets
      ? setsClassAt(source, at)
      : bracketsAt(source, at, this.level.isFree, this.groupCount, this.reader)
    this.hasEmptyClass ||= brackets.isEmpty
    if (brackets.isQuoting) this.closing = "\\E"
    this.atom = this.pieces.count
    for (const [text, from] of brackets.parts) this.pieces.put(text, from)
    return brackets.length
  }

  private readOpening(): number {
    const { source, at } = this
    const opening = openingAt(source, at)
    if (opening.kind === "refused") return this.refuse(at, opening.message, opening.error)
    const form = source.slice(at, at + opening.length)
    if (opening.kind === "comment") this.note("(?#…)", "nothing")
    else if (opening.kind === "flags") {
      this.note(form, flagsShown(opening.flags))
      this.openInline(opening.flags)
    } else {
      if (opening.isForeign)
        this.note(form, opening.isAtomic ? "a group that gives nothing back" : opening.text)
      this.open(opening.flags?.isFree ?? this.level.isFree, opening)
      this.putOther(opening.text)
    }
    return opening.length
  }

  private open(isFree: boolean, kind: { isLook?: boolean; isAhead?: boolean; isAtomic?: boolean }): void {
    const { isLook = false, isAhead = false, isAtomic = false } = kind
    this.levels.push({ first: this.pieces.count, isFree, inline: [], isLook, isAhead, isAtomic })
  }

  private openInline({ text, isFree }: GroupFlags): void {
    if (isFree !== null) this.level.isFree = isFree
    this.atom = null
    if (text === "") return
    this.level.inline.push(`(?${text}:`)
    this.putOther(`(?${text}:`)
  }

  private closeInline(): void {
    this.pieces.put(")".repeat(this.level.inline.length), this.at)
  }

  private readClosing(): number {
    const { at } = this
    if (this.levels.length === 1) this.refuseShape("Unmatched ')'")
    this.closeInline()
    const { first, isLook, isAhead, isAtomic } = this.levels.pop() as Level
    this.pieces.put(")", at)
    this.atom = isLook && !isAhead ? null : first
    // A lookahead can be repeated only in Annex B; a group around it can be repeated everywhere.
    if (isAhead) this.pieces.wrap(first, false, at + 1)
    if (isAtomic) this.pieces.makeAtomic(first)
    return 1
  }

  private readBrace(): number {
    const { source, at } = this
    quantifier.lastIndex = at
    if (quantifier.test(source)) return this.readQuantifier()
    otherCount.lastIndex = at
    const other = otherCount.exec(source)?.[0]
    if (other !== undefined && !this.sets) {
      const count = other.replaceAll(" ", "").replace("{,", "{0,")
      this.refuse(
        at,
        `${other} is a count to Perl and Python, and plain text to others: write ${count}, or \\{`,
      )
    }
    this.putAtom(this.sets ? "{" : "\\{")
    return 1
  }

  private readQuantifier(): number {
    const { source, at, atom } = this
    quantifier.lastIndex = at
    const [whole, suffix] = quantifier.exec(source) as RegExpExecArray
    if (atom === null) return this.refuseShape("Nothing to repeat")
    const isPossessive = suffix === "+"
    this.putOther(isPossessive ? whole.slice(0, -1) : whole)
    if (isPossessive) {
      this.note(whole, "a quantifier that gives nothing back")
      this.pieces.wrap(atom, true, at + whole.length)
    }
    return whole.length
  }
}

/** Returns a class of the `v` mode unchanged, up to its end. */
function setsClassAt(source: string, at: number): Brackets {
  let depth = 0
  let end = at
  do {
    if (source[end] === "\\") end++
    else if (source[end] === "[") depth++
    else if (source[end] === "]") depth--
    end++
  } while (depth > 0 && end < source.length)
  return { parts: [[source.slice(at, end), at]], length: end - at, isEmpty: false, isQuoting: false }
}

function countGroups(source: string): number {
  const bare = source.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]/g, "")
  return bare.match(/\((?:(?![?*])|\?P?<(?![=!])|\?')/g)?.length ?? 0
}

function flagsShown({ text, isFree }: GroupFlags): string {
  const group = text === "" ? "" : `(?${text}:…)`
  if (isFree === null) return group === "" ? "nothing" : group
  const spacing = isFree ? "free spacing" : "no free spacing"
  return group === "" ? spacing : `${group}, ${spacing}`
}
