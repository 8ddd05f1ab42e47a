/**
 * A shortest text of an expression, from its form: the text of a concatenation is that of its head
 * and its tail, a choice takes its cheapest operand, and a loop repeats its body as often as it
 * must.
 *
 * A length is a sum of costs per byte, because a text may be spelled in a lexeme that writes some
 * bytes as escapes. Intersections, complements, assertions and machines have no such form. Their
 * derivatives are searched, guided by a lower bound that is exact everywhere else (A*: Hart,
 * Nilsson, Raphael 1968).
 */
import { checkTime } from "../../deadline.ts"
import { fixedBounds, limitError } from "../../errors.ts"
import { owned } from "../../tables.ts"
import { derivative, derivativeRow } from "./derivative.ts"
import { isNever } from "./emptiness.ts"
import { machineEnding, machineLengths } from "./machine.ts"
import { nearText } from "./near.ts"
import {
  at,
  type ExprId,
  ExprMemo,
  exprWords,
  flags,
  Inherited,
  isNullable,
  Kind,
  kindOf,
  length,
  Never,
} from "./nodes.ts"

const MaxCost = 0x1fffffff

/**
 * The derivatives that one search looks at, and the ranges of bytes in their rows. No text that a
 * model should write needs as many.
 */
const { shortestStates, shortestRanges } = fixedBounds

/**
 * After this many expressions, or words of new ones, a text that may not be shortest is good
 * enough.
 */
const ManySearched = 10_000
const ManyWords = 1 << 22

/** Weight of a row of derivatives for `checkTime`. */
const RowWeight = 8

/** Count of bytes of one range that are tried if many texts are needed. */
const MaxAlike = 10

/** Count of expressions whose cheapest texts are searched for one enumeration. */
const MaxMeasured = 2_000

/**
 * Digits and letters come before control characters: among equal costs the first byte is written.
 */
const FirstByte = 0x30

/** Shortest texts by the cost that a lexeme has for each byte. */
export class ShortestTexts {
  /** Shape [256], bytes; at least 1. */
  readonly costs: Uint8Array
  /** By expression: 2 × cost + 1 if the cost is exact, otherwise 2 × a lower bound. */
  private readonly known = owned("shortest texts", new ExprMemo())

  constructor(costs: Uint8Array) {
    this.costs = costs
  }

  costOf(bytes: Uint8Array): number {
    return bytes.reduce((sum, byte) => sum + this.costs[byte], 0)
  }

  /** Returns a lower bound on the cost of the texts of `id`. */
  least(id: ExprId): number {
    return Math.floor(this.measure(id) / 2)
  }

  /** Returns whether `least` is the cost of a text, which `textOf` then writes without a search. */
  isExact(id: ExprId): boolean {
    return (this.measure(id) & 1) === 1
  }

  /**
   * Returns a cheapest text of `id`, which must not be empty. Throws `limit` if it is too long, or
   * too far away.
   */
  textOf(id: ExprId): Uint8Array {
    const bytes: number[] = []
    this.write(id, bytes)
    return Uint8Array.from(bytes)
  }

  /**
   * Yields texts of `id`, short ones first; it never ends if there are infinitely many. It tries
   * only some of the bytes that have the same target, and at most `maxPaths` prefixes. Throws
   * `limit` if too many prefixes lead to no further text.
   */
  *enumerate(id: ExprId, maxPaths = Number.POSITIVE_INFINITY): Generator<Uint8Array> {
    interface Path {
      readonly id: ExprId
      readonly before: Path | null
      readonly byte: number
      readonly cost: number
    }
    const edgesOf = new Map<ExprId, { byte: number; next: ExprId }[]>()
    const open: Path[][] = []
    /** Least cost of the texts of expressions without a form. Each is searched once. */
    const exact = new Map<ExprId, number>()
    const add = (path: Path) => {
      const bound = path.cost + (exact.get(path.id) ?? this.least(path.id))
      open[bound] ??= []
      open[bound].push(path)
    }
    add({ id, before: null, byte: 0, cost: 0 })
    let [paths, since] = [0, 0]
    for (let bound = 0; bound < open.length; bound++) {
      for (let path = open[bound]?.pop(); path !== undefined; path = open[bound].pop()) {
        if (++paths > maxPaths) return
        checkTime()
        if (++since > fixedBounds.textsBetween) throw limitError(fixedBounds, "textsBetween", since)
        if (!this.isExact(path.id) && !exact.has(path.id) && exact.size < MaxMeasured) {
          if (isNever(path.id)) continue
          this.measureTexts(path.id, exact)
          if (path.cost + (exact.get(path.id) as number) > bound) {
            add(path)
            continue
          }
        }
        if (isNullable(path.id)) {
          const bytes: number[] = []
          for (let at = path; at.before !== null; at = at.before) bytes.push(at.byte)
          since = 0
          yield Uint8Array.from(bytes.reverse())
        }
        let edges = edgesOf.get(path.id)
        if (edges === undefined) {
          edges = this.edges(path.id)
          edgesOf.set(path.id, edges)
        }
        for (const { byte, next } of edges)
          add({ id: next, before: path, byte, cost: path.cost + this.costs[byte] })
      }
    }
  }

