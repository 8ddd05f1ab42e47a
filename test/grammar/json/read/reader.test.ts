import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { GrammarError } from "../../../../grammar/errors.ts"
import { fromValue, type JsonNode, readJson, toText } from "../../../../grammar/json/read/reader.ts"

/** What JSON.parse gives, for texts where it loses nothing. */
function plain(node: JsonNode): unknown {
  switch (node.kind) {
    case "number":
      return Number(node.text)
    case "string":
      return node.value
    case "array":
      return node.items.map(plain)
    case "object":
      return Object.fromEntries(node.keys.map((key) => [key, plain(node.members.get(key) as JsonNode)]))
    default:
      return { null: null, true: true, false: false }[node.kind]
  }
}

const refusal = (text: string, options = {}) => {
  try {
    readJson(text, options)
  } catch (error) {
    return error instanceof GrammarError ? `${error.kind} ${error.message}` : String(error)
  }
  return "read"
}

describe("what JSON.parse loses", () => {
  test("numbers keep their text", () => {
    const text = "[18446744073709551615,1.0,1e999999999,-0,0.10]"
    expect(toText(readJson(text))).toBe(text)
  })
  test("names keep their order, also those that look like indices", () => {
    const text = '{"b":1,"2":2,"1":3,"a":4}'
    expect(toText(readJson(text))).toBe(text)
  })
  test("names of Object.prototype are names", () => {
    const node = readJson('{"__proto__":1,"constructor":2,"":3}')
    expect(node.kind === "object" && [...node.members.keys()]).toEqual(["__proto__", "constructor", ""])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
  test("lone surrogates survive", () => {
    const node = readJson('["\\ud83d","\\udca9\\ud83d","\\ud83d\\udca9"]')
    expect(plain(node)).toEqual(["\ud83d", "\udca9\ud83d", "💩"])
    expect(toText(node)).toBe('["\\ud83d","\\udca9\\ud83d","💩"]')
  })
  test("every value keeps its range", () => {
    const text = '\ufeff {"a": [1, "\\u0061"]}\n'
    const root = readJson(text)
    const list = root.kind === "object" ? (root.members.get("a") as JsonNode) : root
    expect(text.slice(root.start, root.end)).toBe('{"a": [1, "\\u0061"]}')
    expect(text.slice(list.start, list.end)).toBe('[1, "\\u0061"]')
  })
})

describe("refusals name line and column", () => {
  test.each([
    ['{"type":1,\n  "type":2}', 'syntax line 2, column 3: duplicate key "type"'],
    ['{"a":1,"\\u0061":2}', 'syntax line 1, column 8: duplicate key "a"'],
    ["[1,]", 'syntax line 1, column 4: expected a value, found "]"'],
    ["[1 2]", 'syntax line 1, column 4: expected "," or "]", found "2"'],
    ['{"a" 1}', 'syntax line 1, column 6: expected ":", found "1"'],
    ["{a:1}", 'syntax line 1, column 2: expected a property name in quotes, found "a"'],
    ["", "syntax line 1, column 1: expected a value, found the end of the text"],
    ["1 1", 'syntax line 1, column 3: expected the end of the text, found "1"'],
    ['"abc', "syntax line 1, column 1: unterminated string"],
    ['["💩",x]', 'syntax line 1, column 6: expected a value, found "x"'],
    ["[[[1]]]", "limit line 1, column 3: the text nests deeper than 2 levels. Raise limits.schemaDepth"],
  ])("%j", (text, message) => expect(refusal(text, { maxDepth: 2 })).toBe(message))

  test.each([
    "01",
    "1.",
    ".5",
    "+1",
    "-",
    "1e",
    "0x1",
    "NaN",
    "tru",
    "nulll",
    "'a'",
    '"\\x"',
    '"\\u12g4"',
    '"\t"',
    "\u00a01",
  ])("%j is no JSON", (text) => expect(refusal(text)).toMatch(/^syntax line 1, column \d+: /))
  test("a second key may win, as in instances", () => {
    expect(toText(readJson('{"a":1,"b":2,"a":3}', { duplicateKeys: "last" }))).toBe('{"a":3,"b":2}')
  })
  test("depth costs no stack", () => {
    const text = "[".repeat(100_000) + "]".repeat(100_000)
    expect(readJson(text, { maxDepth: 100_000 }).kind).toBe("array")
  })
})

describe("values", () => {
  test("numbers by their shortest decimal, bigint welcome", () => {
    expect(toText(fromValue([0.1, 1e21, -0, 2n ** 64n]))).toBe("[0.1,1e+21,-0,18446744073709551616]")
  })
  test.each([[undefined], [Number.NaN], [() => 1], [Symbol("a")]])(
    "%s is refused with its place",
    (value) => {
      expect(() => fromValue({ a: [value] })).toThrow(/^\/a\/0: .* is not a JSON value$/)
    },
  )
})

describe("laws", () => {
  test("agrees with JSON.parse on JSON values", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
        const text = JSON.stringify(value, null, 1)
        expect(plain(readJson(text))).toEqual(JSON.parse(text))
        expect(JSON.parse(toText(fromValue(value)))).toEqual(JSON.parse(text))
      }),
      { seed: 3, numRuns: 300 },
    )
  })
  test("reads exactly what JSON.parse reads, over mutated texts", () => {
    const piece = fc.constantFrom(...'{}[]:,"\\eE+-.0129 \n\tau', "true", "null", '"a"', "\\u00e4")
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""))
    fc.assert(
      fc.property(text, (candidate) => {
        let isJson = true
        try {
          JSON.parse(candidate)
        } catch {
          isJson = false
        }
        expect(refusal(candidate, { duplicateKeys: "last" }) === "read").toBe(isJson)
      }),
      { seed: 4, numRuns: 5000 },
    )
  })
  test("toText is read back as the same text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = toText(fromValue(value))
        expect(toText(readJson(text))).toBe(text)
      }),
      { seed: 5, numRuns: 300 },
    )
  })
})
