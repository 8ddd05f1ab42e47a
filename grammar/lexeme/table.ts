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
import { grown, moreThan, QuadTable } from "../intern.ts"
import { WideRows } from "./widerows.ts"

/** No text is accepted from here. Every other state has a way to an accepting one. */
export const Dead = 0
/** The tag of a lexeme that ends in one way only; a lexeme of several alternatives may have others beside it. */
export const PlainTag = 1
/** In an edge: where it leads has not been asked yet. */
const Unmade = -1

/** Up to this many live bytes a state is a list of edges. */
const MaxEdges = 16
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

/**
 * What the states of one kind mean. `a`, `b`, `c` are the values that were interned. A kind may know more, for those who ask
 * `kindOf`: how it ends soonest (`completion.ts`), and which of its states are alike for a token (`clamp.ts`).
 */
export interface LexemeKind {
  expand(a: number, b: number, c: number, row: Row): void
  /** The state after `byte`, one of the bytes of a row that was left open. */
  target?(a: number, b: number, c: number, byte: number): number
  /** The state after `byte` without a look at other bytes; -1: the row had better be made. */
  step?(a: number, b: number, c: number, byte: number): number
  /** 0 = not accepting, else which alternative ended here. */
  tag(a: number, b: number, c: number): number
}

export class LexemeTable {
  private readonly tuples = new QuadTable()
  private readonly kinds: LexemeKind[] = []
  /** Tag of the text that ends in a state; 0 = not accepting. Shape [S]. */
  tags = new Int32Array(1024)
  /** States whose tags are known: all, unless something was thrown when the last ones were made. */
  private tagCount = 0
  /**
   * The row of each state. Shape [S]. 0: not made yet. r > 0: a wide row, which begins at `wide.values[r]`. -e < 0: a narrow
   * row, which begins at `edges[e]`.
   */
  rows = new Int32Array(1024)
  /** Narrow rows: the base, the number of edges, then (byte, target or `Unmade`) for each edge, bytes ascending. */
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
  register<Kind extends LexemeKind>(kind: Kind): number {
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

  /** The kind of a state, as it was registered; the dead state has none. */
  kindOf(state: number): LexemeKind | undefined {
    return this.kinds[this.tuples.at(state, 0)]
  }

  /** [kind, a, b, c] of a state. Valid until the next state is made. */
  partsOf(state: number): Int32Array {
    return this.tuples.view(state)
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
