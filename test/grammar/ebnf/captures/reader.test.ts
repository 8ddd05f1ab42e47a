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
import { randomOf } from "../../../support/oracle.ts"

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

  test("long texts take a handful of threads a byte", () => {
    const letters = or(text("a"), text("b"))
    const line = capture("line", concat(text("-"), any, text("\n")))
    // A line may go on past its end, so the longest first line is the whole.
    const lines = reader(star(or(rule(1), text("\n"))), line)
    expect(lines("- line\n".repeat(20_000))?.length).toBe(1)
    const words = reader(star(or(rule(1), text(" "))), capture("word", concat(letters, star(letters))))
    expect(words("ab ".repeat(10_000))?.length).toBe(10_000)
  })

  test("too many readings are refused", () => {
    const read = reader(or(concat(rule(0), rule(0)), capture("x", text("a"))))
    expect(read("a".repeat(20))?.length).toBe(20)
    expect(() => read("a".repeat(1_000))).toThrow(
      /captures: after \d+ bytes, .* takes more than 5000000 steps/,
    )
  })
})

type List = readonly (readonly [start: number, end: number, name: string])[]

const isRead = ([start, end]: List[number]) => start !== end

/** All lists of spans of the texts of the rules, by rule, start and end: least fixpoint. Null: they are too many. */
function naive(nodes: readonly Node[], value: string): Map<string, List>[][] | null {
  const { length } = value
  const at = (i: number, j: number) => i * (length + 1) + j
  let rules = nodes.map(() => Array.from({ length: (length + 1) ** 2 }, () => new Map<string, List>()))
  let size = 0
  const add = (lists: Map<string, List>, list: List) => lists.set(JSON.stringify(list), list)
  const joined = (a: List, b: List): List => [
    ...a,
    ...b.filter((span) => isRead(span) || !a.some((other) => `${other}` === `${span}`)),
  ]
  const concat =
    (a: Evaluate, b: Evaluate): Evaluate =>
    (i, j) => {
      const lists = new Map<string, List>()
      for (let k = i; k <= j; k++) {
        for (const x of a(i, k).values()) for (const y of b(k, j).values()) add(lists, joined(x, y))
      }
      return lists
    }
  type Evaluate = (i: number, j: number) => Map<string, List>
  const one = (holds: boolean) => new Map<string, List>(holds ? [["[]", []]] : [])
  const read =
    (body: Evaluate): Evaluate =>
    (i, j) =>
      i < j ? body(i, j) : one(false)
  /** As the reader has it: iterations that read something, and at last an empty one where some are missing. */
  const times =
    (body: Evaluate, min: number, max: number): Evaluate =>
    (i, j) => {
      const lists = new Map<string, List>()
      if (min === 0 && i === j) add(lists, [])
      if (min > 0 && i === j) for (const list of body(i, i).values()) add(lists, list)
      if (max > 0 && i < j) {
        const more = concat(read(body), times(body, Math.max(0, min - 1), max - 1))(i, j)
        for (const list of more.values()) add(lists, list)
      }
      return lists
    }
  const evaluate = (node: Node): Evaluate => {
    switch (node.kind) {
      case "text":
        return (i, j) => one(value.slice(i, j) === node.text)
      case "any":
        return () => one(true)
      case "rule":
        return (i, j) => rules[node.rule][at(i, j)]
      case "concat":
        return node.parts.map(evaluate).reduce(concat, (i, j) => one(i === j))
      case "or":
        return (i, j) => new Map(node.parts.flatMap((part) => [...evaluate(part)(i, j)]))
      case "star":
        return times(evaluate(node.body), 0, length)
      case "repeat":
        return times(evaluate(node.body), node.min, node.max)
      case "capture":
        return (i, j) => {
          const lists = new Map<string, List>()
          const own = [i, j, node.name] as const
          for (const list of evaluate(node.body)(i, j).values()) {
            add(lists, [own, ...list.filter((span) => `${span}` !== `${own}`)])
          }
          return lists
        }
      case "choice":
        return (i, j) =>
          new Map(
            node.options.flatMap(([head, rest]) => [...concat(evaluate(text(head)), evaluate(rest))(i, j)]),
          )
    }
  }
  for (;;) {
    const next = nodes.map((node) => {
      const body = evaluate(node)
      return rules[0].map((_, index) => {
        const [i, j] = [Math.floor(index / (length + 1)), index % (length + 1)]
        return i <= j ? body(i, j) : new Map<string, List>()
      })
    })
    const count = next.flat().reduce((sum, lists) => sum + lists.size, 0)
    if (count > 3_000) return null
    if (count === size) return rules
    size = count
    rules = next
  }
}

