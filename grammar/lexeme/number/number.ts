/**
 * JSON numbers whose value lies in a union of cells, as an automaton over bytes with interned
 * integer states.
 *
 * A state is a set of parts (`part.ts`), one for what remains of each cell. The key of a part names
 * the language of what may follow, not its cell. So all unbounded numbers of all schemas share a
 * handful of states, and the states of a bounded one differ only while its text is still a prefix
 * of a bound. Table rows are filled on demand. Every live state can reach an accepting one, because
 * there are no parts that cannot.
 *
 * Policy `plain` writes no exponent, no -0, no point if the cell admits integers only, constants as
 * plain decimals, and on either side of the point at most max(32, what bounds, moduli and constants
 * need) digits. It writes exponents rather than refuse numbers that need more than `PlainDigits`
 * digits. Policy `all` is RFC 8259.
 */
import { grown, TupleTable } from "../../intern.ts"
import {
  cellKey,
  type Half,
  type Halves,
  halvesOf,
  isEmptyCell,
  makeHalf,
  type NumberCell,
  pointOf,
  valuesOf,
} from "./cell.ts"
import { adjusted, type Decimal, toPlainText } from "./decimal.ts"
import { exponentPart } from "./exponent.ts"
import { listedPart, textsPart } from "./listed.ts"
import { isIntegral } from "./modulus.ts"
import { Exponent, Minus, noSpans, type Part, type Span, shortestOf } from "./part.ts"
import { fixedPart, scientificPart } from "./significand.ts"

export { anyNumber, type NumberCell, pointCell } from "./cell.ts"

import { owned } from "../../tables.ts"

export type NumberPolicy = "plain" | "json"

const Dead = 0
const Stride = 16 // columns of a row: one a symbol, the last for all other bytes
const Other = 15
const PlainDigits = 1100
const UsualDigits = 32

const symbolBytes = [..."0123456789-+.e"].map((character) => character.charCodeAt(0))
const symbols = new Uint8Array(256).fill(Other)
for (const [symbol, byte] of symbolBytes.entries()) symbols[byte] = symbol
symbols[0x45] = Exponent

/** The successors of states with more parts are computed from memoized successors of the parts. */
const FewParts = 4

/** A cell and its part: undefined before it is made and for constants, null if no text has it. */
export interface CellEntry {
  readonly cell: NumberCell
  part?: Part | null
}

interface State {
  readonly parts: readonly Part[]
  /** Ids of the parts, ascending. */
  readonly partIds: readonly number[]
  readonly accepting: boolean
  bytes: readonly number[] | null
  shortest: Uint8Array | null
}

class Numbers {
  private readonly states: State[] = []
  /** State ids, by the ids of their parts. */
  private readonly ids = new TupleTable()
  /** The first part of each key, by id, and the ids by key. */
  private readonly parts: Part[] = []
  private readonly partIds = new Map<string, number>()
  /** Id of the next part + 2. Shape [parts, 16], row-major; 0 = not computed yet, 1 = none. */
  private partTable = new Int32Array(0)
  /** Next state + 1. Shape [S, 16], row-major; 0 = not computed yet, so 1 = dead. */
  private table = new Int32Array(Stride * 256)

  /** Start states of single cells, by policy and content. */
  private readonly starts = new Map<string, number>()

  constructor() {
    this.intern([])
  }

  /**
   * Returns the start state of the union; 0 if it is empty. Costs the digits of the cells, once per
   * cell.
   */
  start(cells: readonly NumberCell[], policy: NumberPolicy): number {
    if (cells.length !== 1)
      return this.startOf(
        cells.map((cell) => ({ cell })),
        policy,
      )
    const key = `${policy} ${cellKey(cells[0])}`
    let state = this.starts.get(key)
    if (state === undefined) {
      state = this.startOf([{ cell: cells[0] }], policy)
      this.starts.set(key, state)
    }
    return state
  }

  /**
   * Like `start`, but caches the part of each cell in its entry. An entry must always come with the
   * same `policy`.
   */
  startOf(entries: readonly CellEntry[], policy: NumberPolicy): number {
    const parts: Part[] = []
    const points: Points = { texts: [], values: [], notDigits: [] }
    for (const entry of entries) {
      if (entry.part === undefined) {
        if (policy === "plain" ? pushPlain(entry.cell, points) : pushAll(entry.cell, points)) continue
        entry.part = policy === "plain" ? plainPart(entry.cell) : allPart(entry.cell)
      }
      if (entry.part !== null) parts.push(entry.part)
    }
    for (const part of [
      textsPart(points.texts),
      listed(points.values, false),
      listed(points.notDigits, true),
    ]) {
      if (part !== null) parts.push(part)
    }
    return this.intern(parts.map((part) => this.partId(part)))
  }

