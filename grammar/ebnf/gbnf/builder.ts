/**
 * Alternatives, sequences and groups out of a flat list: what stands in a rule, lexeme by lexeme.
 *
 * Open groups are a stack of this builder and not of the host, so nesting has no other bound than the one that is checked.
 */
import type { Group, Item } from "./tree.ts"

/** What the builder reports, by offset. */
export interface TreeListener {
  /** Something that is no item where one must begin. */
  expectedItem(offset: number, found: string): void
  unclosedGroup(offset: number): void
  /** One more group inside of `depth - 1` others. */
  openedGroup(depth: number, offset: number): void
}

interface OpenGroup {
  /** Alternatives that have ended. */
  alternatives: Item[][]
  sequence: Item[]
  /** Offset of its parenthesis. */
  offset: number
}

export class TreeBuilder {
  private readonly listener: TreeListener
  /** Inner ones first. */
  private readonly closed: Group[] = []
  private readonly open: OpenGroup[] = []
  private top: OpenGroup = { alternatives: [], sequence: [], offset: 0 }
  /** Whether an operator may follow: what stands last is an item without one. */
  private isRepeatable = false

  constructor(listener: TreeListener) {
    this.listener = listener
  }

  add(item: Item): void {
    this.top.sequence.push(item)
    this.isRepeatable = true
  }

  nextAlternative(): void {
    this.endSequence()
    this.isRepeatable = false
  }

  openGroup(offset: number): void {
    this.listener.openedGroup(this.open.length + 1, offset)
    this.open.push(this.top)
    this.top = { alternatives: [], sequence: [], offset }
    this.isRepeatable = false
  }

  closeGroup(offset: number): void {
    const outer = this.open.pop()
    if (outer === undefined) {
      this.listener.expectedItem(offset, ")")
      return
    }
    this.endSequence()
    const { alternatives } = this.top
    this.top = outer
    this.add({ kind: "group", group: this.closed.push(alternatives) - 1 })
  }

  /** Repeats the last item; `operator` is how it is written. */
  repeat(min: number, max: number, offset: number, operator: string): void {
    const item = this.top.sequence.pop()
    if (item === undefined || !this.isRepeatable) {
      this.listener.expectedItem(offset, operator)
      if (item !== undefined) this.top.sequence.push(item)
      return
    }
    this.top.sequence.push({ kind: "repeat", item, min, max })
    this.isRepeatable = false
  }

  /** All groups, the rule's own alternatives last. */
  finish(): readonly Group[] {
    if (this.open.length > 0) this.listener.unclosedGroup(this.top.offset)
    while (this.open.length > 0) this.top = this.open.pop() as OpenGroup
    this.endSequence()
    this.closed.push(this.top.alternatives)
    return this.closed
  }

  private endSequence(): void {
    this.top.alternatives.push(joinTexts(this.top.sequence))
    this.top.sequence = []
  }
}

/** The items with neighbouring strings as one: thousands of them would be as many terms. */
function joinTexts(items: Item[]): Item[] {
  const isJoinable = items.some((item, i) => item.kind === "text" && items[i + 1]?.kind === "text")
  if (!isJoinable) return items
  const joined: Item[] = []
  for (let i = 0; i < items.length; i++) {
    const texts: string[] = []
    for (let item = items[i]; item?.kind === "text"; item = items[++i]) texts.push(item.text)
    if (texts.length > 0) joined.push({ kind: "text", text: texts.join("") })
    if (i < items.length) joined.push(items[i])
  }
  return joined
}
