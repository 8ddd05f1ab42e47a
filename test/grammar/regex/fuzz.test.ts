// Random (pattern, flags, text) against the host's RegExp. The host tries starts inside surrogate pairs in patterns of
// zero width, so a search here tries every character as a sticky match.
import { expect, test } from "vitest"
import { type ExprId, exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"

const pairCount = process.env.TOKENRAIL_TESTS === "full" ? 120_000 : 4_000

const atoms = [
  "a",
  "b",
  "é",
  "💩",
  ".",
  "[ab]",
  "[^a]",
  "\\w",
  "\\W",
  "\\d",
  "\\s",
  "\\S",
  "\\n",
  "K",
  "s",
  "1",
  "_",
]
atoms.push("[a-c]", " ", "\\p{L}", "\\P{Lu}", "[^\\W]", "\\u{1F4A9}")
const counts = ["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?"]
const flagChoices = ["u", "u", "u", "iu", "mu", "su", "imsu"]
const characters = [
  "a",
  "b",
  "c",
  "é",
  "💩",
  "\n",
  "K",
  "\u212a",
  "s",
  "\u017f",
  "1",
  "_",
  " ",
  "A",
  "z",
  "\u2028",
]

/** Mulberry32. */
function makeRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

class Generator {
  readonly random: () => number

  constructor(seed: number) {
    this.random = makeRandom(seed)
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.random() * choices.length)]
  }

  pattern(depth: number, inLookbehind = false): string {
    const part = () => this.pattern(depth - 1, inLookbehind)
    const kind = this.random()
    if (depth <= 0 || kind < 0.32) return this.pick(atoms)
    if (kind < 0.55) return part() + part()
    if (kind < 0.65) return `(?:${part()}|${part()})`
    if (kind < 0.8) return `(?:${part()})${this.pick(counts)}`
    if (inLookbehind) return kind < 0.9 ? "^" : part()
    if (kind < 0.92) return this.pick(["^", "^", "$", "\\b", "\\B"])
    if (kind < 0.96) return `(?${this.pick(["=", "!"])}${part()})`
    return `(?<${this.pick(["=", "!"])}${this.pattern(depth - 1, true)})`
  }

  text(): string {
    return Array.from({ length: Math.floor(this.random() * 7) }, () => this.pick(characters)).join("")
  }
}

function hostSearches(sticky: RegExp, text: string): boolean {
  for (let start = 0; ; start += text.codePointAt(start)! > 0xffff ? 2 : 1) {
    sticky.lastIndex = start
    if (sticky.test(text)) return true
    if (start >= text.length) return false
  }
}

function accepts(id: ExprId, text: string): boolean {
  let left = id
  for (const byte of new TextEncoder().encode(text)) left = exprs.derivative(left, byte)
  return exprs.nullable(left)
}

test(`${pairCount} pairs agree with the host`, () => {
  const generator = new Generator(20)
  const wrong: string[] = []
  let acceptedCount = 0
  for (let pairs = 0; pairs < pairCount; ) {
    const pattern = generator.pattern(5)
    const flags = generator.pick(flagChoices)
    const mode = flags.includes("m") || generator.random() < 0.6 ? "search" : "match"
    const sticky = new RegExp(mode === "search" ? pattern : `^(?:${pattern})$`, `${flags}y`)
    const id = parseRegex(pattern, { flags, mode, path: "", unsatisfiable: "empty" })
    for (let i = 0; i < 6; i++, pairs++) {
      const text = generator.text()
      const expected = mode === "search" ? hostSearches(sticky, text) : sticky.test(text)
      sticky.lastIndex = 0
      if (expected) acceptedCount++
      if (accepts(id, text) !== expected || (expected && exprs.isNever(id))) {
        wrong.push(`/${pattern}/${flags} ${mode} ${JSON.stringify(text)}: the host says ${expected}`)
      }
    }
  }
  expect(wrong).toEqual([])
  // Both answers must be common, or nothing was tested.
  expect(acceptedCount / pairCount).toBeGreaterThan(0.15)
  expect(acceptedCount / pairCount).toBeLessThan(0.85)
})
