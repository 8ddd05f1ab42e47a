/** S4-20: text sent in whole words. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { WordBuffer } from "../../../runtime/stops/wordbuffer.ts"

test.each<[string, string[], string[]]>([
  ["up to the last space", ["Hel", "lo wor", "ld a"], ["", "Hello ", "world ", "a"]],
  ["all of it after a newline", ["one tw", "o\n", "x"], ["one ", "two\n", "", "x"]],
  [
    "all of it after a character of a script without spaces",
    ["你好", "かな", "ab"],
    ["你好", "かな", "", "ab"],
  ],
  ["the last word is not lost", ["end"], ["", "end"]],
])("%s", (_, chunks, texts) => {
  const buffer = new WordBuffer()
  expect([...chunks.map((chunk) => buffer.push(chunk)), buffer.flush()]).toEqual(texts)
  expect(buffer.flush()).toBe("")
})

test("nothing is lost, doubled or cut inside a word", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "日", "𠀀", "😀") })),
      (chunks) => {
        const buffer = new WordBuffer()
        const texts = chunks.map((chunk) => buffer.push(chunk))
        for (const text of texts) expect(text).toMatch(/^(|.*[ \n日𠀀])$/su)
        expect([...texts, buffer.flush()].join("")).toBe(chunks.join(""))
      },
    ),
  )
})

test("a text without a space costs each of its units once", () => {
  const buffer = new WordBuffer()
  let sentCount = 0
  for (let unit = 0; unit < 1_000_000; unit++) sentCount += buffer.push("x").length
  expect(sentCount).toBe(0)
  expect(buffer.push(" y").length).toBe(1_000_001)
  expect(buffer.flush()).toBe("y")
})
