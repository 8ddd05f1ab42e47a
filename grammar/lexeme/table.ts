/**
 * The one table of lexeme states.
 *
 * A lexeme is a language of bytes. Its automaton is built lazily, and its states are integers that
 * all schemas, regular expressions and requests of the process share: the body of a JSON string is
 * the same state everywhere. A state is an interned tuple [kind, a, b, c]. Its kind knows how to
 * expand it into a row, and its tag.
 *
 * Rows come in two forms. A wide row has one target per class of bytes. A narrow row is a list of
 * edges over a base: on every other byte it goes where the base goes. With the dead state as the
 * base that is an edge list. With the plain string as the base it is "a string, except along these
 * names", which makes masks of open objects cheap.
 */
import { grown, moreThan, QuadTable } from "../intern.ts"
import { owned } from "../tables.ts"
import { WideRows } from "./widerows.ts"

/** The state that accepts no text. Every other state can reach an accepting one. */
export const Dead = 0
/** The tag of a lexeme with only one ending. A lexeme with several may have other tags too. */
export const PlainTag = 1
/** Target of an edge that has not been computed yet. */
const Unmade = -1

/** A state with at most this many live bytes is a list of edges. */
const MaxEdges = 16
/** Collects the edges of one state while its kind expands it. */
export interface Row {
  /** Lexeme state after each byte; all `Dead` at the start. Shape [256]. */
  readonly targets: Int32Array
  /** Set these two to make the state edges over a base: only `bytes` of `targets` are read. */
  base: number
  bytes: number[] | null
  /** Set as well to compute each target on demand, by `LexemeKind.target`. */
  isOpen: boolean
}

/**
 * Defines the states of one kind. `a`, `b`, `c` are the interned values. A kind may have more
 * methods, which are found through `kindOf`: how it ends soonest (`completion.ts`), and which of
 * its states are alike for a token (`clamp.ts`).
 */
export interface LexemeKind {
  expand(a: number, b: number, c: number, row: Row): void
  /** Returns the state after `byte`, one of the bytes of an open row. */
  target?(a: number, b: number, c: number, byte: number): number
  /** Returns the state after `byte` without the row, or -1 if the row had better be made. */
  step?(a: number, b: number, c: number, byte: number): number
  /** Returns 0 for a state that does not accept, otherwise the alternative that ends here. */
  tag(a: number, b: number, c: number): number
}

export class LexemeTable {
  private readonly tuples = new QuadTable()
  private readonly kinds: LexemeKind[] = []
  /** Tag of the text that ends in a state; 0 = not accepting. Shape [S]. */
  tags = new Int32Array(1024)
  /** Count of states with known tags: all, unless an error was thrown for the last ones. */
  private tagCount = 0
  /**
   * The row of each state. Shape [S]. 0: not made yet. r > 0: a wide row at `wide.values[r]`. -e <
   * 0: a narrow row at `edges[e]`.
   */
  rows = new Int32Array(1024)
  /** Narrow rows: base, count of edges, then (byte, target or `Unmade`) by ascending byte. */
  edges = new Int32Array(4096)
  wide = new WideRows()
  private edgeEnd = 1
  /** A scratch row for each nested expansion: a kind may expand states while it fills a row. */
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

  /** Forgets all rows. They are made again on demand. Must not be called during a walk. */
  forgetRows(): void {
    if (this.depth > 0) throw new Error("internal: a row is being made")
    const [edges, wide] = [new Int32Array(4096), new WideRows()]
    this.rows.fill(0)
    this.rows[Dead] = -1
    this.edges = edges
    this.edgeEnd = 3
    this.wide = wide
  }

  /** Registers a kind and returns its number for `state`. */
  register<Kind extends LexemeKind>(kind: Kind): number {
    return this.kinds.push(kind) - 1
  }

  /** Returns the state [kind, a, b, c]. */
  state(kind: number, a: number, b = 0, c = 0): number {
    const id = this.tuples.intern(kind, a, b, c)
    if (id >= this.tagCount) this.addTags()
    return id
  }

  /** Computes the tags that are not known yet. */
  private addTags(): void {
    const { tuples } = this
    for (let id = this.tagCount; id < tuples.count; id++) {
      if (id >= this.rows.length) this.rows = grown(this.rows, moreThan(this.rows.length))
      if (id >= this.tags.length) this.tags = grown(this.tags, moreThan(this.tags.length))
      this.tags[id] = this.kinds[tuples.at(id, 0)].tag(tuples.at(id, 1), tuples.at(id, 2), tuples.at(id, 3))
      this.tagCount = id + 1
    }
  }

