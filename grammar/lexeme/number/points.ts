/**
 * Finitely many numbers, each with one spelling: a trie that is a sorted list of texts.
 *
 * A part is a range of the list and a depth, so an enumeration of thousands costs its sorted texts and nothing more. A
 * range of few texts is named by what is left of them: the tails of all enumerations are shared.
 */
import { noSpans, type Part, type Span } from "./part.ts"

// Ranges up to this size are named by their content.
const FewTexts = 4

// By symbol.
const codes = "0123456789-+.e"

const listIds = new Map<string, number>()

/** `texts` are JSON numbers; `E` counts as `e`. Null when there are none. Sorts: n log n comparisons. */
export function textsPart(texts: readonly string[]): Part | null {
  const sorted = [...new Set(texts.map((text) => text.replace("E", "e")))].sort((a, b) => (a < b ? -1 : 1))
  if (sorted.length === 0) return null
  const content = sorted.length <= FewTexts ? "" : sorted.join()
  let listId = listIds.get(content)
  if (listId === undefined) {
    listId = listIds.size
    listIds.set(content, listId)
  }
  return new Texts(sorted, listId, 0, sorted.length, 0)
}

class Texts implements Part {
  readonly key: string
  readonly accepting: boolean
  readonly texts: readonly string[]
  readonly listId: number
  readonly start: number
  readonly end: number
  readonly depth: number

  constructor(texts: readonly string[], listId: number, start: number, end: number, depth: number) {
    this.texts = texts
    this.listId = listId
    this.start = start
    this.end = end
    this.depth = depth
    this.accepting = texts[start].length === depth
    this.key =
      end - start > FewTexts
        ? `T#${listId}:${start}:${end}:${depth}`
        : `T${texts
            .slice(start, end)
            .map((text) => text.slice(depth))
            .join()}`
  }

  next(symbol: number): Part | null {
    const code = codes.charCodeAt(symbol)
    const start = this.firstAtLeast(code)
    const end = this.firstAtLeast(code + 1)
    return start === end ? null : new Texts(this.texts, this.listId, start, end, this.depth + 1)
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    let best = this.texts[this.start]
    for (let i = this.start; i < this.end; i++) {
      if (this.texts[i].length < best.length) best = this.texts[i]
    }
    return best.length - this.depth < limit ? best.slice(this.depth) : null
  }

  /** First text of the range whose character at the depth has at least this code; an ended text has none. */
  private firstAtLeast(code: number): number {
    const { texts, depth } = this
    let low = this.start
    let high = this.end
    while (low < high) {
      const middle = (low + high) >>> 1
      const text = texts[middle]
      if (text.length > depth && text.charCodeAt(depth) >= code) high = middle
      else low = middle + 1
    }
    return low
  }
}
