/**
 * IDNA2008: the properties of characters in labels of internationalized host names.
 *
 * RFC 5892 derives them from Unicode properties, RFC 5893 adds the bidirectional classes, RFC 5891
 * requires NFC. General categories, scripts and the like come from the host's `RegExp`; combining
 * classes and compositions come from its `normalize`, so that all are of one Unicode version.
 * Joining types are not available from the host, so they are a table of the Unicode Character
 * Database (18.0). The bidirectional classes follow from category and block; the few exceptions are
 * listed.
 *
 * Characters that agree in all of this form one class. The classes are computed once, on first use
 * (about 0.3 s).
 */
import { TupleTable } from "../../intern.ts"
import { type CodePointRanges, includes, intersect, subtract, unite } from "../../regex/ranges.ts"
import { classRanges, propertyRanges } from "../../regex/unicode.ts"
import { NoZone, zoneOf, zoneStarts } from "./punycodelength.ts"

/** Characters with a special rule. */
export const Special = {
  None: 0,
  Hyphen: 1,
  /** A capital of ASCII: only in labels that are entirely ASCII. */
  Capital: 2,
  SmallL: 3,
  Separator: 4,
  NonJoiner: 5,
  Joiner: 6,
  MiddleDot: 7,
  Keraia: 8,
  /** GERESH and GERSHAYIM. */
  Geresh: 9,
  KatakanaDot: 10,
  ArabicDigit: 11,
  ExtendedDigit: 12,
} as const

/**
 * Bidirectional classes, as far as RFC 5893 distinguishes them: R is R and AL, Neutral is ES, CS,
 * ET, ON and BN.
 */
export const Bidi = { L: 0, R: 1, European: 2, Arabic: 3, Mark: 4, Neutral: 5 } as const

export const Script = { Other: 0, Greek: 1, Hebrew: 2, /** Hiragana, Katakana, Han. */ Japanese: 3 } as const

/** The joining types: none, right-joining, left-joining, dual-joining, transparent. */
export const Joining = { None: 0, Right: 1, Left: 2, Dual: 3, Transparent: 4 } as const

/** Position of a character in `xn-`, with letters in either case. */
export const Prefix = { None: 0, X: 1, N: 2, Hyphen: 3 } as const

/** The properties that all characters of a class share. */
export interface CharacterClass {
  special: number
  bidi: number
  script: number
  joining: number
  prefix: number
  /** General category M: not allowed at the beginning. */
  isMark: boolean
  isVirama: boolean
  /** Rank of the canonical combining class; 0 is class 0. */
  rank: number
  /** Id among the characters that compose with one before them; -1 if it is none. */
  second: number
  /**
   * Index into `seconds`: the characters that make the text unstable under NFC after this one. 0 if
   * there are none.
   */
  compositions: number
  /** Zone of `punycodelength.ts`; `NoZone` for ASCII. */
  zone: number
}

export interface Idna {
  /** Class by id. */
  readonly classes: readonly CharacterClass[]
  /** Sets of `second`s by `compositions`. */
  readonly seconds: readonly ReadonlySet<number>[]
  /** Returns the class id of a code point, or -1 if no label may contain it. Binary search. */
  classOf(point: number): number
  /**
   * Runs of one class: their first code points, ascending, and their class ids, -1 for none. Shapes
   * [runs].
   */
  readonly starts: Int32Array
  readonly ids: Int32Array
  /** Returns the run that contains a code point. Binary search. */
  runOf(point: number): number
}

// RFC 5892, section 2: characters derived from properties, then the exceptions.
const valid =
  "[[\\p{Ll}\\p{Lu}\\p{Lo}\\p{Nd}\\p{Lm}\\p{Mn}\\p{Mc}]--[\\p{Changes_When_NFKC_Casefolded}" +
  "\\p{Default_Ignorable_Code_Point}\\p{White_Space}\\p{Noncharacter_Code_Point}\\u{20d0}-\\u{20ff}" +
  "\\u{1d100}-\\u{1d24f}\\u{1100}-\\u{11ff}\\u{a960}-\\u{a97f}\\u{d7b0}-\\u{d7ff}]]"
