/**
 * The one table of lexeme states.
 *
 * A lexeme is a language of bytes; its automaton is built lazily and its states are integers that all schemas, regular
 * expressions and requests of the process share: the body of a JSON string is the same state everywhere. What a state
 * means is a tuple [kind, a, b, c], interned; each kind knows how to expand its states into rows and what their tags are.
 *
 * Rows come in two forms. A wide state has one entry a class of bytes. A narrow state is a list of edges over a base: on every
 * other byte it goes where the base goes. With the dead state as the base that is an edge list; with the plain string
 * as the base it is "a string, except along these names", which is what makes masks of open objects cheap.
 */
import { pathTo } from "../bytes.ts"
import { checkTime } from "../deadline.ts"
import { fixedBounds, limitError } from "../errors.ts"
import { grown, moreThan, QuadTable } from "../intern.ts"
import type { Reach } from "./expr/clamp.ts"
import { WideRows } from "./widerows.ts"

/** No text is accepted from here. Every other state has a way to an accepting one. */
export const Dead = 0
/** The tag of a lexeme that ends in one way only; a lexeme of several alternatives may have others beside it. */
export const PlainTag = 1
/** In an edge: where it leads has not been asked yet. */
const Unmade = -1

/** Up to this many live bytes a state is a list of edges. */
const MaxEdges = 16
/** States of one search for a shortest text whose kind is asked to look for its rest. */
const MaxRests = 12
/** Digits and letters before control characters: among equals the first one is written. */
const FirstByte = 0x30

/** Collects the edges of one state while its kind expands it. */
export interface Row {
  /** Lexeme state after each byte; all `Dead` at the start. Shape [256]. */
  readonly targets: Int32Array
  /** Set these two to describe the state as edges over a base instead: only `bytes` of `targets` are read. */
  base: number
  bytes: number[] | null
  /** Set as well to leave all targets open until `LexemeKind.target` is asked for them. */
  isOpen: boolean
}

/** Bytes to an accepting state, and its tag. */
export interface Completion {
  bytes: Uint8Array
  tag: number
}

/** What the states of one kind mean. `a`, `b`, `c` are the values that were interned. */
export interface LexemeKind {
  expand(a: number, b: number, c: number, row: Row): void
  /** The state after `byte`, one of the bytes of a row that was left open. */
  target?(a: number, b: number, c: number, byte: number): number
  /** The state after `byte` without a look at other bytes; -1: the row had better be made. */
  step?(a: number, b: number, c: number, byte: number): number
  /** 0 = not accepting, else which alternative ended here. */
  tag(a: number, b: number, c: number): number
  /** A lower bound on the bytes to an accepting state. Default 0. */
  least?(a: number, b: number, c: number): number
  /**
   * A shortest completion, for kinds that know better than to search; null: they do not know. Unless `isSearched` only
   * what is known at once, and then no longer than `least`.
   */
  shortest?(a: number, b: number, c: number, isSearched: boolean): Completion | null
  /** A state that no token within `reach` can tell from this one, which is `state`, see `LexemeTable.clamp`. */
  clamp?(a: number, b: number, c: number, reach: Reach, state: number): number
  /** A state that does not tell where it may end, see `LexemeTable.quiet`; this one, which is `state`, where it never may. */
  quiet?(a: number, b: number, c: number, state: number): number
}

export class LexemeTable {
  private readonly tuples = new QuadTable()
  private readonly kinds: LexemeKind[] = []
  /** Tag of the text that ends in a state; 0 = not accepting. Shape [S]. */
  tags = new Int32Array(1024)
  /** States whose tags are known: all, unless something was thrown when the last ones were made. */
  private tagCount = 0
  /**
   * Where a state's row lies. Shape [S]; 0 = not expanded, r > 0: the wide row r, -e < 0: edges from `edges[e]`: base, count, then
   * (byte, target or `Unmade`) with ascending bytes.
   */
  rows = new Int32Array(1024)
  edges = new Int32Array(4096)
  wide = new WideRows()
  private edgeEnd = 1
  /** One scratch row for each expansion that is under way: a kind may look at other states while it fills its own. */
  private readonly scratch: Row[] = []
  private depth = 0

