/**
 * Greedy lexemes against their definition: a text is accepted if it can be divided so that it parses and no greedy lexeme
 * could have gone on with the byte that follows it. Seeds are in the failures.
 */
import { describe, expect, test } from "vitest"
import { Completions } from "../../../grammar/completions.ts"
import { Rules } from "../../../grammar/ebnf/rules.ts"
import type { Term, Terms } from "../../../grammar/ebnf/terms.ts"
import { defaultLimits, type GrammarError } from "../../../grammar/errors.ts"
import type { Grammar } from "../../../grammar/grammar.ts"
import { compile } from "../../../grammar/index.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { DeadState, States } from "../../../grammar/state.ts"
import { randomOf } from "../../support/oracle.ts"

type Node =
  | { kind: "text"; text: string }
  | { kind: "greedy"; pattern: string }
  | { kind: "rule"; rule: number }
  | { kind: "concat" | "or"; parts: Node[] }
  | { kind: "star" | "budget" | "nested"; body: Node }
  | { kind: "repeat"; body: Node; min: number; max: number }
  | { kind: "choice"; options: [string, Node][] }

const utf8 = new TextEncoder()
const MaxLength = 6
const patterns = [
  "a+",
  "[ab]+",
  "a?",
  "ab?",
  "(ab)*",
  "a{1,2}",
  "ab|a|b",
  "a(ba)?",
  "b*a",
  "a|ab|abb",
  "[ab]b",
  "c|ac*",
]

const expr = (pattern: string) =>
  parseRegex(pattern, { mode: "match", path: "", unsatisfiable: "empty", limits: defaultLimits })

/** Where nested parts come from: a node as a grammar of its own. */
function build(nodes: readonly Node[], start: Node = { kind: "rule", rule: 0 }): Grammar | null {
  const rules = new Rules({ ...defaultLimits, threads: 128 })
  const { terms } = rules
  const ids = nodes.map((_, i) => rules.declare(`r${i}`))
  const lower = (node: Node): Term => {
    switch (node.kind) {
      case "text":
        return terms.text(node.text)
      case "greedy":
        return terms.greedy(expr(node.pattern))
      case "rule":
        return rules.use(ids[node.rule])
      case "concat":
        return terms.concat(...node.parts.map(lower))
      case "or":
        return terms.or(node.parts.map(lower))
      case "star":
        return terms.star(lower(node.body))
      case "budget":
        return terms.budget(lower(node.body), 100)
      case "nested": {
        const grammar = build([node.body])
        return grammar === null ? terms.never : terms.nested(grammar)
      }
      case "repeat":
        return terms.repeat(lower(node.body), node.min, node.max)
      case "choice":
        return terms.choice(node.options.map(([text, rest]) => [text, lower(rest)] as const))
    }
  }
  const usesOf = (node: Node): number[] => {
    switch (node.kind) {
      case "rule":
        return [ids[node.rule]]
      case "concat":
      case "or":
        return node.parts.flatMap(usesOf)
      case "choice":
        return node.options.flatMap(([, rest]) => usesOf(rest))
      case "star":
      case "budget":
      case "repeat":
        return usesOf(node.body)
      default:
        return []
    }
  }
  for (const [i, node] of nodes.entries()) rules.define(ids[i], usesOf(node), () => lower(node))
  const first = rules.declare("start")
  rules.define(first, usesOf(start), () => lower(start))
  return rules.grammar(first, { key: () => "", title: "test" })
}

const regexps = new Map<string, RegExp>()
function matches(pattern: string, text: string): boolean {
  let regexp = regexps.get(pattern)
  if (regexp === undefined) {
    regexp = new RegExp(`^(?:${pattern})$`)
    regexps.set(pattern, regexp)
  }
  return regexp.test(text)
}

/** As many letters more as show that a text is the beginning of another. */
const endings = allTexts(2, "abct1e.é")

/** Whether some text of `pattern` begins with `text`. */
const begins = new Map<string, boolean>()
function isBeginning(pattern: string, text: string): boolean {
  const key = `${pattern} ${text}`
  let known = begins.get(key)
  if (known === undefined) {
    known = endings.some((rest) => matches(pattern, text + rest))
    begins.set(key, known)
  }
  return known
}

