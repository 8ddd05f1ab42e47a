/**
 * Files of weights and the tensors in them. A tensor is located by its file and its offset; rows
 * are read when they are requested. Every read is checked against the size of its file, and if a
 * file becomes shorter in the meantime, the read throws instead of returning a short array.
 */

import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs"
import { ModelError } from "../../errors.ts"
import { blockSizes } from "./sizes.ts"
import type { Tensor, Weights } from "./weights.ts"

/** Maximum bytes of one system call: Linux reads at most 2 GiB. */
const maxReadBytes = 2 ** 30

/** Maximum bytes of rows that are read together. */
const maxRowsBytes = 2 ** 31

export const damaged = "The file is damaged or was cut off: download it again"

/** Formats a name from a file for a message: quoted, on one line, at most 80 characters. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 79)}…` : name).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    "?",
  )
}

/** A file of weights that is open for reading. */
export class WeightsFile {
  readonly path: string
  readonly size: number
  readonly #descriptor: number
  #isOpen = true

  /** Throws ModelError if `path` is not a file that can be read. */
  constructor(path: string) {
    this.path = path
    try {
      // Opening a pipe would wait for its writer, so the kind of file is checked first.
      if (!statSync(path).isFile())
        throw new ModelError(`${path}: not a file. Pass the path of a file of weights`)
      this.#descriptor = openSync(path, "r")
      this.size = fstatSync(this.#descriptor).size
    } catch (error) {
      if (error instanceof ModelError) throw error
      throw new ModelError(
        `${path}: cannot be opened (${reasonOf(error)}). Check the path and its permissions`,
        {
          cause: error,
        },
      )
    }
  }

  /** Fills `target` with the bytes from `offset` on. Throws ModelError if the file ends before. */
  read(target: Uint8Array, offset: number): void {
    if (!this.#isOpen) throw new ModelError(`${this.path}: was closed. Open it again`)
    for (let done = 0; done < target.length; ) {
      const length = Math.min(target.length - done, maxReadBytes)
      let count = 0
      try {
        count = readSync(this.#descriptor, target, done, length, offset + done)
      } catch (error) {
        throw new ModelError(`${this.path}: cannot be read (${reasonOf(error)}). Check the disk`, {
          cause: error,
        })
      }
      if (count === 0) {
        throw new ModelError(
          `${this.path}: the file ends at byte ${offset + done}, ${target.length - done} bytes early. ` +
            "It changed while it was read: open it again",
        )
      }
      done += count
    }
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor)
    this.#isOpen = false
  }
}

function reasonOf(error: unknown): string {
  return (error as { code?: string }).code ?? String(error)
}

/**
 * A tensor and the position of its bytes. The reader of the header has checked that they are within
 * the file.
 */
export interface PlacedTensor extends Tensor {
  readonly file: WeightsFile
  /** Offset of its first byte in the file. */
  readonly offset: number
}

/**
 * Returns the bytes of a tensor; NaN for a type of unknown size. The result is exact up to 2^53.
 */
export function bytesOf(tensor: Tensor): number {
  const size = blockSizes.get(tensor.type)
  if (size === undefined) return Number.NaN
  return (tensor.shape.reduce((product, length) => product * length, 1) / size.values) * size.bytes
}

/** Tensors of one or more open files. */
export class StoredWeights implements Weights {
  readonly tensors: ReadonlyMap<string, PlacedTensor>
  readonly #files: readonly WeightsFile[]

  constructor(tensors: ReadonlyMap<string, PlacedTensor>, files: readonly WeightsFile[]) {
    this.tensors = tensors
    this.#files = files
  }

  rows(name: string, first: number, count: number): Uint8Array {
    const tensor = this.tensors.get(name)
    if (tensor === undefined) {
      throw new ModelError(
        `${this.#files[0].path}: there is no tensor ${quoted(name)}. The file may be of another model`,
      )
    }
    const rowCount = tensor.shape.slice(0, -1).reduce((product, length) => product * length, 1)
    if (
      !(
        Number.isInteger(first) &&
        Number.isInteger(count) &&
        first >= 0 &&
        count >= 0 &&
        first + count <= rowCount
      )
    ) {
      throw new ModelError(
        `${tensor.file.path}: rows ${first} to ${first + count} of tensor ${quoted(name)} do not exist. It has ${rowCount}`,
      )
    }
    const rowBytes = rowCount === 0 ? 0 : bytesOf(tensor) / rowCount
    if (count * rowBytes > maxRowsBytes) {
      throw new ModelError(
        `${tensor.file.path}: ${count} rows of tensor ${quoted(name)} have ${count * rowBytes} bytes, ` +
          `above ${maxRowsBytes}. Read fewer rows at once`,
      )
    }
    const bytes = new Uint8Array(count * rowBytes)
    tensor.file.read(bytes, tensor.offset + first * rowBytes)
    return bytes
  }

  close(): void {
    for (const file of this.#files) file.close()
  }
}
