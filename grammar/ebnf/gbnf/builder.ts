/**
 * Alternatives, sequences and groups out of a flat list: what stands in a rule, lexeme by lexeme.
 *
 * Open groups are a stack of this builder and not of the host, so nesting has no other bound than the one that is checked.
 */
import { either, inRow, type Node } from "../notation/tree.ts"

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
  options: Node[]
  items: Node[]
  /** Offset of its parenthesis. */
  offset: number
}

export class TreeBuilder {
  private readonly listener: TreeListener
  private readonly open: OpenGroup[] = []
  private top: OpenGroup = { options: [], items: [], offset: 0 }
  /** Whether an operator may follow: what stands last is an item without one. */
  private isRepeatable = false

  constructor(listener: TreeListener) {
    this.listener = listener
  }

  add(item: Node): void {
    this.top.items.push(item)
    this.isRepeatable = true
  }

  nextAlternative(offset: number): void {
    this.endAlternative(offset)
    this.isRepeatable = false
  }

  openGroup(offset: number): void {
    this.listener.openedGroup(this.open.length + 1, offset)
    this.open.push(this.top)
    this.top = { options: [], items: [], offset }
    this.isRepeatable = false
  }

  closeGroup(offset: number): void {
    const outer = this.open.pop()
    if (outer === undefined) {
      this.listener.expectedItem(offset, ")")
      return
    }
    this.endAlternative(offset)
    const { options } = this.top
    this.top = outer
    this.add(either(options))
  }

  /** Repeats the last item; `operator` is how it is written. */
  repeat({ min, max }: { min: number; max: number }, offset: number, operator: string): void {
    const body = this.top.items.pop()
    if (body === undefined || !this.isRepeatable) {
      this.listener.expectedItem(offset, operator)
      if (body !== undefined) this.top.items.push(body)
      return
    }
    const end = offset + operator.length
    this.top.items.push({ kind: "repeat", body, min, max, counts: [], start: body.start, end })
    this.isRepeatable = false
  }

  /** The alternatives of the rule. */
  finish(): Node {
    if (this.open.length > 0) this.listener.unclosedGroup(this.top.offset)
    while (this.open.length > 0) this.closeGroup(this.top.offset)
    this.endAlternative(this.top.offset)
    return either(this.top.options)
  }

  private endAlternative(offset: number): void {
    this.top.options.push(inRow(this.top.items, offset))
    this.top.items = []
  }
}
