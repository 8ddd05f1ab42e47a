/**
 * A-labels: `xn--` and the Punycode of a U-label (RFC 5890, section 2.3.2.1), read byte by byte.
 *
 * The decoded text of a prefix depends on all of its bytes, so each prefix (a *beginning*) is a
 * state of its own, made on demand. A beginning is a state only if some label starts with it and
 * fits in the octets that are left:
 * - With at least `Ample` octets left, every beginning can continue. It is taken as the ASCII
 *   characters of the label; a hyphen follows, then the digits of one to three letters. They are
 *   inserted where they repair what is wrong: hyphens at an end, or as third and fourth character;
 *   a digit in front in a right-to-left name.
 * - With fewer octets left, such ends are tried, and also digits behind the last hyphen, up to a
 *   bound on their number. Labels that only more attempts would find are refused: a few of those
 *   near the greatest length.
 *
 * Letters are read in either case, as small ones.
 */
import { checkTime } from "../../deadline.ts"
import { PairMap } from "../../intern.ts"
import { Bidi, type Idna, idna, Special } from "./idna.ts"
import { BidiName, BrokenName, type Label, readULabel } from "./idnlabel.ts"
import { type Decoding, decoded, decodingFrom, digitsOf, lastDigits } from "./punycode.ts"

/** Octets of `xn--`. */
export const PrefixOctets = 4

/** The result if no A-label has this prefix. */
export const NoLabel = -1

/**
 * With this many octets left every beginning can be finished: a hyphen, three digits, and two each
 * for two more letters.
 */
export const Ample = 8
/** The least number of digits of one letter, since a smaller number encodes no letter. */
const OneLetter = 3
/** Sharp s: a left-to-right letter that composes with nothing. */
const Letter = 0xdf
/** One letter in front, one behind, one between two hyphens. */
const MaxLetters = 3
const SmallA = 0x61
const Hyphen = 0x2d
/** The greatest number of digits that are tried for one beginning. */
const MaxTried = 200

// Properties of the characters of a label; more characters only add properties.
const HasLeft = 1
const HasRight = 2
const HasEuropean = 4
const HasArabic = 8
const HasArabicDigit = 16
const HasExtendedDigit = 32
const Hopeless = 64

/** The decoding if the last hyphen so far is the delimiter, and the facts of its characters. */
interface Reading {
  decoding: Decoding
  facts: number
}

interface Beginning {
  /** The beginning without its last character. */
  before: number
  /** The last character in lower case; 0 for the empty beginning. */
  byte: number
  /** Number of octets of the name so far. */
  octets: number
  /** The facts of the name after the labels before, as in `idnlabel.ts`. */
  room: number
  /** The facts of the name from the labels before, as in `idnlabel.ts`. */
  name: number
  /** Null if it decodes to no label. */
  reading: Reading | null
  /** The facts of the label that ends here, or null if none does. */
  ending: Label | null
  /**
   * The remaining digits that `ends` finds for a text behind the last hyphen. Filled only if few
   * octets are left.
   */
  ends: readonly (readonly number[])[]
}

export class ALabels {
  private readonly idna: Idna = idna()
  private readonly maxPoint: number
  private readonly beginnings: Beginning[] = []
  /** (beginning, byte) → beginning + 1; 0 if there is none. */
  private readonly next = new PairMap()
  /** Number of attempts left for the current beginning. */
  private left = 0

  constructor() {
    const { starts, ids } = this.idna
    const last = ids.findLastIndex((id) => id >= 0)
    this.maxPoint = last + 1 < starts.length ? starts[last + 1] - 1 : 0x10ffff
  }

  /**
   * Returns a new beginning after `octets` and `xn--`, where `room` octets may follow, or `NoLabel`
   * if none fits.
   */
  begin(room: number, name: number, octets: number): number {
    const first: Beginning = {
      before: NoLabel,
      byte: 0,
      octets: octets + PrefixOctets,
      room,
      name,
      reading: { decoding: decodingFrom([]), facts: 0 },
      ending: null,
      ends: [],
    }
    return this.isLive(first) ? this.beginnings.push(first) - 1 : NoLabel
  }

