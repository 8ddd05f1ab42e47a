import { describe, expect, test } from "vitest"
import { decodeClass, decodeString } from "../../../../grammar/ebnf/gbnf/escapes.ts"

/** What is decoded, and what is wrong: [offset, message]. */
function read<T>(
  decode: (body: string, complain: (offset: number, message: string) => void) => T,
  body: string,
) {
  const mistakes: [number, string][] = []
  const value = decode(body, (offset, message) => mistakes.push([offset, message]))
  return { value, mistakes }
}

describe("strings", () => {
  test.each([
    ["", ""],
    ["abc", "abc"],
    [String.raw`\n\r\t\b\f\a\v\0\e`, "\n\r\t\b\f\x07\v\0\x1b"],
    [String.raw`\"\'\\\/\?`, "\"'\\/?"],
    [String.raw`\x41\x7fz`, "A\x7fz"],
    [String.raw`\u3042\U0001F600`, "あ😀"],
    [String.raw`\uD83D\uDE00`, "😀"],
    [String.raw`é\\n💩`, "é\\n💩"],
  ])("%s", (body, value) => expect(read(decodeString, body)).toEqual({ value, mistakes: [] }))

  test.each([
    [String.raw`a\@b`, 1, "unknown escape \\@"],
    [String.raw`\💩`, 0, "unknown escape \\💩"],
    [String.raw`\d`, 0, "unknown escape \\d: write [0-9]"],
    [String.raw`\-`, 0, "unknown escape \\-"],
    [String.raw`\x4`, 0, "\\x needs 2 hexadecimal digits"],
    [String.raw`aa\xg0`, 2, "\\x needs 2 hexadecimal digits"],
    [String.raw`\uFF`, 0, "\\u needs 4 hexadecimal digits"],
    [String.raw`\U00110000`, 0, "\\U00110000 is above U+10FFFF"],
    [String.raw`a\uD83D`, 0, "half a surrogate pair: no text holds one"],
    [String.raw`\uDE00\uD83D`, 0, "half a surrogate pair: no text holds one"],
  ])("%s is none", (body, offset, message) =>
    expect(read(decodeString, body).mistakes).toEqual([[offset, message]]),
  )
})

describe("classes", () => {
  const all = 0x10ffff
  test.each([
    ["a", [97, 97]],
    ["a-c", [97, 99]],
    ["c-ca-b", [97, 99]],
    ["-", [45, 45]],
    ["--", [45, 45]],
    ["---", [45, 45]],
    ["--/", [45, 47]],
    ["-a", [45, 45, 97, 97]],
    ["a-", [45, 45, 97, 97]],
    ["a-c-e", [45, 45, 97, 99, 101, 101]],
    [String.raw`a\-c`, [45, 45, 97, 97, 99, 99]],
    [String.raw`\--\]`, [45, 93]],
    [String.raw`\^\]\[`, [91, 91, 93, 94]],
    ["^", [0, all]],
    ["^^", [0, 93, 95, all]],
    ["a^", [94, 94, 97, 97]],
    ["^a-", [0, 44, 46, 96, 98, all]],
    [String.raw`\x80-\xff`, [0x80, 0xff]],
    ["ぁ-ゟ", [0x3041, 0x309f]],
    ["😀-😎", [0x1f600, 0x1f60e]],
    [String.raw`\uD83D\uDE00-\U0001F60E`, [0x1f600, 0x1f60e]],
    [String.raw`^\x00-\U0010FFFF`, []],
    [String.raw`\.\*\+\?\(\)\{\}\|\$\/\"\'`, [34, 34, 36, 36, 39, 43, 46, 47, 63, 63, 123, 125]],
  ])("[%s]", (body, value) => expect(read(decodeClass, body)).toEqual({ value, mistakes: [] }))

  test.each([
    ["", 0, "the class [] has no character. Write [^] for any"],
    ["Z-A", 0, "range end before start"],
    ["ab-a", 1, "range end before start"],
    [String.raw`a\_`, 1, "unknown escape \\_"],
    [String.raw`\w`, 0, "unknown escape \\w: write [A-Za-z0-9_]"],
    [String.raw`\s`, 0, "unknown escape \\s: write [ \\t\\n\\r]"],
    [String.raw`a\uD800z`, 1, "half a surrogate pair: no text holds one"],
    [String.raw`\uDC00-\uDC0F`, 0, "half a surrogate pair: no text holds one"],
  ])("[%s] is none", (body, offset, message) =>
    expect(read(decodeClass, body).mistakes[0]).toEqual([offset, message]),
  )
})
