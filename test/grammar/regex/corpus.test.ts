// Patterns that people wrote: those of the MaskBench schemas. Each is closed, walked at random and compared with the host.
import { existsSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { GrammarError } from "../../../grammar/errors.ts"
import { type ExprId, exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"

const corpus = "../shared/data/maskbench-dev.jsonl.gz"
const isFull = process.env.TOKENRAIL_TESTS === "full"
// The counters of some patterns multiply; they are walked like the others, but not closed.
const maxStates = 3000
const texts = isFull ? 20 : 4

function collect(value: unknown, patterns: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collect(item, patterns)
  else if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (key === "pattern" && typeof member === "string") patterns.add(member)
      if (key === "patternProperties" && typeof member === "object" && member !== null) {
        for (const name of Object.keys(member)) patterns.add(name)
      }
      collect(member, patterns)
    }
  }
}

function readPatterns(): string[] {
  const patterns = new Set<string>()
  for (const line of gunzipSync(readFileSync(corpus)).toString().trim().split("\n")) {
    collect(JSON.parse(line).schema, patterns)
  }
  return [...patterns]
}

/** The host's reading, as near to ours as it gets: `u`, else Annex B. */
function hostPattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u")
  } catch {
    return new RegExp(pattern)
  }
}

function countStates(start: ExprId): number {
  const states = [start]
  const seen = new Set(states)
  for (const state of states) {
    for (const byte of exprs.classes(state).representatives) {
      const next = exprs.derivative(state, byte)
      if (seen.has(next) || exprs.isNever(next)) continue
      seen.add(next)
      states.push(next)
    }
    if (states.length > maxStates) return states.length
  }
  return states.length
}

function makeRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

/** A text that `start` accepts: at most `steps` bytes at random, then whatever ends soonest. */
function walk(start: ExprId, random: (below: number) => number, steps: number): string {
  const bytes: number[] = []
  let state = start
  for (let step = 0; ; step++) {
    if (exprs.nullable(state) && (step >= steps || random(4) === 0)) break
    const row = exprs.row(state).slice()
    const ways: [number, ExprId][] = []
    for (let i = 0; i < row.length; i += 2) {
      if (!exprs.isNever(row[i + 1]))
        ways.push([(row[i] & 0xff) + random((row[i] >>> 8) - (row[i] & 0xff) + 1), row[i + 1]])
    }
    if (ways.length === 0) break
    const [byte, next] = ways[step < steps ? random(ways.length) : nearest(ways)]
    bytes.push(byte)
    state = next
  }
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes))
}

/** The way whose state is soonest at an end. */
function nearest(ways: [number, ExprId][]): number {
  const origin = new Map<ExprId, number>()
  const queue: ExprId[] = []
  ways.forEach(([, state], i) => {
    if (!origin.has(state)) queue.push(state)
    origin.set(state, origin.get(state) ?? i)
  })
  for (const state of queue) {
    if (exprs.nullable(state)) return origin.get(state)!
    const row = exprs.row(state).slice()
    for (let i = 0; i < row.length; i += 2) {
      if (origin.has(row[i + 1])) continue
      origin.set(row[i + 1], origin.get(state)!)
      queue.push(row[i + 1])
    }
  }
  throw new Error("a live state has no end")
}

function accepts(id: ExprId, text: string): boolean {
  let left = id
  for (const byte of new TextEncoder().encode(text)) left = exprs.derivative(left, byte)
  return exprs.nullable(left)
}

// Skipped when the corpus is not beside the project.
describe.skipIf(!existsSync(corpus))("MaskBench patterns", () => {
  const read: [string, ExprId][] = []

  test("all are read, or refused for a reason", () => {
    const refused: string[] = []
    for (const pattern of readPatterns()) {
      try {
        read.push([pattern, parseRegex(pattern, { mode: "search", path: "" })])
      } catch (error) {
        expect(error).toBeInstanceOf(GrammarError)
        refused.push(pattern)
      }
    }
    expect(read.length).toBeGreaterThan(450)
    expect(refused.length).toBeLessThan(5)
  })

  test("their automata are small", () => {
    const counts = read.map(([, id]) => countStates(id)).sort((a, b) => a - b)
    expect(counts[counts.length >> 1]).toBeLessThanOrEqual(20)
    expect(counts[Math.floor(counts.length * 0.95)]).toBeLessThanOrEqual(200)
    expect(counts.filter((count) => count > maxStates).length).toBeLessThanOrEqual(8)
  })

  test("random texts and their mutants get the host's verdict", () => {
    const random = makeRandom(3)
    const wrong: string[] = []
    let [acceptedCount, rejectedCount] = [0, 0]
    for (const [pattern, id] of read) {
      if (exprs.isNever(id)) continue
      const host = hostPattern(pattern)
      for (let i = 0; i < texts; i++) {
        const text = walk(id, random, 12)
        if (!host.test(text)) wrong.push(`/${pattern}/ accepts ${JSON.stringify(text)}`)
        const characters = [...text]
        characters.splice(
          random(characters.length + 1),
          random(2),
          ["x", "0", "-", " ", "\n", "é", "💩"][random(7)],
        )
        const mutant = characters.join("")
        const expected = host.test(mutant)
        if (expected) acceptedCount++
        else rejectedCount++
        if (accepts(id, mutant) !== expected)
          wrong.push(`/${pattern}/ ${JSON.stringify(mutant)}: the host says ${expected}`)
      }
    }
    expect(wrong).toEqual([])
    expect(Math.min(acceptedCount, rejectedCount)).toBeGreaterThan(read.length / 2)
  })
})
