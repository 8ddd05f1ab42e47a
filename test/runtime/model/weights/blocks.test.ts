import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { ModelError } from "../../../../runtime/errors.ts"
import { floats, layoutOf, type Packed, pack } from "../../../../runtime/model/weights/blocks.ts"

interface Fixture {
  readonly blocks: string
  readonly values: string
  readonly digest: string
}

/** Written by blocks.py with gguf-py; BLOCKS names a larger file of the same form. */
const path = process.env.BLOCKS ?? new URL("blocks.json", import.meta.url)
const fixtures: Record<string, Fixture> = JSON.parse(readFileSync(path, "utf8"))
const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, "base64"))

/** The weights that the kernel sees: (code − 2^(bits−1)) · scale + rest in float32. */
function unpacked({ codes, scales, rests }: Packed, bits: 4 | 8, block: number): Float32Array {
  const count = (codes.length * 8) / bits
  const out = new Float32Array(count)
  for (let i = 0; i < count; i++) {
    const code = bits === 8 ? codes[i] : (codes[i >> 1] >> (4 * (i & 1))) & 15
    const sub = Math.floor(i / block)
    const product = Math.fround((code - 2 ** (bits - 1)) * scales[sub])
    out[i] = rests.length === 0 ? product : product + rests[sub]
  }
  return out
}

test.each(Object.entries(fixtures))(
  "%s has the values of gguf-py to the bit",
  (type, { blocks, values, digest }) => {
    const found = floats(type, bytesOf(blocks))
    const expected = new Float32Array(bytesOf(values).buffer)
    expect(found.subarray(0, expected.length)).toEqual(expected)
    expect(createHash("sha256").update(new Uint8Array(found.buffer)).digest("hex")).toBe(digest)
  },
)

test.each(Object.entries(fixtures))("codes of %s are its values", (type, { blocks }) => {
  const bytes = bytesOf(blocks)
  const values = floats(type, bytes)
  const layout = layoutOf(type, "q8")!
  const columns = values.length / 2
  const packed = pack(type, "q8", bytes, columns)
  expect(packed.codes.length).toBe((values.length * layout.bits) / 8)
  expect(packed.scales.length).toBe(values.length / layout.block)
  expect(packed.rests.length).toBe(layout.rest === 0 ? 0 : values.length / layout.rest)
  const weights = unpacked(packed, layout.bits, layout.block)
  if (layout.rest === 0) {
    expect(new Uint32Array(weights.buffer)).toEqual(new Uint32Array(values.buffer))
    return
  }
  // The rest is rounded once, by half a unit in its last place; then the sum is.
  let worst = 0
  for (const [i, value] of values.entries()) {
    const size = Math.max(Math.abs(value), Math.abs(packed.rests[Math.floor(i / layout.rest)]), 2 ** -126)
    worst = Math.max(worst, Math.abs(weights[i] - value) / size)
  }
  expect(worst).toBeLessThanOrEqual(2 ** -23)
})

test("rests that are not rounded keep the values to the bit", () => {
  // Scale 2^-6, minimum -5 · 2^-8, all codes.
  const nibbles = Array.from({ length: 16 }, (_, i) => i | ((15 - i) << 4))
  const bytes = Uint8Array.of(0x00, 0x24, 0x00, 0xa5, ...nibbles)
  const layout = layoutOf("Q4_1", "q8")!
  expect(unpacked(pack("Q4_1", "q8", bytes, 32), layout.bits, layout.block)).toEqual(floats("Q4_1", bytes))
  expect(floats("Q4_1", bytes).slice(0, 3)).toEqual(Float32Array.of(-5 / 256, -1 / 256, 3 / 256))
})

test("floats of 16 bits", () => {
  const halves = Uint16Array.of(0, 0x8000, 1, 0x3ff, 0x400, 0x3c01, 0xfbff)
  const values = [0, -0, 2 ** -24, 1023 * 2 ** -24, 2 ** -14, 1 + 2 ** -10, -65_504]
  expect(floats("F16", new Uint8Array(halves.buffer))).toEqual(Float32Array.from(values))
  const brains = Uint16Array.of(0, 0x8000, 1, 0x3f81, 0xff7f)
  const large = -(2 ** 127) * (1 + 127 / 128)
  expect(floats("BF16", new Uint8Array(brains.buffer))).toEqual(
    Float32Array.of(0, -0, 2 ** -133, 1 + 2 ** -7, large),
  )
})

test("infinite scales, and those that are no number, are refused", () => {
  for (const [type, { blocks }] of Object.entries(fixtures)) {
    const bytes = bytesOf(blocks)
    // Every scale and minimum of the last block is beyond the largest number.
    const size = bytes.length / 20
    bytes.fill(255, bytes.length - size)
    const message = `tensor "a.weight": a weight of type ${type} is infinite or not a number`
    expect(() => floats(type, bytes, "a.weight"), type).toThrow(message)
    expect(() => pack(type, "q8", bytes, floats(type, bytesOf(blocks)).length, "a.weight"), type).toThrow(
      message,
    )
  }
})

test("what is not read is refused by name", () => {
  expect(() => layoutOf("Q8_K", "q8")).toThrow("type Q8_K are not read")
  expect(() => layoutOf("toString", "q8")).toThrow(ModelError)
  expect(() => pack("F16", "fp32", new Uint8Array(64), 32)).toThrow("float32")
  expect(() => pack("F16", "q8", new Uint8Array(60), 30)).toThrow("rows of 30 weights")
  expect(() => pack("Q4_0", "q8", new Uint8Array(17), 32)).toThrow("whole rows")
  expect(() => floats("Q4_0", new Uint8Array(17))).toThrow("whole blocks")
  expect(() => floats("F16", Uint8Array.of(0, 0x7c))).toThrow("a weight of type F16 is infinite")
})
