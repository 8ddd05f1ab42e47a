import fc from "fast-check"
import { expect, test } from "vitest"
import { JsonWatch } from "../../../runtime/stops/jsonwatch.ts"

test.each([
  ['{"a":"}"}', 9],
  ["[1,2]x", 5],
  ['"a\\"b"', 6],
  ['{"a":1}}', 7],
  ["true", 4],
  ["12 ", 2],
  ["  {}", 4],
  ["[1e5,-0.5E+1]", 13],
  ["-0x", 2],
])("complete: %s ends at %i", (text, end) => {
  expect(new JsonWatch().push(text)).toEqual({ status: "complete", end })
})

test.each([
  ["}", 0],
  ["[}", 1],
  ["01", 1],
  ["{,", 1],
  ["[1,]", 3],
  ['{"a" 1', 5],
  ["nul}", 3],
  ['"\n', 1],
  ['{"a":1,}', 7],
  ["1.x", 2],
  ["[1.5e]", 5],
  ["tru e", 3],
  ['"\\x', 2],
  ['"\\u00g', 5],
])("invalid: %s at %i", (text, end) => {
  expect(new JsonWatch().push(text)).toEqual({ status: "invalid", end })
})

test.each(['{"a":"\\u12', "-", "12", '{"a":tru', "", "  ", "[", '{"a"'])("incomplete: %s", (text) => {
  expect(new JsonWatch().push(text)).toEqual({ status: "incomplete", end: text.length })
})

test("a number at the top completes at the end of the stream", () => {
  const watch = new JsonWatch()
  watch.push("1")
  watch.push("2")
  expect(watch.finish()).toEqual({ status: "complete", end: 2 })
  const half = new JsonWatch()
  half.push("1.")
  expect(half.finish().status).toBe("incomplete")
})

test("skip: text before the first bracket does not matter", () => {
  expect(new JsonWatch("skip").push('Sure! "here" 12: {"a":[]} bye')).toEqual({ status: "complete", end: 25 })
})

test("depth 512 is the bound", () => {
  expect(new JsonWatch().push("[".repeat(512)).status).toBe("incomplete")
  expect(new JsonWatch().push("[".repeat(513))).toEqual({ status: "invalid", end: 512 })
})

const pieces = fc.constantFrom(
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "a",
  "1",
  "0",
  "-",
  ".",
  "e",
  " ",
  "true",
  "null",
)

test("S2-19: every split equals one push; complete means that JSON.parse takes the prefix", () => {
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
    fc.json().chain((json) => fc.constantFrom("", "x", " ", "}").map((tail) => json + tail)),
  )
  fc.assert(
    fc.property(texts, fc.array(fc.nat(20), { maxLength: 5 }), (text, cuts) => {
      const whole = new JsonWatch()
      whole.push(text)
      const split = new JsonWatch()
      let from = 0
      for (const cut of cuts) {
        split.push(text.slice(from, from + cut))
        from += cut
      }
      split.push(text.slice(from))
      expect(split.finish()).toEqual(whole.finish())
      const { status, end } = whole.finish()
      const parses = (part: string): boolean => {
        try {
          JSON.parse(part)
          return true
        } catch {
          return false
        }
      }
      if (status === "complete") expect(parses(text.slice(0, end))).toBe(true)
      else expect(parses(text)).toBe(false)
    }),
    { numRuns: 5000, seed: 3 },
  )
})
