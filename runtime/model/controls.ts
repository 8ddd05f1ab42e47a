/**
 * Control tokens by their spellings. It finds them in a text, or parts of them at its edges, and
 * hides them from a chat template, so that only the template's own spellings count.
 */

/**
 * Matches spellings that structure a turn: a name in brackets. Other added tokens, such as runs of
 * white space, are not control tokens.
 */
const tag = /^(?:<[^\s<>]+>|\[\/?[A-Z_]+\])$/

/**
 * Returns the tokens that a tokenizer adds to its pieces and that are tags, special or not: ids by
 * their spellings.
 */
export function tagsOf(tokenizerJson: Readonly<Record<string, unknown>>): [spelling: string, id: number][] {
  const added = (tokenizerJson.added_tokens ?? []) as readonly { content: string; id: number }[]
  return added.filter(({ content }) => tag.test(content)).map(({ content, id }) => [content, id])
}

export class Controls {
  /** Ids by their spellings. */
  readonly ids: ReadonlyMap<string, number>
  /** Longest first, since the tokenizer also takes the longest. */
  readonly spellings: readonly string[]

  constructor(ids: ReadonlyMap<string, number>) {
    this.ids = ids
    this.spellings = [...ids.keys()].sort((a, b) => b.length - a.length)
  }

  /** Returns whether the text contains a spelling. */
  occurIn(text: string): boolean {
    return this.spellings.some((spelling) => text.includes(spelling))
  }

  /** Returns whether the text contains a spelling, or its start or end is a part of one. */
  touch(text: string): boolean {
    return this.occurIn(text) || this.edge(text, "end") > 0 || this.edge(text, "start") > 0
  }

  /**
   * Returns the text with placeholders for control tokens and parts of them. The replaced texts are
   * appended to `hidden`.
   */
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

  /** Replaces every occurrence of a spelling, leftmost first. */
  replace(text: string, by: (spelling: string) => string): string {
    if (this.spellings.length === 0) return text
    const pattern = this.spellings
      .map((spelling) => spelling.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
      .join("|")
    return text.replace(new RegExp(pattern, "g"), by)
  }

  /**
   * Returns the length of the longest proper part of a spelling at the text's edge, which the
   * neighbouring text could complete.
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

/** Returns the text with its placeholders replaced. */
export function unhide(text: string, nonce: string, hidden: readonly string[]): string {
  const placeholder = new RegExp(`z${nonce}z(\\d+)z`, "g")
  return text.replace(placeholder, (_, index: string) => hidden[Number(index)])
}
