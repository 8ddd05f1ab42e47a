/**
 * Blocks of stored weights → values, and → codes, scales and rests of MatMulNBits. Both come from one
 * description a type (block.ts), in which nothing is rounded but what GGUF itself rounds; the rest of a type
 * with minima is one rounded sum. Weights that are stored as floats have no codes of their own and are
 * quantized here.
 */

import { ModelError } from "../../errors.ts"
import { type BlockType, halves, type Layout } from "./block.ts"
import { plainTypes } from "./plain.ts"
import { quantize } from "./quantize.ts"
import { blockSizes } from "./sizes.ts"
import { superblockTypes } from "./superblocks.ts"
import { tableTypes } from "./tables.ts"
import { ternaryTypes } from "./ternary.ts"

/** How weights that are stored as floats are written; the types with blocks keep their bits. */
export type Dtype = "q8" | "q4" | "fp32"

/**
 * Weights of one or more rows. `codes` has shape [rows, columns / block, block · bits / 8], the first of two
 * codes in the low nibble; `scales` [rows, columns / block]; `rests` [rows, columns / rest], empty where the
 * layout has none. w = (code − 2^(bits−1)) · scale + rest, in float32.
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
}

const floatTypes: readonly string[] = ["F32", "F16", "BF16"]

const floatLayouts: Readonly<Record<Dtype, Layout | null>> = {
  q8: { bits: 8, block: 32, rest: 0 },
  q4: { bits: 4, block: 32, rest: 0 },
  fp32: null,
}

/**
 * The layout of a type; null: it is written as float32. `dtype` applies to F32, F16 and BF16 alone. Throws
 * ModelError for a type that is not read.
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
 * Rewrites whole rows of `columns` weights for the kernel. Throws ModelError for a type that is not read or
 * not packed, for a number of bytes that makes no whole rows, and for a scale or a weight that is infinite or
 * not a number.
 */
export function pack(type: string, dtype: Dtype, bytes: Uint8Array, columns: number): Packed {
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
  if (floatTypes.includes(type)) return quantize(floats(type, bytes), layout)
  return packBlocks(type, blockTypes[type], bytes)
}

function packBlocks(type: string, { layout, centre, unpack }: BlockType, bytes: Uint8Array): Packed {
  const { values, bytes: blockBytes } = blockSizes.get(type)!
  const count = bytes.length / blockBytes
  const subCount = values / layout.block
  const quants = new Int8Array(values)
  const scale = new Float32Array(subCount)
  const minimum = new Float32Array(subCount)
  const codes = new Uint8Array((count * values * layout.bits) / 8)
  const scales = new Float32Array(count * subCount)
  const rests = new Float32Array(layout.rest === 0 ? 0 : scales.length)
  const zero = 2 ** (layout.bits - 1) - centre
  // hot
  for (let block = 0, sub0 = 0, code = 0; block < count; block++, sub0 += subCount) {
    unpack(bytes, block * blockBytes, quants, scale, minimum)
    for (let sub = 0; sub < subCount; sub++) {
      // 0 for numbers, NaN for the others.
      if ((scale[sub] + minimum[sub]) * 0 !== 0) throw notFinite(type, block)
      scales[sub0 + sub] = scale[sub]
      if (rests.length > 0) rests[sub0 + sub] = centre * scale[sub] + minimum[sub]
    }
    if (layout.bits === 8) {
      for (let i = 0; i < values; i++) codes[code++] = quants[i] + zero
    } else {
      for (let i = 0; i < values; i += 2) codes[code++] = (quants[i] + zero) | ((quants[i + 1] + zero) << 4)
    }
  }
  return { codes, scales, rests }
}

/**
 * The values of whole blocks, exactly: the definition that `pack` is held to. Throws ModelError for a type
 * that is not read and for values that are infinite or not a number.
 */
export function floats(type: string, bytes: Uint8Array): Float32Array {
  const size = blockSizes.get(type)
  if (size === undefined || bytes.length % size.bytes !== 0) {
    throw new ModelError(`${bytes.length} bytes are not whole blocks of type ${type}. Pass whole rows`)
  }
  if (floatTypes.includes(type)) return storedFloats(type, bytes)
  const { layout, unpack } = blockTypeOf(type)
  const { values, bytes: blockBytes } = size
  const out = new Float32Array((bytes.length / blockBytes) * values)
  const quants = new Int8Array(values)
  const scales = new Float32Array(values / layout.block)
  const minima = new Float32Array(values / layout.block)
  for (let block = 0, at = 0; at < out.length; block++) {
    unpack(bytes, block * blockBytes, quants, scales, minima)
    for (let i = 0; i < values; i++) {
      const sub = Math.floor(i / layout.block)
      const product = Math.fround(quants[i] * scales[sub])
      const value = layout.rest === 0 ? product : product + minima[sub]
      if (value * 0 !== 0) throw notFinite(type, block)
      out[at++] = value
    }
  }
  return out
}

function storedFloats(type: string, bytes: Uint8Array): Float32Array {
  const out = new Float32Array(bytes.length / blockSizes.get(type)!.bytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const words = new Uint32Array(out.buffer)
  // hot
  if (type === "F32") for (let i = 0; i < out.length; i++) words[i] = view.getUint32(4 * i, true)
  else if (type === "BF16") for (let i = 0; i < out.length; i++) words[i] = view.getUint16(2 * i, true) << 16
  else for (let i = 0; i < out.length; i++) out[i] = halves[view.getUint16(2 * i, true)]
  for (let i = 0; i < out.length; i++) if (out[i] * 0 !== 0) throw notFinite(type, i)
  return out
}

function notFinite(type: string, block: number): ModelError {
  return new ModelError(
    `block ${block} of weights of type ${type} is infinite or not a number. The file is damaged: download it again`,
  )
}
