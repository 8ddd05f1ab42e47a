/**
 * Texts as trees: random trees that are written with random white space, comments and line ends are read back as they were; and
 * sizes that other parsers fall over.
 */
import { describe, expect, test } from "vitest"
import { gbnfRule } from "../../../../grammar/ebnf/gbnf/gbnf.ts"
import { readGbnf } from "../../../../grammar/ebnf/gbnf/read.ts"
import { Mistakes, Source } from "../../../../grammar/ebnf/notation/source.ts"
import type { Node } from "../../../../grammar/ebnf/notation/tree.ts"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits, type Limits } from "../../../../grammar/errors.ts"
import { refusalOf } from "../../../support/cases.ts"
import { randomOf } from "../../../support/oracle.ts"

/** The bodies of the rules of a text. */
function read(text: string, limits: Partial<Limits> = {}): ReadonlyMap<string, Node> {
  const all = { ...defaultLimits, ...limits }
  const source = new Source(text, all)
  const mistakes = new Mistakes(source)
  const rules = readGbnf(source, all, mistakes)
  mistakes.throwAny()
  return new Map(rules.map(({ name, body }) => [name.text, body]))
}

/** Reads a text and asks what its names mean. */
function checked(text: string): void {
  gbnfRule(text, new Rules(defaultLimits))
}

/** A tree without its places. */
function bare(node: Node): unknown {
  switch (node.kind) {
    case "or":
      return { or: node.options.map(bare) }
    case "sequence":
      return { row: node.items.map(bare) }
    case "repeat":
      return { repeat: bare(node.body), min: node.min, max: node.max }
    case "text":
      return node.text
    case "class":
      return { ranges: node.ranges }
    case "name":
      return { rule: node.text }
    default:
      throw new Error(`${node.kind} is not written here`)
  }
}

/** How deep repetitions lie in each other. */
function depthOf(root: Node | undefined): number {
  let depth = 0
  for (let node = root; node?.kind === "repeat"; node = node.body) depth++
  return depth
}

describe("what is written is read", () => {
  test.each(Array.from({ length: 60 }, (_, i) => i + 1))("seed %i", (seed) => {
    const random = randomOf(seed)
    const pick = <T>(options: readonly T[]) => options[Math.floor(random() * options.length)]
    const eol = pick(["\n", "\r\n", "\r"])
    const space = () => pick(["", " ", "  ", "\t", eol, ` # "c" ::= (${eol}`, `${eol}${eol} `])
    const names = ["root", "a", "b-1", "c_d.e"]
    /** A tree as `bare` shows it, and its text. */
    const item = (depth: number): [unknown, string] => {
      const kind = random()
      if (kind < 0.3) {
        const text = pick(["x", "é💩", '"', "\\", "a\nb", "#", "(", "\u0001"])
        return [text, JSON.stringify(text)]
      }
      if (kind < 0.45)
        return pick([
          [{ ranges: [97, 99, 101, 101] }, "[a-ce]"],
          [{ ranges: [0, 0x10ffff] }, "."],
        ])
      if (kind < 0.6 || depth === 0) {
        const name = pick(names)
        return [{ rule: name }, ` ${name} `]
      }
      if (kind < 0.8) {
        const [tree, text] = alternatives(depth - 1)
        return [tree, `(${space()}${text}${space()})`]
      }
      const [tree, text] = item(depth - 1)
      const [min, max, operator] = pick([
        [0, Number.POSITIVE_INFINITY, "*"],
        [1, Number.POSITIVE_INFINITY, "+"],
        [0, 1, "?"],
        [2, 2, "{2}"],
        [2, Number.POSITIVE_INFINITY, "{ 2,}"],
        [0, 7, "{0, 7}"],
      ] as const)
      return text.endsWith(")") || !/[*+?}]$/.test(text)
        ? [{ repeat: tree, min, max }, `${text}${space()}${operator}`]
        : [tree, `(${text})`]
    }
    const sequence = (depth: number): [unknown, string] => {
      const parts = Array.from({ length: Math.floor(random() * 4) }, () => item(depth))
      const trees = parts.map(([tree]) => tree)
      return [trees.length === 1 ? trees[0] : { row: trees }, parts.map(([, text]) => text).join(space())]
    }
    const alternatives = (depth: number): [unknown, string] => {
      const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => sequence(depth))
      const trees = parts.map(([tree]) => tree)
      const text = parts.map(([, each]) => each).join(`${space()}|${space()}`)
      return [trees.length === 1 ? trees[0] : { or: trees }, text]
    }
    const rules = names.map((name) => [name, ...alternatives(3)] as const)
    const text = rules
      .map(([name, , body]) => `${pick(["", " "])}${name}${pick(["", " "])}::=${space()}${body}${eol}`)
      .join("")
    const found = read(text)
    for (const [name, tree] of rules) expect(bare(found.get(name)!), text).toEqual(tree)
  })
})

