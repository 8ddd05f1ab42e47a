/** S2-18: patterns that end an output. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { RequestError } from "../../../runtime/errors.ts"
import { RegexWatch, StopRegexes } from "../../../runtime/stops/stopregex.ts"
import { StopStrings, StopWatch } from "../../../runtime/stops/stops.ts"

function run(
  patterns: (string | RegExp)[],
  chunks: string[],
  strings: string[] = [],
  options: ConstructorParameters<typeof StopWatch>[1] = {},
) {
  const regexes = new RegexWatch(new StopRegexes(patterns))
  const watch = new StopWatch(new StopStrings(strings), { ...options, regexes })
  const texts: string[] = []
  for (const chunk of chunks) {
    const { text, stop } = watch.push(chunk)
    texts.push(text)
    if (stop !== null) return { texts, stop }
  }
  texts.push(watch.flush())
  return { texts, stop: null }
}

describe("where it ends and what is held", () => {
  test.each<[string, (string | RegExp)[], string[], string[], string | null]>([
    ["a number in brackets", ["\\[\\d+\\]"], ["see [", "1", "2", "] x"], ["see ", "", "", ""], "\\[\\d+\\]"],
    ["what failed is sent at once", ["\\[\\d+\\]"], ["see [", "1", "x"], ["see ", "", "[1x", ""], null],
    ["the earliest end, its longest match", ["a+b", "b+"], ["xaab"], ["x"], "a+b"],
    ["the earliest end wins over an earlier begin", ["abcd", "bc"], ["abcd"], ["a"], "bc"],
    ["lazy or greedy, the end is the first", ["x.*?y.*z"], ["axbyczz"], ["a"], "x.*?y.*z"],
    ["the line's start", [/^END/m], ["the END\n", "EN", "D"], ["the END\n", "", ""], "^END"],
    ["the text's start", ["^END"], ["END"], [""], "^END"],
    ["no other start", ["^END"], ["\nEND"], ["\nEND", ""], null],
    ["word boundaries", ["\\bstop\\b"], ["nonstop", " stop"], ["nonstop", " "], "\\bstop\\b"],
    ["flags", [/stop/i], ["a STOP b"], ["a "], "stop"],
    ["code points outside the plane", ["[😀-😂]"], ["a😁b"], ["a"], "[😀-😂]"],
  ])("%s", (_, patterns, chunks, texts, stop) => {
    expect(run(patterns, chunks)).toEqual({ texts, stop })
  })

  test("with stop strings: the earliest end of either, the longest at one end", () => {
    expect(run(["\\d\\d"], ["ab12"], ["b12"])).toEqual({ texts: ["a"], stop: "b12" })
    expect(run(["b\\d\\d"], ["ab12"], ["12"])).toEqual({ texts: ["a"], stop: "b\\d\\d" })
    expect(run(["\\d\\d"], ["a", "b", "1"], ["abc"])).toEqual({ texts: ["", "", "ab", "1"], stop: null })
  })

  test("included: the text ends with the match", () => {
    expect(run(["\\d+!"], ["ab12!c"], [], { includesStop: true }).texts).toEqual(["ab12!"])
  })

  test("no more than 256 units are held", () => {
    const { texts, stop } = run(["<.*>"], ["<", "x".repeat(300), ">"])
    expect([stop, texts[0], texts[1].length]).toEqual([null, "", 301])
    expect(run(["<.*>"], ["<", "x".repeat(254), ">"])).toEqual({ texts: ["", "", ""], stop: "<.*>" })
  })
})

test("any cut into chunks gives the first end that a search in every prefix finds", () => {
  const patterns = [
    ...[
      "a+b",
      "(ab|ba)c?c",
      "b(?=a)|ca",
      "^ab",
      "a.?c$",
      "\\bc",
      "c\\b|aa",
      "(?!ab)[ab]c",
      "ab*?c",
      "a{2,3}b",
    ],
    ...["[^a]c", "ac?b|cb*a", "\\Bbb"],
  ]
  const oracle = (source: string, text: string): { cut: number; end: number } | null => {
    for (let end = 1; end <= text.length; end++) {
      const prefix = text.slice(0, end)
      for (let cut = 0; cut < end; cut++) {
        const sticky = new RegExp(`(?:${source})$`, "y")
        sticky.lastIndex = cut
        if (sticky.test(prefix)) return { cut, end }
      }
    }
    return null
  }
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "c", " "), maxLength: 14 })
  fc.assert(
    fc.property(
      fc.constantFrom(...patterns),
      letters,
      fc.array(fc.nat(14), { maxLength: 4 }),
      (source, text, cuts) => {
        const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length]
        const chunks = at.slice(1).map((end, index) => text.slice(at[index], end))
        const expected = oracle(source, text)
        const { texts, stop } = run([source], chunks)
        expect(texts.join("")).toBe(expected ? text.slice(0, expected.cut) : text)
        expect(stop).toBe(expected ? source : null)
      },
    ),
    { numRuns: 2000 },
  )
})

test.each([
  [["a*"], "stop_regex[0] matches the empty text"],
  [["x", "\\b"], "stop_regex[1] matches the empty text"],
  [["$"], "stop_regex[0] matches the empty text"],
  [[""], "stop_regex[0] is empty"],
  [["("], "stop_regex[0]: "],
  [["[]"], "stop_regex[0] matches no text at all"],
  [["(?<=a)b"], "stop_regex[0]: lookbehind is not supported"],
  [["(a)\\1"], "stop_regex[0]: "],
  [["x".repeat(1_000), "y".repeat(25)], "stop_regex: 1025 UTF-16 units in all are more than 1024"],
  [Array.from({ length: 9 }, (_, index) => `s${index}`), "stop_regex: 9 patterns are more than 8"],
])("refused: %j", (patterns, message) => {
  let refusal: unknown
  try {
    new StopRegexes(patterns)
  } catch (error) {
    refusal = error
  }
  expect(refusal).toBeInstanceOf(RequestError)
  expect((refusal as Error).message).toContain(message)
})
