/**
 * `idn-hostname`: names of labels that are ASCII or U-labels (RFC 5890 to 5893), as a machine over bytes.
 *
 * What a label has yet to keep to is a handful of facts: a hyphen before, a joiner that waits for its letter, the
 * direction, the last starter that something may compose with, and so on. Only the length is not: it is bounded in the
 * Punycode form, which depends on every character. So the machine counts and keeps a range that holds them, and takes the greatest length that a label of those counts may have (`punycodelength.ts`): it accepts no
 * label that is too long, but refuses some long ones whose form would fit. Labels of a small alphabet may have about 23
 * characters, ideographs 12. A-labels (`xn--`) are not accepted: what they decode to would be a state of its own. And a
 * mark that composes with some small letter of ASCII is accepted after none of them (`idna.ts`).
 *
 * No state is entered that cannot be finished: what a label waits for, one of a few *witnesses* gives it.
 */
import { PairMap, TupleTable } from "../intern.ts"
import { type ByteMachine, type ExprId, exprs, type TextLengths } from "../lexeme/expr.ts"
import { Bidi, type CharacterClass, type Idna, idna, Joining, Script, Special } from "./idna.ts"
import { asciiLengthBound, joinZones, NoZone } from "./punycodelength.ts"

const MaxLabel = 63
const MaxName = 253

/** What the next character must be. */
const Nothing = 0
const SmallL = 1
const Greek = 2
/** Marks, and then one that joins to the right: after a non-joiner. */
const JoinsRight = 3

/** KATAKANA MIDDLE DOT needs a Japanese character somewhere in its label. */
const NoDot = 0
const DotWaits = 1
const HasJapanese = 2

/** By the first character of a label. A broken one keeps the rule of RFC 5893 no more: its name has no right-to-left. */
const Fresh = 0
const LeftToRight = 1
const RightToLeft = 2
const Broken = 3

/** What the labels so far say of the name. */
const OpenName = 0
const BrokenName = 1
const BidiName = 2

/** The facts of a label, and of the name before it. */
interface Label {
  /** Octets of the labels before, with their dots. */
  total: number
  name: number
  basic: number
  wide: number
  /** Of `punycodelength.ts`: holds all characters beyond ASCII. */
  zone: number
  hasCapital: boolean
  /** About the last character. */
  isHyphen: boolean
  isL: boolean
  isVirama: boolean
  isHebrew: boolean
  /** The last one that is not transparent joins to the left. */
  joinsLeft: boolean
  waitsFor: number
  dot: number
  /** Digits of the label: the special of those it has, or 0. */
  digits: number
  direction: number
  /** The last character but for marks may end a label of its direction. */
  mayEnd: boolean
  hasEuropean: boolean
  hasArabic: boolean
  /** Of the last starter, and the rank of the marks after it. */
  compositions: number
  rank: number
}

const freshLabel: Label = {
  total: 0,
  name: OpenName,
  basic: 0,
  wide: 0,
  zone: NoZone,
  hasCapital: false,
  isHyphen: false,
  isL: false,
  isVirama: false,
  isHebrew: false,
  joinsLeft: false,
  waitsFor: Nothing,
  dot: NoDot,
  digits: 0,
  direction: Fresh,
  mayEnd: false,
  hasEuropean: false,
  hasArabic: false,
  compositions: 0,
  rank: 0,
}

/** `l`, Greek, Hebrew, Arabic, Japanese and Mongolian letters: one of them, or three in a row, end every wait that ends. */
const witnesses = [0x6c, 0x3b1, 0x5d0, 0x628, 0x304b, 0x1820]
const MaxWitnesses = 3

const Dead = -1

class IdnHostnameMachine implements ByteMachine {
  readonly start: number
  private readonly idna: Idna = idna()
  /** [-1, facts …] between characters; [state, base, bytes, least] inside one: code points from `base` and `least` on, bytes to come. */
  private readonly places = new TupleTable()
  private readonly key = new Int32Array(9)
  private readonly labels: (Label | null)[] = []
  /** (state, class) → state + 1; 0: dead. */
  private readonly next = new PairMap()
  private readonly witnessIds: readonly number[]
  /** Shape [states]: 0 not known, 1 dead, 2 live. */
  private readonly verdicts: number[] = []

