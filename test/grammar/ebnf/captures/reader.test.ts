/**
 * Captures against the naive definition: of all readings of a text the one whose spans come first in POSIX's order, over
 * random rules that recur in every way and texts of all their languages up to a length.
 */
import { describe, expect, test } from "vitest"
import { RuleCaptures } from "../../../../grammar/ebnf/captures/reader.ts"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import type { Term } from "../../../../grammar/ebnf/terms.ts"
import { defaultLimits } from "../../../../grammar/errors.ts"
import { compile } from "../../../../grammar/index.ts"
import { exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { type Capture, TapeWriter } from "../../../../grammar/tape.ts"

const utf8 = new TextEncoder()
const decoder = new TextDecoder()

function tapeOf(text: string) {
  const writer = new TapeWriter()
  writer.addBytes(utf8.encode(text))
  return writer.tape()
}

/** Right-hand sides by name, as a small notation: `'a' b* <name: …>`. */
type Node =
  | { kind: "text"; text: string }
  | { kind: "any" }
  | { kind: "rule"; rule: number }
  | { kind: "concat" | "or"; parts: Node[] }
  | { kind: "star"; body: Node }
  | { kind: "repeat"; body: Node; min: number; max: number }
  | { kind: "capture"; name: string; body: Node }
  | { kind: "choice"; options: [string, Node][] }

const text = (value: string): Node => ({ kind: "text", text: value })
const any: Node = { kind: "any" }
const rule = (index: number): Node => ({ kind: "rule", rule: index })
const concat = (...parts: Node[]): Node => ({ kind: "concat", parts })
const or = (...parts: Node[]): Node => ({ kind: "or", parts })
const star = (body: Node): Node => ({ kind: "star", body })
const capture = (name: string, body: Node): Node => ({ kind: "capture", name, body })

function lowered(nodes: readonly Node[]): { rules: Rules; term: (node: Node) => Term; ids: number[] } {
  const rules = new Rules({ ...defaultLimits, threads: 256 })
  const { terms } = rules
  const ids = nodes.map((_, i) => rules.declare(`r${i}`))
  const term = (node: Node): Term => {
    switch (node.kind) {
      case "text":
        return terms.text(node.text)
      case "any":
        return terms.expr(exprs.anyText)
      case "rule":
        return rules.use(ids[node.rule])
      case "concat":
        return terms.concat(...node.parts.map(term))
      case "or":
        return terms.or(node.parts.map(term))
      case "star":
        return terms.star(term(node.body))
      case "repeat":
        return terms.repeat(term(node.body), node.min, node.max)
      case "capture":
        return terms.capture(node.name, term(node.body))
      case "choice":
        return terms.choice(node.options.map(([head, rest]) => [head, term(rest)] as const))
    }
  }
  return { rules, term, ids }
}

function usesOf(node: Node, ids: readonly number[]): number[] {
  switch (node.kind) {
    case "text":
    case "any":
      return []
    case "rule":
      return [ids[node.rule]]
    case "concat":
    case "or":
      return node.parts.flatMap((part) => usesOf(part, ids))
    case "choice":
      return node.options.flatMap(([, rest]) => usesOf(rest, ids))
    default:
      return usesOf(node.body, ids)
  }
}

/** What the texts of rule 0 capture. */
function reader(...nodes: Node[]): (value: string) => readonly Capture[] | null {
  const { rules, term, ids } = lowered(nodes)
  for (const [i, node] of nodes.entries()) rules.define(ids[i], usesOf(node, ids), () => term(node))
  const grammar = rules.grammar(ids[0], { key: () => "", title: "" })
  const captures = grammar?.captures ?? null
  return (value) => (captures === null ? null : captures.read(tapeOf(value)))
}

const print = (captures: readonly Capture[] | null) =>
  captures?.map(({ name, start, bytes }) => `${name}@${start}=${decoder.decode(bytes)}`) ?? null

const digits: Node = concat(or(...[..."0123456789"].map(text)), star(or(...[..."0123456789"].map(text))))

describe("spans", () => {
  test.each<[name: string, nodes: Node[], text: string, captures: string[] | null]>([
    ["a part", [concat(text("a"), capture("x", any), text("z"))], "abcz", ["x@1=bc"]],
    ["leftmost, then longest", [concat(any, capture("x", digits), any)], "ab12c345", ["x@2=12"]],
    [
      "every part that repeats",
      [star(or(capture("x", digits), text("-")))],
      "12-3--45",
      ["x@0=12", "x@3=3", "x@6=45"],
    ],
    [
      "outer before inner",
      [capture("o", concat(text("("), capture("i", any), text(")")))],
      "(a)",
      ["o@0=(a)", "i@1=a"],
    ],
    ["the empty text", [concat(text("a"), capture("x", any))], "a", ["x@1="]],
    ["a text that is not complete", [concat(capture("x", digits), text("z"))], "12", null],
    ["a text of another language", [concat(capture("x", digits), text("z"))], "b", null],
    [
      "left recursion as its outermost span",
      [capture("e", or(concat(rule(0), text("+"), rule(1)), rule(1))), capture("t", digits)],
      "1+22+3",
      ["e@0=1+22+3", "t@0=1", "t@2=22", "t@5=3"],
    ],
    [
      "right recursion as all of its spans",
      [capture("l", or(concat(text("a"), rule(0)), text("a")))],
      "aaa",
      ["l@0=aaa", "l@1=aa", "l@2=a"],
    ],
    [
      "recursion in the middle",
      [or(concat(text("("), rule(0), text(")")), capture("x", digits))],
      "((12))",
      ["x@2=12"],
    ],
    [
      "rules that are each other",
      [capture("a", or(rule(1), text("x"))), capture("b", or(rule(0), text("y")))],
      "x",
      ["a@0=x", "b@0=x"],
    ],
    ["an alternative with more spans", [or(any, concat(text("a"), capture("x", any)))], "ab", ["x@1=b"]],
    [
      "a trie",
      [
        {
          kind: "choice",
          options: [
            ["ab", capture("x", any)],
            ["ac", text("d")],
          ],
        },
      ],
      "abc",
      ["x@2=c"],
    ],
    [
      "counts",
      [{ kind: "repeat", body: capture("x", or(text("a"), text("aa"))), min: 2, max: 3 }],
      "aaaa",
      ["x@0=aa", "x@2=aa"],
    ],
    [
      "hidden bytes",
      [capture("o", concat(capture("i", digits), capture("", text(";")), any))],
      "12;b",
      ["o@0=12b", "i@0=12"],
    ],
  ])("%s", (_, nodes, value, captures) => {
    expect(print(reader(...nodes)(value))).toEqual(captures)
  })

  test("a grammar inside another tells what it captures; one that captures nothing is read as a whole", () => {
    const inner = lowered([concat(text("<"), capture("x", digits), text(">"))])
    inner.rules.define(inner.ids[0], [], () => inner.term(concat(text("<"), capture("x", digits), text(">"))))
    const nested = inner.rules.grammar(inner.ids[0], { key: () => "", title: "" })!
    const json = compile({ kind: "json", schema: { type: "array" } }).grammar
    const rules = new Rules(defaultLimits)
    const { terms } = rules
    const start = rules.declare("start")
    rules.define(start, [], () =>
      terms.concat(terms.capture("j", terms.nested(json)), terms.star(terms.nested(nested))),
    )
    const { captures } = rules.grammar(start, { key: () => "", title: "" })!
    expect(captures).toBeInstanceOf(RuleCaptures)
    expect(print(captures!.read(tapeOf('[1, "]<1>"]<2><34>')))).toEqual([
      'j@0=[1, "]<1>"]',
      "x@12=2",
      "x@15=34",
    ])
    expect(captures!.read(tapeOf("[1<2>"))).toBeNull()
  })

  test("a long text takes a handful of threads a byte", () => {
    const read = reader(star(or(capture("line", concat(text("-"), any, text("\n"))), text("\n"))))
    const lines = Array.from({ length: 2_000 }, (_, i) => `- line ${i}\n`)
    // A line may go on past its end: the longest is one of all lines.
    expect(read(lines.join(""))?.length).toBe(1)
    const words = reader(
      star(or(capture("word", concat(or(text("a"), text("b")), star(or(text("a"), text("b"))))), text(" "))),
    )
    expect(words("ab ".repeat(20_000))?.length).toBe(20_000)
  })

  test("too many readings are refused", () => {
    const read = reader(or(concat(rule(0), rule(0)), capture("x", text("a"))))
    expect(read("a".repeat(40))?.length).toBe(40)
    expect(() => read("a".repeat(1_000))).toThrow(
      /captures: after \d+ bytes, .* takes more than 20000000 steps/,
    )
  })
})
