/**
 * Interned stacks of frames: equal stacks are the same integer, that is what makes states recur.
 *
 * Readings that differ only deep down share what is above: below a frame may lie a *union*, several stacks as one, so that
 * the readings of nested levels add up instead of multiplying (the graph-structured stack of Tomita, Efficient Parsing for
 * Natural Language, 1986, hash-consed). The members of a union have different top frames, which makes equal sets equal, and
 * wait for equally many texts.
 */
import type { Frame } from "./frame.ts"
import { grown, PairMap, TripleMap, TupleTable } from "./intern.ts"

/** No frame left: the text is complete. */
export const EmptyStack = 0

/** (frame, 0, 0) → where the member with that frame stands, while two unions are merged. */
const places = new TripleMap()

export class StackTable {
  private readonly ids = new PairMap()
  /** Top frame by stack; the empty stack and unions have none. */
  readonly top: Frame[] = [undefined as unknown as Frame]
  /** The stack below the top frame. Shape [count]. */
  private below = new Int32Array(16)
  /** Number of frames. Shape [count]. */
  private depths = new Int32Array(16)
  /** Number of frames that need the text read above them. Shape [count]. */
  private captures = new Int32Array(16)
  /** Whether some frame is symbolic. */
  private readonly symbolic: boolean[] = [false]
  /** What is known of unions; null where none was made: most grammars have none. */
  private unions: Unions | null = null

  get count(): number {
    return this.top.length
  }

  /** `frame` on top of `stack`. A level that may come any number of times lies there once: x* x* = x*. */
  push(stack: number, frame: Frame): number {
    const known = this.ids.get(stack, frame.id)
    if (known >= 0) return known
    const below = frame.isIdempotent ? this.without(stack, frame) : stack
    if (below !== stack) {
      const id = this.push(below, frame)
      this.ids.set(stack, frame.id, id)
      return id
    }
    const id = this.top.length
    this.makeRoom(id)
    this.below[id] = stack
    this.depths[id] = this.depths[stack] + 1
    this.captures[id] = this.captures[stack] + (frame.needsText ? 1 : 0)
    this.symbolic[id] = frame.isSymbolic || this.symbolic[stack]
    this.top[id] = frame
    this.ids.set(stack, frame.id, id)
    return id
  }

  /** Each column has room of its own: what throws between two of them leaves the others as they are. */
  private makeRoom(id: number): void {
    if (id >= this.below.length) this.below = grown(this.below, 4 * this.below.length)
    if (id >= this.depths.length) this.depths = grown(this.depths, 4 * this.depths.length)
    if (id >= this.captures.length) this.captures = grown(this.captures, 4 * this.captures.length)
  }

  /** `stack` with `frame` taken off where it lies on top: x* (x* a | b) = x* (a | b). */
  private without(stack: number, frame: Frame): number {
    const members = this.unions?.members.get(stack)
    if (members === undefined) return this.top[stack] === frame ? this.below[stack] : stack
    const same = members.find((member) => this.top[member] === frame)
    if (same === undefined) return stack
    let rest = this.below[same]
    for (const member of members) if (member !== same) rest = this.unite(rest, member)
    return rest
  }

  /** The stacks of a union; a stack that is none is its own member. */
  members(stack: number): readonly number[] {
    return this.unions?.members.get(stack) ?? [stack]
  }

  isUnion(stack: number): boolean {
    return this.unions?.members.has(stack) ?? false
  }

  /** Whether `stack` may become part of a union: no text belongs to one of its readings alone. */
  canUnite(stack: number): boolean {
    return this.captures[stack] === 0
  }

  /** Whether these stacks may be united where they are read with the same text: they wait for as many parts of it. */
  canUniteBoth(a: number, b: number): boolean {
    return this.captures[a] === this.captures[b]
  }

  /** Both stacks as one, which wait for as many texts. Stacks with the same frame on top share it. */
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

  /** All stacks as one, which wait for as many texts. None is a union. */
  uniteAll(stacks: readonly number[]): number {
    this.unions ??= new Unions()
    return this.unionOf(stacks, this.unions)
  }

  private unionOf(stacks: readonly number[], unions: Unions): number {
    const members = this.mergedMembers(stacks)
    return members.length === 1 ? members[0] : this.union(members, unions)
  }

  /** `stacks`, ascending. What lies below those that share a frame is united. */
  private mergedMembers(stacks: readonly number[]): number[] {
    const members: number[] = []
    /** Places in `members`, and what is united with what is there. */
    const shared: number[] = []
    places.clear()
    for (const stack of stacks) {
      const place = places.get(this.frameId(stack), 0, 0)
      if (place >= 0) {
        if (members[place] !== stack) shared.push(place, stack)
      } else {
        places.set(this.frameId(stack), 0, 0, members.length)
        members.push(stack)
      }
    }
    // Only now: uniting what lies below comes here again, and needs `places`.
    for (let i = 0; i < shared.length; i += 2) {
      const [place, member] = [shared[i], shared[i + 1]]
      const below = this.unite(this.below[members[place]], this.below[member])
      members[place] = this.push(below, this.top[member])
    }
    return members.sort((a, b) => a - b)
  }

  /** The id of the frame on top; the empty stack has none. */
  private frameId(stack: number): number {
    return stack === EmptyStack ? -1 : this.top[stack].id
  }

  private union(members: readonly number[], unions: Unions): number {
    const { tuples, stacks } = unions
    const tuple = tuples.intern(members)
    if (stacks[tuple] !== undefined) return stacks[tuple]
    const id = this.top.length
    this.makeRoom(id)
    this.below[id] = EmptyStack
    this.depths[id] = Math.max(...members.map((member) => this.depths[member]))
    this.captures[id] = this.captures[members[0]]
    this.symbolic[id] = members.some((member) => this.symbolic[member])
    this.top[id] = undefined as unknown as Frame
    unions.members.set(id, members)
    stacks[tuple] = id
    return id
  }

  /** What lies below the top frame; a union has none. */
  pop(stack: number): number {
    return this.below[stack]
  }

  /** How many frames need the text that is read above them. */
  captureCount(stack: number): number {
    return this.captures[stack]
  }

  /** Whether what is read depends on a text that is not known. */
  isSymbolic(stack: number): boolean {
    return this.symbolic[stack]
  }

  depth(stack: number): number {
    return this.depths[stack]
  }
}

class Unions {
  /** The stacks of a union, ascending, with different frames on top. By stack. */
  readonly members = new Map<number, readonly number[]>()
  readonly tuples = new TupleTable()
  /** By id in `tuples`. */
  readonly stacks: (number | undefined)[] = []
  /** (smaller, larger) → both together. */
  readonly united = new PairMap()
}
