/**
 * The facts of a label of `idn-hostname`, and the rules for one more character: IDNA2008 (RFC 5890
 * to 5893), NFC, and lengths in the ASCII form.
 *
 * The remaining requirements of a label are a handful of facts: a hyphen before, a joiner that
 * waits for its letter, the direction, the last starter that something may compose with, and so on.
 * The exception is the length: it is bounded in the Punycode form, which depends on every
 * character. So the state counts the characters and keeps a range that contains them, and the bound
 * applies to the greatest length that a label of these counts may have (`punycodelength.ts`). No
 * label that is too long is accepted, but some long ones whose form would fit are refused. Labels
 * of a small alphabet may have about 23 characters, ideographs 12. A-labels (`xn--`) are not
 * accepted here: what they decode to, and whether more digits can still make a label of it, would
 * need a state for each prefix. A mark that composes with some small ASCII letter is accepted after
 * none of them (`idna.ts`).
 */
import { Bidi, type CharacterClass, type Idna, Joining, Prefix, Script, Special } from "./idna.ts"
import { asciiLengthBound, joinZones, NoZone } from "./punycodelength.ts"

export const MaxLabel = 63
export const MaxName = 253

/** Requirements for the next character. */
const Nothing = 0
const SmallL = 1
const Greek = 2
/** After a non-joiner: marks, then a character that joins to the right. */
const JoinsRight = 3

/** KATAKANA MIDDLE DOT needs a Japanese character somewhere in its label. */
const NoDot = 0
const DotWaits = 1
const HasJapanese = 2

/**
 * The direction of a label, by its first character. A `Broken` label violates the rule of RFC 5893,
 * so no other label of its name may be right-to-left.
 */
const Fresh = 0
const LeftToRight = 1
const RightToLeft = 2
const Broken = 3

/** The facts of a name after the labels so far. */
export const OpenName = 0
export const BrokenName = 1
export const BidiName = 2

/** The facts of a label, and of the name before it. */
export interface Label {
  /** Octets of the labels before, with their dots. */
  total: number
  name: number
  basic: number
  wide: number
  /** Zone of `punycodelength.ts` that contains all characters beyond ASCII. */
  zone: number
  hasCapital: boolean
  /** `Prefix` of the last character if the label so far is a prefix of `xn--`, in either case. */
  prefix: number
  /** The last character. */
  isHyphen: boolean
  isL: boolean
  isVirama: boolean
  isHebrew: boolean
  /** The last character that is not transparent joins to the left. */
  joinsLeft: boolean
  waitsFor: number
  dot: number
  /** The special of the digits of the label, or 0. */
  digits: number
  direction: number
  /** The last character that is not a mark may end a label of its direction. */
  mayEnd: boolean
  hasEuropean: boolean
  hasArabic: boolean
  /** The compositions of the last starter, and the rank of the marks after it. */
  compositions: number
  rank: number
}

export const freshLabel: Label = {
  total: 0,
  name: OpenName,
  basic: 0,
  wide: 0,
  zone: NoZone,
  hasCapital: false,
  prefix: Prefix.None,
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

/** Whether a name may end here, or a separator follow. */
export function isWhole(label: Label): boolean {
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

/**
 * Returns the facts after one more character, or null if it is not allowed. Does not test whether
 * the name can be finished.
 */
export function step(label: Label, character: CharacterClass, { seconds }: Idna): Label | null {
  if (character.special === Special.Separator) return afterLabel(label, label.total + lengthOf(label))
  if (!staysComposed(label, character, seconds)) return null
  const next = joined(label, character)
  if (next === null) return null
  const length = lengthOf(next)
  return length > MaxLabel || next.total + length > MaxName ? null : next
}

/**
 * Returns the facts of a complete label, or null if it is not a U-label. Does not test its length.
 * O(characters).
 */
export function readULabel(
  points: readonly number[],
  name: number,
  { classes, classOf }: Idna,
): Label | null {
  let label: Label | null = { ...freshLabel, name }
  for (const point of points) {
    const id = classOf(point)
    label = id < 0 || classes[id].special === Special.Separator ? null : joined(label, classes[id])
    if (label === null) return null
  }
  if (!isWhole(label)) return null
  const text = String.fromCodePoint(...points)
  return text.normalize("NFC") === text ? label : null
}

/**
 * Returns the facts with one more character, or null if it is not allowed. Does not test lengths
 * and composition.
 */
function joined(label: Label, character: CharacterClass): Label | null {
  const { special, bidi } = character
  const isFirst = label.basic + label.wide === 0
  const isBasic = character.zone === NoZone

  if (isFirst && (character.isMark || special === Special.Hyphen)) return null
  // "--" as third and fourth character: A-labels and other reserved labels.
  if (special === Special.Hyphen && label.isHyphen && label.basic + label.wide === 3) return null
  if (special === Special.Capital ? label.wide > 0 : label.hasCapital && !isBasic) return null
  if (!isInContext(label, character) || !isDirected(label, bidi)) return null
  const next = { ...label }
  next.basic += isBasic ? 1 : 0
  next.wide += isBasic ? 0 : 1
  next.zone = joinZones(label.zone, character.zone)

  direct(next, bidi)
  if (character.rank === 0) next.compositions = character.compositions
  next.rank = character.rank
  next.hasCapital ||= special === Special.Capital
  const isPrefix = character.prefix === label.prefix + 1 && (isFirst || label.prefix > 0)
  next.prefix = isPrefix ? character.prefix : Prefix.None
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

/** Returns the facts of the name after a separator that follows `octets` octets, or null. */
export function afterLabel(label: Label, octets: number): Label | null {
  if (!isWhole(label)) return null
  const total = octets + 1
  if (total >= MaxName) return null
  if (label.direction === RightToLeft) return { ...freshLabel, total, name: BidiName }
  return { ...freshLabel, total, name: label.mayEnd ? label.name : BrokenName }
}

/**
 * Whether the character suits RFC 5892, appendix A, and whatever the characters before wait for.
 */
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

/** Whether a character of this direction may come next by RFC 5893, section 2. */
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

/** Records the direction of the last character. */
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

/**
 * Whether the label stays in NFC (Unicode Standard Annex 15): marks are in order, and nothing would
 * compose.
 */
function staysComposed(label: Label, { rank, second }: CharacterClass, seconds: Idna["seconds"]): boolean {
  if (rank > 0 && label.rank > rank) return false
  // A mark of the same rank, or any mark before a starter, blocks the composition.
  const isBlocked = label.rank > 0 && label.rank >= rank
  return isBlocked || second < 0 || !seconds[label.compositions].has(second)
}