  /**
   * Searches for a cheapest text of `id`, and adds its cost and the costs of its suffixes to
   * `exact`.
   */
  private measureTexts(id: ExprId, exact: Map<ExprId, number>): void {
    const text = this.textOf(id)
    let cost = this.costOf(text)
    let rest = id
    exact.set(rest, cost)
    for (const byte of text) {
      rest = derivative(rest, byte)
      cost -= this.costs[byte]
      exact.set(rest, cost)
    }
  }

  /** Returns the targets of some bytes of each range, preferred bytes last. */
  private edges(id: ExprId): { byte: number; next: ExprId }[] {
    const row = Array.from(derivativeRow(id))
    const edges: { byte: number; next: ExprId }[] = []
    for (let i = 0; i < row.length; i += 2) {
      if (isNever(row[i + 1])) continue
      const first = this.cheapest(row[i])
      const last = Math.min(row[i] >>> 8, first + MaxAlike - 1)
      for (let byte = last; byte >= first; byte--) edges.push({ byte, next: row[i + 1] })
    }
    return edges
  }

  /** Walks in postorder with a stack of its own, because patterns may nest deeper than calls. */
  private measure(root: ExprId): number {
    const { known } = this
    const first = known.get(root)
    if (first >= 0) return first
    const stack = [root]
    const needs: ExprId[] = []
    while (stack.length > 0) {
      const id = stack[stack.length - 1]
      if (known.get(id) >= 0) {
        stack.pop()
        continue
      }
      needs.length = 0
      parts(id, needs)
      const before = stack.length
      for (const need of needs) if (known.get(need) < 0) stack.push(need)
      if (stack.length > before) continue
      known.set(id, this.compute(id))
      stack.pop()
    }
    return known.get(root)
  }

  private compute(id: ExprId): number {
    // The empty text costs nothing, whatever surrounds it.
    if (isNullable(id) && (flags(id) & Inherited) === 0) return 1
    const known = (part: ExprId) => this.known.get(part)
    switch (kindOf(id)) {
      case Kind.Set: {
        let least = MaxCost
        for (let i = 1; i < length(id); i += 2)
          least = Math.min(least, this.costs[this.cheapest(at(id, i))] + (known(at(id, i + 1)) >> 1))
        return 2 * least + 1
      }
      case Kind.Concat: {
        const [head, tail] = [known(at(id, 1)), known(at(id, 2))]
        return 2 * Math.min(MaxCost, (head >> 1) + (tail >> 1)) + (head & tail & 1)
      }
      case Kind.Or: {
        let best = 2 * MaxCost
        for (let i = 1; i < length(id); i++) {
          const part = known(at(id, i))
          if (part >> 1 < best >> 1 || (part >> 1 === best >> 1 && (part & 1) === 1)) best = part
        }
        return best
      }
      case Kind.And: {
        let least = 0
        for (let i = 1; i < length(id); i++) least = Math.max(least, known(at(id, i)) >> 1)
        return 2 * least
      }
      case Kind.Loop: {
        const body = known(at(id, 1))
        return 2 * Math.min(MaxCost, (body >> 1) * at(id, 2)) + (at(id, 2) === 0 ? 1 : body & 1)
      }
      case Kind.Scope:
        return known(at(id, 1)) & ~1
      case Kind.Machine:
        return 2 * Math.min(MaxCost, machineLengths(id)?.low ?? 0)
      default:
        return id === Never ? 2 * MaxCost : 0
    }
  }

  private write(root: ExprId, bytes: number[]): void {
    const stack = [root]
    while (stack.length > 0) {
      const id = stack.pop() as ExprId
      if (isNullable(id) && (flags(id) & Inherited) === 0) continue
      const isFormal = this.isExact(id)
      if (!isFormal && (flags(id) & Inherited) !== 0) {
        this.search(id, bytes)
        continue
      }
      switch (kindOf(id)) {
        case Kind.Set:
          stack.push(this.writeByte(id, bytes))
          break
        case Kind.Concat:
          stack.push(at(id, 2), at(id, 1))
          break
        case Kind.Loop: {
          const start = bytes.length
          this.write(at(id, 1), bytes)
          const size = bytes.length - start
          checkLength(start + size * at(id, 2))
          for (let i = size; i < size * at(id, 2); i++) bytes.push(bytes[start + i - size])
          break
        }
        case Kind.Or:
          if (isFormal) {
            stack.push(this.best(id))
            break
          }
          this.search(id, bytes)
          break
        case Kind.Machine: {
          const ending = machineEnding(id)
          if (ending === null) this.search(id, bytes)
          else for (const byte of ending) bytes.push(byte)
          break
        }
        default:
          this.search(id, bytes)
      }
      checkLength(bytes.length)
    }
  }

  /** Returns the operand of a choice that has the cost of the choice, exactly. */
  private best(id: ExprId): ExprId {
    for (let i = 1; i < length(id); i++) if (this.measure(at(id, i)) === this.measure(id)) return at(id, i)
    throw new Error(`internal: expression ${id} has no cheapest operand`)
  }

