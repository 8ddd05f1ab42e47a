import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ModelError } from "../../../../runtime/errors.ts"
import { floats } from "../../../../runtime/model/weights/blocks.ts"
import { openSafetensors } from "../../../../runtime/model/weights/safetensors.ts"
import { safetensorsFile } from "../../../support/weightsfiles.ts"

const root = mkdtempSync(join(tmpdir(), "safetensors-"))
let folderCount = 0

/** A folder of these files; objects are written as JSON. */
function folderOf(files: Record<string, Uint8Array | object>): string {
  const folder = join(root, String(folderCount++))
  mkdirSync(folder)
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content instanceof Uint8Array ? content : JSON.stringify(content))
  }
  return folder
}

const entry = (dtype: string, shape: readonly number[], start: number, end: number) => ({
  dtype,
  shape,
  data_offsets: [start, end],
})
const data = new Uint8Array(new Float32Array([1, 2, 3, 4, 5, 6]).buffer)
const header = {
  __metadata__: { format: "pt" },
  a: entry("F32", [2, 2], 0, 16),
  "b.c": entry("F32", [2], 16, 24),
}
const index = "model.safetensors.index.json"

test("one file", async () => {
  const weights = await openSafetensors(folderOf({ "model.safetensors": safetensorsFile(header, data) }))
  expect([...weights.tensors.keys()]).toEqual(["a", "b.c"])
  expect(weights.tensors.get("a")).toMatchObject({ name: "a", type: "F32", shape: [2, 2] })
  expect(floats("F32", weights.rows("a", 1, 1))).toEqual(Float32Array.of(3, 4))
  expect(floats("F32", weights.rows("b.c", 0, 1))).toEqual(Float32Array.of(5, 6))
  expect(() => weights.rows("b.c", 1, 1)).toThrow(ModelError)
  weights.close()
})

test("scalars, empty tensors and types that are not read do not keep a file from opening", async () => {
  const types = { s: entry("F16", [], 0, 2), e: entry("I64", [0, 3], 2, 2), f: entry("F8_E4M3", [3], 2, 5) }
  const weights = await openSafetensors(
    folderOf({ "model.safetensors": safetensorsFile(types, data.subarray(0, 5)) }),
  )
  expect(weights.rows("s", 0, 1).length).toBe(2)
  expect(weights.rows("e", 0, 0).length).toBe(0)
  expect(weights.rows("f", 0, 1).length).toBe(3)
  weights.close()
})

test("parts of an index", async () => {
  const folder = folderOf({
    [index]: { metadata: {}, weight_map: { a: "m-00001.safetensors", b: "m-00002.safetensors" } },
    "m-00001.safetensors": safetensorsFile({ a: entry("F32", [2], 0, 8) }, data.subarray(0, 8)),
    "m-00002.safetensors": safetensorsFile({ b: entry("F32", [2], 0, 8) }, data.subarray(8, 16)),
  })
  const weights = await openSafetensors(folder)
  expect(floats("F32", weights.rows("b", 0, 1))).toEqual(Float32Array.of(3, 4))
  weights.close()
})

const one = (head: object, bytes = data): Record<string, Uint8Array> => ({
  "model.safetensors": safetensorsFile(head, bytes),
})
const raw = (bytes: Uint8Array | string): Record<string, Uint8Array> => ({
  "model.safetensors": Buffer.from(bytes),
})
const part = safetensorsFile({ a: entry("F32", [2], 0, 8) }, data.subarray(0, 8))

const wrong: readonly (readonly [string, Record<string, Uint8Array | object>, string])[] = [
  ["nothing", {}, "neither this file nor model.safetensors"],
  ["short", raw("abc"), "the file has 3 bytes"],
  [
    "long header",
    raw(Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0, 123, 125)),
    "the header has 9 bytes by its first number, above 2",
  ],
  ["absurd header", raw(new Uint8Array(100).fill(255)), "above 92"],
  [
    "no JSON",
    raw(Buffer.concat([Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0), Buffer.from("{]")])),
    "not a JSON object",
  ],
  ["a list", one([]), "not a JSON object"],
  ["no entry", one({ a: 1 }), 'the type of tensor "a" is "undefined"'],
  ["unknown type", one({ a: entry("F4", [2, 2], 0, 16) }), 'is "F4", which is not known'],
  ["type of GGUF", one({ a: entry("Q4_0", [32], 0, 18) }), 'is "Q4_0", which is not known'],
  ["shape", one({ a: entry("F32", [2.5, 2], 0, 20) }), "the shape of tensor"],
  ["negative shape", one({ a: entry("F32", [-2, -2], 0, 16) }), "the shape of tensor"],
  ["many dimensions", one({ a: entry("F32", [1, 1, 1, 1, 1, 1, 1, 1, 4], 0, 16) }), "up to 8 whole numbers"],
  ["large shape", one({ a: entry("F32", [2 ** 31, 2 ** 31, 2 ** 31], 0, 16) }), "by its type and shape"],
  ["offsets", one({ a: { ...header.a, data_offsets: [0] } }), "the offsets of tensor"],
  ["size", one({ a: entry("F32", [2, 2], 0, 24) }), "24 bytes by its offsets, 16 by its type and shape"],
  ["gap", one({ a: header.a, b: entry("F32", [1], 20, 24) }), "begins at byte 20 of the data, not at 16"],
  ["overlap", one({ a: header.a, b: entry("F32", [3], 12, 24) }), "begins at byte 12 of the data, not at 16"],
  ["rest", one({ a: header.a }), "16 bytes, the file has 24 of data"],
  ["cut", one(header, data.subarray(0, 20)), "24 bytes, the file has 20 of data"],
  ["index without a map", { [index]: { weights: {} } }, 'no "weight_map"'],
  ["empty index", { [index]: { weight_map: {} } }, "names 0 parts"],
  ["path", { [index]: { weight_map: { a: "../m.safetensors" } } }, "not the name of a .safetensors file"],
  [
    "other path",
    { [index]: { weight_map: { a: "x\\m.safetensors" } } },
    "not the name of a .safetensors file",
  ],
  ["hidden", { [index]: { weight_map: { a: ".safetensors" } } }, "not the name of a .safetensors file"],
  ["missing part", { [index]: { weight_map: { a: "m.safetensors" } } }, "ENOENT"],
  [
    "missing tensor",
    { [index]: { weight_map: { b: "m.safetensors" } }, "m.safetensors": part },
    'tensor "b" is not in this part',
  ],
  [
    "tensor in two parts",
    {
      [index]: { weight_map: { a: "m.safetensors", b: "n.safetensors" } },
      "m.safetensors": part,
      "n.safetensors": part,
    },
    "in another part too",
  ],
]

test.each(wrong)("%s is refused", async (_, files, message) => {
  const error = await openSafetensors(folderOf(files)).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(ModelError)
  expect((error as Error).message).toContain(message)
  expect((error as Error).message).toMatch(/^[^\n]*: [^\n]{1,300}$/)
})
