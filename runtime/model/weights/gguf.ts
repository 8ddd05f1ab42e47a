/**
 * GGUF: one file with metadata, a list of tensors and their bytes; little endian, versions 2 and 3.
 *
 *   "GGUF" | version u32 | tensors u64 | pairs u64 | pairs: key, type, value | tensors: name, dimensions, type, offset
 *   | padding to `general.alignment` | data
 *
 * A file is untrusted. Each count, length and offset is checked against a limit and against the
 * remaining bytes before memory is allocated for it, so a header never takes more than a few times
 * its own size. A large model may be split into files `x-00001-of-00003.gguf`; the first has the
 * metadata, and each has some of the tensors.
 *
 * Source: the format's description, docs/gguf.md in ggml; gguf-split of llama.cpp for the parts.
 */

import { ModelError } from "../../errors.ts"
import { Cursor } from "./cursor.ts"
import { blockSizes, ggufTypeNames } from "./sizes.ts"
import { bytesOf, damaged, type PlacedTensor, quoted, StoredWeights, WeightsFile } from "./storage.ts"
import type { Tensor, Weights } from "./weights.ts"

type MetadataScalar = number | bigint | string | boolean
export type MetadataValue = MetadataScalar | readonly MetadataScalar[]
/** Values of metadata by key: 64-bit numbers are bigint only beyond 2^53. */
export type Metadata = ReadonlyMap<string, MetadataValue>

export interface Gguf extends Weights {
  readonly metadata: Metadata
  /** The path of the file, or the paths of all parts in order. */
  readonly paths: readonly string[]
  readonly version: number
}

const maxPairs = 65_536
const maxTensors = 65_536
const maxKeyBytes = 65_535
const maxNameBytes = 1_024
const maxStringBytes = 16 * 2 ** 20
const maxDimension = 2 ** 31
const maxAlignment = 2 ** 20
const maxParts = 512

/**
 * Opens a file, or all files of a split one by the path of any part. Reads headers only. Throws
 * ModelError naming the file and what is wrong with it.
 */
export async function openGguf(path: string): Promise<Gguf> {
  const asked = readPart(path)
  const parts: Part[] = []
  try {
    const count = splitNumber(asked, "split.count", 1)
    if (count <= 1) return join([asked])
    for (const partPath of partPaths(asked, count)) {
      parts.push(partPath === path ? asked : readPart(partPath))
      checkPart(parts, count)
    }
    return join(parts)
  } catch (error) {
    for (const part of [asked, ...parts]) part.file.close()
    throw error
  }
}

/** The header of one file. */
interface Part {
  readonly file: WeightsFile
  readonly version: number
  readonly metadata: Metadata
  readonly tensors: readonly PlacedTensor[]
}

/** Returns the paths of all parts of the file that `part` belongs to. */
function partPaths(part: Part, count: number): string[] {
  const { path } = part.file
  const name = /^(.*)-\d{5}-of-(\d{5})\.gguf$/s.exec(path)
  if (count > maxParts || name === null || Number(name[2]) !== count) {
    throw new ModelError(
      `${path}: is one of ${count} parts (at most ${maxParts} are opened). They must lie in one folder under the names that they ` +
        `were published under: …-00001-of-${String(count).padStart(5, "0")}.gguf and so on`,
    )
  }
  return Array.from({ length: count }, (_, index) => {
    return `${name[1]}-${String(index + 1).padStart(5, "0")}-of-${name[2]}.gguf`
  })
}

/**
 * Throws ModelError unless the last of `parts` has the same part number in its metadata as in its
 * name.
 */
function checkPart(parts: readonly Part[], count: number): void {
  const part = parts[parts.length - 1]
  const own = splitNumber(part, "split.no", -1) + 1
  const all = splitNumber(part, "split.count", 1)
  if (own === parts.length && all === count) return
  throw new ModelError(
    `${part.file.path}: by its metadata this is part ${own} of ${all}, by its name part ${parts.length} of ${count}. ` +
      "Give the parts the names that they were published under",
  )
}

