/** The rules of one label, character by character; whole names are in `idnhostname.test.ts`. */
import { expect, test } from "vitest"
import { idna } from "../../../../grammar/format/idn/idna.ts"
import { freshLabel, isWhole, type Label, step } from "../../../../grammar/format/idn/idnlabel.ts"

const data = idna()

/** The facts after `text`, or null where a character of it may not stand. */
function read(text: string): Label | null {
  let label: Label | null = freshLabel
  for (const character of text) {
    const id = data.classOf(character.codePointAt(0) as number)
    label = label === null || id < 0 ? null : step(label, data.classes[id], data)
  }
  return label
}

test.each<[text: string, what: string, isEnd: boolean | null]>([
  ["a", "a letter", true],
  ["", "nothing", false],
  ["a-", "a hyphen at the end", false],
  ["-", "a hyphen in front", null],
  ["ab--", "two hyphens at the third place", null],
  ["l\u00b7", "a middle dot that waits for its l", false],
  ["l\u00b7l", "a middle dot between two", true],
  ["\u0375", "a keraia that waits for Greek", false],
  ["\u0375α", "a keraia before Greek", true],
  ["\u30fb", "a katakana dot alone", false],
  ["\u30fbカ", "a katakana dot with Japanese", true],
  ["ب\u200c", "a non-joiner that waits", false],
  ["ب\u200cب", "a non-joiner between joining letters", true],
  ["א-", "a right-to-left label that ends neutral", false],
  ["אa", "two directions", null],
  ["ا٠۰", "digits of two kinds", null],
  ["e\u0301", "what would compose", null],
  ["Éa", "a capital beyond ASCII", null],
  ["AbC", "capitals of ASCII", true],
])("%j: %s", (text, _, isEnd) => {
  const label = read(text)
  expect(label === null ? null : isWhole(label)).toBe(isEnd)
})

test("a separator begins a new label and keeps what the name is", () => {
  expect(read("ab.")).toEqual({ ...freshLabel, total: 3, name: 0 })
  const afterHebrew = read("א.") as Label
  expect(step(afterHebrew, data.classes[data.classOf(0x31)], data)).toBeNull()
  expect(read("a.。")).toBeNull()
})

test("characters are counted in the ASCII form", () => {
  expect(read("x".repeat(63))).not.toBeNull()
  expect(read("x".repeat(64))).toBeNull()
  expect([read("ü".repeat(20)), read("ü".repeat(60))]).toEqual([expect.anything(), null])
})
