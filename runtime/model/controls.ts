/**
 * Control tokens by their spellings: whether a text holds one, or could complete one at its edges,
 * and how it is hidden from a chat template, whose own spellings are left.
 */

/**
 * Spellings that part a turn: brackets around a name. Runs of white space, say, are no control
 * tokens.
 */
const tag = /^(?:<[^\s<>]+>|\[\/?[A-Z_]+\])$/

/**
 * The tokens that a tokenizer adds to its pieces and that are tags, special or not: ids by their
 * spellings.
 */
export function tagsOf(tokenizerJson: Readonly<Record<string, unknown>>): [spelling: string, id: number][] {
  const added = (tokenizerJson.added_tokens ?? []) as readonly { content: string; id: number }[]
  return added.filter(({ content }) => tag.test(content)).map(({ content, id }) => [content, id])
}

export class Controls {
  /** Ids by their spellings. */
  readonly ids: ReadonlyMap<string, number>
  /** Longest first: the tokenizer takes the longest too. */
  readonly spellings: readonly string[]

  constructor(ids: ReadonlyMap<string, number>) {
    this.ids = ids
    this.spellings = [...ids.keys()].sort((a, b) => b.length - a.length)
  }

  /** Whether the text holds one. */
  occurIn(text: string): boolean {
    return this.spellings.some((spelling) => text.includes(spelling))
  }

  /** Whether the text holds one, or its end or start is a part of one. */
  touch(text: string): boolean {
    return this.occurIn(text) || this.edge(text, "end") > 0 || this.edge(text, "start") > 0
  }

  /** The text with placeholders for what touches; what they stand for is added to `hidden`. */
  hide(text: string, nonce: string, hidden: string[]): string {
    const put = (part: string): string => {
      hidden.push(part)
      return `z${nonce}z${hidden.length - 1}z`
    }
    const start = this.edge(text, "start")
    const end = Math.min(this.edge(text, "end"), text.length - start)
    const middle = text.slice(start, text.length - end)
    const head = start > 0 ? put(text.slice(0, start)) : ""
    const tail = end > 0 ? put(text.slice(text.length - end)) : ""
    return head + this.replace(middle, put) + tail
  }

  /** Replaces every occurrence of one, leftmost first. */
  replace(text: string, by: (spelling: string) => string): string {
    if (this.spellings.length === 0) return text
    const pattern = this.spellings
      .map((spelling) => spelling.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
      .join("|")
    return text.replace(new RegExp(pattern, "g"), by)
  }

  /**
   * Length of the longest proper part of a spelling at the text's edge, which a neighbour could
   * complete.
   */
  private edge(text: string, side: "start" | "end"): number {
    let longest = 0
    for (const spelling of this.spellings) {
      for (let length = Math.min(spelling.length - 1, text.length); length > longest; length--) {
        const found =
          side === "end"
            ? text.endsWith(spelling.slice(0, length))
            : text.startsWith(spelling.slice(spelling.length - length))
        if (found) longest = length
      }
    }
    return longest
  }
}

/** The text with what stands for its placeholders. */
export function unhide(text: string, nonce: string, hidden: readonly string[]): string {
  const placeholder = new RegExp(`z${nonce}z(\\d+)z`, "g")
  return text.replace(placeholder, (_, index: string) => hidden[Number(index)])
}
