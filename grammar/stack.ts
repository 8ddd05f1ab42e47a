/**
 * Interned stacks of frames: equal stacks are the same integer, which makes states recur.
 *
 * Readings that differ only deep down share what is above: below a frame may lie a *union*, several
 * stacks as one, so that the readings of nested levels add up instead of multiplying (the
 * graph-structured stack of Tomita, Efficient Parsing for Natural Language, 1986, hash-consed). The
 * members of a union have different top frames, which makes equal sets equal, and wait for equally
 * many texts.
 */
import type { Frame } from "./frame.ts"
import { grown, moreThan, PairMap, TripleMap, TupleTable } from "./intern.ts"

/** No frame left: the text is complete. */
export const EmptyStack = 0

/** (frame, 0, 0) → index of the member with that frame, while two unions are merged. */
const places = new TripleMap()

// A stack's record is eight adjacent integers, since a caller that reads one of them reads others.
const Fields = 8
/** The stack below the top frame. */
const Below = 0
/** Count of the frames. */
const Depth = 1
/** Count of the frames that need the text read above them. */
const Captures = 2
/** Id of the top frame; the empty stack and unions have none. */
const FrameId = 3
/** The child that was made last, and the sibling that was made before this stack; 0 = none. */
const LastChild = 4
const Sibling = 5
const ChildCount = 6
const Flags = 7
const Symbolic = 1
const Union = 2
const NoFrame = -1
/**
 * A stack with more children than this finds them in a map; others search a sibling list. One map
 * of all children would fall out of the CPU cache: with it the masks of a page of C, 982 tokens and
 * 10,936 stacks, take 22 instead of 21 ms.
 */
const FewChildren = 8

export class StackTable {
  /** (stack, frame) → child, for stacks with many children and for unions. */
  private readonly ids = new PairMap()
  /** Top frame by stack; the empty stack and unions have none. */
  readonly top: Frame[] = [undefined as unknown as Frame]
  /** Shape [count, Fields]. */
  private records = new Int32Array(2 * Fields)
  /** Data of unions. Null if none was made: most grammars have none. */
  private unions: Unions | null = null

  constructor() {
    this.records[FrameId] = NoFrame
  }

  get count(): number {
    return this.top.length
  }

  /** Returns `frame` on top of `stack`. If idempotent, it lies there once: x* x* = x*. */
  push(stack: number, frame: Frame): number {
    const known = this.known(stack, frame.id)
    if (known > 0) return known
    const below = frame.isIdempotent ? this.without(stack, frame) : stack
    if (below !== stack) {
      const id = this.push(below, frame)
      if (this.isUnion(stack)) this.ids.set(stack, frame.id, id)
      return id
    }
    const id = this.made(frame)
    const { records } = this
    const from = stack * Fields
    const at = id * Fields
    records[at + Below] = stack
    records[at + Depth] = records[from + Depth] + 1
    records[at + Captures] = records[from + Captures] + (frame.needsText ? 1 : 0)
    records[at + FrameId] = frame.id
    records[at + Flags] = (records[from + Flags] & Symbolic) | (frame.isSymbolic ? Symbolic : 0)
    // The record is complete by now: the map may have the stack even if listing its siblings
    // throws.
    if (this.isListed(stack, records[from + ChildCount] + 1)) this.list(stack, frame.id, id)
    records[at + Sibling] = records[from + LastChild]
    records[from + LastChild] = id
    records[from + ChildCount]++
    return id
  }

  /** Returns the child of `stack` with this top frame, or 0. */
  private known(stack: number, frame: number): number {
    const { records } = this
    const from = stack * Fields
    if (this.isListed(stack, records[from + ChildCount])) return Math.max(0, this.ids.get(stack, frame))
    let child = records[from + LastChild]
    while (child !== 0 && records[child * Fields + FrameId] !== frame)
      child = records[child * Fields + Sibling]
    return child
  }

  /** Returns whether the `count` children of `stack` are in the map. */
  private isListed(stack: number, count: number): boolean {
    return count > FewChildren || this.isUnion(stack)
  }

  /**
   * Adds a new child of `stack` to the map, with all others once they are many. If it throws,
   * nothing has changed.
   */
  private list(stack: number, frame: number, id: number): void {
    const { records } = this
    if (records[stack * Fields + ChildCount] === FewChildren) {
      let child = records[stack * Fields + LastChild]
      for (; child !== 0; child = records[child * Fields + Sibling])
        this.ids.set(stack, records[child * Fields + FrameId], child)
    }
    this.ids.set(stack, frame, id)
  }

