/**
 * Files a few changes away from right ones: each opens, or ends in a ModelError of one line, in bounded
 * memory. MUTANTS_SEED and MUTANTS_COUNT run others, and more of them.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ModelError } from "../../../../runtime/errors.ts"
import { floats, layoutOf, pack } from "../../../../runtime/model/weights/blocks.ts"
import { openGguf } from "../../../../runtime/model/weights/gguf.ts"
import { openSafetensors } from "../../../../runtime/model/weights/safetensors.ts"
import { blockSizes, ggufTypeNames } from "../../../../runtime/model/weights/sizes.ts"
import type { Weights } from "../../../../runtime/model/weights/weights.ts"
import { generator } from "../../../support/onnx.ts"
import { ggufFile, safetensorsFile } from "../../../support/weightsfiles.ts"

const seed = Number(process.env.MUTANTS_SEED ?? 1)
const count = Number(process.env.MUTANTS_COUNT ?? 1_000)

const random = generator(seed)
const below = (bound: number): number => Math.floor(random() * bound)
const folder = mkdtempSync(join(tmpdir(), "mutants-"))

/** A right file with a tensor of each type. */
const gguf = ggufFile({
  metadata: [
    ["general.architecture", "string", "llama"],
    ["general.alignment", "u32", 32],
    ["llama.context_length", "u64", 4096],
    ["llama.rope.freq_base", "f32", 1e4],
    ["tokenizer.ggml.tokens", "array", ["string", ["<s>", "a", "é", ""]]],
    ["tokenizer.ggml.scores", "array", ["f32", [0, -1, -2, -3]]],
    ["tokenizer.ggml.token_type", "array", ["i32", [3, 1, 1, 1]]],
    ["tokenizer.ggml.add_bos_token", "bool", true],
    ["split.count", "u16", 1],
  ],
  tensors: [...ggufTypeNames].map(([type, name]) => {
    const { values, bytes } = blockSizes.get(name)!
    return {
      name: `blk.0.${name}`,
      shape: [2, values * 2],
      type,
      bytes: Uint8Array.from({ length: bytes * 4 }, (_, i) => i & 63),
    }
  }),
})
const safetensors = safetensorsFile(
  {
    __metadata__: { format: "pt" },
    "model.a": { dtype: "F32", shape: [2, 32], data_offsets: [0, 256] },
    "model.b": { dtype: "BF16", shape: [32], data_offsets: [256, 320] },
    "model.c": { dtype: "F16", shape: [1, 2, 32], data_offsets: [320, 448] },
  },
  Uint8Array.from({ length: 448 }, (_, i) => (i * 7) & 63),
)
const index = Buffer.from(
  JSON.stringify({ metadata: { total_size: 448 }, weight_map: { "model.a": "part.safetensors" } }),
)

/** Numbers at which readers may fall. */
const edges = [
  0n,
  1n,
  0x7fn,
  0xffn,
  0x7fffn,
  0xffffn,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
]

/**
 * A copy with a few bits, bytes or numbers changed, mostly in its first `headBytes`, or cut, or made longer.
 */
function mutated(original: Uint8Array, headBytes: number): Uint8Array {
  let bytes = Uint8Array.from(original)
  for (let change = 1 + below(3); change > 0; change--) {
    const at = below(random() < 0.9 ? Math.min(headBytes, bytes.length) : bytes.length)
    const kind = below(7)
    if (kind === 0) bytes[at] ^= 1 << below(8)
    else if (kind === 1) bytes[at] = below(256)
    else if (kind === 2) bytes = bytes.slice(0, at)
    else if (kind === 3) {
      const piece = bytes.slice(at, at + below(40))
      bytes = Uint8Array.from(Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]))
    } else if (kind === 4)
      bytes = Uint8Array.from(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + below(9))]))
    else {
      const number = Buffer.alloc(8)
      number.writeBigUInt64LE(edges[below(edges.length)])
      bytes.set(number.subarray(0, Math.min(1 << below(4), bytes.length - at)), at)
    }
    if (bytes.length === 0) break
  }
  return bytes
}

/** Opens and reads everything that `open` gives, and returns the message of a ModelError, or null. */
async function messageOf(open: () => Promise<Weights>): Promise<string | null> {
  let weights: Weights | undefined
  try {
    weights = await open()
    for (const { name, type, shape } of weights.tensors.values()) {
      const rowCount = shape.slice(0, -1).reduce((product, length) => product * length, 1)
      if (rowCount > 1_000) continue
      const bytes = weights.rows(name, 0, rowCount)
      for (const read of [
        () => floats(type, bytes),
        () => pack(type, "q8", bytes, shape[shape.length - 1] ?? 1),
        () => layoutOf(type, "q4"),
      ]) {
        try {
          read()
        } catch (error) {
          if (!(error instanceof ModelError)) throw error
        }
      }
    }
    return null
  } catch (error) {
    if (error instanceof ModelError) return error.message
    throw error
  } finally {
    weights?.close()
  }
}

const parts = join(folder, "parts")
mkdirSync(parts)
writeFileSync(join(parts, "part.safetensors"), safetensors)

/** [name, file that is changed, its right bytes, bytes of its header, what opens it]. */
const kinds: readonly (readonly [string, string, Uint8Array, number, () => Promise<Weights>])[] = [
  ["GGUF", join(folder, "m.gguf"), gguf, 2_400, () => openGguf(join(folder, "m.gguf"))],
  [
    "safetensors",
    join(folder, "model.safetensors"),
    safetensors,
    safetensors.length - 448,
    () => openSafetensors(folder),
  ],
  [
    "an index",
    join(parts, "model.safetensors.index.json"),
    index,
    index.length,
    () => openSafetensors(parts),
  ],
]

test.each(kinds)("%s opens or says in one line why not", async (_, path, original, headBytes, open) => {
  writeFileSync(path, original)
  expect(await messageOf(open)).toBeNull()
  const before = process.resourceUsage().maxRSS
  let refusedCount = 0
  for (let done = 0; done < count; done++) {
    writeFileSync(path, mutated(original, headBytes))
    const message = await messageOf(open)
    if (message === null) continue
    refusedCount++
    expect(message).toMatch(/^[^\n\r]{10,600}$/)
  }
  expect(refusedCount).toBeGreaterThan(count / 4)
  // In kB; the files have 20 at most, and garbage is collected when it pleases.
  expect(process.resourceUsage().maxRSS - before).toBeLessThan(200_000)
})
