import { expect, test } from "vitest"
import { defaultBodyLimits, HeldBytes, readBytes } from "../../../server/http/body.ts"
import { readBody } from "../../support/bodies.ts"

const post = (body: BodyInit | null, type = "application/json") =>
  new Request("http://localhost/", {
    method: "POST",
    body,
    headers: { "content-type": type },
    ...{ duplex: "half" },
  })
const read = (body: BodyInit | null, limits = {}) => readBody(post(body), { ...defaultBodyLimits, ...limits })

test("a part keeps its spelling: numbers, big integers, order of integer-like keys", async () => {
  const schema = '{ "const" : 1.0, "maximum": 9223372036854775808, "properties": {"b": {}, "1": {}} }'
  const body = await read(`{"response_format": {"schema": ${schema}}}`)
  expect(body.text(["response_format", "schema"])).toBe(schema)
  expect(body.text(["response_format", "other"])).toBe(null)
  expect(body.text(["response_format", "schema", "const", "deeper"])).toBe(null)
})

test.each([
  ["nothing", "", "the body is empty"],
  ["half an object", '{"a": [1,', "not JSON"],
  ["a list", "[1]", "not an object"],
  ["text after the value", "{} {}", "not JSON"],
  ["malformed UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d), "not UTF-8"],
  ["513 levels", "[".repeat(513) + "]".repeat(513), "512"],
])("%s is refused as invalid_json", async (_, body, message) => {
  await expect(read(body)).rejects.toMatchObject({
    code: "invalid_json",
    message: expect.stringContaining(message),
  })
})

test("brackets inside strings are no nesting", async () => {
  const text = "[{".repeat(1000)
  expect((await read(JSON.stringify({ text: `${text}\\"` }))).value.text).toBe(`${text}\\"`)
})

test("a body must say that it is JSON", async () => {
  await expect(readBody(post("{}", "text/plain"), defaultBodyLimits)).rejects.toMatchObject({
    code: "invalid_json",
  })
  await expect(
    readBody(post("{}", "application/json; charset=utf-8"), defaultBodyLimits),
  ).resolves.toBeDefined()
})

test("a body above the bound is refused, with or without a declared length", async () => {
  await expect(read(`{"a": "${"x".repeat(100)}"}`, { maxBytes: 50 })).rejects.toMatchObject({
    code: "request_too_large",
  })
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(64).fill(0x20)),
  })
  await expect(read(endless, { maxBytes: 1000 })).rejects.toMatchObject({ code: "request_too_large" })
})

test("what would take more memory than its bytes tell is refused, and the inside of strings is none of it", async () => {
  const limits = { maxMarks: 10, maxEscapes: 3 }
  await expect(read('{"a":[1,2,3,4,5,6,7,8]}', limits)).resolves.toBeDefined()
  await expect(read('{"a":"[{,:,:{[[[[[[[[","b":"\\\\\\",,,,,,,,,,,\\n"}', limits)).resolves.toBeDefined()
  await expect(read('{"a":[1,2,3,4,5,6,7,8,9]}', limits)).rejects.toMatchObject({
    code: "invalid_json",
    message:
      "the body has 11 commas, colons and opening brackets, the bound is 10. Send less, or in fewer and longer strings",
  })
  await expect(read('{"a":"\\n\\n","b":"\\n\\n"}', limits)).rejects.toMatchObject({
    message: expect.stringContaining("the body has 4 escapes in strings, the bound is 3"),
  })
})

test("all bodies that are being read have a bound together; what is done or refused counts no longer", async () => {
  const held = new HeldBytes({ ...defaultBodyLimits, maxBytes: 60, maxHeldBytes: 100 })
  const bytes = await readBytes(post("x".repeat(60)), 60, held)
  await expect(readBytes(post("x".repeat(50)), 60, held)).rejects.toMatchObject({
    code: "queue_full",
    message:
      "all bodies that are being read may have at most 100 bytes together. Try again soon, or send less",
  })
  await expect(readBytes(post("x".repeat(61)), 60, held)).rejects.toMatchObject({ code: "request_too_large" })
  await readBytes(post("x".repeat(40)), 60, held)
  held.give(40)
  held.give(bytes.length)
  await expect(readBytes(post("x".repeat(60)), 60, held)).resolves.toBeDefined()
})
