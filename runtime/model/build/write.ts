/**
 * Writes an ONNX graph with weights that stream from a model file of another format into
 * `model.onnx.data`.
 *
 * First the graph is built: nodes, and for every weight an offset in the data file, since sizes
 * follow from shapes alone. Then `save` reads the weights by rows, packs them and writes each piece
 * at its offset. So memory is bounded by one chunk of rows, and two initializers may refer to the
 * same bytes: a tied embedding is gathered under one shape and multiplied under another.
 *
 * A matrix [N, K] of packed weights is multiplied by MatMulNBits. If its type has minima, w = (code
 * − zero) · scale + rest, the rests are multiplied by the sums of the blocks of x: y +=
 * blockSums(x)[K / 32] · R[K / 32, N], exactly. Only the kernels that are fast on the CPU are used:
 * `accuracy_level` 4, no zero points, 4 or 8 bits.
 */

import { closeSync, fsyncSync, ftruncateSync, openSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { ModelError } from "../../errors.ts"
import {
  type OnnxAttribute,
  type OnnxExternal,
  type OnnxNewNode,
  type OnnxValue,
  writeModel,
} from "../ort/onnx.ts"
import type { Layout } from "../weights/block.ts"
import { type Dtype, floats, layoutOf, pack } from "../weights/blocks.ts"
import { blockSizes } from "../weights/sizes.ts"
import type { Tensor, Weights } from "../weights/weights.ts"

export const Float32 = 1
const Uint8 = 2
export const Int32 = 6
export const Int64 = 7
export const microsoft = "com.microsoft"
const opset = 21
const dataFile = "model.onnx.data"

/** Rows `first` to `first + count` of a tensor. */
export interface Rows {
  readonly tensor: string
  readonly first: number
  readonly count: number
}

/**
 * A matrix that consists of rows of one or more tensors, one below the other, each of `columns`
 * values.
 */
export interface Matrix {
  readonly rows: readonly Rows[]
  readonly columns: number
}

/** Bytes to be written at an offset of the data file. */
interface Chunk {
  readonly at: number
  readonly bytes: Uint8Array
}

interface Fill {
  /** Number of bytes that it writes. */
  readonly length: number
  readonly chunks: () => Iterable<Chunk>
}

/** The position of a matrix in the data file. */
interface Stored {
  readonly layout: Layout | null
  readonly rows: number
  readonly columns: number
  /** Offsets of codes, scales and rests; if there is no layout, only the offset of the values. */
  readonly codes: number
  readonly scales: number
  readonly rests: number
}

export interface SaveOptions {
  /** Called after each chunk of rows with the number of bytes written and of all bytes. */
  readonly onProgress?: (written: number, total: number) => void
  readonly signal?: AbortSignal
}

/** Number of stored bytes that are read at once. */
const chunkBytes = 4 * 2 ** 20
/** Maximum length of the data file, so that offsets are exact integers. */
const maxDataBytes = 2 ** 42

export class GraphWriter {
  private readonly weights: Weights
  private readonly dtype: Dtype
  private readonly nodes: OnnxNewNode[] = []
  private readonly inputs: OnnxValue[] = []
  private readonly outputs: OnnxValue[] = []
  private readonly constants = new Map<string, readonly number[]>()
  private readonly externals: OnnxExternal[] = []
  private readonly fills: Fill[] = []
  private readonly stored = new Map<string, Stored>()
  private readonly sums = new Map<string, string>()
  private readonly used = new Set<string>()
  private dataBytes = 0

  constructor(weights: Weights, dtype: Dtype) {
    this.weights = weights
    this.dtype = dtype
  }

  /** Names of the tensors that some node reads. */
  get usedTensors(): ReadonlySet<string> {
    return this.used
  }

  /** Length of the data file. */
  get bytes(): number {
    return this.dataBytes
  }

  input(name: string, type: number, dims: readonly number[]): string {
    this.inputs.push({ name, type, dims })
    return name
  }

  output(name: string, type: number, dims: readonly number[]): void {
    this.outputs.push({ name, type, dims })
  }

  /**
   * Adds a node with one output, or with those of `outputs`. Returns `name`, the name of the first
   * output.
   */
  node(
    name: string,
    op: string,
    inputs: readonly string[],
    attributes: readonly OnnxAttribute[] = [],
    { domain, outputs = [name] }: { domain?: string; outputs?: readonly string[] } = {},
  ): string {
    this.nodes.push({ op, inputs, outputs, attributes, ...(domain !== undefined && { domain }) })
    return name
  }

  /** Adds a tensor of int64, of shape [values.length], or [] for a scalar. Returns its name. */
  ints(values: readonly number[]): string {
    const name = `ints.${values.join(".")}`
    this.constants.set(name, values)
    return name
  }

  /** Adds a float32 tensor that is computed when it is written. Returns `name`. */
  values(name: string, dims: readonly number[], chunks: () => Iterable<Float32Array>): string {
    const length = 4 * dims.reduce((product, size) => product * size, 1)
    const start = this.reserve(length)
    this.fills.push({
      length,
      *chunks() {
        let at = start
        for (const values of chunks()) {
          yield { at, bytes: bytesOf(values) }
          at += values.byteLength
        }
      },
    })
    return this.external(name, Float32, dims, start)
  }

  /** Adds all values of these rows as one float32 tensor, with `plus` added to each. */
  vector(name: string, rows: readonly Rows[], dims: readonly number[], plus = 0): string {
    for (const each of rows) this.used.add(each.tensor)
    const weights = this.weights
    return this.values(name, dims, function* () {
      for (const { tensor, first, count } of rows) {
        const values = floats(weights.tensors.get(tensor)!.type, weights.rows(tensor, first, count), tensor)
        yield plus === 0 ? values : values.map((value) => value + plus)
      }
    })
  }

  /**
   * Returns whether the rows of all these matrices have one layout, so that they can be one matrix.
   */
  isUniform(matrices: readonly Matrix[]): boolean {
    const layouts = matrices.flatMap(({ rows, columns }) =>
      rows.map(({ tensor }) => JSON.stringify(this.layoutOf(tensor, columns, false))),
    )
    return new Set(layouts).size === 1
  }

  /**
   * Adds x · matrixᵀ, of shape […, rows]. `isExact`: whether weights that are stored as floats stay
   * floats regardless of the dtype.
   */
  multiply(name: string, x: string, matrix: Matrix, isExact = false): string {
    const { layout, rows, columns, ...place } = this.store(matrix, isExact)
    if (layout === null) {
      const b = this.external(`${name}.weight`, Float32, [columns, rows], place.codes)
      return this.node(name, "MatMul", [x, b])
    }
    const { bits, block, rest } = layout
    const codes = this.external(
      `${name}.codes`,
      Uint8,
      [rows, columns / block, (block * bits) / 8],
      place.codes,
    )
    const scales = this.external(`${name}.scales`, Float32, [rows, columns / block], place.scales)
    const attributes = Object.entries({ K: columns, N: rows, bits, block_size: block, accuracy_level: 4 })
    const product = this.node(
      rest === 0 ? name : `${name}.codes_product`,
      "MatMulNBits",
      [x, codes, scales],
      attributes.map(([key, int]) => ({ name: key, int })),
      { domain: microsoft },
    )
    if (rest === 0) return product
    const rests = this.external(`${name}.rests`, Float32, [columns / rest, rows], place.rests)
    const added = this.node(`${name}.rests_product`, "MatMul", [this.blockSums(x, columns, rest), rests])
    return this.node(name, "Add", [product, added])
  }

  /** Adds a gather of the rows of a matrix by `ids` [B, S]. The result is [B, S, columns]. */
  gather(name: string, ids: string, matrix: Matrix, isTransposed: boolean): string {
    const { layout, rows, columns, ...place } = this.store(matrix, false, isTransposed)
    if (layout === null) {
      if (!isTransposed) {
        const table = this.external(`${name}.weight`, Float32, [rows, columns], place.codes)
        return this.node(name, "Gather", [table, ids])
      }
      const table = this.external(`${name}.weight`, Float32, [columns, rows], place.codes)
      return this.gatherColumns(name, table, ids)
    }
    const { bits, block, rest } = layout
    const codes = this.external(`${name}.codes`, Uint8, [rows, (columns * bits) / 8], place.codes)
    const scales = this.external(`${name}.scales`, Float32, [rows, columns / block], place.scales)
    const gathered = this.node(
      rest === 0 ? name : `${name}.without_rests`,
      "GatherBlockQuantized",
      [codes, ids, scales],
      Object.entries({ bits, block_size: block, gather_axis: 0, quantize_axis: 1 }).map(([key, int]) => ({
        name: key,
        int,
      })),
      { domain: microsoft },
    )
    if (rest === 0) return gathered
    const table = this.external(`${name}.rests`, Float32, [columns / rest, rows], place.rests)
    const rests = this.gatherColumns(`${name}.own_rests`, table, ids)
    const wide = this.node(`${name}.wide_rests`, "Unsqueeze", [rests, this.ints([-1])])
    const blocks = this.node(`${name}.blocks`, "Reshape", [gathered, this.ints([0, 0, columns / rest, rest])])
    const sum = this.node(`${name}.sum`, "Add", [blocks, wide])
    return this.node(name, "Reshape", [sum, this.ints([0, 0, columns])])
  }

  /**
   * Writes model.onnx and its data into `folder`. Rejects with the signal's reason, and with errors
   * of the file system.
   */
  async save(folder: string, { onProgress, signal }: SaveOptions = {}): Promise<void> {
    const total = this.fills.reduce((sum, { length }) => sum + length, 0)
    let written = 0
    const file = openSync(join(folder, dataFile), "w")
    try {
      ftruncateSync(file, this.dataBytes)
      for (const { chunks } of this.fills) {
        let sinceYield = 0
        for (const { at, bytes } of chunks()) {
          for (let done = 0; done < bytes.length; )
            done += writeSync(file, bytes, done, bytes.length - done, at + done)
          written += bytes.length
          sinceYield += bytes.length
          if (sinceYield < chunkBytes) continue
          sinceYield = 0
          onProgress?.(written, total)
          await setImmediate()
          signal?.throwIfAborted()
        }
      }
      signal?.throwIfAborted()
      onProgress?.(written, total)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    const { nodes, inputs, outputs, externals } = this
    const constants = [...this.constants].map(([name, values]) => {
      return { name, type: Int64, dims: [values.length], values }
    })
    const graph = { name: "decoder", nodes, constants, externals, inputs, outputs }
    writeFileSync(join(folder, "model.onnx"), writeModel(graph, { "": opset, [microsoft]: 1 }, "tokenrail"))
  }

  /** Adds a gather of the columns of a table [n, V] by `ids` [B, S]. The result is [B, S, n]. */
  private gatherColumns(name: string, table: string, ids: string): string {
    const columns = this.node(`${name}.columns`, "Gather", [table, ids], [{ name: "axis", int: 1 }])
    return this.node(name, "Transpose", [columns], [{ name: "perm", ints: [1, 2, 0] }])
  }

  /**
   * Adds the sums of each `size` neighbours along the last axis of x. All products with x share
   * them.
   */
  private blockSums(x: string, columns: number, size: number): string {
    const name = `${x}.sums_of_${size}`
    const known = this.sums.get(name)
    if (known !== undefined) return known
    const blocks = this.node(`${name}.blocks`, "Reshape", [x, this.ints([0, 0, columns / size, size])])
    const attributes = [{ name: "keepdims", int: 0 }]
    this.sums.set(name, this.node(name, "ReduceSum", [blocks, this.ints([-1])], attributes))
    return name
  }

  private layoutOf(tensor: string, columns: number, isExact: boolean): Layout | null {
    const { type } = this.tensor(tensor)
    const layout = layoutOf(type, isExact ? "fp32" : this.dtype)
    // A type with blocks has whole blocks in each row; rows of floats may have any length.
    return layout !== null && columns % layout.block === 0 ? layout : null
  }

  /**
   * Reserves the bytes of a matrix and registers how to fill them. The same rows are stored once.
   */
  private store({ rows, columns }: Matrix, isExact: boolean, isTransposed = true): Stored {
    const layout = this.layoutOf(rows[0].tensor, columns, isExact)
    const key = JSON.stringify([rows, layout, isTransposed || layout !== null])
    const known = this.stored.get(key)
    if (known !== undefined) return known
    for (const each of rows) this.used.add(each.tensor)
    const count = rows.reduce((sum, each) => sum + each.count, 0)
    const codesLength = layout === null ? 4 * count * columns : (count * columns * layout.bits) / 8
    const scalesLength = layout === null ? 0 : (4 * count * columns) / layout.block
    const restsLength = layout === null || layout.rest === 0 ? 0 : (4 * count * columns) / layout.rest
    const codes = this.reserve(codesLength)
    const scales = scalesLength === 0 ? 0 : this.reserve(scalesLength)
    const rests = restsLength === 0 ? 0 : this.reserve(restsLength)
    const stored = { layout, rows: count, columns, codes, scales, rests }
    this.stored.set(key, stored)
    const { dtype } = this
    const source = () => this.read(rows, columns)
    this.fills.push({
      length: codesLength + scalesLength + restsLength,
      *chunks() {
        for (const { row, rowCount, tensor, type, bytes } of source()) {
          if (layout === null) {
            const values = floats(type, bytes, tensor)
            if (isTransposed) yield* columnsOf(values, columns, row, count, codes)
            else yield { at: codes + 4 * row * columns, bytes: bytesOf(values) }
            continue
          }
          const packed = pack(type, dtype, bytes, columns, tensor)
          yield { at: codes + (row * columns * layout.bits) / 8, bytes: packed.codes }
          yield { at: scales + (4 * row * columns) / layout.block, bytes: bytesOf(packed.scales) }
          if (layout.rest !== 0) yield* columnsOf(packed.rests, columns / layout.rest, row, count, rests)
          if (rowCount === 0) throw new Error("internal: a chunk without rows")
        }
      },
    })
    return stored
  }

  /** Yields the stored bytes of rows in chunks; `row` is the index among all these rows. */
  private *read(
    rows: readonly Rows[],
    columns: number,
  ): Generator<{ row: number; rowCount: number; tensor: string; type: string; bytes: Uint8Array }> {
    let row = 0
    for (const { tensor, first, count } of rows) {
      const { type } = this.tensor(tensor)
      const { values, bytes } = blockSizes.get(type)!
      const step = Math.max(1, Math.floor(chunkBytes / ((columns / values) * bytes)))
      for (let done = 0; done < count; done += step) {
        const rowCount = Math.min(step, count - done)
        yield { row, rowCount, tensor, type, bytes: this.weights.rows(tensor, first + done, rowCount) }
        row += rowCount
      }
    }
  }

  private tensor(name: string): Tensor {
    const tensor = this.weights.tensors.get(name)
    if (tensor === undefined) throw new Error(`internal: tensor ${name} was not looked up`)
    return tensor
  }

  /**
   * Reserves bytes. Large pieces begin at a multiple of 64 KiB, at which every system can map a
   * file; pieces of at least a page begin at a page.
   */
  private reserve(length: number): number {
    const alignment = length >= 65_536 ? 65_536 : length >= 4_096 ? 4_096 : 64
    const start = Math.ceil(this.dataBytes / alignment) * alignment
    this.dataBytes = start + length
    if (this.dataBytes > maxDataBytes) {
      throw new ModelError(
        `the model's weights would take more than ${maxDataBytes} bytes. Choose a smaller model`,
      )
    }
    return start
  }

  private external(name: string, type: number, dims: readonly number[], offset: number): string {
    const length = dims.reduce((product, size) => product * size, type === Uint8 ? 1 : 4)
    this.externals.push({ name, type, dims, location: dataFile, offset, length })
    return name
  }
}

/**
 * Yields chunks that write rows of `columns` values as columns of a matrix [columns, count] at
 * offset `start`, the first of them in column `row`.
 */
function* columnsOf(
  values: Float32Array,
  columns: number,
  row: number,
  count: number,
  start: number,
): Iterable<Chunk> {
  const rowCount = values.length / columns
  for (let column = 0; column < columns; column++) {
    const turned = new Float32Array(rowCount)
    for (let at = 0; at < rowCount; at++) turned[at] = values[at * columns + column]
    yield { at: start + 4 * (column * count + row), bytes: bytesOf(turned) }
  }
}

function bytesOf(values: Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}
