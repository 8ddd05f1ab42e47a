import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ModelError } from "../../../../runtime/errors.ts"
import {
  type Gguf,
  type Metadata,
  type MetadataValue,
  openGguf,
} from "../../../../runtime/model/weights/gguf.ts"
import { type GgufParts, ggufFile } from "../../../support/weightsfiles.ts"

const folder = mkdtempSync(join(tmpdir(), "gguf-"))

function write(name: string, parts: GgufParts | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, parts instanceof Uint8Array ? parts : ggufFile(parts))
  return path
}

const plain = (metadata: Metadata): Record<string, MetadataValue> => Object.fromEntries(metadata)

async function using<T>(path: string, read: (gguf: Gguf) => T): Promise<T> {
  const gguf = await openGguf(path)
  try {
    return read(gguf)
  } finally {
    gguf.close()
  }
}

const floats = (...values: number[]): Uint8Array => new Uint8Array(new Float32Array(values).buffer)
const matrix = { name: "a.weight", shape: [3, 2], type: 0, bytes: floats(1, 2, 3, 4, 5, 6) }
const vector = { name: "b", shape: [2], type: 0, bytes: floats(7, 8) }

test("metadata of all types, tensors and rows of both versions", async () => {
  for (const version of [2, 3]) {
    const path = write(`v${version}.gguf`, {
      version,
      metadata: [
        ["u8", "u8", 255],
        ["i8", "i8", -128],
        ["u16", "u16", 65_535],
        ["i16", "i16", -2],
        ["u32", "u32", 2 ** 32 - 1],
        ["i32", "i32", -(2 ** 31)],
        ["f32", "f32", 0.5],
        ["f64", "f64", 0.1],
        ["bool", "bool", true],
        ["safe", "u64", 2 ** 53 - 1],
        ["large", "u64", 2n ** 64n - 1n],
        ["negative", "i64", -5n],
        ["text", "string", "\ufeffГ\n\0"],
        ["texts", "array", ["string", ["", "a", "é"]]],
        ["numbers", "array", ["i32", [1, -1]]],
        ["empty", "array", ["u8", []]],
      ],
      tensors: [matrix, vector],
    })
    await using(path, (gguf) => {
      expect(plain(gguf.metadata)).toEqual({
        u8: 255,
        i8: -128,
        u16: 65_535,
        i16: -2,
        u32: 2 ** 32 - 1,
        i32: -(2 ** 31),
        f32: 0.5,
        f64: 0.1,
        bool: true,
        safe: 2 ** 53 - 1,
        large: 2n ** 64n - 1n,
        negative: -5,
        text: "\ufeffГ\n\0",
        texts: ["", "a", "é"],
        numbers: [1, -1],
        empty: [],
      })
      expect(gguf.version).toBe(version)
      expect(gguf.paths).toEqual([path])
      expect(gguf.tensors.get("a.weight")).toMatchObject({ name: "a.weight", type: "F32", shape: [3, 2] })
      expect(gguf.rows("a.weight", 1, 2)).toEqual(floats(3, 4, 5, 6))
      expect(gguf.rows("a.weight", 3, 0)).toEqual(new Uint8Array(0))
      expect(gguf.rows("b", 0, 1)).toEqual(floats(7, 8))
      for (const [first, count] of [
        [2, 2],
        [-1, 1],
        [0.5, 1],
        [4, 0],
        [0, Number.NaN],
      ]) {
        expect(() => gguf.rows("a.weight", first, count)).toThrow(ModelError)
      }
      expect(() => gguf.rows("c", 0, 1)).toThrow('there is no tensor "c"')
    })
  }
})

test("any part of a split file opens all, metadata from the first", async () => {
  const part = (no: number, tensors: GgufParts["tensors"]): GgufParts => ({
    metadata: [
      ["split.no", "u16", no],
      ["split.count", "u16", 3],
      ["split.tensors.count", "i32", 2],
      ...(no === 0 ? ([["general.architecture", "string", "llama"]] as const) : []),
    ],
    tensors,
  })
  const paths = [[], [matrix], [vector]].map((tensors, no) =>
    write(`s-0000${no + 1}-of-00003.gguf`, part(no, tensors)),
  )
  for (const path of paths) {
    await using(path, (gguf) => {
      expect(gguf.paths).toEqual(paths)
      expect(gguf.metadata.get("general.architecture")).toBe("llama")
      expect([...gguf.tensors.keys()]).toEqual(["a.weight", "b"])
      expect(gguf.rows("b", 0, 1)).toEqual(floats(7, 8))
    })
  }
  await expect(openGguf(write("other.gguf", part(0, [])))).rejects.toThrow("is one of 3 parts")
  write("t-00001-of-00003.gguf", part(0, []))
  await expect(openGguf(join(folder, "t-00001-of-00003.gguf"))).rejects.toThrow("t-00002-of-00003.gguf")
  write("t-00002-of-00003.gguf", part(2, []))
  await expect(openGguf(join(folder, "t-00001-of-00003.gguf"))).rejects.toThrow(
    "this is part 3 of 3, by its name part 2 of 3",
  )
  write("t-00002-of-00003.gguf", part(1, [matrix]))
  write("t-00003-of-00003.gguf", part(2, [matrix]))
  await expect(openGguf(join(folder, "t-00001-of-00003.gguf"))).rejects.toThrow('two tensors "a.weight"')
  write("t-00003-of-00003.gguf", part(2, []))
  await expect(openGguf(join(folder, "t-00001-of-00003.gguf"))).rejects.toThrow(
    "1 tensors in all parts, 2 by the metadata",
  )
})