/** Positive: `a` comes first. */
function compare(a: List, b: List): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i][0] !== b[i][0]) return b[i][0] - a[i][0]
    if (a[i][1] !== b[i][1]) return a[i][1] - b[i][1]
  }
  return a.length - b.length
}

function outermost(list: List): List {
  const last = new Map<string, List[number]>()
  return list.filter((span) => {
    const outer = last.get(span[2])
    if (outer !== undefined && outer[0] === span[0] && outer[1] >= span[1]) return false
    last.set(span[2], span)
    return true
  })
}

/** A right-hand side over the rules from `least` to 2, with up to `depth` levels. */
function randomNode(random: () => number, depth: number, least: number): Node {
  const inner = () => randomNode(random, depth - 1, least)
  const anyRule = () => (least > 2 ? text("a") : rule(least + Math.floor(random() * (3 - least))))
  const kind = Math.floor(random() * (depth > 0 ? 12 : 4))
  if (kind < 2) return text("ab"[kind])
  if (kind === 2) return anyRule()
  if (kind === 3)
    return random() < 0.5
      ? text("")
      : capture("xyz"[Math.floor(random() * 3)], text("ab"[Math.floor(random() * 2)]))
  if (kind < 6) return concat(inner(), inner())
  if (kind < 8) return or(inner(), inner())
  if (kind === 8) return star(inner())
  if (kind === 9) return { kind: "repeat", body: inner(), min: Math.floor(random() * 3), max: 2 }
  if (kind === 10) return anyRule()
  return capture("xyz"[Math.floor(random() * 3)], inner())
}

// Rules that recur have tables above: which of their readings comes first is not settled where spans of one name nest.
test("random rules that do not recur: one of the readings, and nearly always the first", () => {
  const texts = ["", "a", "b", "ab", "ba", "aa", "aba", "abb", "aaa", "abab"]
  let compared = 0
  let firsts = 0
  for (let seed = 1; seed <= 1_500; seed++) {
    const random = randomOf(seed)
    const nodes = [capture("s", randomNode(random, 3, 1)), randomNode(random, 3, 2), randomNode(random, 2, 3)]
    const read = reader(...nodes)
    for (const value of texts) {
      const rules = naive(nodes, value)
      if (rules === null) continue
      const lists = [...rules[0][value.length].values()].map((list) => list.filter(isRead))
      const captures = read(value)
      const where = `seed ${seed}, text ${JSON.stringify(value)}, ${JSON.stringify(nodes)}`
      expect(captures !== null, where).toBe(lists.length > 0)
      if (captures === null) continue
      compared++
      const [best] = lists.toSorted((a, b) => compare(b, a))
      const first = lists.filter((list) => compare(list, best) === 0).map((list) => `${outermost(list)}`)
      const found = captures
        .filter(({ start, end }) => start < end)
        .map(({ name, start, end }) => [start, end, name] as const)
      expect(
        lists.map((list) => `${outermost(list)}`),
        where,
      ).toContain(`${found}`)
      if (first.includes(`${found}`)) firsts++
    }
  }
  expect(compared).toBeGreaterThan(1_000)
  // Not all yet: of readings whose spans lie alike, one with fewer of them may be told.
  expect(firsts / compared).toBeGreaterThan(0.99)
})
