/**
 * The groups that a `(` can open: those of ECMAScript, those of other dialects that are translated,
 * and those that are refused by name.
 */
import type { GrammarErrorKind } from "../../errors.ts"
import { backreference } from "./escapes.ts"

/** The flags of a group: those of ECMAScript, and free spacing, which it lacks. */
export interface GroupFlags {
  /** The letters of `(?ims-ims:`, without the colon; empty if none of them changes. */
  readonly text: string
  /** Whether white space and comments are ignored; null if this is as around the group. */
  readonly isFree: boolean | null
}

export type Opening =
  /**
   * `text` opens a group. `isAhead` means a lookahead, which can be repeated only in Annex B;
   * `isLook` means any lookaround.
   */
  | {
      kind: "group"
      length: number
      text: string
      flags?: GroupFlags
      isAtomic?: boolean
      isAhead?: boolean
      isLook?: boolean
      isForeign: boolean
    }
  /** `(?i)`: flags from here to the end of the surrounding group. */
  | { kind: "flags"; length: number; flags: GroupFlags }
  | { kind: "comment"; length: number }
  | { kind: "refused"; message: string; error: GrammarErrorKind }

/** Returns what the `(` at `at` of `source` opens. */
export function openingAt(source: string, at: number): Opening {
  const rest = source.slice(at, at + 256)
  if (rest.startsWith("(*")) {
    return refused(`${shown(rest)} is a verb of PCRE: leave it out, or write a group`, "unsupported")
  }
  if (rest[1] !== "?") return group("(", "(", false)
  const look = /^\(\?(?:[=!]|<[=!])/.exec(rest)?.[0]
  if (look !== undefined) return { ...group(look, look, false), isLook: true, isAhead: look.length === 3 }
  if (rest.startsWith("(?:")) return group("(?:", "(?:", false)
  if (rest.startsWith("(?|")) return group("(?|", "(?:", true)
  if (rest.startsWith("(?>")) return { ...group("(?>", "(?:", true), isAtomic: true }
  if (rest.startsWith("(?#")) {
    const end = source.indexOf(")", at)
    if (end < 0) return refused("(?# begins a comment that does not end: close it with )")
    return { kind: "comment", length: end + 1 - at }
  }
  const named = /^\(\?(?:P?<([\p{L}_$][\p{L}\p{N}_$]*)>|'([\p{L}_$][\p{L}\p{N}_$]*)')/u.exec(rest)
  if (named !== null) return group(named[0], `(?<${named[1] ?? named[2]}>`, !named[0].startsWith("(?<"))
  return notRegular(rest) ?? flagsAt(rest) ?? refused(`${unknownGroup(rest)}`)
}

function group(given: string, text: string, isForeign: boolean): Opening & { kind: "group" } {
  return { kind: "group", length: given.length, text, isForeign }
}

function refused(message: string, error: GrammarErrorKind = "syntax"): Opening & { kind: "refused" } {
  return { kind: "refused", message, error }
}

/** Refuses references, recursion and conditions; null for anything else. */
function notRegular(rest: string): Opening | null {
  const reference = /^\(\?P=[^)]*\)?/.exec(rest)?.[0]
  if (reference !== undefined) return refused(backreference(reference), "unsupported")
  const call = /^\(\?(?:P>[^)]*|&[^)]*|R|[+-]?[0-9]+)\)/.exec(rest)?.[0]
  if (call !== undefined) {
    const wayOut = "Write the group out as often as it may nest, or use a grammar"
    return refused(`${call} calls a group of the pattern, which is not regular. ${wayOut}`, "unsupported")
  }
  if (rest.startsWith("(?(")) {
    const wayOut = "Write both cases as alternatives"
    return refused(`${shown(rest)} is a condition, which ECMAScript lacks. ${wayOut}`, "unsupported")
  }
  return null
}

/** Reads `(?im-s)` and `(?im-s:`. */
function flagsAt(rest: string): Opening | null {
  const given = /^\(\?([A-Za-z]*)(?:-([A-Za-z]*))?([:)])/.exec(rest)
  if (given === null) return null
  const [whole, on, off = "", end] = given
  const other =
    [...on].find((flag) => !"imnsux".includes(flag)) ?? [...off].find((flag) => !"imnsx".includes(flag))
  if (other !== undefined)
    return refused(`flag "${other}" of ${whole} has no meaning of its own here. Use i, m, s or x`)
  const both = [...on].find((flag) => off.includes(flag))
  if (both !== undefined) return refused(`${whole} sets the flag "${both}" and clears it: keep one`)
  if (on === "" && off === "") return refused(`${whole} changes no flag: leave it out`)
  const kept = (flags: string) => [..."ims"].filter((flag) => flags.includes(flag)).join("")
  const text = kept(on) + (kept(off) === "" ? "" : `-${kept(off)}`)
  const flags = { text, isFree: on.includes("x") ? true : off.includes("x") ? false : null }
  if (end === ")") return { kind: "flags", length: whole.length, flags }
  const isForeign = !/^[ims]*$/.test(on) || !/^[ims]*$/.test(off)
  return { ...group(whole, text === "" ? "(?:" : `(?${text}:`, isForeign), flags }
}

function shown(rest: string): string {
  return (/^\(\?[(]?[^)]*\)?|^\([^)]*\)?/.exec(rest.slice(0, 24)) as RegExpExecArray)[0]
}

function unknownGroup(rest: string): string {
  const forms = "(…), (?:…), (?<name>…), (?=…), (?!…), (?<=…), (?<!…) or (?i:…)"
  return `${[...rest].slice(0, 4).join("")} begins no group of ECMAScript: use ${forms}`
}