  constructor() {
    this.tuples.intern(-1, 0, 0, 0) // the dead state
    this.tagCount = 1
    this.rows[Dead] = -1
    this.edgeEnd = 3 // base 0, no edges
  }

  get count(): number {
    return this.tuples.count
  }

  /** Bytes held by the table. */
  get bytes(): number {
    return this.tuples.bytes + 4 * (this.tags.length + this.rows.length + this.edges.length) + this.wide.bytes
  }

  /** Bytes of the rows: what `forgetRows` gives back. */
  get rowBytes(): number {
    return 4 * this.edges.length + this.wide.bytes
  }

  /** Forgets all rows; they are made again when they are asked for, from the same states. Not while something walks. */
  forgetRows(): void {
    if (this.depth > 0) throw new Error("internal: a row is being made")
    const [edges, wide] = [new Int32Array(4096), new WideRows()]
    this.rows.fill(0)
    this.rows[Dead] = -1
    this.edges = edges
    this.edgeEnd = 3
    this.wide = wide
  }

  /** Makes a kind known; the number stands for it in `state`. */
  register(kind: LexemeKind): number {
    return this.kinds.push(kind) - 1
  }

  /** The state [kind, a, b, c]. */
  state(kind: number, a: number, b = 0, c = 0): number {
    const id = this.tuples.intern(kind, a, b, c)
    if (id >= this.tagCount) this.addTags()
    return id
  }

  /** Finds the tags of the states whose tags are not known yet. */
  private addTags(): void {
    const { tuples } = this
    for (let id = this.tagCount; id < tuples.count; id++) {
      if (id >= this.rows.length) this.rows = grown(this.rows, moreThan(this.rows.length))
      if (id >= this.tags.length) this.tags = grown(this.tags, moreThan(this.tags.length))
      this.tags[id] = this.kinds[tuples.at(id, 0)].tag(tuples.at(id, 1), tuples.at(id, 2), tuples.at(id, 3))
      this.tagCount = id + 1
    }
  }

  /** [kind, a, b, c] of a state of this kind, else null. Valid until the next state is made. */
  describe(kind: number, state: number): Int32Array | null {
    return this.tuples.at(state, 0) === kind ? this.tuples.view(state) : null
  }

  /** The state after `byte`, or `Dead`. */
  next(state: number, byte: number): number {
    for (let at = state; ; ) {
      let row = this.rows[at]
      if (row === 0) row = this.expand(at)
      if (row > 0) return this.wide.at(row, byte)
      const { edges } = this
      const start = -row + 2
      const end = start + 2 * edges[-row + 1]
      for (let i = start; i < end; i += 2) {
        if (edges[i] !== byte) continue
        return edges[i + 1] === Unmade ? this.makeTarget(at, i) : edges[i + 1]
      }
      at = edges[-row]
      if (at === Dead) return Dead
    }
  }

  /**
   * As `next`, for a state that is met along one text alone: where its kind can do without, its row is not made, which would ask for
   * each of its ways on whether it has an end.
   */
  step(state: number, byte: number): number {
    if (this.rows[state] !== 0) return this.next(state, byte)
    const { tuples } = this
    const kind = this.kinds[tuples.at(state, 0)]
    const target = kind.step?.(tuples.at(state, 1), tuples.at(state, 2), tuples.at(state, 3), byte) ?? -1
    return target < 0 ? this.next(state, byte) : target
  }

  /** For a state that is edges over a base: its base (`Dead` for a plain edge list). -1 for a wide state. */
  base(state: number): number {
    const row = this.rows[state] === 0 ? this.expand(state) : this.rows[state]
    return row > 0 ? -1 : this.edges[-row]
  }

  /** Edges of a narrow state, those over its base alone; 0 for a wide one. */
  edgeCount(state: number): number {
    const row = this.rows[state] === 0 ? this.expand(state) : this.rows[state]
    return row < 0 ? this.edges[-row + 1] : 0
  }

  /** Byte of edge `index` of an expanded narrow state; they ascend. */
  edgeByte(state: number, index: number): number {
    return this.edges[-this.rows[state] + 2 + 2 * index]
  }