  /** Returns `Dead` or a state from which an accepting one can be reached. */
  next(state: number, byte: number): number {
    const at = state * Stride + symbols[byte]
    const known = this.table[at]
    return known !== 0 ? known - 1 : this.fill(state, symbols[byte], at)
  }

  /** Returns whether the numeral `bytes` leads from `state` to an accepting state. */
  accepts(state: number, bytes: Uint8Array): boolean {
    let at = state
    for (const byte of bytes) at = this.next(at, byte)
    return this.isAccepting(at)
  }

  isAccepting(state: number): boolean {
    return this.states[state].accepting
  }

  /** Returns the bytes that lead to live states, ascending. */
  bytes(state: number): readonly number[] {
    const entry = this.states[state]
    entry.bytes ??= liveBytes(this, state)
    return entry.bytes
  }

  /** Count of the states so far; state ids are below it. */
  get stateCount(): number {
    return this.states.length
  }

  /** Returns the distinct values, ascending, or null if there are more than `cap`. */
  values(cells: readonly NumberCell[], cap: number): readonly Decimal[] | null {
    return valuesOf(cells, cap)
  }

  isEmpty(cells: readonly NumberCell[]): boolean {
    return cells.every(isEmptyCell)
  }

  /** Returns a shortest text that completes the state; it is empty for an accepting one. */
  shortest(state: number): Uint8Array {
    const entry = this.states[state]
    entry.shortest ??= shortestText(entry.parts)
    return entry.shortest
  }

  private fill(state: number, symbol: number, at: number): number {
    const { parts, partIds } = this.states[state]
    const rests: number[] = []
    if (symbol === Exponent) {
      const spans: Span[] = []
      for (const part of parts) spans.push(...part.exponents())
      const rest = exponentPart(spans)
      if (rest !== null) rests.push(this.partId(rest))
    }
    if (symbol !== Other) {
      for (const id of partIds) {
        const rest = partIds.length > FewParts ? this.nextPart(id, symbol) : this.makeNextPart(id, symbol)
        if (rest >= 0) rests.push(rest)
      }
    }
    const next = this.intern(rests)
    this.table[at] = next + 1
    return next
  }

  /** Memoizes `makeNextPart`: with thousands of parts, the same ones recur in many states. */
  private nextPart(id: number, symbol: number): number {
    const at = id * Stride + symbol
    if (at >= this.partTable.length) {
      this.partTable = grown(this.partTable, Math.max(2 * this.partTable.length, this.parts.length * Stride))
    }
    let known = this.partTable[at]
    if (known === 0) {
      known = this.makeNextPart(id, symbol) + 2
      this.partTable[at] = known
    }
    return known - 2
  }

  /** Returns the id of the part after `symbol`, or -1. */
  private makeNextPart(id: number, symbol: number): number {
    const rest = this.parts[id].next(symbol)
    return rest === null ? -1 : this.partId(rest)
  }

  private partId(part: Part): number {
    let id = this.partIds.get(part.key)
    if (id === undefined) {
      id = this.parts.push(part) - 1
      this.partIds.set(part.key, id)
    }
    return id
  }

  /** Returns the state of these parts, which may come in any order. */
  private intern(partIds: readonly number[]): number {
    const distinct = partIds.length > 1 ? ascending(partIds) : partIds
    const id = this.ids.intern(distinct)
    // The id may be older than its state: an earlier call may have thrown before it made the state.
    if (this.states[id] === undefined) {
      const parts = distinct.map((part) => this.parts[part])
      const state: State = {
        parts,
        partIds: distinct,
        accepting: parts.some((part) => part.accepting),
        bytes: id === Dead ? [] : null,
        shortest: null,
      }
      if ((id + 1) * Stride > this.table.length) this.table = grown(this.table, this.table.length * 2)
      this.states[id] = state
    }
    return id
  }
}

function ascending(ids: readonly number[]): number[] {
  const sorted = Int32Array.from(ids).sort()
  const distinct: number[] = []
  for (const id of sorted) if (id !== distinct[distinct.length - 1]) distinct.push(id)
  return distinct
}

function shortestText(parts: readonly Part[]): Uint8Array {
  const text = shortestOf(
    parts.map((part) => ["", part]),
    Number.POSITIVE_INFINITY,
  )
  return Uint8Array.from(text ?? "", (character) => character.charCodeAt(0))
}

function liveBytes(table: Numbers, state: number): number[] {
  const bytes: number[] = []
  for (let byte = 0; byte < 256; byte++) {
    if (symbols[byte] !== Other && table.next(state, byte) !== Dead) bytes.push(byte)
  }
  return bytes
}