function splitNumber(part: Part, key: string, absent: number): number {
  const value = part.metadata.get(key) ?? absent
  if (typeof value === "number" && Number.isInteger(value)) return value
  throw new ModelError(`${part.file.path}: metadata ${quoted(key)} is not an integer. ${damaged}`)
}

/** Joins all parts into one model. */
function join(parts: readonly Part[]): Gguf {
  const [first] = parts
  const tensors = new Map<string, PlacedTensor>()
  for (const { file, tensors: own } of parts) {
    for (const tensor of own) {
      if (tensors.has(tensor.name)) {
        throw new ModelError(`${file.path}: there are two tensors ${quoted(tensor.name)}. ${damaged}`)
      }
      tensors.set(tensor.name, tensor)
    }
  }
  const expected = splitNumber(first, "split.tensors.count", tensors.size)
  if (expected !== tensors.size) {
    throw new ModelError(
      `${first.file.path}: there are ${tensors.size} tensors in all parts, ${expected} by the metadata. ${damaged}`,
    )
  }
  const files = parts.map((part) => part.file)
  const weights = new StoredWeights(tensors, files)
  const paths = files.map((file) => file.path)
  return {
    tensors,
    metadata: first.metadata,
    paths,
    version: first.version,
    rows: (name, start, count) => weights.rows(name, start, count),
    close: () => weights.close(),
  }
}

function readPart(path: string): Part {
  const file = new WeightsFile(path)
  try {
    return readHeader(new Cursor(file))
  } catch (error) {
    file.close()
    throw error
  }
}

function readHeader(cursor: Cursor): Part {
  const { file } = cursor
  const version = readVersion(cursor)
  const tensorCount = cursor.count("number of tensors", maxTensors)
  const pairCount = cursor.count("number of metadata keys", maxPairs)
  const metadata = new Map<string, MetadataValue>()
  for (let pair = 0; pair < pairCount; pair++) {
    const key = cursor.text(`key ${pair + 1} of the metadata`, maxKeyBytes)
    if (metadata.has(key)) cursor.fail(`metadata ${quoted(key)} occurs twice. ${damaged}`)
    metadata.set(key, readValue(cursor, `metadata ${quoted(key)}`))
  }
  const infos: { tensor: Tensor; offset: number }[] = []
  for (let index = 0; index < tensorCount; index++) infos.push(readTensor(cursor, index))

  const alignment = metadata.get("general.alignment") ?? 32
  if (
    typeof alignment !== "number" ||
    !(alignment >= 1 && alignment <= maxAlignment && Number.isInteger(Math.log2(alignment)))
  ) {
    cursor.fail(`metadata "general.alignment" is not a power of two up to ${maxAlignment}. ${damaged}`)
  }
  const dataStart = Math.ceil(cursor.position / alignment) * alignment
  let end = 0
  const tensors: PlacedTensor[] = []
  for (const { tensor, offset } of infos.sort((one, other) => one.offset - other.offset)) {
    const bytes = bytesOf(tensor)
    if (offset % alignment !== 0 || offset < end || dataStart + offset + bytes > file.size) {
      cursor.fail(
        `tensor ${quoted(tensor.name)} takes bytes ${offset} to ${offset + bytes} of the data. It must begin at a multiple of ` +
          `${alignment}, behind the tensor before it (${end}), and end within the file (${file.size - dataStart}). ${damaged}`,
      )
    }
    end = offset + bytes
    tensors.push({ ...tensor, file, offset: dataStart + offset })
  }
  return { file, version, metadata, tensors }
}

function readVersion(cursor: Cursor): number {
  const magic = cursor.size < 8 ? "" : cursor.latin1(4)
  if (magic !== "GGUF") {
    const isPointer = magic === "vers"
    cursor.fail(
      isPointer
        ? "this is a pointer of Git LFS instead of the file itself. Fetch the file: git lfs pull"
        : `not a GGUF file: it begins with ${quoted(magic)} instead of "GGUF". Pass a .gguf file`,
    )
  }
  const version = cursor.u32()
  // If a small version number is read in the wrong byte order, its low 16 bits are zero.
  if (version % 65_536 === 0 && version !== 0) {
    cursor.fail(
      "the file is big endian, and only little endian is read. Download or convert it for little endian",
    )
  }
  if (version !== 2 && version !== 3) {
    cursor.fail(
      `GGUF version ${version} is not read, only 2 and 3. Download or convert a newer file of this model`,
    )
  }
  return version
}