  /** Lexeme state after edge `index` of an expanded narrow state. */
  edgeTarget(state: number, index: number): number {
    const at = -this.rows[state] + 2 + 2 * index
    return this.edges[at + 1] === Unmade ? this.makeTarget(state, at) : this.edges[at + 1]
  }

  /** Fills in where the edge of `state` at `edges[at]` leads. */
  private makeTarget(state: number, at: number): number {
    const { tuples } = this
    const kind = this.kinds[tuples.at(state, 0)] as Required<LexemeKind>
    const byte = this.edges[at]
    const target = kind.target(tuples.at(state, 1), tuples.at(state, 2), tuples.at(state, 3), byte)
    this.edges[at + 1] = target
    return target
  }

  /** Whether `state` is `start`, or bytes that were asked for lead there from it. Makes nothing. O(states between them). */
  leadsTo(start: number, state: number): boolean {
    const met = new Set([start])
    for (const at of met) {
      if (at === state) return true
      const row = this.rows[at]
      if (row > 0) {
        for (const target of this.wide.targetsOf(row)) if (target !== Dead) met.add(target)
      } else if (row < 0) {
        // Also the base itself, whose edges are its own but for those that are written over.
        if (this.edges[-row] !== Dead) met.add(this.edges[-row])
        for (let i = 0; i < this.edges[1 - row]; i++) {
          const target = this.edges[3 - row + 2 * i]
          if (target !== Dead && target !== Unmade) met.add(target)
        }
      }
    }
    return false
  }

  /** Whether any byte leads on. */
  canContinue(state: number): boolean {
    const row = this.rows[state] === 0 ? this.expand(state) : this.rows[state]
    return row > 0 || this.edges[-row] !== Dead || this.edges[-row + 1] > 0
  }

  /** A state that treats all tokens within `reach` as `state` does: the key under which local masks are shared. */
  clamp(state: number, reach: Reach): number {
    const { tuples } = this
    const kind = this.kinds[tuples.at(state, 0)]
    if (kind?.clamp === undefined) return state
    return kind.clamp(tuples.at(state, 1), tuples.at(state, 2), tuples.at(state, 3), reach, state)
  }

  /**
   * A state that reads what `state` does and does not tell where the lexeme may end with tag 1; `state` itself where that
   * is nowhere or rare. A text may end inside nearly every token: where nothing is read behind it, nobody asks.
   */
  quiet(state: number): number {
    const { tuples } = this
    const kind = this.kinds[tuples.at(state, 0)]
    if (kind?.quiet === undefined) return state
    return kind.quiet(tuples.at(state, 1), tuples.at(state, 2), tuples.at(state, 3), state)
  }

  /**
   * Short bytes that lead from `state` to an accepting state, and its tag; printable characters first. A* over the live
   * states, guided by each kind's lower bound, until a kind knows the rest by itself. Throws `limit` when no memory holds
   * it.
   */
  shortest(state: number): Completion {
    const { shortestBytes, lexemeStates } = fixedBounds
    const least = this.least(state)
    if (least > shortestBytes) {
      throw limitError(fixedBounds, "shortestBytes.lexeme", least)
    }
    const own = this.known(state, true)
    if (own !== null) return own
    const from = new Map<number, { before: number; byte: number; length: number }>()
    from.set(state, { before: Dead, byte: 0, length: 0 })
    /** States to look at, by the least length that a text through them can have. */
    const open: number[][] = []
    /** The rest behind a state, where a kind has looked for it. */
    const rests = new Map<number, Completion | null>()
    const add = (at: number, length: number, atLeast: number) => {
      // The bound may fall along a path (an escape spells a character in six bytes): never back to a list that is done.
      const bound = Math.max(length + this.least(at), atLeast)
      open[bound] ??= []
      open[bound].push(at)
    }
    add(state, 0, 0)
    for (let bound = this.least(state); bound < open.length; bound++) {
      for (let next = open[bound]?.pop(); next !== undefined; next = open[bound].pop()) {
        checkTime()
        if (this.tags[next] !== 0) return { bytes: pathTo(next, state, from), tag: this.tags[next] }
        const { length } = from.get(next) as { length: number }
        let rest = this.known(next, false) ?? rests.get(next) ?? null
        if (rest === null && next !== state && rests.size < MaxRests && !rests.has(next)) {
          rest = this.known(next, true)
          rests.set(next, rest)
        }
        if (rest !== null) {
          const end = length + rest.bytes.length
          if (end <= bound)
            return {
              bytes: Uint8Array.from([...pathTo(next, state, from), ...rest.bytes]),
              tag: rest.tag,
            }
          // Its turn comes when nothing shorter is left.
          open[end] ??= []
          open[end].unshift(next)
          continue
        }
        if (from.size > lexemeStates) {
          throw limitError(fixedBounds, "lexemeStates", from.size)
        }
        const reached: number[] = []
        for (let i = 0, last = Dead; i < 256; i++) {
          const byte = (i + FirstByte) & 0xff
          const target = this.next(next, byte)
          if (target === last) continue
          last = target
          const known = target === Dead ? 0 : from.get(target)?.length
          if (known !== undefined && known <= length + 1) continue
          from.set(target, { before: next, byte, length: length + 1 })
          reached.push(target)
        }
        // Last in, first out: pushed in reverse, so that digits and letters come before control characters.
        for (const target of reached.reverse()) add(target, length + 1, bound)
      }
    }
    throw new Error(`internal: lexeme state ${state} has no way to an end`)
  }