  /** Writes the first byte of a cheapest character and returns what must follow it. */
  private writeByte(id: ExprId, bytes: number[]): ExprId {
    let [best, cost, next] = [0, MaxCost + 1, Never]
    for (let i = 1; i < length(id); i += 2) {
      const byte = this.cheapest(at(id, i))
      const total = this.costs[byte] + this.least(at(id, i + 1))
      if (total > cost || (total === cost && place(byte) >= place(best))) continue
      best = byte
      cost = total
      next = at(id, i + 1)
    }
    bytes.push(best)
    return next
  }

  /** Returns the byte of a range `lo | hi << 8` that costs least. */
  cheapest(range: number): number {
    let best = range & 0xff
    for (let byte = best + 1; byte <= range >>> 8; byte++) {
      const difference = this.costs[byte] - this.costs[best]
      if (difference < 0 || (difference === 0 && place(byte) < place(best))) best = byte
    }
    return best
  }

  /** Writes a cheapest text of an expression without a form of its own. */
  private search(root: ExprId, bytes: number[]): void {
    const from = new Map<ExprId, { before: ExprId; byte: number; cost: number }>()
    from.set(root, { before: Never, byte: 0, cost: 0 })
    /** Expressions to look at, by a lower bound on the cost of a text through them. */
    const open: ExprId[][] = []
    const add = (id: ExprId, cost: number, atLeast: number) => {
      const bound = Math.max(cost + this.least(id), atLeast)
      checkLength(bound)
      open[bound] ??= []
      open[bound].push(id)
    }
    add(root, 0, 0)
    let searched = 0
    let ranges = 0
    let isNearAsked = false
    const wordsBefore = exprWords()
    for (let bound = 0; bound < open.length; bound++) {
      for (let id = open[bound]?.pop(); id !== undefined; id = open[bound].pop()) {
        const { cost } = from.get(id) as { cost: number }
        if (isNullable(id) || (this.isExact(id) && id !== root)) {
          const path: number[] = []
          for (let at = id; at !== root; ) {
            const { before, byte } = from.get(at) as { before: ExprId; byte: number }
            path.push(byte)
            at = before
          }
          for (const byte of path.reverse()) bytes.push(byte)
          if (!isNullable(id)) this.write(id, bytes)
          return
        }
        if (isNever(id)) continue
        checkTime(RowWeight)
        if (!isNearAsked && (searched === ManySearched || exprWords() - wordsBefore > ManyWords)) {
          isNearAsked = true
          const near = nearText(root, (range) => this.cheapest(range), ManySearched)
          if (near !== null) {
            for (const byte of near) bytes.push(byte)
            return
          }
        }
        if (++searched > shortestStates || ranges > shortestRanges) {
          const visited = `${searched} automaton states and ${ranges} transitions`
          const bounds = `${shortestStates} and ${shortestRanges}`
          const isLong = searched > shortestStates
          throw limitError(
            fixedBounds,
            isLong ? "shortestStates" : "shortestRanges",
            isLong ? searched : ranges,
            "",
            { visited, bounds },
          )
        }
        // This is a copy, since measuring the targets may compute other rows.
        const row = Array.from(derivativeRow(id))
        ranges += row.length / 2
        const choices: { byte: number; next: ExprId }[] = []
        for (let i = 0; i < row.length; i += 2)
          choices.push({ byte: this.cheapest(row[i]), next: row[i + 1] })
        choices.sort((a, b) => place(a.byte) - place(b.byte))
        const reached: ExprId[] = []
        for (const { byte, next } of choices) {
          const total = cost + this.costs[byte]
          const known = from.get(next)?.cost
          if (known !== undefined && known <= total) continue
          from.set(next, { before: id, byte, cost: total })
          reached.push(next)
        }
        // Last in, first out: the target of the preferred byte is pushed last.
        for (const next of reached.reverse()) add(next, (from.get(next) as { cost: number }).cost, bound)
      }
    }
    throw new Error(`internal: expression ${root} has no text`)
  }
}

/** Texts that are written as they are. */
export const rawTexts = new ShortestTexts(new Uint8Array(256).fill(1))

function checkLength(bytes: number): void {
  if (bytes > fixedBounds.shortestBytes) throw limitError(fixedBounds, "shortestBytes.pattern", bytes)
}

function place(byte: number): number {
  return (byte - FirstByte) & 0xff
}

/** Adds the expressions from which the measure of `id` is computed to `needs`. */
function parts(id: ExprId, needs: ExprId[]): void {
  switch (kindOf(id)) {
    case Kind.Set:
      for (let i = 2; i < length(id); i += 2) needs.push(at(id, i))
      return
    case Kind.Concat:
      needs.push(at(id, 1), at(id, 2))
      return
    case Kind.Or:
    case Kind.And:
      for (let i = 1; i < length(id); i++) needs.push(at(id, i))
      return
    case Kind.Loop:
    case Kind.Scope:
      needs.push(at(id, 1))
  }
}