function readTensor(cursor: Cursor, index: number): { tensor: Tensor; offset: number } {
  const name = cursor.text(`the name of tensor ${index + 1}`, maxNameBytes)
  const what = `tensor ${quoted(name)}`
  const rank = cursor.u32()
  if (rank < 1 || rank > 4) cursor.fail(`${what} has ${rank} dimensions, not 1 to 4. ${damaged}`)
  // GGUF writes the innermost dimension first.
  const shape: number[] = []
  for (let axis = 0; axis < rank; axis++) {
    const length = cursor.count(`dimension ${axis + 1} of ${what}`, maxDimension)
    if (length === 0) cursor.fail(`dimension ${axis + 1} of ${what} is 0. ${damaged}`)
    shape.unshift(length)
  }
  const id = cursor.u32()
  const type = ggufTypeNames.get(id)
  if (type === undefined) {
    cursor.fail(
      `${what} has the unknown type ${id}. Choose a file of another quantization, such as Q4_K_M or Q8_0`,
    )
  }
  const columns = shape[rank - 1]
  const { values } = blockSizes.get(type)!
  if (columns % values !== 0) {
    cursor.fail(
      `rows of ${what} have ${columns} values, not a multiple of ${values} as type ${type} has. ${damaged}`,
    )
  }
  const tensor = { name, type, shape }
  const offset = cursor.count(`offset of ${what}`, cursor.size)
  if (bytesOf(tensor) > cursor.size) {
    cursor.fail(`${what} has ${bytesOf(tensor)} bytes, more than the file (${cursor.size}). ${damaged}`)
  }
  return { tensor, offset }
}

/**
 * Functions that read numbers, with their bytes, by the number of the type in GGUF. 8 and 9 are
 * strings and arrays.
 */
const scalarTypes: ReadonlyMap<number, readonly [number, (view: DataView, at: number) => number | bigint]> =
  new Map([
    [0, [1, (view, at) => view.getUint8(at)]],
    [1, [1, (view, at) => view.getInt8(at)]],
    [2, [2, (view, at) => view.getUint16(at, true)]],
    [3, [2, (view, at) => view.getInt16(at, true)]],
    [4, [4, (view, at) => view.getUint32(at, true)]],
    [5, [4, (view, at) => view.getInt32(at, true)]],
    [6, [4, (view, at) => view.getFloat32(at, true)]],
    [10, [8, (view, at) => narrowed(view.getBigUint64(at, true))]],
    [11, [8, (view, at) => narrowed(view.getBigInt64(at, true))]],
    [12, [8, (view, at) => view.getFloat64(at, true)]],
  ])
const boolType = 7
const stringType = 8
const arrayType = 9

function narrowed(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function readValue(cursor: Cursor, what: string): MetadataValue {
  const type = cursor.u32()
  if (type !== arrayType) return readScalar(cursor, what, type)
  const elementType = cursor.u32()
  if (elementType === arrayType)
    cursor.fail(`${what} is an array of arrays, which is not read. Use another file of this model`)
  const count = cursor.elements(
    what,
    elementType === stringType ? 8 : (scalarTypes.get(elementType)?.[0] ?? 1),
  )
  const values: MetadataScalar[] = []
  for (let index = 0; index < count; index++) values.push(readScalar(cursor, what, elementType))
  return values
}

function readScalar(cursor: Cursor, what: string, type: number): MetadataScalar {
  if (type === stringType) return cursor.text(what, maxStringBytes)
  if (type === boolType) {
    const byte = cursor.u8()
    if (byte > 1) cursor.fail(`${what} has the value ${byte}, not 0 or 1 as booleans have. ${damaged}`)
    return byte === 1
  }
  const scalar = scalarTypes.get(type)
  if (scalar === undefined) cursor.fail(`${what} has the unknown type ${type}. ${damaged}`)
  return cursor.scalar(scalar[0], scalar[1])
}