test("line ends of every kind count", () => {
  const error = refusalOf(() =>
    gbnfRule('root ::= "a"\r\n# é\r\n  "💩" b\rc ::= d\n', new Rules(defaultLimits)),
  )
  expect(error.path).toBe("line 3, column 7")
  expect(error.message).toContain("line 4, column 7: rule")
})

describe("sizes", () => {
  test("nesting ends at its bound, and the host's stack does not end before", () => {
    const deep = (depth: number) => `root ::= ${"(".repeat(depth)}"a"${")*".repeat(depth)}`
    expect(depthOf(read(deep(512)).get("root"))).toBe(512)
    const error = refusalOf(() => read(deep(513)))
    expect([error.kind, error.path]).toEqual(["limit", "line 1, column 522"])
    expect(error.message).toContain("513 is above the bound of 512. Raise limits.grammarDepth")
    expect(depthOf(read(deep(100_000), { grammarDepth: 100_000 }).get("root"))).toBe(100_000)
  })
  test("rules end at their bound", () => {
    const rules = (count: number) =>
      `root ::= "a"\n${Array.from({ length: count }, (_, i) => `r${i} ::= r0\n`).join("")}`
    expect(read(rules(2_000)).size).toBe(2_001)
    const error = refusalOf(() => read(rules(20), { rules: 20 }))
    expect([error.kind, error.path]).toEqual(["limit", "line 21, column 1"])
    expect(error.message).toContain("rules of the grammar: 21 is above the bound of 20. Raise limits.rules")
  })
  test("texts and repetitions end at their bounds", () => {
    expect(refusalOf(() => read('root ::= "a"', { grammarBytes: 11 })).kind).toBe("limit")
    expect(read('root ::= "a"', { grammarBytes: 12 }).size).toBe(1)
    const error = refusalOf(() => read('root ::= "a"{3}\n "b"{2,4}', { maxRepeat: 3 }))
    expect([error.kind, error.path]).toEqual(["limit", "line 2, column 5"])
  })
  test("what one lexeme could make long", () => {
    const many = 100_000
    expect(read(`root ::= "${"\\n".repeat(many)}" [${"a-".repeat(many)}] #${" ".repeat(many)}`).size).toBe(1)
    expect(refusalOf(() => read(`root ::= "${"\\".repeat(2 * many + 1)}`)).kind).toBe("syntax")
    expect(refusalOf(() => read(`root ::= [${"[a,".repeat(many)}`)).kind).toBe("syntax")
    expect(refusalOf(() => read(`root ::= ${"{".repeat(many)}`)).kind).toBe("syntax")
    expect(refusalOf(() => checked(`root ::= ${"a\n".repeat(many)}`)).kind).toBe("syntax")
    expect(refusalOf(() => read(`root${" \n".repeat(many)}`)).kind).toBe("syntax")
    expect(refusalOf(() => read(`root[${"a,".repeat(many)}] ::= "a"`)).kind).toBe("syntax")
    expect(refusalOf(() => read(`root ::= Regex(${"(".repeat(many)}`)).kind).toBe("syntax")
  })
})
