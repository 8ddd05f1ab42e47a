/** What a frame says in words. */
import { expect, test } from "vitest"
import { describeSample } from "../../grammar/frame.ts"

test.each([
  ["", "the end of the text"],
  ['{"a":1}', "an object"],
  ["[1]", "an array"],
  ["}", '"}"'],
  [",", '","'],
  [":", '":"'],
  ['"', "the closing quote"],
  ['"ab"', "a string"],
  ['b"', "more of the string"],
  ["-1", "a number"],
  ["null", '"null"'],
])("what begins like %j is %s", (sample, what) => {
  expect(describeSample(sample)).toBe(what)
})
