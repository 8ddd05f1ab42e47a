/**
 * What may follow a prefix, in words. If no accepted text begins with the prefix, where it leaves
 * the constraint, and what may stand there.
 */
import { Matcher, type TokenMachine } from "../../runtime/index.ts"
import { place, readsTokens, type Verdict } from "../suite/checker.ts"

export interface Follows extends Pick<Verdict, "offset" | "line" | "column" | "expected"> {
  /** Whether an accepted text begins with the prefix. */
  isPrefix: boolean
}

const encoder = new TextEncoder()

/**
 * Reads the prefix byte by byte. If the constraint names control tokens, text that spells one is
 * read as that token.
 */
export function whatFollows(machine: TokenMachine, prefix: string, maskMs: number): Follows {
  const { specials } = machine.vocabulary
  const matcher = new Matcher(machine, { maskMs })
  let offset = 0
  let isPrefix = true
  for (const piece of splitControls(prefix, readsTokens(machine) ? [...specials.keys()] : [])) {
    const id = specials.get(piece)
    const bytes = encoder.encode(piece)
    const read = id === undefined ? acceptBytes(matcher, bytes) : matcher.accept(id) ? bytes.length : 0
    offset += read
    isPrefix = read === bytes.length
    if (!isPrefix) break
  }
  return { isPrefix, offset, ...place(encoder.encode(prefix), offset), expected: matcher.explain() }
}

/** Returns how many of the bytes may come next, and moves past them. */
function acceptBytes(matcher: Matcher, bytes: Uint8Array): number {
  let count = 0
  while (count < bytes.length && matcher.acceptBytes(bytes.subarray(count, count + 1))) count++
  return count
}

/** Splits the text before and after each of `names`. If several match, the longest is used. */
function splitControls(text: string, names: readonly string[]): string[] {
  if (names.length === 0) return [text]
  const longestFirst = [...names].sort((a, b) => b.length - a.length)
  const anyOf = longestFirst.map((name) => name.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|")
  return text.split(new RegExp(`(${anyOf})`)).filter((piece) => piece !== "")
}

/** Returns the lines that say what may follow, or where the prefix fails. */
export function describeFollows({ isPrefix, offset, line, column, expected }: Follows): string[] {
  const lines = isPrefix
    ? []
    : [`the prefix fails at byte ${offset}, line ${line}, column ${column}; before that:`]
  if (expected.length === 0) return [...lines, "nothing may follow"]
  return [...lines, ...expected.map((each) => `may follow: ${inWords(each)}`)]
}

/** Returns an expectation in words, with an example where it helps, and the path. */
export function inWords({ what, example, path }: Verdict["expected"][number]): string {
  const isPlain =
    example === "" || /^(the |more |any character|a character |")/.test(what) || what.includes(example)
  const shown = /\p{Cc}/u.test(example) ? JSON.stringify(example) : example
  return `${what}${isPlain ? "" : `, such as ${shown}`}${path === "" ? "" : ` (${path})`}`
}