const exceptions = [0xdf, 0x3c2, 0x6fd, 0x6fe, 0xf0b, 0x3007]
const disallowed: CodePointRanges = [
  0x640, 0x640, 0x7fa, 0x7fa, 0x302e, 0x302f, 0x3031, 0x3035, 0x303b, 0x303b,
]
const specials: readonly (readonly [special: number, ...ranges: number[]])[] = [
  [Special.Hyphen, 0x2d, 0x2d],
  [Special.Capital, 0x41, 0x5a],
  [Special.SmallL, 0x6c, 0x6c],
  [Special.Separator, 0x2e, 0x2e, 0x3002, 0x3002, 0xff0e, 0xff0e, 0xff61, 0xff61],
  [Special.NonJoiner, 0x200c, 0x200c],
  [Special.Joiner, 0x200d, 0x200d],
  [Special.MiddleDot, 0xb7, 0xb7],
  [Special.Keraia, 0x375, 0x375],
  [Special.Geresh, 0x5f3, 0x5f4],
  [Special.KatakanaDot, 0x30fb, 0x30fb],
  [Special.ArabicDigit, 0x660, 0x669],
  [Special.ExtendedDigit, 0x6f0, 0x6f9],
]

// Bidi_Class: right to left by block, except for marks and digits. All others are L, with few
// exceptions among valid characters.
const rightToLeft: CodePointRanges = [
  0x590, 0x8ff, 0xfb1d, 0xfdff, 0xfe70, 0xfeff, 0x10800, 0x10fff, 0x1e800, 0x1efff,
]
const europeanDigits: CodePointRanges = [0x30, 0x39, 0x6f0, 0x6f9]
const arabicDigits: CodePointRanges = [0x660, 0x669, 0x10d30, 0x10d39, 0x10d40, 0x10d49]
const marksFromLeft: CodePointRanges = [0xcbf, 0xcbf, 0xcc6, 0xcc6, 0x11a07, 0x11a08, 0x11c3f, 0x11c3f]
const neutral: CodePointRanges = [
  0x2d, 0x2d, 0xb7, 0xb7, 0x2b9, 0x2ba, 0x2c6, 0x2cf, 0x2ec, 0x2ec, 0x375, 0x375, 0x200c, 0x200d, 0x2e2f,
  0x2e2f, 0x30fb, 0x30fb, 0xa67f, 0xa67f, 0xa717, 0xa71f, 0xa788, 0xa788,
]

// Joining_Type, as hexadecimal ranges. T is Mn, Me and one letter.
const dualJoining = parseRanges(
  "620 626 628 62a-62e 633-63f 641-647 649-64a 66e-66f 678-687 69a-6bf 6c1-6c2 6cc 6ce 6d0-6d1 6fa-6fc 6ff 712-714 " +
    "71a-71d 71f-727 729 72b 72d-72e 74e-758 75c-76a 76d-770 772 775-777 77a-77f 7ca-7ea 841-845 848 84a-853 855 860 " +
    "862-865 868 886 889-88d 88f 8a0-8a9 8af-8b0 8b3-8b8 8ba-8c8 1807 1820-1878 1887-18a8 18aa a840-a871 " +
    "10ac0-10ac4 10ad3-10ad6 10ad8-10adc 10ade-10ae0 10aeb-10aee 10b80 10b82 10b86-10b88 10b8a-10b8b 10b8d 10b90 " +
    "10bad-10bae 10d01-10d21 10d23 10ec3-10ec4 10ec6-10ec7 10f30-10f32 10f34-10f44 10f51-10f53 10f70-10f73 " +
    "10f76-10f81 10fb0 10fb2-10fb3 10fb8 10fbb-10fbc 10fbe-10fbf 10fc1 10fc4 10fca 1e900-1e943",
)
const rightJoining = parseRanges(
  "622-625 627 629 62f-632 648 671-673 675-677 688-699 6c0 6c3-6cb 6cd 6cf 6d2-6d3 6d5 6ee-6ef 710 715-719 71e 728 " +
    "72a 72c 72f 74d 759-75b 76b-76c 771 773-774 778-779 840 846-847 849 854 856-858 867 869-86a 870-882 88e " +
    "8aa-8ac 8ae 8b1-8b2 8b9 10ac5 10ac7 10ac9-10aca 10ace-10ad2 10add 10ae1 10ae4 10aef 10b81 10b83-10b85 10b89 " +
    "10b8c 10b8e-10b8f 10b91 10ba9-10bac 10d22 10ec2 10f33 10f54 10f74-10f75 10fb4-10fb6 10fb9-10fba 10fbd " +
    "10fc2-10fc3 10fc9",
)
const leftJoining = parseRanges("a872 10acd 10ad7 10d00 10ed9-10eee 10fcb")
const transparentLetters: CodePointRanges = [0x1e94b, 0x1e94b]

