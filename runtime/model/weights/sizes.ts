/**
 * The block size of each type that a file may store. A header can only be checked if the size of
 * every type in it is known, so this table also contains types that are never unpacked (`layoutOf`
 * in blocks.ts refuses those by name).
 */

export interface BlockSize {
  /** Number of values that a block holds. */
  readonly values: number
  readonly bytes: number
}

/**
 * [number of the type in GGUF, name, values per block, bytes per block]. Source: gguf-py,
 * constants.py.
 */
const ggufTypes: readonly (readonly [number, string, number, number])[] = [
  [0, "F32", 1, 4],
  [1, "F16", 1, 2],
  [2, "Q4_0", 32, 18],
  [3, "Q4_1", 32, 20],
  [6, "Q5_0", 32, 22],
  [7, "Q5_1", 32, 24],
  [8, "Q8_0", 32, 34],
  [9, "Q8_1", 32, 40],
  [10, "Q2_K", 256, 84],
  [11, "Q3_K", 256, 110],
  [12, "Q4_K", 256, 144],
  [13, "Q5_K", 256, 176],
  [14, "Q6_K", 256, 210],
  [15, "Q8_K", 256, 292],
  [16, "IQ2_XXS", 256, 66],
  [17, "IQ2_XS", 256, 74],
  [18, "IQ3_XXS", 256, 98],
  [19, "IQ1_S", 256, 50],
  [20, "IQ4_NL", 32, 18],
  [21, "IQ3_S", 256, 110],
  [22, "IQ2_S", 256, 82],
  [23, "IQ4_XS", 256, 136],
  [24, "I8", 1, 1],
  [25, "I16", 1, 2],
  [26, "I32", 1, 4],
  [27, "I64", 1, 8],
  [28, "F64", 1, 8],
  [29, "IQ1_M", 256, 56],
  [30, "BF16", 1, 2],
  [34, "TQ1_0", 256, 54],
  [35, "TQ2_0", 256, 66],
  [39, "MXFP4", 32, 17],
  [40, "NVFP4", 64, 36],
  [41, "Q1_0", 128, 18],
]

/** Types of safetensors that GGUF does not have: name and bytes per value. */
const safetensorsTypes: readonly (readonly [string, number])[] = [
  ["BOOL", 1],
  ["U8", 1],
  ["F8_E4M3", 1],
  ["F8_E5M2", 1],
  ["F8_E8M0", 1],
  ["U16", 2],
  ["U32", 4],
  ["U64", 8],
  ["C64", 8],
]

/** Names of GGUF's types by their number. */
export const ggufTypeNames: ReadonlyMap<number, string> = new Map(ggufTypes.map(([id, name]) => [id, name]))

/** Sizes by the name of the type, of both formats. */
export const blockSizes: ReadonlyMap<string, BlockSize> = new Map([
  ...ggufTypes.map(([, name, values, bytes]) => [name, { values, bytes }] as const),
  ...safetensorsTypes.map(([name, bytes]) => [name, { values: 1, bytes }] as const),
])
