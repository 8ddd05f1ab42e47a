/**
 * Unicode data, taken from the `RegExp` of the JavaScript engine, so that sets are equal to those
 * of this process.
 *
 * A property is scanned once over one string of all code points (about 70 ms for the first, then
 * 1–45 ms each) and kept as ranges. Case folding is simple folding as under `iu`: characters that
 * are equal after folding form small classes, found among the characters that have another case.
 * Classes of more than a pair are verified one by one with the engine.
 */
import { type CodePointRanges, includes, makeRanges } from "./ranges.ts"

/** `\d`, `\w`, `\s` and line terminators of ECMAScript. */
export const digits: CodePointRanges = [0x30, 0x39]
export const wordCharacters: CodePointRanges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]
export const whiteSpace: CodePointRanges = [
  9, 13, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f,
  0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
]
export const lineTerminators: CodePointRanges = [10, 10, 13, 13, 0x2028, 0x2029]
export const lineFeed: CodePointRanges = [10, 10]

const properties = new Map<string, CodePointRanges>()
/** All scalar values. The reference is weak, so that their 4 MB can be freed. */
let everything: WeakRef<{ text: string }> | undefined

/**
 * Returns the members of `\p{expression}`, such as `Letter` or `Script=Greek`. Throws the engine's
 * SyntaxError if it does not know the property. The first call for a property takes milliseconds.
 */
export function propertyRanges(expression: string): CodePointRanges {
  const known = properties.get(expression)
  if (known !== undefined) return known
  const made = scan(new RegExp(`\\p{${expression}}+`, "gu"))
  properties.set(expression, made)
  return made
}

/**
 * Returns the members of a class in the syntax of the `v` mode, such as `[\p{L}--\p{Lu}]`. Not
 * memoized: each call takes milliseconds.
 */
export function classRanges(source: string): CodePointRanges {
  return scan(new RegExp(`${source}+`, "gv"))
}

function scan(pattern: RegExp): CodePointRanges {
  const all = everything?.deref() ?? { text: allScalarValues() }
  everything = new WeakRef(all)
  const ranges: number[] = []
  for (const match of all.text.matchAll(pattern)) {
    ranges.push(pointAt(match.index), pointAt(match.index + match[0].length - 1))
  }
  // The string does not contain the surrogates, so a range may run across them.
  return makeRanges(ranges)
}

const Block = 0x1000

function allScalarValues(): string {
  const parts: string[] = []
  for (let start = 0; start <= 0x10ffff; start += Block) {
    const points: number[] = []
    for (let point = start; point < start + Block; point++) {
      if (point < 0xd800 || point > 0xdfff) points.push(point)
    }
    parts.push(String.fromCodePoint(...points))
  }
  return parts.join("")
}

/** Returns the code point that covers UTF-16 unit `index` of the string of all scalar values. */
function pointAt(index: number): number {
  if (index < 0xd800) return index
  return index < 0xf800 ? index + 0x800 : 0x10000 + ((index - 0xf800) >>> 1)
}

/** Classes of at least two code points that are equal after folding, ascending inside. */
let foldClasses: readonly (readonly number[])[] | undefined
let classOf: Map<number, readonly number[]> | undefined

/**
 * Returns the set with all characters that are equal to a member after folding. About 30 ms on
 * first use, then 50 µs for a large set.
 */
export function foldClosure(set: CodePointRanges): CodePointRanges {
  if (foldClasses === undefined || classOf === undefined) {
    foldClasses = findFoldClasses()
    classOf = new Map(foldClasses.flatMap((members) => members.map((point) => [point, members])))
  }
  const added: number[] = []
  if (set.length <= 8 && set.every((lo, i) => i % 2 === 1 || set[i + 1] - lo < 64)) {
    for (let i = 0; i < set.length; i += 2) {
      for (let point = set[i]; point <= set[i + 1]; point++) {
        for (const member of classOf.get(point) ?? []) added.push(member, member)
      }
    }
  } else {
    for (const members of foldClasses) {
      if (members.some((point) => includes(set, point))) for (const point of members) added.push(point, point)
    }
  }
  return added.length === 0 ? set : makeRanges([...set, ...added])
}

function findFoldClasses(): number[][] {
  const groups = new Map<string, number[]>()
  // Characters that are equal after folding have the same full upper case, or one is the lower case
  // of the other's.
  const cased = propertyRanges("Changes_When_Casemapped")
  for (let i = 0; i < cased.length; i += 2) {
    for (let point = cased[i]; point <= cased[i + 1]; point++) {
      const key = String.fromCodePoint(point).toLowerCase().toUpperCase()
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [point])
      else group.push(point)
    }
  }
  const classes: number[][] = []
  for (const group of groups.values()) {
    if (group.length === 2 && isPlainPair(group[0], group[1])) classes.push(group)
    else if (group.length > 1) classes.push(...splitByHost(group))
  }
  return classes
}

function isPlainPair(a: number, b: number): boolean {
  const [x, y] = [String.fromCodePoint(a), String.fromCodePoint(b)]
  return (x.toLowerCase() === y && y.toUpperCase() === x) || (y.toLowerCase() === x && x.toUpperCase() === y)
}

function splitByHost(group: readonly number[]): number[][] {
  const classes: number[][] = []
  for (const point of group) {
    const text = String.fromCodePoint(point)
    const fits = classes.find(([first]) => new RegExp(`^[\\u{${first.toString(16)}}]$`, "iu").test(text))
    if (fits === undefined) classes.push([point])
    else fits.push(point)
  }
  return classes.filter((members) => members.length > 1)
}
