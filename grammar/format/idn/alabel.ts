/**
 * A-labels: `xn--` and the Punycode of a U-label (RFC 5890, section 2.3.2.1), read byte by byte.
 *
 * What a beginning decodes to depends on all of it, so each beginning is a state of its own, made
 * when it is asked for. It is one only if some label begins so, within the octets that are left:
 * - with `Ample` of them every beginning can go on: it is taken as the ASCII characters of the
 *   label, a hyphen follows, and then the digits of one to three letters, put where they mend what
 *   is wrong (hyphens at an end, or in the third and fourth place; a digit in front where the name
 *   is right-to-left);
 * - with fewer, such ends are tried, and digits behind the last hyphen, up to a bound on their
 *   number. Labels that only more attempts would find are not taken: a few of those that are near
 *   the greatest length.
 * Letters are read in any case, as small ones.
 */
import { checkTime } from "../../deadline.ts"
import { PairMap } from "../../intern.ts"
import { Bidi, type Idna, idna, Special } from "./idna.ts"
import { BidiName, BrokenName, type Label, readULabel } from "./idnlabel.ts"
import { type Decoding, decoded, decodingFrom, digitsOf, lastDigits } from "./punycode.ts"

/** Octets of `xn--`. */
export const PrefixOctets = 4

/** No A-label begins so. */
export const NoLabel = -1

/**
 * With so many octets left every beginning can be finished: a hyphen, three digits, and two each
 * for two letters more.
 */
export const Ample = 8
/** The digits of one letter: never less, since a lesser number stands for no letter. */
const OneLetter = 3
/** Sharp s: a letter from left to right that composes with nothing. */
const Letter = 0xdf
/** One in front, one behind, one between two hyphens. */
const MaxLetters = 3
const SmallA = 0x61
const Hyphen = 0x2d
/** Digits that are tried for one beginning. */
const MaxTried = 200

// What the characters of a label have in common can only grow.
const HasLeft = 1
const HasRight = 2
const HasEuropean = 4
const HasArabic = 8
const HasArabicDigit = 16
const HasExtendedDigit = 32
const Hopeless = 64

/** What is decoded, if the last hyphen so far is the delimiter, and the facts of its characters. */
interface Reading {
  decoding: Decoding
  facts: number
}

interface Beginning {
  /** The beginning without its last character. */
  before: number
  /** In lower case; 0 for the empty one. */
  byte: number
  /** Octets of the name so far. */
  octets: number
  /** Octets of the label that may still come. */
  room: number
  /** Of `idnlabel.ts`: what the labels before say of the name. */
  name: number
  /** Null: decodes to no label. */
  reading: Reading | null
  /** The facts of the label that ends here; null: none does. */
  ending: Label | null
  /**
   * Behind the last hyphen: what is left of the digits that `ends` finds for it. Known where few
   * octets are left.
   */
  ends: readonly (readonly number[])[]
}

export class ALabels {
  private readonly idna: Idna = idna()
  private readonly maxPoint: number
  private readonly beginnings: Beginning[] = []
  /** (beginning, byte) → beginning + 1; 0: none. */
  private readonly next = new PairMap()
  /** Attempts left for the beginning that is being looked at. */
  private left = 0

  constructor() {
    const { starts, ids } = this.idna
    const last = ids.findLastIndex((id) => id >= 0)
    this.maxPoint = last + 1 < starts.length ? starts[last + 1] - 1 : 0x10ffff
  }

  /**
   * After `octets` and `xn--`, where `room` octets may follow; `NoLabel` where none fits. A new one
   * at each call.
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

  /** After a letter, a digit or a hyphen. */
  after(id: number, read: number): number {
    const byte = read >= 0x41 && read <= 0x5a ? read | 0x20 : read
    const known = this.next.get(id, byte)
    if (known >= 0) return known - 1
    const longer = this.longer(id, byte)
    const target = longer !== null && this.isLive(longer) ? this.beginnings.push(longer) - 1 : NoLabel
    this.next.set(id, byte, target + 1)
    return target
  }

  /** The facts of the label that ends here, or null. */
  ending(id: number): Label | null {
    return this.beginnings[id].ending
  }

  /** Octets of the name so far. */
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
      // A delimiter follows something.
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

  /** After one digit more, or null where no digits behind it make a label. */
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

  /** With so many octets more or fewer every beginning goes on. */
  free(id: number): number {
    return Math.max(0, this.beginnings[id].room - Ample)
  }

  /** Bytes that end the label. Most often as few as there can be. */
  rest(id: number): readonly number[] {
    const rest = this.restOf(this.beginnings[id])
    if (rest === null) throw new Error("internal: an A-label without an end")
    return rest
  }

  /** Whether a label begins so: what is cheap to find comes first. */
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

  /** From `least` to `most` digits that end the label, found within the bound on attempts. */
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
   * What makes it the ASCII part of a label, with an `a` behind it or not; null where that does not
   * fit.
   */
  private mended({ before, byte, room, name }: Beginning): number[] | null {
    const text = byte === 0 ? [] : [...this.textOf(before), byte]
    // A hyphen takes one octet, where there is anything before it.
    const hyphen = text.length === 0 ? [] : [Hyphen]
    const alone = this.ends(text, name, room - hyphen.length).next().value
    if (alone !== undefined) return [...hyphen, ...alone.map(byteOf)]
    const longer = this.ends([...text, SmallA], name, room - 2).next().value
    return longer === undefined ? null : [SmallA, Hyphen, ...longer.map(byteOf)]
  }

  /**
   * The digits, at most `max`, of the labels that are `basic` with letters where they may be
   * needed.
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
        // Of ASCII and sharp s no more is asked (RFC 5893, section 2: in a name of both directions
        // a letter comes first).
        if (!areHyphensInside(label) || (name === BidiName && label[0] < SmallA)) continue
        const digits = digitsOf(label, Letter)
        if (digits.length <= max) yield digits
      }
    }
  }

  /** So many digits after which a label ends, the last one first; null where none are found. */
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

/** No hyphen at either end, nor two as third and fourth character. */
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

/** Bytes that an A-label is made of; ascending. */
export const labelBytes: readonly number[] = [
  0x2d,
  ...Array.from({ length: 10 }, (_, i) => 0x30 + i),
  ...Array.from({ length: 26 }, (_, i) => 0x41 + i),
  ...Array.from({ length: 26 }, (_, i) => 0x61 + i),
]

/** The same and the full stop. */
export const tailBytes: readonly number[] = [0x2d, 0x2e, ...labelBytes.slice(1)]
