import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, test } from "vitest"
import { compile } from "../../grammar/index.ts"
import { ownText } from "../../grammar/utf8.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

function heapBytes(): number {
  collect()
  return process.memoryUsage().heapUsed
}

test("names and patterns that stay keep nothing of the schema that they stood in", () => {
  const compileOne = (number: number) => {
    const schema = {
      description: `${number} `.repeat(100_000),
      properties: {
        [`aRatherLongName${number}`]: { type: "string", pattern: `^aRatherLongPattern${number}$` },
      },
    }
    compile({ kind: "json", schema: JSON.stringify(schema) })
  }
  compileOne(0)
  const before = heapBytes()
  for (let number = 1; number <= 50; number++) compileOne(number)
  // One of them is 200 kB; fifty would be ten million.
  expect(heapBytes() - before).toBeLessThan(2_000_000)
})

test("a copy of a text is that text, half surrogate pairs too", () => {
  for (const text of ["", 'a\u0000"\\', "é漢🙂", "\ud800 \udfff", "\u2028"]) expect(ownText(text)).toBe(text)
})