  /**
   * Returns [kind, a, b, c] of a state of this kind, else null. Valid until a new state is made.
   */
  describe(kind: number, state: number): Int32Array | null {
    return this.tuples.at(state, 0) === kind ? this.tuples.view(state) : null
  }

  /** Returns the registered kind of a state; the dead state has none. */
  kindOf(state: number): LexemeKind | undefined {
    return this.kinds[this.tuples.at(state, 0)]
  }

  /** Returns [kind, a, b, c] of a state. Valid until the next state is made. */
  partsOf(state: number): Int32Array {
    return this.tuples.view(state)
  }

  /** Returns the state after `byte`, or `Dead`. */
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
   * Like `next`, for a state on the way of one text only: if its kind can, it makes no row, which
   * would test each target for an end.
   */
  step(state: number, byte: number): number {
    if (this.rows[state] !== 0) return this.next(state, byte)
    const { tuples } = this
    const kind = this.kinds[tuples.at(state, 0)]
    const target = kind.step?.(tuples.at(state, 1), tuples.at(state, 2), tuples.at(state, 3), byte) ?? -1
    return target < 0 ? this.next(state, byte) : target
  }

  /** Returns the base of a narrow state (`Dead` for a plain edge list), or -1 for a wide state. */
  base(state: number): number {
    const row = this.rows[state] === 0 ? this.expand(state) : this.rows[state]
    return row > 0 ? -1 : this.edges[-row]
  }

  /** Returns the count of a narrow state's own edges; 0 for a wide state. */
  edgeCount(state: number): number {
    const row = this.rows[state] === 0 ? this.expand(state) : this.rows[state]
    return row < 0 ? this.edges[-row + 1] : 0
  }

  /** Returns the byte of edge `index` of an expanded narrow state; the bytes ascend. */
  edgeByte(state: number, index: number): number {
    return this.edges[-this.rows[state] + 2 + 2 * index]
  }

  /** Returns the state after edge `index` of an expanded narrow state. */
  edgeTarget(state: number, index: number): number {
    const at = -this.rows[state] + 2 + 2 * index
    return this.edges[at + 1] === Unmade ? this.makeTarget(state, at) : this.edges[at + 1]
  }

  /** Computes the target of the edge of `state` at `edges[at]`. */
  private makeTarget(state: number, at: number): number {
    const { tuples } = this
    const kind = this.kinds[tuples.at(state, 0)] as Required<LexemeKind>
    const byte = this.edges[at]
    const target = kind.target(tuples.at(state, 1), tuples.at(state, 2), tuples.at(state, 3), byte)
    this.edges[at + 1] = target
    return target
  }

  /**
   * Returns whether `state` is `start`, or is reached from it by targets that are already made.
   * Makes nothing. O(states between them). Returns false if there are more than `most` of those.
   */
  leadsTo(start: number, state: number, most = Number.POSITIVE_INFINITY): boolean {
    const met = new Set([start])
    for (const at of met) {
      if (at === state) return true
      if (met.size > most) return false
      const row = this.rows[at]
      if (row > 0) {
        for (const target of this.wide.targetsOf(row)) if (target !== Dead) met.add(target)
      } else if (row < 0) {
        // The base is reached too: its edges are also this state's, unless they are overwritten.
        if (this.edges[-row] !== Dead) met.add(this.edges[-row])
        for (let i = 0; i < this.edges[1 - row]; i++) {
          const target = this.edges[3 - row + 2 * i]
          if (target !== Dead && target !== Unmade) met.add(target)
        }
      }
    }
    return false
  }

  /** Returns whether any byte can follow. */
  canContinue(state: number): boolean {
    const row = this.rows[state] === 0 ? this.expand(state) : this.rows[state]
    return row > 0 || this.edges[-row] !== Dead || this.edges[-row + 1] > 0
  }

  /** Returns the state after all of `bytes`, or `Dead`. */
  run(state: number, bytes: Iterable<number>): number {
    let at = state
    for (const byte of bytes) at = this.next(at, byte)
    return at
  }

  /** Returns the tag after `bytes`. Reads `tags` last: new states may replace that array. */
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

  /** `targets` is null if they are computed on demand. */
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

/** The table of this process. It is lazy and append-only, so it can never change an answer. */
export const lexemes = owned("lexeme states", new LexemeTable(), { forget: () => lexemes.forgetRows() })