  /** Returns the beginning after a letter, a digit or a hyphen. */
  after(id: number, read: number): number {
    const byte = read >= 0x41 && read <= 0x5a ? read | 0x20 : read
    const known = this.next.get(id, byte)
    if (known >= 0) return known - 1
    const longer = this.longer(id, byte)
    const target = longer !== null && this.isLive(longer) ? this.beginnings.push(longer) - 1 : NoLabel
    this.next.set(id, byte, target + 1)
    return target
  }

  /** Returns the facts of the label that ends here, or null. */
  ending(id: number): Label | null {
    return this.beginnings[id].ending
  }

  /** Returns the number of octets of the name so far. */
  octets(id: number): number {
    return this.beginnings[id].octets
  }

  private longer(before: number, byte: number): Beginning | null {
    const { octets, room, name, reading, ends } = this.beginnings[before]
    if (room === 0) return null
    const next: Beginning = {
      before,
      byte,
      octets: octets + 1,
      room: room - 1,
      name,
      reading: null,
      ending: null,
      ends: [],
    }
    if (byte === Hyphen) {
      const basic = this.textOf(before)
      // A delimiter needs characters before it.
      if (basic.length === 0) return next
      next.reading = { decoding: decodingFrom(basic), facts: this.factsOf(basic) }
      if (room <= Ample) next.ends = [...this.ends(basic, name, room - 1)]
      return next
    }
    const digit = digitOf(byte)
    next.ends = ends.filter((digits) => digits[0] === digit).map((digits) => digits.slice(1))
    if (reading !== null) next.reading = this.read(reading, digit, name)
    if (next.reading !== null) next.ending = this.endingOf(next.reading, name)
    return next
  }

  private textOf(id: number): number[] {
    const text: number[] = []
    for (let at = id; this.beginnings[at].byte !== 0; at = this.beginnings[at].before) {
      text.push(this.beginnings[at].byte)
    }
    return text.reverse()
  }

  private factsOf(points: readonly number[]): number {
    return points.reduce((facts, point) => facts | this.factsOfPoint(point), 0)
  }

  private factsOfPoint(point: number): number {
    const id = this.idna.classOf(point)
    if (id < 0) return Hopeless
    const { bidi, special } = this.idna.classes[id]
    if (special === Special.Separator) return Hopeless
    let facts = 0
    if (bidi === Bidi.L) facts = HasLeft
    else if (bidi === Bidi.R) facts = HasRight
    else if (bidi === Bidi.European) facts = HasEuropean
    else if (bidi === Bidi.Arabic) facts = HasArabic
    if (special === Special.ArabicDigit) facts |= HasArabicDigit
    if (special === Special.ExtendedDigit) facts |= HasExtendedDigit
    return facts
  }

  /** Returns the reading after one more digit, or null if no digits after it make a label. */
  private read({ decoding, facts }: Reading, digit: number, name: number): Reading | null {
    const next = decoded(decoding, digit, this.maxPoint)
    if (next === null) return null
    if (next.digits > 0) return { decoding: next, facts }
    const all = facts | this.factsOfPoint(next.point)
    if ((all & Hopeless) !== 0) return null
    // RFC 5893, section 2: letters of one direction, digits of one kind. RFC 5892, appendix A.8 and
    // A.9.
    const hasRight = (all & (HasRight | HasArabic)) !== 0
    if (hasRight && ((all & HasLeft) !== 0 || name === BrokenName)) return null
    if ((all & HasEuropean) !== 0 && (all & HasArabic) !== 0) return null
    if ((all & HasArabicDigit) !== 0 && (all & HasExtendedDigit) !== 0) return null
    return { decoding: next, facts: all }
  }

  private endingOf({ decoding }: Reading, name: number): Label | null {
    if (decoding.digits > 0 || decoding.points.length === decoding.basic) return null
    if (!areHyphensInside(decoding.points)) return null
    return readULabel(decoding.points, name, this.idna)
  }

  /**
   * Returns the number of octets by which the room may change while every beginning can continue.
   */
  free(id: number): number {
    return Math.max(0, this.beginnings[id].room - Ample)
  }

  /** Returns bytes that end the label, in most cases as few as possible. */
  rest(id: number): readonly number[] {
    const rest = this.restOf(this.beginnings[id])
    if (rest === null) throw new Error("internal: an A-label without an end")
    return rest
  }

  /** Whether some label starts with this beginning. Cheap tests come first. */
  private isLive(beginning: Beginning): boolean {
    const { room, ending, ends } = beginning
    if (room >= Ample || ending !== null || ends.some((digits) => digits.length <= room)) return true
    return this.mended(beginning) !== null || this.searched(beginning, 1, room) !== null
  }

