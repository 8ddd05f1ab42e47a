import { expect, test } from "vitest"
import { AbortError } from "../../../../runtime/index.ts"
import { defaultBodyLimits } from "../../../../server/http/body.ts"
import {
  createBodyReader,
  maxInlineBytes,
  maxSparseBytes,
  maxSparseMarks,
} from "../../../../server/openai/read/bodyreader.ts"

const base = `"model":"m","messages":[{"role":"user","content":"hi"}]`

/** Whether a body is read before anything else can happen, as no thread reads. */
async function isReadInPlace(body: string): Promise<boolean> {
  const ended = new AbortController()
  const bytes = new TextEncoder().encode(body)
  let isRead = false
  const reading = createBodyReader()
    .read("chat", bytes, defaultBodyLimits, ended.signal)
    .then(() => {
      isRead = true
    })
  for (let turn = 0; turn < 10; turn++) await null
  const wasRead = isRead
  ended.abort()
  if (!wasRead) await expect(reading).rejects.toBeInstanceOf(AbortError)
  return wasRead
}

const marks = (count: number) => `{${base},"metadata":[${"0,".repeat(count)}0]}`
const text = (length: number) => `{${base},"prompt_cache_key":"${"x".repeat(length)}"}`

test.each([
  ["a small body of marks", marks(maxSparseMarks + 1), true],
  ["a body of more marks than a small one holds", marks(maxInlineBytes), false],
  ["long texts", text(maxSparseBytes - 1_000), true],
  ["longer texts", text(maxSparseBytes), false],
  [
    "long texts with many marks",
    text(maxInlineBytes).replace("{", `{"a":[${"0,".repeat(maxSparseMarks)}0],`),
    false,
  ],
  ["long texts with many escapes", text(1).replace("x", "\\n".repeat(maxInlineBytes)), false],
])("%s: read in place: %s", async (_, body, isInPlace) => {
  expect(await isReadInPlace(body)).toBe(isInPlace)
})
