import { expect, test } from "vitest"
import { defaultLimits } from "../../../grammar/errors.ts"
import { compile } from "../../../grammar/index.ts"
import { KnownPatterns } from "../../../grammar/regex/knownpatterns.ts"

const lark = { kind: "lark", text: "start: /(ab){2,40}(?=c)c/" } as const
const schema = {
  kind: "json",
  schema: JSON.stringify({ type: "string", pattern: "^(ab){2,40}(?=c)c$" }),
} as const

test.each([lark, schema])("a pattern that is known is refused under limits that it exceeds", (input) => {
  const refusal = (limits: Partial<typeof defaultLimits>) => {
    try {
      compile(input, { limits })
    } catch (error) {
      return String(error)
    }
    return null
  }
  expect(refusal({})).toBeNull()
  expect(refusal({ regexBytes: 8 })).toContain("regexBytes")
  expect(refusal({ maxRepeat: 30 })).toContain("maxRepeat")
  expect(refusal({ lookarounds: 0 })).toContain("lookarounds")
  expect(refusal({})).toBeNull()
})

test("what was refused is read again, what was read is kept up to a bound", () => {
  const known = new KnownPatterns()
  let reads = 0
  const read = (source: string, answer: number | null) =>
    known.of(source, defaultLimits, () => {
      reads++
      return answer
    })
  expect([read("a", null), read("a", 5), read("a", 6), reads]).toEqual([null, 5, 5, 2])
  for (let i = 0; i < 3; i++) read(`${i}`.repeat(500_000), i)
  expect([read("a", 7), reads]).toEqual([7, 6])
})
