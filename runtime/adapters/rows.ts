/**
 * Masks for a loop that somebody else runs: the matchers of a batch, and their masks written into
 * logits in place. The adapters for engines are built on it; a hand-written loop, for example over
 * onnxruntime-web, uses it as it is.
 *
 * Logits are row-major, shape [B, V] or [B, positions, V] (the last position is masked), as 32-bit
 * floats or as 16-bit IEEE floats. V must be the width of the vocabulary.
 *
 * Imports mask/ alone, so it runs in a browser.
 */
import { applyMask, isAllowed } from "../../mask/bits.ts"
import type { TokenMachine } from "../../mask/machine.ts"
import { Matcher } from "../../mask/matcher.ts"
import type { Vocabulary } from "../../mask/vocabulary.ts"

/** One machine for all rows, or one for each row. All of them have the same vocabulary. */
export type Machines = TokenMachine | readonly TokenMachine[]

/**
 * Logits with their shape, as the tensors of onnxruntime and transformers.js have them. `data` is a
 * Float32Array, a Float16Array, or a Uint16Array that holds 16-bit IEEE floats.
 */
export interface LogitsTensor {
  readonly data: unknown
  readonly dims: readonly number[]
}

/** A Float16Array, for compilers that do not know this type. */
interface HalfArray extends ArrayBufferView {
  readonly [Symbol.toStringTag]: "Float16Array"
}

/** Logits as an array alone. A Uint16Array holds 16-bit IEEE floats. */
export type LogitsArray = Float32Array | Uint16Array | HalfArray

/** A row of logits, and the same memory as words of 16 bits if they are halves. */
interface Row {
  readonly floats: Float32Array | null
  readonly halves: Uint16Array | null
}

/** Minus infinity as a 16-bit IEEE float. */
const HalfDenied = 0xfc00

/**
 * Starts a text in each row of a batch. Throws RangeError if `batch` is not a positive integer, or
 * if there is one machine per row and their number is not `batch`.
 *
 * `apply` masks the logits, `accept` moves past the tokens that the loop drew from them, `isDone`
 * returns whether every row has ended.
 */
export function constrain(machines: Machines, batch?: number): ConstrainedRows {
  return new ConstrainedRows(machines, batch)
}

/** The texts of a batch, each at its own position. */
export class ConstrainedRows {
  /** The position of each row. */
  readonly matchers: readonly Matcher[]
  private readonly vocabulary: Vocabulary
  private readonly mask: Uint32Array

  /** See `constrain`. */
  constructor(machines: Machines, batch?: number) {
    const list = machinesOf(machines, batch)
    this.matchers = list.map((machine) => new Matcher(machine))
    this.vocabulary = list[0].vocabulary
    this.mask = new Uint32Array(this.vocabulary.words)
  }

  /**
   * Sets the logits of all tokens that may not come next to -Infinity, in place, and returns
   * `logits`. A row that has ended allows its end ids alone. O(V) per row, plus the masks that are
   * not cached yet.
   *
   * Throws RangeError if the logits have another type or shape, and if every allowed token of a row
   * has the logit -Infinity or NaN, since any token drawn from that row would be a denied one.
   */
  apply<T extends LogitsArray | LogitsTensor>(logits: T): T {
    const batch = this.matchers.length
    const { width } = this.vocabulary
    const { data, positions } = shapeOf(logits, batch, width)
    for (const [index, matcher] of this.matchers.entries()) {
      const row = rowOf(data, ((index + 1) * positions - 1) * width, width)
      // A free row is applied too: it denies control tokens and ids that are no token.
      matcher.fillMask(this.mask)
      if (row.floats) applyMask(row.floats, this.mask)
      else denyHalves(row.halves!, this.mask)
      if (!hasChoice(row, this.mask)) {
        throw new RangeError(
          `${this.place(index)}: all tokens that the grammar allows have the logit -Infinity or NaN. Something before the masks denies them, such as a minimum length or suppressed tokens: turn it off`,
        )
      }
    }
    return logits
  }

  /**
   * Moves past the token that was drawn in each row; a number stands for a batch of one. A row that
   * has ended takes end ids, and stays. Throws RangeError, and changes nothing, if the number of
   * tokens is not that of the rows or if a token may not come next.
   */
  accept(tokens: number | readonly number[]): void {
    const list = typeof tokens === "number" ? [tokens] : tokens
    if (list.length !== this.matchers.length)
      throw new RangeError(`accept: ${list.length} tokens for ${this.matchers.length} rows`)
    for (const [index, token] of list.entries()) this.check(index, token)
    for (const [index, token] of list.entries()) this.matchers[index].accept(token)
  }

  /** Moves one row past a token. Throws RangeError, and changes nothing, if it is not allowed. */
  acceptAt(index: number, token: number): void {
    this.check(index, token)
    this.matchers[index].accept(token)
  }

  /** Returns whether every row has accepted an end id. */
  isDone(): boolean {
    return this.matchers.every((matcher) => matcher.isTerminated())
  }

  /** Begins a new text in every row. */
  reset(): void {
    for (const matcher of this.matchers) matcher.reset()
  }

  private check(index: number, token: number): void {
    const matcher = this.matchers[index]
    if (matcher.isTerminated() ? this.vocabulary.isEnd(token) : matcher.validate([token]) === 1) return
    throw new RangeError(
      `${this.place(index)}: token ${named(this.vocabulary, token)} is not allowed there. The masks must be the last change to the logits, and every token must be drawn from masked logits. ${expected(matcher)}`,
    )
  }

