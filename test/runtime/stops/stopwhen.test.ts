/** S2-19, S2-20: ends that the text's structure tells: JSON, XML, tool calls. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { StopWhen, type StopWhenKind } from "../../../runtime/stops/stopwhen.ts"

function endOf(kind: StopWhenKind, chunks: string[], counts = true): number {
  const watch = new StopWhen(kind)
  for (const chunk of chunks) {
    const end = watch.push(chunk, counts)
    if (end >= 0) return end
  }
  return -1
}

/** The part up to ¦ is the output; without it, the text goes on. */
const cases: [kind: StopWhenKind, text: string][] = [
  ["json", 'Sure: {"a":"}"}¦ and more'],
  ["json", '{"a":1}¦}'],
  ["json", '[1,[2],{"b":[]}]¦x'],
  ["json", '{"a": "\\""'],
  ["json", 'Use {name} as in {"name":"x"}¦.'],
  ["json", '{{"a":1}¦}'],
  ["json", "no value 12 at all"],
  ["json", "[01] [0]¦"],
  ["xml", "<a/>¦ b"],
  ["xml", "Here: <a>x</a>¦ y"],
  ["xml", "<a><b>1</b><b/></a>¦</a>"],
  ["xml", '<a t="</a>">x</a>¦'],
  ["xml", "<a t='/>' u=x/y />¦z"],
  ["xml", "<a><!-- </a> --><![CDATA[</a>]]></a>¦"],
  ["xml", '<?xml version="1.0"?><!DOCTYPE a><a>x</a>¦'],
  ["xml", "1 < 2 and <b>bold</b>¦"],
  ["xml", "<a><b></a> <c></c>¦"],
  ["xml", "<a>1 << 2 <d>e</d>¦"],
  ["xml", "</a><b></b >¦"],
  ["xml", "<a:b-c.d></a:b-c.d>¦"],
  ["xml", "<a><b></b>"],
  ["tool_call", 'I call <tool_call>\n{"name": "f", "arguments": {"x": "}"}}¦\n</tool_call>'],
  ["tool_call", '{"a":1} [TOOL_CALLS][{"name":"f"}]¦'],
  ["tool_call", '<tool_call>soon <tool_call>{"a":1}¦'],
  ["tool_call", '{"name": "f"}'],
]

test.each(cases)("%s: %s", (kind, marked) => {
  const expected = marked.indexOf("¦")
  const text = marked.replace("¦", "")
  expect(endOf(kind, [text])).toBe(expected)
  expect(endOf(kind, [...text])).toBe(expected)
})

test("any cut into chunks gives the same end", () => {
  const pieces = [
    ...["<a>", "</a>", "<b/>", "<!--", "-->", "<![CDATA[", "]]>", "<", ">", '"', "'", "x", "/", " "],
    ...["{", "}", "[", "]", ":", ",", "1", '{"a":1}', "<tool_call>", "<tool_", "[TOOL_CALLS]"],
  ]
  fc.assert(
    fc.property(
      fc.constantFrom<StopWhenKind>("json", "xml", "tool_call"),
      fc.array(fc.constantFrom(...pieces), { maxLength: 20 }),
      (kind, parts) => {
        const text = parts.join("")
        expect(endOf(kind, parts)).toBe(endOf(kind, [text]))
        expect(endOf(kind, [...text])).toBe(endOf(kind, [text]))
      },
    ),
    { numRuns: 3000 },
  )
})

describe("below min_tokens", () => {
  test("an end does not count, the next one does", () => {
    const watch = new StopWhen("json")
    expect(watch.push("[1] [2", false)).toBe(-1)
    expect(watch.push("] x", true)).toBe(7)
  })
})

test.each<[StopWhenKind, string]>([
  ["json", "{"],
  ["json", "[1}"],
  ["xml", "<a <"],
  ["xml", "<a></b>"],
  ["tool_call", "<tool_call>x"],
  ["tool_call", "<tool_call>{{"],
])("%s: a long text of %j costs each of its units once", (kind, piece) => {
  const text = piece.repeat(1_000_000 / piece.length)
  expect(endOf(kind, [text])).toBe(-1)
  expect(endOf(kind, [...text])).toBe(-1)
})
