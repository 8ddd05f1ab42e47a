import * as zlib from "node:zlib"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { defaultBodyLimits, HeldBytes, readBytes } from "../../../server/http/body.ts"

const limits = { ...defaultBodyLimits, maxBytes: 100_000 }

function read(body: Uint8Array | ReadableStream, encoding: string, held = new HeldBytes(limits)) {
  const headers = { "content-type": "application/json", "content-encoding": encoding }
  const request = new Request("http://localhost/", {
    method: "POST",
    body: body as BodyInit,
    headers,
    ...{ duplex: "half" },
  })
  return readBytes(request, limits.maxBytes, held)
}

const json = Buffer.from(JSON.stringify({ text: "é".repeat(2_000) }))
const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Uint8Array) => Buffer }
const encoders: [encoding: string, encode: (bytes: Uint8Array) => Uint8Array][] = [
  ["gzip", gzipSync],
  ["GZIP ", gzipSync],
  ["x-gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["identity", (bytes) => bytes],
  ["", (bytes) => bytes],
  ...(zstdCompressSync ? ([["zstd", zstdCompressSync]] as [string, (bytes: Uint8Array) => Buffer][]) : []),
]

test.each(encoders)("%j is decoded, whole or in pieces", async (encoding, encode) => {
  const encoded = encode(json)
  expect(Buffer.from(await read(new Uint8Array(encoded), encoding))).toEqual(json)
  const bytes = [...encoded]
  const pieces = new ReadableStream({
    pull: (controller) => {
      const byte = bytes.shift()
      if (byte === undefined) controller.close()
      else controller.enqueue(Uint8Array.of(byte))
    },
  })
  expect(Buffer.from(await read(pieces, encoding))).toEqual(json)
})

test.each(encoders.filter(([, encode]) => encode(json).length < json.length))(
  "%j that decodes to more than the bound is refused, and nothing of it stays held",
  async (encoding, encode) => {
    const held = new HeldBytes({ ...limits, maxHeldBytes: limits.maxBytes })
    for (const size of [limits.maxBytes + 1, 50_000_000]) {
      const bomb = encode(Buffer.alloc(size, 0x20))
      await expect(read(new Uint8Array(bomb), encoding, held)).rejects.toMatchObject({
        code: "request_too_large",
      })
    }
    held.take(limits.maxBytes)
  },
)

test("endless input that decodes to nothing ends at the bound as well", async () => {
  // A stored block without a byte.
  const empty = Uint8Array.of(0, 0, 0, 0xff, 0xff)
  let isFirst = true
  const endless = new ReadableStream({
    pull(controller) {
      controller.enqueue(isFirst ? Uint8Array.of(0x78, 0x9c) : empty)
      isFirst = false
    },
  })
  await expect(read(endless, "deflate")).rejects.toMatchObject({ code: "request_too_large" })
})

test.each([
  ["something else", new TextEncoder().encode("{}")],
  ["half of it", gzipSync(json).subarray(0, 30)],
  ["nothing", new Uint8Array(0)],
])("%s is refused by the encoding's name", async (_, bytes) => {
  await expect(read(new Uint8Array(bytes), "gzip")).rejects.toMatchObject({
    code: "invalid_json",
    message: expect.stringMatching(/^content-encoding is gzip, and the body is not: /),
  })
})

test.each(["compress", "gzip, br", "snappy"])("%s is 415 with the way out", async (encoding) => {
  await expect(read(new Uint8Array(gzipSync(json)), encoding)).rejects.toMatchObject({
    code: "unsupported_encoding",
    message: `content-encoding ${JSON.stringify(encoding)} cannot be decoded here. Send the body without an encoding, or as gzip, deflate or br`,
    details: { headers: { "accept-encoding": "gzip, deflate, br" } },
  })
})
