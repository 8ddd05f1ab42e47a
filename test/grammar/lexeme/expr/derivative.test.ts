import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type ExprId, exprs, Never } from "../../../../grammar/lexeme/expr/expr.ts"
import { parseRegex } from "../../../../grammar/regex/parse.ts"

const encoder = new TextEncoder()

function read(id: ExprId, text: string): ExprId {
  return encoder.encode(text).reduce((left, byte) => exprs.derivative(left, byte), id)
}

/** States from which something is accepted, all reachable ones. */
function close(start: ExprId): ExprId[] {
  const states = [start]
  const seen = new Set(states)
  for (const state of states) {
    for (const byte of exprs.classes(state).representatives) {
      const next = exprs.derivative(state, byte)
      if (seen.has(next) || exprs.isNever(next)) continue
      seen.add(next)
      states.push(next)
    }
  }
  return states
}

type Tree =
  | { kind: "set"; members: string }
  | { kind: "concat" | "or" | "and"; left: Tree; right: Tree }
  | { kind: "not"; body: Tree }
  | { kind: "loop"; body: Tree; min: number; max: number }

const alphabet = ["a", "b", "é", "💩"]

const members = fc.constantFrom("", "a", "ab", "é", "é💩", "aé", "b💩")
const bounds = fc.constantFrom(2, 3, Number.POSITIVE_INFINITY)
const trees = fc.memo((depth): fc.Arbitrary<Tree> => {
  const set: fc.Arbitrary<Tree> = members.map((chosen) => ({ kind: "set", members: chosen }))
  if (depth <= 1) return set
  const kinds = fc.constantFrom<"concat" | "or" | "and">("concat", "or", "and")
  return fc.oneof(
    set,
    fc.tuple(kinds, trees(), trees()).map(([kind, left, right]): Tree => ({ kind, left, right })),
    trees().map((body): Tree => ({ kind: "not", body })),
    fc.tuple(trees(), fc.nat(2), bounds).map(([body, min, max]): Tree => ({ kind: "loop", body, min, max })),
  )
})
const tree = trees(5)

function build(node: Tree): ExprId {
  switch (node.kind) {
    case "set": {
      const points = [...node.members].map((c) => c.codePointAt(0)!).sort((x, y) => x - y)
      return exprs.codePoints(points.flatMap((point) => [point, point]))
    }
    case "concat":
      return exprs.concat(build(node.left), build(node.right))
    case "or":
      return exprs.or([build(node.left), build(node.right)])
    case "and":
      return exprs.and([build(node.left), build(node.right)])
    case "not":
      return exprs.not(build(node.body))
    case "loop":
      return exprs.loop(build(node.body), node.min, node.max)
  }
}

/** The definition, by trying every split. */
function matches(node: Tree, text: readonly string[]): boolean {
  switch (node.kind) {
    case "set":
      return text.length === 1 && [...node.members].includes(text[0])
    case "concat":
      return splits(text).some(([head, tail]) => matches(node.left, head) && matches(node.right, tail))
    case "or":
      return matches(node.left, text) || matches(node.right, text)
    case "and":
      return matches(node.left, text) && matches(node.right, text)
    case "not":
      return !matches(node.body, text)
    case "loop": {
      const { body, min, max } = node
      if (text.length === 0) return min === 0 || matches(body, text)
      if (max === 0) return false
      const rest: Tree = { kind: "loop", body, min: Math.max(0, min - 1), max: max - 1 }
      return (
        splits(text).some(([head, tail]) => head.length > 0 && matches(body, head) && matches(rest, tail)) ||
        (min > 0 && matches(body, []) && matches({ ...rest, min: 0 }, text))
      )
    }
  }
}

function splits(text: readonly string[]): [string[], string[]][] {
  return Array.from({ length: text.length + 1 }, (_, i) => [text.slice(0, i), text.slice(i)])
}

const texts: string[][] = [[]]
for (const text of texts) if (text.length < 3) texts.push(...alphabet.map((c) => [...text, c]))