/** Whether rule 0 derives `text`. By spans, until no span is added. */
function derives(nodes: readonly Node[], text: string): boolean {
  const size = text.length + 1
  const spans = nodes.map(() => new Set<number>())
  const ends = (part: Node, start: number): Set<number> => {
    switch (part.kind) {
      case "text":
        return new Set(text.startsWith(part.text, start) ? [start + part.text.length] : [])
      case "greedy": {
        const found = new Set<number>()
        for (let end = start; end <= text.length; end++) {
          if (!matches(part.pattern, text.slice(start, end))) continue
          if (end === text.length || !isBeginning(part.pattern, text.slice(start, end + 1))) found.add(end)
        }
        return found
      }
      case "rule":
        return new Set(
          [...spans[part.rule]].filter((s) => Math.floor(s / size) === start).map((s) => s % size),
        )
      case "or":
        return new Set(part.parts.flatMap((each) => [...ends(each, start)]))
      case "concat":
        return part.parts.reduce((from, each) => after(from, each), new Set([start]))
      case "star": {
        const all = new Set([start])
        for (const at of all) for (const end of ends(part.body, at)) all.add(end)
        return all
      }
      case "repeat": {
        const all = new Set<number>()
        let from = new Set([start])
        for (let i = 0; i <= part.max; i++) {
          if (i >= part.min) for (const at of from) all.add(at)
          from = after(from, part.body)
        }
        return all
      }
      case "budget":
      case "nested":
        return ends(part.body, start)
      case "choice":
        return new Set(
          part.options.flatMap(([option, rest]) =>
            text.startsWith(option, start) ? [...ends(rest, start + option.length)] : [],
          ),
        )
    }
  }
  const after = (from: ReadonlySet<number>, part: Node) => {
    const next = new Set<number>()
    for (const at of from) for (const end of ends(part, at)) next.add(end)
    return next
  }
  for (let isChanged = true; isChanged; ) {
    isChanged = false
    for (const [rule, body] of nodes.entries()) {
      const { size: before } = spans[rule]
      for (let start = 0; start < size; start++)
        for (const end of ends(body, start)) spans[rule].add(start * size + end)
      isChanged ||= spans[rule].size > before
    }
  }
  return spans[0].has(text.length)
}

function randomNode(random: () => number, ruleCount: number, depth: number, isNested = false): Node {
  const pick = random()
  if (depth === 0 || pick < 0.3) {
    if (random() < 0.5) return { kind: "greedy", pattern: patterns[Math.floor(random() * patterns.length)] }
    return random() < 0.4 && !isNested
      ? { kind: "rule", rule: Math.floor(random() * ruleCount) }
      : { kind: "text", text: ["a", "b", "ab", "", "c", "ca"][Math.floor(random() * 6)] }
  }
  const part = () => randomNode(random, ruleCount, depth - 1, isNested)
  if (pick < 0.56) return { kind: "concat", parts: [part(), part()] }
  if (pick < 0.72) return { kind: "or", parts: [part(), part()] }
  if (pick < 0.8) return { kind: "star", body: part() }
  if (pick < 0.84) return { kind: "budget", body: part() }
  if (pick < 0.88 && !isNested) return { kind: "nested", body: randomNode(random, 0, depth - 1, true) }
  if (pick < 0.94) {
    const options: [string, Node][] = [
      ["a", part()],
      ["ab", part()],
      ["c", part()],
    ]
    return { kind: "choice", options: random() < 0.4 ? [...options, ["", part()]] : options }
  }
  const min = Math.floor(random() * 4)
  return { kind: "repeat", body: part(), min, max: min + Math.floor(random() * 3) }
}

function allTexts(length: number, letters: string): string[] {
  const texts = [""]
  for (let at = 0; at < texts.length; at++)
    if (texts[at].length < length) for (const letter of letters) texts.push(texts[at] + letter)
  return texts
}

const texts = allTexts(MaxLength, "abc").filter((text) => text.length < 5 || !/c.*c/.test(text))

