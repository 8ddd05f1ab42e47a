/**
 * Lower bounds on the number of characters that complete a pattern. They guide the search for its
 * shortest end.
 *
 * Each open group needs a parenthesis, each missing name a group `(?<n>)`, each missing number a
 * group `()`. The rest is the required end of the place itself. The bounds are exact between terms
 * and in names, where a search would try every possible name.
 */
import type { NamePlace, Place, Seen } from "./patternplaces.ts"

/**
 * Returns a lower bound on the characters (code points) of any text that completes the pattern. A
 * character that has begun does not count.
 */
export function fewestLeft(place: Place, seen: Seen): number {
  switch (place.at) {
    case "term":
      return wholeCost(seen, place.reference)
    case "open":
      return Math.max(wholeCost(seen) - 1, seen.stack.length + 1)
    case "special":
      return Math.max(wholeCost(seen) - 2, seen.stack.length + 2)
    case "angle":
      return Math.max(wholeCost(seen) - 3, seen.stack.length + 2)
    case "name":
      return place.isGroup
        ? declarationCost(begun(place, seen), seen)
        : referenceCost(begun(place, seen), seen)
    case "reference":
      return 1 + referenceCost(begun({ at: "name", name: "", isGroup: false }, seen), seen)
    case "character": {
      const { place: reader, base, more } = place
      if (reader.at === "class") return wholeCost(seen) + 1
      const name = begunWith(reader.name, base, more)
      return reader.isGroup ? declarationCost(name, seen) : referenceCost(name, seen)
    }
    case "class":
      return wholeCost(seen) + 1
    default: {
      const isInClass = "inside" in place && place.inside !== null
      return wholeCost(seen) + ownCost(place) + (isInClass ? 1 : 0)
    }
  }
}

/** Returns the least number of characters that end the inside of a quantifier or an escape. */
function ownCost(place: Place): number {
  switch (place.at) {
    case "least":
      return place.digits === "" ? 2 : 1
    case "hex":
      return place.length - place.digits.length
    case "unicode":
      return "{0}".length
    case "braced":
      return place.isEmpty ? 2 : 1
    default:
      return 1
  }
}

/** Returns the least number of characters that must follow between terms. */
function wholeCost({ stack, groups, needed, missing }: Seen, reference = 0, more = 0): number {
  const unnamed = Math.max(0, Math.max(needed, reference) - groups - missing.length - more)
  return missing.reduce((sum, name) => sum + sizeOf(name) + "(?<>)".length, stack.length) + 2 * unnamed
}

/**
 * A name of which `size` characters have been read: whether it may become a given name, and whether
 * it may end here.
 */
interface Begun {
  readonly size: number
  readonly mayBe: (name: string) => boolean
  readonly mayEnd: boolean
}

function begun({ name, isGroup }: NamePlace, { names }: Seen): Begun {
  const mayEnd = name !== "" && !(isGroup && names.includes(name))
  return { size: sizeOf(name), mayBe: (other) => other.startsWith(name), mayEnd }
}

/**
 * Returns the facts of a name whose last character is incomplete: one of a block of `64 ** more`
 * code points.
 */
function begunWith(name: string, base: number, more: number): Begun {
  const mayBe = (other: string) => {
    const point = other.startsWith(name) ? (other.codePointAt(name.length) ?? -1) : -1
    return point >= base && point < base + 64 ** more
  }
  return { size: sizeOf(name) + 1, mayBe, mayEnd: true }
}

/**
 * Returns the least number of characters after a part of a group's name, which may become a missing
 * name or a new one.
 */
function declarationCost({ size, mayBe, mayEnd }: Begun, seen: Seen): number {
  const another = wholeCost(seen, 0, 1) + (mayEnd ? 0 : 1) + ">)".length
  return seen.missing.some(mayBe) ? Math.min(another, wholeCost(seen) - "(?<".length - size) : another
}

/**
 * Returns the least number of characters after a part of a reference's name, which may become a
 * known name or another missing one.
 */
function referenceCost({ size, mayBe }: Begun, seen: Seen): number {
  const whole = Math.max(size, 1)
  let least = whole - size + ">".length + "(?<>)".length + whole
  for (const known of [...seen.names, ...seen.missing]) {
    if (mayBe(known)) least = Math.min(least, sizeOf(known) - size + ">".length)
  }
  return wholeCost(seen) + least
}

function sizeOf(name: string): number {
  return [...name].length
}
