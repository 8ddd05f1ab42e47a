/**
 * Many texts as one lexeme, which reads them as a trie and ends with a tag for the text that was
 * read.
 */
import { rawLexeme } from "../lexeme/raw.ts"
import { NoContent, namesContent } from "../lexeme/string/content.ts"
import { buildNames, type Name } from "../lexeme/string/names.ts"

/** At least this many texts become a trie instead of one expression each. */
export const MinChoice = 24
/**
 * At least this many alternatives that begin with strings are too many for one expression, whatever
 * follows the strings.
 */
export const MinUnfused = 256
/** First tag of a text in a trie; lower tags have a meaning there. */
export const FirstTag = 3

/**
 * Returns the lexeme that reads one of `entries` and ends with its tag. `entries` are in ascending
 * order of their bytes.
 */
export function textsLexeme(entries: readonly Name[]): number {
  return rawLexeme(namesContent(buildNames(entries), NoContent))
}

/** Returns a shortest text of `entries` for each tag. */
export function shortestByTag(entries: readonly Name[]): ReadonlyMap<number, Uint8Array> {
  const shortest = new Map<number, Uint8Array>()
  for (const { bytes, tag } of entries) {
    const known = shortest.get(tag)
    if (known === undefined || bytes.length < known.length) shortest.set(tag, bytes)
  }
  return shortest
}

/** Compares two texts in the order of a trie. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}
