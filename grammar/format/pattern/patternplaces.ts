/**
 * Places in the grammar of ECMAScript patterns, and the characters that lead from one to the next.
 *
 * Ranges in classes must ascend, counts too, and escapes spell values, so some places remember a
 * value. Characters beyond ASCII whose value matters later (atoms that may start a range, names)
 * are read byte by byte.
 */
import { type CodePointRanges, complement, intersect, makeRanges, subtract } from "../../regex/ranges.ts"

/**
 * A place in the grammar. `value` fields are code points; digits are kept as text without leading
 * zeros.
 */
export type Place =
  /**
   * Between terms: whether a quantifier may follow, or the `?` of a lazy one; and the digits of a
   * reference that is still being read.
   */
  | { at: "term"; quantifiable: boolean; lazy: boolean; reference: number; afterZero: boolean }
  /** In a quantifier with braces: after `{` and its first digits, then after the comma. */
  | { at: "least"; digits: string }
  | { at: "most"; least: string; digits: string }
  /** After `(`, `(?`, `(?<`. */
  | { at: "open" | "special" | "angle" }
  /** In a name; `isGroup`: the name of a group, not of a reference. */
  | { at: "name"; name: string; isGroup: boolean }
  /** After `\k`. */
  | { at: "reference" }
  /**
   * In a class: after nothing pending, after an atom before a possible `-`, or after that `-`.
   * `left` is the atom; -1 is a set, -2 nothing, -3 see `CommonLeft`.
   */
  | { at: "class"; left: number; dash: boolean; isFirst: boolean; afterZero: boolean }
  /** After a backslash; then in the parts of an escape. */
  | { at: "escape"; inside: Inside }
  | { at: "control"; inside: Inside }
  | { at: "hex"; inside: Inside; digits: string; length: number }
  | { at: "unicode"; inside: Inside }
  | { at: "braced"; inside: Inside; digits: string; isEmpty: boolean }
  | { at: "property"; inside: Inside; text: string }
  /**
   * Inside a character of several bytes that is read at `place`: its block starts at `base`, and
   * `more` bytes follow.
   */
  | { at: "character"; place: Wide; base: number; more: number }

type Term = Extract<Place, { at: "term" }>
type ClassPlace = Extract<Place, { at: "class" }>
export type NamePlace = Extract<Place, { at: "name" }>
/** Places where the value of a character matters later: names, and atoms that may start a range. */
type Wide = ClassPlace | NamePlace

/**
 * The context of an escape: a term (null), or a class whose range starts at `from` (-2 if none
 * does).
 */
type Inside = { from: number } | null

/** The facts of the text so far besides the place. */
export interface Seen {
  /** Open groups, outermost first: `g` may be quantified, `a` is an assertion. */
  stack: string
  groups: number
  /** The highest number of a reference. */
  needed: number
  names: string[]
  missing: string[]
}

export type Go = (chars: CodePointRanges | string, place: Place, change?: Partial<Seen>) => void

// Only an atom that starts no range may follow. All places in a class share these edges.
export const CommonLeft = -3
const NoLeft = -2
export const SetLeft = -1
const MaxReference = 99
const MaxPoint = 0x10ffff

const syntax = points("^$\\.*+?()[]{}|")
const escapable = points("^$\\.*+?()[]{}|/")
const decimalDigits: CodePointRanges = [0x30, 0x39]
const controls: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13 }

export function points(text: string): number[] {
  return makeRanges([...text].flatMap((c) => [c.codePointAt(0)!, c.codePointAt(0)!]))
}

export function term(quantifiable: boolean): Term {
  return { at: "term", quantifiable, lazy: false, reference: 0, afterZero: false }
}

export const quantified: Term = { ...term(false), lazy: true }

/** Returns the place in a class with nothing pending, or with an atom that may start a range. */
export function classAt(left: number, afterZero = false): ClassPlace {
  return { at: "class", left, dash: false, isFirst: false, afterZero }
}