/** A right file in which a 32-bit number at `at` is replaced. */
function patched(parts: GgufParts, at: number, value: number): Uint8Array {
  const bytes = ggufFile(parts)
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(at, value, true)
  return bytes
}

const wrong: readonly (readonly [string, GgufParts | Uint8Array, string])[] = [
  ["empty", new Uint8Array(0), "not a GGUF file"],
  ["text", Buffer.from("version https://git-lfs.github.com/spec/v1"), "git lfs pull"],
  ["zip", Buffer.from("PK\u0003\u0004abcdefgh"), 'it begins with "PK'],
  ["version 1", { version: 1 }, "GGUF version 1 is not read"],
  ["version 4", { version: 4 }, "GGUF version 4 is not read"],
  ["big endian", { version: 3 << 24 }, "big endian"],
  ["cut header", ggufFile({ metadata: [["a", "u32", 1]] }).subarray(0, 40), "past the end of the file"],
  ["cut data", ggufFile({ tensors: [matrix] }).subarray(0, -9), "end within the file"],
  ["tensors", patched({}, 8, 100_000), "number of tensors is 100000, above 65536"],
  ["tensors, 64 bits", patched({}, 12, 1), "number of tensors is 4294967296"],
  ["pairs", patched({}, 16, 100_000), "number of metadata keys is 100000"],
  ["length of a key", patched({ metadata: [["a", "u32", 1]] }, 24, 70_000), "above 65535"],
  [
    "length of an array",
    patched({ metadata: [["a", "array", ["u8", [1]]]] }, 41, 2 ** 31),
    "the length of metadata",
  ],
  ["nested arrays", patched({ metadata: [["a", "array", ["u8", [1]]]] }, 37, 9), "array of arrays"],
  ["type of a value", patched({ metadata: [["a", "u32", 1]] }, 33, 13), "unknown type 13"],
  ["boolean", { metadata: [["a", "bool", 2]] }, "value 2, not 0 or 1"],
  ["text", patched({ metadata: [["a", "string", "abcd"]] }, 45, 0xffffffff), 'metadata "a" is not UTF-8'],
  [
    "twice",
    {
      metadata: [
        ["a", "u8", 1],
        ["a", "u8", 1],
      ],
    },
    'metadata "a" occurs twice',
  ],
  ["two tensors", { tensors: [vector, vector] }, 'two tensors "b"'],
  ["no dimension", { tensors: [{ ...vector, shape: [] }] }, "0 dimensions"],
  ["five dimensions", { tensors: [{ ...vector, shape: [1, 1, 1, 1, 2] }] }, "5 dimensions"],
  ["dimension 0", { tensors: [{ ...vector, shape: [0] }] }, 'dimension 1 of tensor "b" is 0'],
  ["large dimension", { tensors: [{ ...vector, shape: [2 ** 40] }] }, "above 2147483648"],
  [
    "large product",
    { tensors: [{ ...vector, shape: [2 ** 31, 2 ** 31, 2 ** 31, 2 ** 31] }] },
    "more than the file",
  ],
  ["unknown type", { tensors: [{ ...vector, type: 31 }] }, "unknown type 31"],
  ["half blocks", { tensors: [{ ...vector, type: 2 }] }, "not a multiple of 32"],
  ["offset", { tensors: [{ ...vector, offset: 4 }] }, "multiple of 32"],
  ["large offset", { tensors: [{ ...vector, offset: 2 ** 50 }] }, "above"],
  ["overlap", { tensors: [matrix, { ...vector, offset: 0 }] }, "behind the tensor before it"],
  ["alignment", { metadata: [["general.alignment", "u32", 24]] }, "power of two"],
  ["name on two lines", { tensors: [{ ...vector, name: "a\nb", shape: [0] }] }, '"a\\nb"'],
]

test.each(wrong)("%s is refused", async (name, parts, message) => {
  const path = write(`wrong ${name}.gguf`, parts)
  const error = await openGguf(path).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(ModelError)
  expect((error as Error).message).toContain(message)
  expect((error as Error).message).toMatch(/^[^\n]*\.gguf: [^\n]{1,400}$/)
})

test("a file that was closed is not read", async () => {
  const gguf = await openGguf(write("closed.gguf", { tensors: [vector] }))
  gguf.close()
  gguf.close()
  expect(() => gguf.rows("b", 0, 1)).toThrow("was closed")
})

test("tensors behind 4 GiB are read, and not more than 2 GiB of them at once", async () => {
  const path = join(folder, "large.gguf")
  const large = 2 ** 32 + 128
  const file = ggufFile({
    tensors: [
      { name: "large", shape: [2, large / 16], type: 27, bytes: new Uint8Array(0) },
      { ...vector, offset: large },
    ],
  })
  // A file with a hole, which takes no room on the disk.
  const handle = openSync(path, "w")
  const head = file.length - 32
  writeSync(handle, file, 0, head, 0)
  writeSync(handle, file, head, 32, head + large)
  closeSync(handle)
  await using(path, (gguf) => {
    expect(gguf.rows("b", 0, 1)).toEqual(floats(7, 8))
    expect(() => gguf.rows("large", 0, 1)).toThrow("above 2147483648. Read fewer rows at once")
  })
  rmSync(path)
})

test("a folder and a missing file are refused", async () => {
  await expect(openGguf(folder)).rejects.toThrow("not a file")
  await expect(openGguf(join(folder, "none.gguf"))).rejects.toThrow("ENOENT")
})