  private known(state: number, isSearched: boolean): Completion | null {
    const { tuples } = this
    const kind = this.kinds[tuples.at(state, 0)]
    return kind?.shortest?.(tuples.at(state, 1), tuples.at(state, 2), tuples.at(state, 3), isSearched) ?? null
  }

  /** At most as many bytes as any text from `state` has. */
  least(state: number): number {
    const { tuples } = this
    return (
      this.kinds[tuples.at(state, 0)].least?.(
        tuples.at(state, 1),
        tuples.at(state, 2),
        tuples.at(state, 3),
      ) ?? 0
    )
  }

  /** The state after all of `bytes`, or `Dead`. */
  run(state: number, bytes: Iterable<number>): number {
    let at = state
    for (const byte of bytes) at = this.next(at, byte)
    return at
  }

  /** Tag of the text that ends in the state after `bytes`. Reading may make states, and `tags` anew: it is looked at only then. */
  tagAfter(state: number, bytes: Iterable<number>): number {
    const end = this.run(state, bytes)
    return this.tags[end]
  }

  private expand(state: number): number {
    this.scratch[this.depth] ??= { targets: new Int32Array(256), base: Dead, bytes: null, isOpen: false }
    const row = this.scratch[this.depth]
    row.targets.fill(Dead)
    row.base = Dead
    row.bytes = null
    row.isOpen = false
    const { tuples } = this
    this.depth++
    try {
      this.kinds[tuples.at(state, 0)].expand(
        tuples.at(state, 1),
        tuples.at(state, 2),
        tuples.at(state, 3),
        row,
      )
    } finally {
      this.depth--
    }
    let { bytes } = row as Row
    if (bytes === null) {
      let live = 0
      for (let byte = 0; byte < 256; byte++) if (row.targets[byte] !== Dead) live++
      if (live > MaxEdges) {
        const wide = this.wide.add(row.targets)
        this.rows[state] = wide
        return wide
      }
      bytes = []
      for (let byte = 0; byte < 256; byte++) if (row.targets[byte] !== Dead) bytes.push(byte)
    }
    return this.addNarrow(state, row.base, bytes, row.isOpen ? null : row.targets)
  }

  /** `targets`: null leaves them open. */
  private addNarrow(state: number, base: number, bytes: number[], targets: Int32Array | null): number {
    const start = this.edgeEnd
    const end = start + 2 + 2 * bytes.length
    if (end > this.edges.length) this.edges = grown(this.edges, moreThan(end))
    this.edges[start] = base
    this.edges[start + 1] = bytes.length
    for (let i = 0; i < bytes.length; i++) {
      this.edges[start + 2 + 2 * i] = bytes[i]
      this.edges[start + 3 + 2 * i] = targets === null ? Unmade : targets[bytes[i]]
    }
    this.edgeEnd = end
    this.rows[state] = -start
    return -start
  }
}

/** The table of this process. Lazy and append-only: it can never change an answer. */
export const lexemes = new LexemeTable()