export function termEdges(place: Term, seen: Seen, go: Go): void {
  const change = place.reference > seen.needed ? { needed: place.reference } : undefined
  let plain: CodePointRanges = complement(syntax)
  if (place.afterZero || place.reference > 0) plain = subtract(plain, decimalDigits)
  if (place.reference > 0) {
    for (const digit of "0123456789") {
      const reference = 10 * place.reference + Number(digit)
      if (reference <= MaxReference) go(digit, { ...place, reference })
      // A higher number would be another reference, not this one and a digit.
    }
  }
  go(plain, term(true), change)
  go(".", term(true), change)
  go("^$|", term(false), change)
  go("(", { at: "open" }, change)
  go("[", { ...classAt(NoLeft), isFirst: true }, change)
  go("\\", { at: "escape", inside: null }, change)
  if (seen.stack !== "") {
    go(")", term(seen.stack.endsWith("g")), { ...change, stack: seen.stack.slice(0, -1) })
  }
  if (place.quantifiable) {
    go("*+?", quantified, change)
    go("{", { at: "least", digits: "" }, change)
  } else if (place.lazy) {
    go("?", term(false), change)
  }
}

export function nameEdges(place: NamePlace, seen: Seen, go: Go): void {
  const { name, isGroup } = place
  for (const character of name === "" ? letters : `${letters}0123456789`) {
    go(character, { ...place, name: name + character })
  }
  if (name === "" || (isGroup && seen.names.includes(name))) return
  const missing = seen.missing.filter((needed) => needed !== name)
  if (isGroup) {
    const opened = { stack: `${seen.stack}g`, groups: seen.groups + 1 }
    go(">", term(false), { ...opened, names: [...seen.names, name].sort(), missing })
  } else {
    go(">", term(true), { missing: seen.names.includes(name) ? seen.missing : [...missing, name].sort() })
  }
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz$_"

/** Returns the characters that may follow `name` in a name. */
function nameCharacters(name: string): RegExp {
  return name === "" ? /[\p{ID_Start}$_]/u : /[\p{ID_Continue}$\u200c\u200d]/u
}

export function classEdges({ left, dash, isFirst, afterZero }: ClassPlace, go: Go) {
  if (dash) {
    go("]", term(true))
    // A set cannot end a range, so only `]` may follow the dash.
    if (left === SetLeft) return
    go("\\", { at: "escape", inside: { from: left } })
    return go(intersect(complement(points("]\\")), [left, MaxPoint]), classAt(NoLeft))
  }
  if (left >= SetLeft) go("-", { ...classAt(left), dash: true })
  else if (left === NoLeft) go("-", classAt(0x2d))
  if (!isFirst && !afterZero && left !== CommonLeft) return
  go("]", term(true))
  go("\\", { at: "escape", inside: { from: NoLeft } })
  if (isFirst) go("^", classAt(NoLeft))
  let atoms: CodePointRanges = complement(points(isFirst ? "]\\^-" : "]\\-"))
  if (afterZero) atoms = subtract(atoms, decimalDigits)
  for (const point of singles(intersect(atoms, [0, 0x7f]))) go([point, point], classAt(point))
}

/** Adds the first bytes of characters beyond ASCII whose value matters. */
export function leadEdges(place: Wide, goByte: (byte: number, next: Place) => void): void {
  for (const { lead, count, more, size } of [
    { lead: 0xc0, count: 32, more: 1, size: 0x40 },
    { lead: 0xe0, count: 16, more: 2, size: 0x1000 },
    { lead: 0xf0, count: 5, more: 3, size: 0x40000 },
  ]) {
    const first = [0, 0x80, 0x800, 0x10000][more]
    for (let i = 0; i < count; i++) {
      if (!hasWide(place, Math.max(first, i * size), (i + 1) * size - 1)) continue
      goByte(lead | i, { at: "character", place, base: i * size, more })
    }
  }
}

type CharacterPlace = Extract<Place, { at: "character" }>

/** Returns the bytes with which a character that has begun may continue. */
export function characterBytes({ place: reader, base, more }: CharacterPlace): number[] {
  // Overlong forms are not characters.
  const first = more === 3 ? 0x10000 : more === 2 && base === 0 ? 0x800 : 0
  const size = 64 ** (more - 1)
  const bytes: number[] = []
  for (let i = 0; i < 64; i++) {
    const start = base + i * size
    if (start >= first && hasWide(reader, start, start + size - 1)) bytes.push(0x80 | i)
  }
  return bytes
}

/** Returns the place after one of these bytes. */
export function afterCharacterByte({ place: reader, base, more }: CharacterPlace, byte: number): Place {
  const start = base + (byte & 63) * 64 ** (more - 1)
  if (more > 1) return { at: "character", place: reader, base: start, more: more - 1 }
  return reader.at === "class"
    ? classAt(start)
    : { ...reader, name: reader.name + String.fromCodePoint(start) }
}

/** Whether a character between `lo` and `hi` may be read here. */
function hasWide(place: Wide, lo: number, hi: number): boolean {
  if (place.at === "class") return lo <= MaxPoint && !(lo >= 0xd800 && hi <= 0xdfff)
  const characters = nameCharacters(place.name)
  if (lo === hi) return characters.test(String.fromCodePoint(lo))
  const key = `${lo} ${hi} ${place.name === ""}`
  let has = blocksWithNames.get(key)
  if (has === undefined) {
    has = false
    const last = Math.min(hi, MaxPoint)
    for (let start = lo; start <= last && !has; start += BlockPoints) {
      const block: number[] = []
      for (let point = start; point < start + BlockPoints && point <= last; point++) block.push(point)
      has = characters.test(String.fromCodePoint(...block))
    }
    blocksWithNames.set(key, has)
  }
  return has
}

const BlockPoints = 4096

/** Blocks of code points that were tested, and whether a name may continue there. */
const blocksWithNames = new Map<string, boolean>()

export function escapeEdges(inside: Inside, go: Go): void {
  const isTerm = inside === null
  const from = isTerm ? NoLeft : inside.from
  for (const [letter, value] of Object.entries(controls)) finish(inside, value, letter, go)
  for (const point of singles(escapable)) finish(inside, point, String.fromCodePoint(point), go)
  if (from === NoLeft) {
    go("dDsSwW", isTerm ? term(true) : classAt(SetLeft))
    go("pP", { at: "property", inside, text: "" })
  }
  if (from <= 26) go("c", { at: "control", inside })
  if (from <= 0xff) go("x", { at: "hex", inside, digits: "", length: 2 })
  go("u", { at: "unicode", inside })
  if (isTerm) {
    go("0", { ...term(true), afterZero: true })
    for (const digit of "123456789") go(digit, { ...term(true), reference: Number(digit) })
    go("bB", term(false))
    go("k", { at: "reference" })
  } else {
    if (from <= 0) go("0", classAt(from === NoLeft ? 0 : NoLeft, true))
    finish(inside, 8, "b", go)
    finish(inside, 0x2d, "-", go)
  }
}

export function hexEdges(place: Extract<Place, { at: "hex" }>, go: Go): void {
  for (const digit of "0123456789abcdef") {
    const digits = place.digits + digit
    const value = Number.parseInt(digits, 16)
    const size = 16 ** (place.length - digits.length)
    if (!isLive(place.inside, value * size, (value + 1) * size - 1)) continue
    if (size === 1) finish(place.inside, value, bothCases(digit), go)
    else go(bothCases(digit), { ...place, digits })
  }
}

export function bracedEdges({ inside, digits, isEmpty }: Extract<Place, { at: "braced" }>, go: Go): void {
  for (const digit of "0123456789abcdef") {
    const next = appended(digits === "" ? "0" : digits, digit)
    const value = Number.parseInt(next, 16)
    if (value > MaxPoint) continue
    // The highest code point that starts with these digits.
    let highest = value === 0 ? MaxPoint : value
    while (highest * 16 <= MaxPoint) highest = Math.min(highest * 16 + 15, MaxPoint)
    if (isLive(inside, value, highest)) {
      go(bothCases(digit), { at: "braced", inside, digits: value === 0 ? "" : next, isEmpty: false })
    }
  }
  const value = digits === "" ? 0 : Number.parseInt(digits, 16)
  if (!isEmpty && isLive(inside, value, value)) finish(inside, value, "}", go)
}

/** Whether an escape with a value between `lo` and `hi` is allowed here. */
function isLive(inside: Inside, lo: number, hi: number): boolean {
  if (inside === null) return true
  const least = Math.max(lo, inside.from)
  return least <= hi && !(least >= 0xd800 && hi <= 0xdfff)
}

/** Adds the end of an escape for `value`, at one of `chars`. */
export function finish(inside: Inside, value: number, chars: string, go: Go): void {
  if (inside === null) go(chars, term(true))
  else if (inside.from === NoLeft) go(chars, classAt(value))
  else if (value >= inside.from) go(chars, classAt(NoLeft))
}

function bothCases(digit: string): string {
  return digit < "a" ? digit : digit + digit.toUpperCase()
}

/** Appends to decimal or hexadecimal digits without leading zeros. */
export function appended(digits: string, digit: string): string {
  return digits === "0" ? digit : digits + digit
}

export function isLess(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length
}

function* singles(ranges: CodePointRanges): Generator<number> {
  for (let i = 0; i < ranges.length; i += 2) {
    for (let point = ranges[i]; point <= ranges[i + 1]; point++) yield point
  }
}