function compare(nodes: readonly Node[], where: string): number {
  const fail = (what: string) => {
    throw new Error(`${where}: ${what}`)
  }
  const grammar = build(nodes)
  const accepted = texts.filter((text) => derives(nodes, text))
  if (grammar === null) {
    if (accepted.length > 0) fail(`has no text, but "${accepted[0]}"`)
    return 0
  }
  const states = new States(grammar)
  const all = new Set(accepted)
  const beginnings = new Set<string>()
  for (const text of all) for (let i = 0; i <= text.length; i++) beginnings.add(text.slice(0, i))
  for (const text of texts) {
    const state = states.advance(states.start, utf8.encode(text))
    if (states.isAccepting(state) !== all.has(text)) fail(`"${text}" ${all.has(text)}`)
    if (beginnings.has(text) && state === DeadState) fail(`"${text}" is a beginning`)
    if (state === DeadState) continue
    // Each thread by itself: none may be at a dead end.
    for (let i = 0; i < states.threadCount(state); i++) {
      const thread = states.stateOf([states.thread(state, i)])
      const whole = text + new TextDecoder().decode(new Completions(states).shortest(thread))
      if (!states.isAccepting(states.advance(states.start, utf8.encode(whole))))
        fail(`"${whole}" is read to no end`)
      if (!derives(nodes, whole)) fail(`"${whole}" is not derived`)
    }
  }
  return texts.length
}

test("random rules accept what they derive, and each reading has an end (400 seeds)", () => {
  let compared = 0
  let refused = 0
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomOf(seed)
    const ruleCount = 1 + (seed % 3)
    const nodes = Array.from({ length: ruleCount }, () => randomNode(random, ruleCount, 1 + (seed % 3)))
    try {
      compared += compare(nodes, `seed ${seed}: ${JSON.stringify(nodes)}`)
    } catch (error) {
      if (!["limit", "unsupported"].includes((error as Partial<GrammarError>).kind ?? "")) throw error
      refused++
    }
  }
  expect(compared).toBeGreaterThan(200 * texts.length)
  expect(refused).toBeLessThan(20)
})

const greedy = (pattern: string): Node => ({ kind: "greedy", pattern })
const text = (of: string): Node => ({ kind: "text", text: of })
const concat = (...parts: Node[]): Node => ({ kind: "concat", parts })
const or = (...parts: Node[]): Node => ({ kind: "or", parts })
const star = (body: Node): Node => ({ kind: "star", body })

describe.each<[name: string, node: Node, accepted: string[], rejected: string[]]>([
  ["the end of the text is always fine", greedy("[ab]+"), ["a", "ab"], ["", "c"]],
  [
    "what could go on goes on",
    concat(greedy("[a-z]+"), or(text("b"), text("1"))),
    ["a1", "ab1"],
    ["ab", "b", "1"],
  ],
  ["the longest of a bounded number", concat(greedy("a{1,3}"), text("a")), ["aaaa"], ["aa", "aaa", "aaaaa"]],
  ["an end that can be used alone", concat(greedy("ac*|b"), text("c")), ["bc"], ["ac", "acc", "bcc"]],
  [
    "not past what a longer one would need",
    concat(greedy("for|format"), text("m")),
    ["formatm"],
    ["form", "for"],
  ],
  [
    "numbers and what may follow them",
    star(concat(greedy("[0-9]+([.][0-9]+)?"), text("."))),
    ["", "1.2.", "1.2.3.4."],
    ["1.", "1.2.3."],
  ],
  [
    "keywords are no names",
    concat(or(text("if"), greedy("[a-z]+")), text(" ")),
    ["if ", "iff "],
    ["if", " "],
  ],
  [
    "two in a row share no first byte",
    concat(greedy("[a-z]+"), greedy("[a-z0-9]+")),
    ["a1", "a1b"],
    ["ab", "a"],
  ],
  ["an empty one guards too", concat(greedy("a*"), text("ab")), [], ["ab", "aab"]],
  [
    "guards go past what is empty",
    concat(greedy("a+"), greedy("b?"), text("a")),
    ["aba"],
    ["aa", "aaa", "abba"],
  ],
  [
    "guards go past several",
    concat(greedy("a?"), greedy("b?"), or(text("a"), text("b"), text("c"))),
    ["c", "abc", "bc", "aba", "ba", "abb", "bb"],
    ["b", "a", "ab", "aab"],
  ],
  ["bytes of characters", concat(greedy("[é]+"), text("é")), [], ["éé"]],
])("%s", (_name, node, accepted, rejected) => {
  test("is what its definition says", () => {
    for (const each of accepted) expect([each, derives([node], each)]).toEqual([each, true])
    for (const each of rejected) expect([each, derives([node], each)]).toEqual([each, false])
  })

  test("is read so", () => {
    const grammar = build([node])
    const states = grammar === null ? null : new States(grammar)
    const reads = (each: string) => states?.isAccepting(states.advance(states.start, utf8.encode(each)))
    expect([...accepted, ...rejected].filter(reads)).toEqual(accepted)
  })

  test("may stand in another grammar", () => {
    const grammar = build([concat({ kind: "nested", body: node }, text(";"))])
    const states = grammar === null ? null : new States(grammar)
    const reads = (each: string) => states?.isAccepting(states.advance(states.start, utf8.encode(`${each};`)))
    expect([...accepted, ...rejected].filter(reads)).toEqual(accepted)
  })
})