  private place(index: number): string {
    return `row ${index}, token ${this.matchers[index].length} of its text`
  }
}

function machinesOf(machines: Machines, batch?: number): readonly TokenMachine[] {
  const list =
    "vocabulary" in machines ? Array<TokenMachine>(checkedBatch(batch ?? 1)).fill(machines) : machines
  if (list.length === 0) throw new RangeError("constrain: there is no machine")
  if (batch !== undefined && list.length !== batch)
    throw new RangeError(
      `constrain: ${list.length} machines for ${batch} rows. Give one machine, or one per row`,
    )
  const [{ vocabulary }] = list
  for (const [index, { vocabulary: other }] of list.entries()) {
    if (other.hash !== vocabulary.hash)
      throw new RangeError(`constrain: the machine of row ${index} has another vocabulary than that of row 0`)
  }
  return list
}

function checkedBatch(batch: number): number {
  if (!Number.isInteger(batch) || batch < 1)
    throw new RangeError(`constrain: the batch is ${batch}, which is not a positive integer`)
  return batch
}

/**
 * Returns the values of the logits, and how many positions each row has. Throws RangeError if the
 * type or the shape is wrong.
 */
function shapeOf(
  logits: LogitsArray | LogitsTensor,
  batch: number,
  width: number,
): { data: Float32Array | Uint16Array; positions: number } {
  const tensor = typeof logits === "object" && logits !== null && "dims" in logits ? logits : null
  const data = valuesOf(tensor ? tensor.data : logits)
  if (tensor) {
    const { dims } = tensor
    const shape = `the logits have the shape [${dims.join(", ")}]`
    if (dims.at(-1) !== width) throw new RangeError(`${shape}, ${widthAdvice(width)}`)
    if (dims.length > 3 || (dims.length === 1 ? 1 : dims[0]) !== batch)
      throw new RangeError(`${shape}. Expected [${batch}, ${width}] or [${batch}, positions, ${width}]`)
    if (dims.reduce((product, size) => product * size, 1) !== data.length)
      throw new RangeError(`${shape}, which are not ${data.length} values`)
  }
  const positions = data.length / (batch * width)
  if (!Number.isInteger(positions) || positions === 0)
    throw new RangeError(
      `the logits are ${data.length} values, which is not a multiple of ${batch} rows; ${widthAdvice(width)}`,
    )
  return { data, positions }
}

function widthAdvice(width: number): string {
  return `and the vocabulary of the masks is ${width} wide. Make the vocabulary with the last dimension of the logits as its \`width\``
}

/** Works for arrays of another realm, such as those of a frame or a test, too. */
function valuesOf(data: unknown): Float32Array | Uint16Array {
  if (ArrayBuffer.isView(data)) {
    switch (Object.prototype.toString.call(data)) {
      case "[object Float32Array]":
        return data as Float32Array
      case "[object Uint16Array]":
        return data as Uint16Array
      case "[object Float16Array]":
        return new Uint16Array(data.buffer, data.byteOffset, data.byteLength / 2)
    }
  }
  const type = Object.prototype.toString.call(data).slice(8, -1)
  throw new RangeError(
    `the logits are a ${type}. Expected a Float32Array, a Float16Array, or a Uint16Array of 16-bit floats`,
  )
}

function rowOf(data: Float32Array | Uint16Array, start: number, width: number): Row {
  const end = start + width
  return data.BYTES_PER_ELEMENT === 4
    ? { floats: (data as Float32Array).subarray(start, end), halves: null }
    : { floats: null, halves: (data as Uint16Array).subarray(start, end) }
}

function denyHalves(halves: Uint16Array, mask: Uint32Array): void {
  // hot
  for (let token = 0; token < halves.length; token++) {
    if (!isAllowed(mask, token)) halves[token] = HalfDenied
  }
}

/** Returns whether an allowed token has a logit above -Infinity. Stops at the first one. */
function hasChoice({ floats, halves }: Row, mask: Uint32Array): boolean {
  // hot
  for (let w = 0; w < mask.length; w++) {
    for (let bits = mask[w]; bits !== 0; bits &= bits - 1) {
      const token = 32 * w + 31 - Math.clz32(bits & -bits)
      if (floats ? floats[token] > Number.NEGATIVE_INFINITY : isAboveDenied(halves![token])) return true
    }
  }
  return false
}

/** Returns whether a 16-bit float is neither -Infinity nor NaN. */
function isAboveDenied(half: number): boolean {
  return half !== HalfDenied && (half & 0x7fff) <= 0x7c00
}

function named(vocabulary: Vocabulary, token: number): string {
  if (!vocabulary.hasColumn(token)) return `${token} (outside the vocabulary of ${vocabulary.width})`
  const text = vocabulary.name(token) ?? new TextDecoder().decode(vocabulary.bytes(token))
  return `${token} (${JSON.stringify(text)})`
}

/** Returns what the grammar expects, as a sentence. */
function expected(matcher: Matcher): string {
  if (matcher.isTerminated()) return "The text has ended, so an end id is expected"
  const whats = matcher.explain().map(({ what }) => what)
  if (matcher.isAccepting()) whats.push("the end of the text")
  const shown = whats.length > 4 ? [...whats.slice(0, 4), "…"] : whats
  return `Expected: ${shown.join(", ")}`
}
