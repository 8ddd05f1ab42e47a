/**
 * Builds alternatives, sequences and groups from the flat list of a rule's lexemes.
 *
 * Open groups are on a stack of this builder and not on the call stack, so only the checked limit
 * bounds nesting.
 */
import { either, inRow, type Node } from "../notation/tree.ts"

/** Receives the builder's reports, with offsets. */
export interface TreeListener {
  /** Something else was found where an item must begin. */
  expectedItem(offset: number, found: string): void
  unclosedGroup(offset: number): void
  /** Opened one more group inside `depth - 1` others. */
  openedGroup(depth: number, offset: number): void
}

interface OpenGroup {
  /** Alternatives that have ended. */
  options: Node[]
  items: Node[]
  /** Offset of the group's parenthesis. */
  offset: number
}

export class TreeBuilder {
  private readonly listener: TreeListener
  private readonly open: OpenGroup[] = []
  private top: OpenGroup = { options: [], items: [], offset: 0 }
  /** Whether an operator may follow: the last item has none yet. */
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

  /** Repeats the last item; `operator` is the spelling of the repetition. */
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

  /** Returns the alternatives of the rule. */
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