describe("rules of a language", () => {
  /** Names, numbers, calls and sums, every lexeme greedy, blanks between them. */
  const expression = () => {
    const [sum, call, items] = [0, 1, 2].map((rule): Node => ({ kind: "rule", rule }))
    const blank = greedy("[ ]*")
    const name = concat(greedy("[a-z_][a-z0-9_]*"), blank)
    const number = concat(greedy("[0-9]+([.][0-9]+)?(e[0-9]+)?"), blank)
    const sign = (of: string) => concat(text(of), blank)
    return [
      or(call, concat(sum, sign("+"), call), concat(sum, sign("++"), call)),
      or(name, number, concat(name, sign("("), items, sign(")"))),
      or(text(""), concat(sum, star(concat(sign(","), sum)))),
    ]
  }

  test.each([
    ["a", true],
    ["a + b1", true],
    ["f(a, 1.5e3 ,g())+2", true],
    ["a ++ b", true],
    ["1 a", false],
    ["1a", false],
    ["1e", false],
    ["f(a b)", false],
    ["a+", false],
  ])("%s", (each, isRead) => {
    const states = new States(build(expression()) as Grammar)
    expect(states.isAccepting(states.advance(states.start, utf8.encode(each)))).toBe(isRead)
  })

  test("what nothing can follow is no rule", () => {
    expect(build([concat(greedy("[a-z]+"), text("b"))])).toBeNull()
    expect(build([or(text("x"), concat(greedy("[a-z]+"), text("b")))])).not.toBeNull()
  })

  test("a JSON value behind a greedy lexeme begins with another byte", () => {
    const rules = new Rules(defaultLimits)
    const { terms } = rules
    const start = rules.declare("start")
    const value = compile({ kind: "json", schema: { type: ["integer", "boolean", "string"] } }).grammar
    rules.define(start, [], () => terms.concat(terms.greedy(expr("[a-z0-9]+")), terms.nested(value)))
    const states = new States(rules.grammar(start, { key: () => "", title: "" }) as Grammar)
    const reads = (each: string) => states.isAccepting(states.advance(states.start, utf8.encode(each)))
    expect(['x"y"', "x-1", "x1", "xtrue"].map(reads)).toEqual([true, true, false, false])
  })

  test("bounds and what is not supported", () => {
    const grammarOf = (satSteps: number, lower: (terms: Terms) => Term) => {
      const rules = new Rules({ ...defaultLimits, satSteps })
      const start = rules.declare("start")
      rules.define(start, [], () => lower(rules.terms))
      return rules.grammar(start, { key: () => "", title: "" })
    }
    const long = (t: Terms) => t.concat(t.greedy(expr("a{1,977}")), t.text("b"))
    expect(() => grammarOf(500, long)).toThrow(
      /what may follow greedy lexemes: 501 is above the bound of 500/,
    )
    expect(grammarOf(5_000, long)).not.toBeNull()
    expect(() => grammarOf(5_000, (t) => t.budget(t.greedy(expr("a*")), 0))).toThrow(
      /^max_tokens=0 on a part with greedy/,
    )
  })
})
