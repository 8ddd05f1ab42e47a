import { describe, expect, test } from "vitest"
import { TimeError } from "../../../../grammar/deadline.ts"
import { Mistakes, Source } from "../../../../grammar/ebnf/notation/source.ts"
import { defaultLimits, GrammarError } from "../../../../grammar/errors.ts"

function sourceOf(text: string, outer?: string): Source {
  return new Source(text, defaultLimits, outer)
}

function thrownBy(action: () => void): GrammarError {
  try {
    action()
  } catch (error) {
    if (error instanceof GrammarError) return error
    throw error
  }
  throw new Error("nothing was thrown")
}

describe("places", () => {
  const text = "ab\r\nc💩d\re\n\nf"
  test.each([
    ["a", 1, 1],
    ["b", 1, 2],
    ["c", 2, 1],
    ["💩", 2, 2],
    ["d", 2, 3],
    ["e", 3, 1],
    ["f", 5, 1],
  ])("%s is in line %i, column %i", (character, line, column) => {
    expect(sourceOf(text).place(text.indexOf(character))).toEqual({ line, column })
  })
  test("the end of the text", () => {
    expect(sourceOf("").place(0)).toEqual({ line: 1, column: 1 })
    expect(sourceOf("a").place(1)).toEqual({ line: 1, column: 2 })
    expect(sourceOf("a\n").place(2)).toEqual({ line: 2, column: 1 })
  })
})

describe("errors", () => {
  test("show the line and a caret", () => {
    const error = sourceOf('a\nroot = "💩" é\n').error("syntax", 7, "no")
    expect(error.path).toBe("line 2, column 6")
    expect(error.message).toBe('line 2, column 6: no\n2 | root = "💩" é\n         ^')
  })
  test("have the outer place in front", () => {
    expect(sourceOf("a b", "/format/grammar").error("limit", 2, "no").path).toBe(
      "/format/grammar, line 1, column 3",
    )
  })
  test("keep tabs, and cut what is far away", () => {
    const text = `\t${"é".repeat(100)}x${"💩".repeat(100)}\0`
    expect(sourceOf(text).quote(101)).toBe(`1 | …${"é".repeat(48)}x${"💩".repeat(24)}\n${" ".repeat(53)}^`)
    expect(sourceOf("\ta\0b\x7f").quote(3)).toBe("1 | \ta␀b␡\n    \t  ^")
  })
  test("at the end of a line and of the text", () => {
    expect(sourceOf("ab\r\n").quote(2)).toBe("1 | ab\n      ^")
    expect(sourceOf("ab\n").quote(3)).toBe("2 | \n    ^")
  })
})

test("an error of an input inside has both places", () => {
  const source = sourceOf("a\nb c", "/grammar")
  const nested = (error: Error) => () =>
    source.nested(4, () => {
      throw error
    })
  const placed = thrownBy(nested(new GrammarError("unsupported", "offset 3", "no")))
  expect([placed.kind, placed.path]).toEqual(["unsupported", "/grammar, line 2, column 3, offset 3"])
  expect(placed.message).toBe("/grammar, line 2, column 3, offset 3: no\n2 | b c\n      ^")
  expect(thrownBy(nested(new GrammarError("limit", "", "no"))).path).toBe("/grammar, line 2, column 3")
  const timeOver = new TimeError("limit", "", "no")
  expect(thrownBy(nested(timeOver))).toBe(timeOver)
  expect(source.nested(0, () => 7)).toBe(7)
})

describe("mistakes", () => {
  test("are thrown as one, in the order of the text", () => {
    const mistakes = new Mistakes(sourceOf("a\nb\nc"))
    mistakes.throwAny()
    mistakes.add("limit", 4, "third")
    mistakes.add("unsupported", 0, "first")
    mistakes.add("syntax", 2, "second")
    expect(mistakes.count).toBe(3)
    const error = thrownBy(() => mistakes.throwAny())
    expect([error.kind, error.path]).toEqual(["unsupported", "line 1, column 1"])
    expect(error.message).toBe(
      "line 1, column 1: first\n1 | a\n    ^\nline 2, column 1: second\nline 3, column 1: third",
    )
  })
  test("may be those of an input inside", () => {
    const mistakes = new Mistakes(sourceOf("a b"))
    const refuse = (path: string) => () => {
      throw new GrammarError("unsupported", path, "no")
    }
    expect(mistakes.nested(0, () => 7)).toBe(7)
    expect(mistakes.nested(2, refuse("offset 3"))).toBeNull()
    expect(mistakes.nested(0, refuse("/a"))).toBeNull()
    const error = thrownBy(() => mistakes.throwAny())
    expect([error.kind, error.path]).toEqual(["unsupported", "line 1, column 1, /a"])
    expect(error.message.split("\n").at(-1)).toBe("line 1, column 3, offset 3: no")
    const timeOver = new TimeError("limit", "", "no")
    const run = () =>
      mistakes.nested(0, () => {
        throw timeOver
      })
    expect(thrownBy(run)).toBe(timeOver)
  })
  test("are listed up to a bound", () => {
    const mistakes = new Mistakes(sourceOf("a".repeat(1_000)))
    for (let at = 0; at < 1_000; at++) mistakes.add("syntax", at, "no")
    expect(
      thrownBy(() => mistakes.throwAny())
        .message.split("\n")
        .slice(-2),
    ).toEqual(["line 1, column 21: no", "and 979 more"])
  })
})

test("a text that is too long, or no text", () => {
  const long = thrownBy(() => new Source("abc", { ...defaultLimits, grammarBytes: 2 }, "/grammar"))
  expect([long.kind, long.path]).toEqual(["limit", "/grammar"])
  const half = thrownBy(() => sourceOf("é💩\ud83d"))
  expect([half.kind, half.path]).toEqual(["syntax", "line 1, column 3"])
})
