/**
 * Converts blocks of stored weights into values, or into codes, scales and rests for MatMulNBits.
 * Both use one description per type (block.ts). No number is rounded beyond GGUF's own rounding,
 * except that the rest of a type with minima is one rounded sum. Weights that are stored as floats
 * have no codes and are quantized here.
 */

import { ModelError } from "../../errors.ts"
import { type BlockType, half, type Layout } from "./block.ts"
import { gridTypes } from "./grids.ts"
import { plainTypes } from "./plain.ts"
import { quantize } from "./quantize.ts"
import { blockSizes } from "./sizes.ts"
import { damaged, quoted } from "./storage.ts"
import { superblockTypes } from "./superblocks.ts"
import { tableTypes } from "./tables.ts"
import { ternaryTypes } from "./ternary.ts"

/** How weights that are stored as floats are written; types with blocks keep their bits. */
export type Dtype = "q8" | "q4" | "fp32"

/**
 * Weights of one or more rows. `codes` has shape [rows, columns / block, block · bits / 8], the
 * first of two codes in the low nibble; `scales` [rows, columns / block]; `rests` [rows, columns /
 * rest], empty if the layout has none. w = (code − 2^(bits−1)) · scale + rest, in float32.
 */
export interface Packed {
  readonly codes: Uint8Array
  readonly scales: Float32Array
  readonly rests: Float32Array
}

const blockTypes: Readonly<Record<string, BlockType>> = {
  ...plainTypes,
  ...superblockTypes,
  ...tableTypes,
  ...ternaryTypes,
  ...gridTypes,
}

const floatTypes: readonly string[] = ["F32", "F16", "BF16"]

const floatLayouts: Readonly<Record<Dtype, Layout | null>> = {
  q8: { bits: 8, block: 32, rest: 0 },
  q4: { bits: 4, block: 32, rest: 0 },
  fp32: null,
}

/**
 * Returns the layout of a type; null if it is written as float32. `dtype` applies only to F32, F16
 * and BF16. Throws ModelError for an unsupported type.
 */
export function layoutOf(type: string, dtype: Dtype): Layout | null {
  return floatTypes.includes(type) ? floatLayouts[dtype] : blockTypeOf(type).layout
}

function blockTypeOf(type: string): BlockType {
  const found = Object.hasOwn(blockTypes, type) ? blockTypes[type] : undefined
  if (found !== undefined) return found
  const read = [...floatTypes, ...Object.keys(blockTypes)].join(", ")
  throw new ModelError(
    `weights of type ${type} are not read. Choose a file of another quantization; read are ${read}`,
  )
}

/**
 * Rewrites whole rows of `columns` weights for the kernel. Throws ModelError for a type that is not
 * supported or not packed, for a number of bytes that is not a whole number of rows, and for a
 * scale or a weight that is infinite or not a number; messages name the tensor by `name`.
 */
export function pack(type: string, dtype: Dtype, bytes: Uint8Array, columns: number, name = ""): Packed {
  const layout = layoutOf(type, dtype)
  if (layout === null || columns % layout.block !== 0) {
    throw new ModelError(
      `rows of ${columns} weights of type ${type} cannot be packed with dtype ${dtype}. Write them as float32`,
    )
  }
  const size = blockSizes.get(type)!
  const rowBytes = (columns / size.values) * size.bytes
  if (columns % size.values !== 0 || bytes.length % rowBytes !== 0) {
    throw new ModelError(
      `${bytes.length} bytes of type ${type} are not whole rows of ${columns} weights. Pass whole rows`,
    )
  }
  if (floatTypes.includes(type))
    return { ...quantize(floats(type, bytes, name), layout), rests: new Float32Array(0) }
  return packBlocks(type, blockTypes[type], bytes, name)
}