/** Reads an optional minus sign and continues in one half. */
class Signed implements Part {
  readonly key: string
  readonly accepting = false
  readonly positive: Part | null
  readonly negative: Part | null

  constructor(positive: Part | null, negative: Part | null) {
    this.positive = positive
    this.negative = negative
    this.key = `±${positive?.key ?? ""}\t${negative?.key ?? ""}`
  }

  next(symbol: number): Part | null {
    if (symbol === Minus) return this.negative
    return symbol <= 9 && this.positive !== null ? this.positive.next(symbol) : null
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    return shortestOf(
      [
        ["", this.positive],
        ["-", this.negative],
      ],
      limit,
    )
  }
}

function signed(halves: Halves, part: (half: Half) => Part | null): Part | null {
  const positive = halves.positive && part(halves.positive)
  const negative = halves.negative && part(halves.negative)
  return positive === null && negative === null ? null : new Signed(positive, negative)
}

function allPart(cell: NumberCell): Part | null {
  return signed(halvesOf(cell), (half) =>
    half.text === "digits" ? fixedPart(half, Number.POSITIVE_INFINITY, 0) : scientificPart(half),
  )
}

function plainPart(cell: NumberCell): Part | null {
  const { positive, negative } = halvesOf(cell)
  const halves = { positive, negative: negative && withoutZero(negative) }
  return signed(halves, plainHalf) ?? signed(halves, scientificPart)
}

function withoutZero(half: Half): Half | null {
  if (half.range.lo.sign !== 0) return half
  return makeHalf({ ...half.range, loOpen: true }, half.multiple, half.excluded, half.text)
}

function plainHalf(half: Half): Part | null {
  const { range, multiple, excluded, text } = half
  const digitsOnly = text === "digits" || (text === "any" && multiple !== null && isIntegral(multiple))
  const moduli = multiple === null ? excluded : [multiple, ...excluded]
  // Leaves room to step over the excluded multiples once the interval holds the bounds.
  const spare = 1 + excluded.length
  let digits = adjusted(range.hi ?? range.lo)
  let places = Math.max(-range.lo.exponent, -(range.hi?.exponent ?? 0))
  for (const { value } of moduli) {
    if (range.hi === null) digits = Math.max(digits, adjusted(value))
    places = Math.max(places, -value.exponent)
  }
  const wide = clamp(range.hi === null ? digits + spare : digits)
  return fixedPart(half, wide, digitsOnly ? 0 : clamp(places + spare))
}

function clamp(need: number): number {
  return Math.min(PlainDigits, Math.max(UsualDigits, need))
}

/** The constants among the cells: those of one spelling, and those in every spelling. */
interface Points {
  readonly texts: string[]
  readonly values: Decimal[]
  readonly notDigits: Decimal[]
}

/**
 * Adds a constant as its plain decimal and as it was written. Returns false if the cell is not a
 * constant or the text is too long.
 */
function pushPlain(cell: NumberCell, { texts }: Points): boolean {
  const value = pointOf(cell)
  if (value === null || adjusted(value) > PlainDigits || value.exponent < -PlainDigits) return false
  if (cell.form === "lexicalNonInteger" && value.exponent >= 0) texts.push(`${toPlainText(value)}.0`)
  else texts.push(toPlainText(value))
  const { spelling } = cell
  if (spelling !== undefined) {
    const isDigits = /^-?[0-9]+$/.test(spelling)
    const fits = cell.form === "lexicalInteger" ? isDigits : cell.form !== "lexicalNonInteger" || !isDigits
    if (fits) texts.push(spelling)
  }
  return true
}

/** Adds a constant in all its spellings. Returns false if the cell is not a constant. */
function pushAll(cell: NumberCell, points: Points): boolean {
  const value = pointOf(cell)
  if (value === null || (cell.form === "lexicalInteger" && adjusted(value) > PlainDigits)) return false
  if (cell.form === "lexicalInteger") {
    points.texts.push(toPlainText(value))
    if (value.sign === 0) points.texts.push("-0")
  } else if (cell.form === "lexicalNonInteger") points.notDigits.push(value)
  else points.values.push(value)
  return true
}

function listed(values: readonly Decimal[], notDigits: boolean): Part | null {
  const positive = listedPart(
    values.filter(({ sign }) => sign >= 0),
    notDigits,
  )
  const negative = listedPart(
    values.filter(({ sign }) => sign <= 0),
    notDigits,
  )
  return positive === null && negative === null ? null : new Signed(positive, negative)
}

/**
 * The one table of number states. It only grows; equal languages of different schemas share states.
 */
export const numbers = owned("numbers", new Numbers(), { entryBytes: 250 })