  private restOf(beginning: Beginning): number[] | null {
    const { room, ending, ends } = beginning
    if (ending !== null) return []
    return (
      this.searched(beginning, 1, Math.min(room, OneLetter)) ??
      ends.find((digits) => digits.length <= room)?.map(byteOf) ??
      this.mended(beginning) ??
      this.searched(beginning, OneLetter + 1, room)
    )
  }

  /**
   * Returns from `least` to `most` digits that end the label, if the bound on attempts suffices.
   */
  private searched({ reading, name }: Beginning, least: number, most: number): number[] | null {
    if (reading === null) return null
    this.left = MaxTried
    for (let digits = least; digits <= most; digits++) {
      const rest = this.digitsTo(reading, digits, name)
      if (rest !== null) return rest.reverse().map(byteOf)
    }
    return null
  }

  /**
   * Returns bytes that make the beginning the ASCII part of a label, with or without an `a` behind
   * it. Returns null if they do not fit.
   */
  private mended({ before, byte, room, name }: Beginning): number[] | null {
    const text = byte === 0 ? [] : [...this.textOf(before), byte]
    // A hyphen takes one octet, if any character precedes it.
    const hyphen = text.length === 0 ? [] : [Hyphen]
    const alone = this.ends(text, name, room - hyphen.length).next().value
    if (alone !== undefined) return [...hyphen, ...alone.map(byteOf)]
    const longer = this.ends([...text, SmallA], name, room - 2).next().value
    return longer === undefined ? null : [SmallA, Hyphen, ...longer.map(byteOf)]
  }

  /**
   * Yields the digits, at most `max`, of the labels that are `basic` with letters inserted where
   * they may be needed.
   */
  private *ends(
    basic: readonly number[],
    name: number,
    max: number,
  ): Generator<readonly number[], undefined> {
    let labels: (readonly number[])[] = [basic]
    for (let letters = 1; letters <= MaxLetters && letters + 2 <= max; letters++) {
      labels = labels.flatMap((label) =>
        [label.length, 0, 3]
          .filter((place) => place <= label.length)
          .map((place) => [...label.slice(0, place), Letter, ...label.slice(place)]),
      )
      for (const label of labels) {
        // No further rule applies to ASCII and sharp s (RFC 5893, section 2: in a name of both
        // directions a letter comes first).
        if (!areHyphensInside(label) || (name === BidiName && label[0] < SmallA)) continue
        const digits = digitsOf(label, Letter)
        if (digits.length <= max) yield digits
      }
    }
  }

  /**
   * Returns `digits` digits after which a label ends, the last one first, or null if none are
   * found.
   */
  private digitsTo(reading: Reading, digits: number, name: number): number[] | null {
    checkTime()
    const last = lastDigits(reading.decoding)
    for (let digit = 0; digit < (digits === 1 ? last : 36); digit++) {
      if (this.left-- <= 0) return null
      const next = this.read(reading, digit, name)
      if (next === null) continue
      if (digits > 1) {
        const rest = this.digitsTo(next, digits - 1, name)
        if (rest === null) continue
        rest.push(digit)
        return rest
      }
      if (this.endingOf(next, name) !== null) return [digit]
    }
    return null
  }
}

/** Whether there is no hyphen at either end, nor two as third and fourth character. */
function areHyphensInside(points: readonly number[]): boolean {
  if (points[0] === Hyphen || points[points.length - 1] === Hyphen) return false
  return points[2] !== Hyphen || points[3] !== Hyphen
}

function digitOf(byte: number): number {
  return byte >= SmallA ? byte - SmallA : byte - 0x30 + 26
}

function byteOf(digit: number): number {
  return digit < 26 ? SmallA + digit : 0x30 + digit - 26
}

/** The bytes that an A-label may contain, ascending. */
export const labelBytes: readonly number[] = [
  0x2d,
  ...Array.from({ length: 10 }, (_, i) => 0x30 + i),
  ...Array.from({ length: 26 }, (_, i) => 0x41 + i),
  ...Array.from({ length: 26 }, (_, i) => 0x61 + i),
]

/** The same bytes and the full stop. */
export const tailBytes: readonly number[] = [0x2d, 0x2e, ...labelBytes.slice(1)]