function parseRanges(text: string): number[] {
  return text.split(" ").flatMap((range) => {
    const [low, high = low] = range.split("-")
    return [Number.parseInt(low, 16), Number.parseInt(high, 16)]
  })
}

let tables: Idna | undefined

export function idna(): Idna {
  tables ??= derive()
  return tables
}

function derive(): Idna {
  const characters = unite(
    subtract(classRanges(valid), disallowed),
    exceptions.flatMap((point) => [point, point]),
    [0x61, 0x7a],
    [0x30, 0x39],
    ...specials.map(([, ...ranges]) => ranges),
  )
  const marks = intersect(propertyRanges("M"), characters)
  const properties = propertiesOf(characters)
  const ranks = combiningRanks(marks)
  const virama = ranks.get(0x94d)
  const { secondIds, compositionIds, seconds } = compositionsIn()

  // Every property changes only at a cut, so one character represents all up to the next cut.
  const cuts = new Set([0, ...zoneStarts])
  const cutAt = (ranges: CodePointRanges) => {
    for (let i = 0; i < ranges.length; i += 2) cuts.add(ranges[i]).add(ranges[i + 1] + 1)
  }
  for (const [, ranges] of Object.values(properties).flat()) cutAt(ranges)
  cutAt(characters)
  cutAt(marks)
  for (const point of [...ranks.keys(), ...secondIds.keys(), ...compositionIds.keys()]) cutAt([point, point])

  const find = (property: Property, point: number) =>
    properties[property].find(([, ranges]) => includes(ranges, point))?.[0] ?? 0
  const table = new TupleTable()
  const classes: CharacterClass[] = []
  const classAt = (point: number): number => {
    if (!includes(characters, point)) return -1
    const made: CharacterClass = {
      special: find("special", point),
      bidi: find("bidi", point),
      script: find("script", point),
      joining: find("joining", point),
      prefix: find("prefix", point),
      isMark: includes(marks, point),
      isVirama: virama !== undefined && ranks.get(point) === virama,
      rank: ranks.get(point) ?? 0,
      second: secondIds.get(point) ?? -1,
      compositions: compositionIds.get(point) ?? 0,
      zone: point < 0x80 ? NoZone : zoneOf(point),
    }
    const before = table.count
    const id = table.intern(Object.values(made).map(Number))
    if (id === before) classes.push(made)
    return id
  }
  return { ...runsOf(cuts, classAt), classes, seconds }
}

type Property = "special" | "bidi" | "script" | "joining" | "prefix"

/**
 * Returns the values of each property with the characters that have them. The first entry that
 * contains a character counts; without one the value is 0.
 */
function propertiesOf(characters: CodePointRanges): Record<Property, [number, CodePointRanges][]> {
  const nonspacing = intersect(unite(propertyRanges("Mn"), propertyRanges("Me")), characters)
  const script = (name: string) => propertyRanges(`Script=${name}`)
  return {
    special: specials.map(([id, ...ranges]) => [id, ranges]),
    bidi: [
      [Bidi.European, europeanDigits],
      [Bidi.Arabic, arabicDigits],
      [Bidi.Neutral, neutral],
      [Bidi.Mark, subtract(nonspacing, marksFromLeft)],
      [Bidi.R, rightToLeft],
    ],
    script: [
      [Script.Greek, script("Greek")],
      [Script.Hebrew, script("Hebrew")],
      [Script.Japanese, unite(script("Hiragana"), script("Katakana"), script("Han"))],
    ],
    joining: [
      [Joining.Dual, dualJoining],
      [Joining.Right, rightJoining],
      [Joining.Left, leftJoining],
      [Joining.Transparent, unite(nonspacing, transparentLetters)],
    ],
    prefix: [
      [Prefix.X, [0x58, 0x58, 0x78, 0x78]],
      [Prefix.N, [0x4e, 0x4e, 0x6e, 0x6e]],
      [Prefix.Hyphen, [0x2d, 0x2d]],
    ],
  }
}