  constructor() {
    this.witnessIds = witnesses.map((point) => this.idna.classOf(point))
    this.start = this.intern(freshLabel)
  }

  isAccepting(state: number): boolean {
    const label = this.labels[state]
    return label !== null && isWhole(label)
  }

  row(state: number): number[] {
    const row: number[] = []
    const label = this.labels[state]
    if (label === null) {
      const [from, base, more, least] = this.places.view(state)
      const size = 64 ** (more - 1)
      for (let byte = 0x80; byte <= 0xbf; byte++) {
        this.addBlock(row, byte, from, base + (byte - 0x80) * size, more - 1, least)
      }
      return row
    }
    for (let byte = 0x2d; byte <= 0x7a; byte++) this.addBlock(row, byte, state, byte, 0, 0)
    for (let byte = 0xc2; byte <= 0xdf; byte++) this.addBlock(row, byte, state, (byte & 0x1f) << 6, 1, 0x80)
    for (let byte = 0xe0; byte <= 0xef; byte++) this.addBlock(row, byte, state, (byte & 0x0f) << 12, 2, 0x800)
    for (let byte = 0xf0; byte <= 0xf4; byte++)
      this.addBlock(row, byte, state, (byte & 0x07) << 18, 3, 0x10000)
    return row
  }

  /**
   * A name can end after the fewest witnesses that end it, and after more of them as long as they fit. From what follows
   * the first of them the rest is found again, so that no state is a dead end.
   */
  lengths(state: number): TextLengths {
    const label = this.labels[state]
    if (label === null) {
      const [from, base, more, least] = this.places.view(state)
      const { total, basic, wide } = this.labels[from] as Label
      const after = this.firstAfter(from, Math.max(base, least), base + 64 ** more)
      return { ...this.lengths(after), low: 0, high: MaxName - total - basic - wide - 1 }
    }
    const end = this.shortestEnd(label)
    let to = end.steps
    for (let next = this.longer(end.label); next !== null; next = this.longer(next)) to++
    const low = end.steps === 0 ? 0 : 1
    return { low, high: MaxName - label.total - label.basic - label.wide, from: end.steps, to, givesUp: true }
  }

  /** The label that ends after the fewest witnesses. */
  private shortestEnd(label: Label): { label: Label; steps: number } {
    let labels = [label]
    for (let steps = 0; steps <= MaxWitnesses; steps++) {
      const whole = labels.find(isWhole)
      if (whole !== undefined) return { label: whole, steps }
      labels = labels.flatMap((one) => this.witnessed(one))
    }
    throw new Error("internal: a name without an end")
  }

  private longer(label: Label): Label | null {
    return this.witnessed(label).find(isWhole) ?? null
  }

  private witnessed(label: Label): Label[] {
    return this.witnessIds.flatMap((id) => step(label, this.idna.classes[id], this.idna) ?? [])
  }

  /**
   * The way by `byte` to the characters from `base` on, `more` bytes behind it, if one of them goes on from `state`.
   * Below `least` the form is overlong.
   */
  private addBlock(
    row: number[],
    byte: number,
    state: number,
    base: number,
    more: number,
    least: number,
  ): void {
    const target = this.firstAfter(state, Math.max(base, least), base + 64 ** more)
    if (target === Dead) return
    row.push(byte | (byte << 8), more === 0 ? target : this.inside(state, base, more, least))
  }

  /** The state after the first code point in `start..end` (half-open) that may come, or `Dead`. */
  private firstAfter(state: number, start: number, end: number): number {
    const { starts, ids } = this.idna
    for (let run = this.idna.runOf(start); run < starts.length && starts[run] < end; run++) {
      const target = ids[run] < 0 ? Dead : this.after(state, ids[run])
      if (target !== Dead) return target
    }
    return Dead
  }

