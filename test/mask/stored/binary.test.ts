import { expect, test } from "vitest"
import { ByteReader, ByteWriter } from "../../../mask/stored/binary.ts"

const readerOf = (bytes: Uint8Array) => new ByteReader(bytes, (message) => new RangeError(message))

test("what was written is read, little-endian", () => {
  const writer = new ByteWriter()
  writer.word(0x01020304)
  writer.words([0, 0xffffffff])
  writer.block(Uint8Array.of(7, 8))
  writer.bytes(Uint8Array.of(9))
  const bytes = writer.finish()
  expect(Array.from(bytes.subarray(0, 4))).toEqual([4, 3, 2, 1])
  const reader = readerOf(bytes)
  expect(reader.word()).toBe(0x01020304)
  expect(Array.from(reader.words(2))).toEqual([0, 0xffffffff])
  expect(Array.from(reader.block())).toEqual([7, 8])
  expect([reader.left, ...reader.bytes(1), reader.left]).toEqual([1, 9, 0])
})

test("a part of a larger array is read from its own beginning", () => {
  expect(readerOf(Uint8Array.of(9, 1, 0, 0, 0).subarray(1)).word()).toBe(1)
})

test.each<[what: string, read: (reader: ByteReader) => unknown]>([
  ["a word", (reader) => reader.word()],
  ["bytes", (reader) => reader.bytes(4)],
  ["words", (reader) => reader.words(0xffffffff)],
  ["a block", (reader) => reader.bytes(1) && reader.block()],
])("%s beyond the end: an error before anything is made", (_, read) => {
  expect(() => read(readerOf(Uint8Array.of(255, 255, 255)))).toThrow(
    /bytes are needed at byte \d, \d are left/,
  )
})