  /** Returns the id of a new stack with `frame` on top. Makes room for its record. */
  private made(frame: Frame): number {
    const id = this.top.length
    if ((id + 1) * Fields > this.records.length)
      this.records = grown(this.records, moreThan(this.records.length))
    this.top[id] = frame
    return id
  }

  /** Returns `stack` without `frame` if that lies on top: x* (x* a | b) = x* (a | b). */
  private without(stack: number, frame: Frame): number {
    const members = this.unions?.members.get(stack)
    if (members === undefined) return this.top[stack] === frame ? this.pop(stack) : stack
    const same = members.find((member) => this.top[member] === frame)
    if (same === undefined) return stack
    let rest = this.pop(same)
    for (const member of members) if (member !== same) rest = this.unite(rest, member)
    return rest
  }

  /** Returns the stacks of a union. Any other stack is its own member. */
  members(stack: number): readonly number[] {
    return this.unions?.members.get(stack) ?? [stack]
  }

  isUnion(stack: number): boolean {
    return (this.records[stack * Fields + Flags] & Union) !== 0
  }

  /**
   * Returns the union of both stacks, whose capture counts are equal. Equal top frames are shared.
   */
  unite(a: number, b: number): number {
    if (a === b) return a
    const [low, high] = a < b ? [a, b] : [b, a]
    this.unions ??= new Unions()
    const { united } = this.unions
    const known = united.get(low, high)
    if (known >= 0) return known
    const union = this.unionOf([...this.members(low), ...this.members(high)], this.unions)
    united.set(low, high, union)
    return union
  }

  /** Returns the union of all stacks, whose capture counts are equal. None of them is a union. */
  uniteAll(stacks: readonly number[]): number {
    this.unions ??= new Unions()
    return this.unionOf(stacks, this.unions)
  }

  private unionOf(stacks: readonly number[], unions: Unions): number {
    const members = this.mergedMembers(stacks)
    return members.length === 1 ? members[0] : this.union(members, unions)
  }

  /** Returns `stacks`, ascending. Those that share a top frame are united below it. */
  private mergedMembers(stacks: readonly number[]): number[] {
    const members: number[] = []
    /** Indices in `members`, each with a stack to unite with that member. */
    const shared: number[] = []
    places.clear()
    for (const stack of stacks) {
      const frame = this.frameId(stack)
      const place = places.get(frame, 0, 0)
      if (place >= 0) {
        if (members[place] !== stack) shared.push(place, stack)
      } else {
        places.set(frame, 0, 0, members.length)
        members.push(stack)
      }
    }
    // This is done last, because `unite` calls this function again, which overwrites `places`.
    for (let i = 0; i < shared.length; i += 2) {
      const [place, member] = [shared[i], shared[i + 1]]
      const below = this.unite(this.pop(members[place]), this.pop(member))
      members[place] = this.push(below, this.top[member])
    }
    return members.sort((a, b) => a - b)
  }

  /** Returns the id of the top frame; -1 for the empty stack and unions. */
  frameId(stack: number): number {
    return this.records[stack * Fields + FrameId]
  }

  private union(members: readonly number[], unions: Unions): number {
    const { tuples, stacks } = unions
    const tuple = tuples.intern(members)
    if (stacks[tuple] !== undefined) return stacks[tuple]
    const id = this.made(undefined as unknown as Frame)
    const { records } = this
    const at = id * Fields
    records[at + Below] = EmptyStack
    records[at + Depth] = Math.max(...members.map((member) => this.depth(member)))
    records[at + Captures] = this.captureCount(members[0])
    records[at + FrameId] = NoFrame
    records[at + Flags] = Union | (members.some((member) => this.isSymbolic(member)) ? Symbolic : 0)
    unions.members.set(id, members)
    stacks[tuple] = id
    return id
  }

  /** Returns the stack below the top frame. Unions have none. */
  pop(stack: number): number {
    return this.records[stack * Fields + Below]
  }

  /** Returns how many frames need the text that is read above them. */
  captureCount(stack: number): number {
    return this.records[stack * Fields + Captures]
  }

  /** Returns whether what is read depends on a text that is not known. */
  isSymbolic(stack: number): boolean {
    return (this.records[stack * Fields + Flags] & Symbolic) !== 0
  }

  depth(stack: number): number {
    return this.records[stack * Fields + Depth]
  }
}

class Unions {
  /** Members of each union by stack, ascending, with different top frames. */
  readonly members = new Map<number, readonly number[]>()
  readonly tuples = new TupleTable()
  /** Stack of each union, by id in `tuples`. */
  readonly stacks: (number | undefined)[] = []
  /** (smaller, larger) → their union. */
  readonly united = new PairMap()
}