function packBlocks(
  type: string,
  { layout, centre, unpack }: BlockType,
  bytes: Uint8Array,
  name: string,
): Packed {
  const { values, bytes: blockBytes } = blockSizes.get(type)!
  const count = bytes.length / blockBytes
  const subCount = values / layout.block
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const codes = new Int32Array((count * values * layout.bits) / 32)
  const scales = new Float32Array(count * subCount)
  const rests = new Float32Array(layout.rest === 0 ? 0 : scales.length)
  const areBytes = layout.bits === 8
  const unpacked = areBytes ? codes : new Int32Array(values / 4)
  const source = { bytes: view, at: 0 }
  const target = { codes: unpacked, to: 0, scales, minima: rests, sub: 0 }
  let end = 0
  // hot
  for (; source.at < bytes.length; source.at += blockBytes, target.sub += subCount) {
    unpack(source, target)
    if (areBytes) target.to += values / 4
    else
      for (let word = 0; word < unpacked.length; word += 2)
        codes[end++] = paired(unpacked[word]) | (paired(unpacked[word + 1]) << 16)
  }
  // hot
  for (let sub = 0; sub < scales.length; sub++) {
    const rest = rests.length === 0 ? 0 : rests[sub] + centre * scales[sub]
    // The product is 0 for finite numbers, and not a number for all others.
    if ((scales[sub] + rest) * 0 !== 0) throw notFinite(type, name)
    if (rests.length > 0) rests[sub] = rest
  }
  return { codes: new Uint8Array(codes.buffer), scales, rests }
}

/** Packs four bytes below 16 into two, the first of each pair in the low nibble. */
function paired(word: number): number {
  const pairs = word | (word >>> 4)
  return (pairs & 0xff) | ((pairs >>> 8) & 0xff00)
}

/**
 * Returns the values of whole blocks, exactly. This is the definition that `pack` is tested
 * against. Throws ModelError for an unsupported type and for values that are infinite or not a
 * number; messages name the tensor by `name`.
 */
export function floats(type: string, bytes: Uint8Array, name = ""): Float32Array {
  const size = blockSizes.get(type)
  if (size === undefined || bytes.length % size.bytes !== 0) {
    throw new ModelError(`${bytes.length} bytes are not whole blocks of type ${type}. Pass whole rows`)
  }
  if (floatTypes.includes(type)) return storedFloats(type, bytes, name)
  const { layout, centre, unpack } = blockTypeOf(type)
  const count = bytes.length / size.bytes
  const subCount = size.values / layout.block
  const out = new Float32Array(count * size.values)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const words = new Int32Array(size.values / 4)
  const codes = new Uint8Array(words.buffer)
  const scales = new Float32Array(subCount)
  const minima = new Float32Array(subCount)
  const zero = 2 ** (layout.bits - 1) - centre
  const source = { bytes: view, at: 0 }
  const target = { codes: words, to: 0, scales, minima, sub: 0 }
  for (let i = 0; i < count; i++, source.at += size.bytes) {
    unpack(source, target)
    // hot
    for (let at = 0; at < size.values; at++) {
      const sub = Math.floor(at / layout.block)
      const product = Math.fround((codes[at] - zero) * scales[sub])
      const value = layout.rest === 0 ? product : product + minima[sub]
      if (value * 0 !== 0) throw notFinite(type, name)
      out[i * size.values + at] = value
    }
  }
  return out
}

function storedFloats(type: string, bytes: Uint8Array, name: string): Float32Array {
  const out = new Float32Array(bytes.length / blockSizes.get(type)!.bytes)
  if (type === "F32") {
    new Uint8Array(out.buffer).set(bytes)
  } else {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const words = new Int32Array(out.buffer)
    // hot
    if (type === "BF16") for (let i = 0; i < words.length; i++) words[i] = view.getUint16(2 * i, true) << 16
    else for (let i = 0; i < out.length; i++) out[i] = half(view, 2 * i)
  }
  // hot
  for (let i = 0; i < out.length; i++) if (out[i] * 0 !== 0) throw notFinite(type, name)
  return out
}

function notFinite(type: string, name: string): ModelError {
  return new ModelError(
    `tensor ${quoted(name)}: a weight of type ${type} is infinite or not a number. ${damaged}`,
  )
}