test("accepts what the definition accepts, and an expression is empty only if it accepts nothing", () => {
  fc.assert(
    fc.property(tree, (node) => {
      const id = build(node)
      let isEmpty = true
      for (const text of texts) {
        const expected = matches(node, text)
        if (exprs.nullable(read(id, text.join(""))) !== expected) return false
        if (expected) isEmpty = false
      }
      return isEmpty || !exprs.isNever(id)
    }),
    { seed: 7, numRuns: 1500 },
  )
})

test("emptiness agrees with the closed automaton", () => {
  fc.assert(
    fc.property(tree, (node) => {
      const id = build(node)
      const reached = new Set([id])
      for (const state of reached) {
        for (const byte of exprs.classes(state).representatives) reached.add(exprs.derivative(state, byte))
      }
      return exprs.isNever(id) === ![...reached].some((state) => exprs.nullable(state))
    }),
    { seed: 8, numRuns: 500 },
  )
})

describe("searches", () => {
  test("become any text once a match is certain", () => {
    const search = parseRegex("b+c|é", { mode: "search", path: "" })
    expect(read(search, "abbc")).toBe(exprs.anyText)
    expect(read(search, "xxé")).toBe(exprs.anyText)
    expect(read(search, "abb")).not.toBe(exprs.anyText)
  })

  test.each<[string, number]>([
    ["abc", 18],
    ["^abc", 11],
    ["^[a-z]+$", 2],
    ["^[A-Z][a-z]{0,3}$", 5],
    ["", 8],
  ])("/%s/ has %i live states", (pattern, count) => {
    expect(close(parseRegex(pattern, { mode: "search", path: "" })).length).toBe(count)
  })
})

test("counters are not unrolled before they are visited", () => {
  const before = exprs.count
  const id = exprs.loop(exprs.codePoints([0x61, 0x7a, 0xe9, 0xe9]), 10, 1_000_000)
  read(id, "abcé")
  expect(exprs.count - before).toBeLessThan(30)
})

test("an intersection that accepts nothing is found empty", () => {
  const even = exprs.loop(exprs.literal("aa"), 1, Number.POSITIVE_INFINITY)
  const odd = exprs.concat(exprs.literal("a"), exprs.loop(exprs.literal("aa"), 0, Number.POSITIVE_INFINITY))
  expect(exprs.isNever(exprs.and([even, odd]))).toBe(true)
  expect(exprs.isNever(exprs.not(exprs.or([exprs.not(even), exprs.not(odd)])))).toBe(true)
  expect(exprs.isNever(exprs.and([even, exprs.loop(exprs.anyChar, 4, 4)]))).toBe(false)
})

test("the search for an accepted text is bounded", () => {
  const many = exprs.and([
    parseRegex("^(?:.{997})*$", { mode: "search", path: "" }),
    parseRegex("^(?:.{1009})+$", { mode: "search", path: "" }),
    exprs.not(exprs.literal("")),
  ])
  expect(() => exprs.isNever(many)).toThrow(/more than 40000 automaton states/)
})

test("∅ has no way on", () => {
  expect(exprs.derivative(Never, 0x61)).toBe(Never)
  expect(exprs.row(Never).length).toBe(0)
})

test("a chain of optional parts that would take quadratic space is refused", () => {
  const parts = Array.from({ length: 5000 }, (_, i) => `(?:a${i}b)?`).join("")
  const chain = parseRegex(`^${parts}$`, { mode: "search", path: "" })
  expect(() => exprs.derivative(chain, 0x61)).toThrow(/too many possible continuations/)
})

test("the module that registers how a kind is read makes all expressions of that kind", () => {
  const folder = "grammar/lexeme/expr"
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  )
  const kindsOf = (file: string, call: RegExp) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(call)].map(([, kind]) => kind)
  const registered = files.flatMap((file) =>
    kindsOf(file, /\bregister\((Kind\.\w+)\b/g).map((kind) => [kind, file]),
  )
  const made = files.flatMap((file) =>
    kindsOf(file, /\bintern\(\[(Kind\.\w+)\b/g).map((kind) => [kind, file]),
  )
  expect(registered.length).toBe(4)
  for (const [kind, file] of registered) {
    const makers = made.filter(([other]) => other === kind).map(([, maker]) => maker)
    expect(new Set(makers), kind).toEqual(new Set([file]))
  }
})