  /** The state after a character of the class, or `Dead` where the name could not be finished. */
  private after(state: number, classId: number): number {
    const known = this.next.get(state, classId)
    if (known >= 0) return known - 1
    const label = step(this.labels[state] as Label, this.idna.classes[classId], this.idna)
    let target = Dead
    if (label !== null) {
      target = this.intern(label)
      if (!this.isLive(target)) target = Dead
    }
    this.next.set(state, classId, target + 1)
    return target
  }

  private isLive(state: number): boolean {
    this.verdicts[state] ||= this.canEnd(this.labels[state] as Label, MaxWitnesses) ? 2 : 1
    return this.verdicts[state] === 2
  }

  private canEnd(label: Label, steps: number): boolean {
    if (isWhole(label)) return true
    if (steps === 0) return false
    return this.witnessIds.some((id) => {
      const further = step(label, this.idna.classes[id], this.idna)
      return further !== null && this.canEnd(further, steps - 1)
    })
  }

  private intern(label: Label): number {
    const { key } = this
    key[0] = -1
    key[1] = label.total
    key[2] = label.basic
    key[3] = label.wide
    key[4] = label.zone
    key[5] =
      (label.hasCapital ? 1 : 0) |
      (label.isHyphen ? 2 : 0) |
      (label.isL ? 4 : 0) |
      (label.isVirama ? 8 : 0) |
      (label.isHebrew ? 16 : 0) |
      (label.joinsLeft ? 32 : 0) |
      (label.mayEnd ? 64 : 0) |
      (label.hasEuropean ? 128 : 0) |
      (label.hasArabic ? 256 : 0)
    key[6] =
      label.name | (label.waitsFor << 2) | (label.dot << 4) | (label.direction << 6) | (label.digits << 8)
    key[7] = label.compositions
    key[8] = label.rank
    const before = this.places.count
    const id = this.places.intern(key)
    if (id === before) this.labels.push(label)
    return id
  }

  private inside(state: number, base: number, more: number, least: number): number {
    const before = this.places.count
    const id = this.places.intern([state, base, more, least])
    if (id === before) this.labels.push(null)
    return id
  }
}

/** Whether a name may end here, or a separator follow. */
function isWhole(label: Label): boolean {
  if (
    label.basic + label.wide === 0 ||
    label.isHyphen ||
    label.waitsFor !== Nothing ||
    label.dot === DotWaits
  )
    return false
  return label.mayEnd || (label.direction !== RightToLeft && label.name !== BidiName)
}

function lengthOf({ basic, wide, zone }: Label): number {
  return asciiLengthBound(basic, wide, zone)
}

/** The facts after one character more, or null where it may not stand. Whether the rest can follow is not asked. */
function step(label: Label, character: CharacterClass, { seconds }: Idna): Label | null {
  const { special, bidi } = character
  if (special === Special.Separator) return separated(label)
  const isFirst = label.basic + label.wide === 0
  const isBasic = character.zone === NoZone

  if (isFirst && (character.isMark || special === Special.Hyphen)) return null
  // "--" as third and fourth character: A-labels and what is reserved beside them.
  if (special === Special.Hyphen && label.isHyphen && label.basic + label.wide === 3) return null
  if (special === Special.Capital ? label.wide > 0 : label.hasCapital && !isBasic) return null
  if (
    !isInContext(label, character) ||
    !isDirected(label, bidi) ||
    !staysComposed(label, character, seconds)
  ) {
    return null
  }
  const next = { ...label }
  next.basic += isBasic ? 1 : 0
  next.wide += isBasic ? 0 : 1
  next.zone = joinZones(label.zone, character.zone)
  const length = lengthOf(next)
  if (length > MaxLabel || next.total + length > MaxName) return null

  direct(next, bidi)
  if (character.rank === 0) next.compositions = character.compositions
  next.rank = character.rank
  next.hasCapital ||= special === Special.Capital
  next.isHyphen = special === Special.Hyphen
  next.isL = special === Special.SmallL
  next.isVirama = character.isVirama
  next.isHebrew = character.script === Script.Hebrew
  if (character.joining !== Joining.Transparent) {
    next.joinsLeft = character.joining === Joining.Left || character.joining === Joining.Dual
  }
  next.waitsFor = waitAfter(label, character)
  if (character.script === Script.Japanese) next.dot = HasJapanese
  else if (special === Special.KatakanaDot && label.dot === NoDot) next.dot = DotWaits
  if (special === Special.ArabicDigit || special === Special.ExtendedDigit) next.digits = special
  return next
}

