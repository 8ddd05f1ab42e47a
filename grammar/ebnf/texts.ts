/** Many texts side by side: one lexeme that reads them as a trie and ends with a tag of the text that was read. */
import { rawLexeme } from "../lexeme/raw.ts"
import { NoContent, namesContent } from "../lexeme/string/content.ts"
import { buildNames, type Name } from "../lexeme/string/names.ts"

/** So many texts side by side become a trie instead of an expression each. */
export const MinChoice = 24
/** So many alternatives that begin with strings are too many for one expression, whatever follows the strings. */
export const MinUnfused = 256
/** First tag of a text in a trie; those below mean something there. */
export const FirstTag = 3

/** One of `entries`, in ascending order of their bytes, with its tag. */
export function textsLexeme(entries: readonly Name[]): number {
  return rawLexeme(namesContent(buildNames(entries), NoContent))
}

/** A shortest text of `entries` by its tag. */
export function shortestByTag(entries: readonly Name[]): ReadonlyMap<number, Uint8Array> {
  const shortest = new Map<number, Uint8Array>()
  for (const { bytes, tag } of entries) {
    const known = shortest.get(tag)
    if (known === undefined || bytes.length < known.length) shortest.set(tag, bytes)
  }
  return shortest
}

/** The order of a trie. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}