/** Returns the runs of characters with one class. The class changes only at `cuts`. */
function runsOf(
  cuts: Iterable<number>,
  classAt: (point: number) => number,
): Pick<Idna, "starts" | "ids" | "runOf" | "classOf"> {
  const starts: number[] = []
  const ids: number[] = []
  for (const point of [...cuts].sort((a, b) => a - b)) {
    const id = classAt(point)
    if (ids.length > 0 && ids[ids.length - 1] === id) continue
    starts.push(point)
    ids.push(id)
  }
  const runOf = (point: number) => {
    let [low, high] = [0, starts.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (starts[middle] <= point) low = middle + 1
      else high = middle
    }
    return low - 1
  }
  return {
    starts: Int32Array.from(starts),
    ids: Int32Array.from(ids),
    runOf,
    classOf: (point) => ids[runOf(point)],
  }
}

/**
 * Returns the marks of a combining class above 0, numbered by that class. NFD puts the lower of two
 * classes first.
 */
function combiningRanks(marks: CodePointRanges): Map<number, number> {
  /** One mark of each class found so far, ascending. */
  const known: string[] = []
  const places = new Map<number, string>()
  const isBefore = (a: string, b: string) => (b + a).normalize("NFD") === a + b
  for (const point of pointsOf(marks)) {
    const mark = String.fromCodePoint(point)
    // U+0345 has the highest class, 240; U+0334 the lowest, 1. Class 0 trades places with none.
    if (mark !== "\u0345" && !isBefore(mark, "\u0345")) continue
    let [low, high] = [0, known.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(known[middle], mark)) low = middle + 1
      else high = middle
    }
    if (low === known.length || isBefore(mark, known[low])) known.splice(low, 0, mark)
    places.set(point, known[low])
  }
  const ranks = new Map(known.map((mark, i) => [mark, i + 1]))
  return new Map([...places].map(([point, mark]) => [point, ranks.get(mark) as number]))
}

// The ranges with composites. Ideographs have none. Hangul syllables compose of letters that no
// label may contain.
const composites: CodePointRanges = [0xa0, 0x33ff, 0xa000, 0xabff, 0xf900, 0x16fff, 0x18e00, 0x1ffff]

interface Compositions {
  /** Characters that compose with one before them, numbered. */
  secondIds: Map<number, number>
  /**
   * Characters after which some second character makes the text unstable under NFC, with the index
   * of the set of those.
   */
  compositionIds: Map<number, number>
  seconds: ReadonlySet<number>[]
}

function compositionsIn(): Compositions {
  /**
   * Maps each prefix of a composite to its base character, and each base to all characters that
   * follow it in composites.
   */
  const firsts = new Map<string, string>()
  const follow = new Map<string, Set<string>>()
  for (const point of pointsOf(composites)) {
    const composite = String.fromCodePoint(point)
    const parts = [...composite.normalize("NFD")]
    if (parts.length === 1) continue
    const [base] = parts
    const set = follow.get(base) ?? new Set()
    follow.set(base, set)
    for (const part of parts.slice(1)) set.add(part)
    for (let end = 1; end <= parts.length; end++)
      firsts.set(parts.slice(0, end).join("").normalize("NFC"), base)
  }
  const secondIds = new Map<number, number>()
  const compositionIds = new Map<number, number>()
  const seconds: Set<number>[] = [new Set()]
  const setIds = new Map<string, number>()
  const composes = (first: string) => (second: string) => (first + second).normalize("NFC") !== first + second
  // All small letters share one set: most text consists of them, and few need a mark that another
  // letter composes with.
  const letters = [..."abcdefghijklmnopqrstuvwxyz"]
  const latin = [
    ...new Set(letters.flatMap((letter) => [...(follow.get(letter) ?? [])].filter(composes(letter)))),
  ]
  for (const letter of letters) firsts.set(letter, letter)
  for (const [first, base] of firsts) {
    if ([...first].length > 1 || (first < "\x80" && !letters.includes(first))) continue
    const unstable = first < "\x80" ? latin : [...(follow.get(base) as Set<string>)].filter(composes(first))
    if (unstable.length === 0) continue
    const ids = unstable.map((second) => {
      const point = second.codePointAt(0) as number
      const id = secondIds.get(point) ?? secondIds.size
      secondIds.set(point, id)
      return id
    })
    const key = ids.sort((a, b) => a - b).join()
    let setId = setIds.get(key)
    if (setId === undefined) {
      setId = seconds.push(new Set(ids)) - 1
      setIds.set(key, setId)
    }
    compositionIds.set(first.codePointAt(0) as number, setId)
  }
  return { secondIds, compositionIds, seconds }
}

function* pointsOf(ranges: CodePointRanges): Generator<number> {
  for (let i = 0; i < ranges.length; i += 2)
    for (let point = ranges[i]; point <= ranges[i + 1]; point++) yield point
}