function separated(label: Label): Label | null {
  if (!isWhole(label)) return null
  const total = label.total + lengthOf(label) + 1
  if (total >= MaxName) return null
  if (label.direction === RightToLeft) return { ...freshLabel, total, name: BidiName }
  return { ...freshLabel, total, name: label.mayEnd ? label.name : BrokenName }
}

/** RFC 5892, appendix A, and what the characters before wait for. */
function isInContext(label: Label, { special, script, joining }: CharacterClass): boolean {
  switch (label.waitsFor) {
    case SmallL:
      if (special !== Special.SmallL) return false
      break
    case Greek:
      if (script !== Script.Greek) return false
      break
    case JoinsRight:
      if (joining !== Joining.Transparent && joining !== Joining.Right && joining !== Joining.Dual)
        return false
  }
  switch (special) {
    case Special.Joiner:
      return label.isVirama
    case Special.NonJoiner:
      return label.isVirama || label.joinsLeft
    case Special.MiddleDot:
      return label.isL
    case Special.Geresh:
      return label.isHebrew
    case Special.ArabicDigit:
      return label.digits !== Special.ExtendedDigit
    case Special.ExtendedDigit:
      return label.digits !== Special.ArabicDigit
    default:
      return true
  }
}

function waitAfter(label: Label, { special, joining }: CharacterClass): number {
  if (special === Special.MiddleDot) return SmallL
  if (special === Special.Keraia) return Greek
  if (special === Special.NonJoiner) return label.isVirama ? Nothing : JoinsRight
  return label.waitsFor === JoinsRight && joining === Joining.Transparent ? JoinsRight : Nothing
}

/** RFC 5893, section 2: whether a character of this direction may come next. */
function isDirected({ direction, name, hasEuropean, hasArabic }: Label, bidi: number): boolean {
  switch (direction) {
    case Fresh:
      if (bidi === Bidi.R) return name !== BrokenName
      return bidi === Bidi.L || (bidi !== Bidi.Arabic && name !== BidiName)
    case RightToLeft:
      if (bidi === Bidi.European) return !hasArabic
      return bidi === Bidi.Arabic ? !hasEuropean : bidi !== Bidi.L
    default:
      return bidi !== Bidi.R && bidi !== Bidi.Arabic
  }
}

/** Notes the direction of the last character. */
function direct(label: Label, bidi: number): void {
  if (label.direction === Fresh) {
    label.direction = bidi === Bidi.L ? LeftToRight : bidi === Bidi.R ? RightToLeft : Broken
  }
  if (label.direction === Broken || bidi === Bidi.Mark) return
  label.mayEnd = bidi !== Bidi.Neutral
  if (label.direction !== RightToLeft) return
  label.hasEuropean ||= bidi === Bidi.European
  label.hasArabic ||= bidi === Bidi.Arabic
}

/** Whether the label stays in NFC (Unicode Standard Annex 15): marks in order, and nothing that would compose. */
function staysComposed(label: Label, { rank, second }: CharacterClass, seconds: Idna["seconds"]): boolean {
  if (rank > 0 && label.rank > rank) return false
  // A mark of the same rank, or any before a starter, stands between the two.
  const isBlocked = label.rank > 0 && label.rank >= rank
  return isBlocked || second < 0 || !seconds[label.compositions].has(second)
}

/** Names as described above. */
export function idnHostnameExpr(): ExprId {
  return exprs.machine(new IdnHostnameMachine())
}
