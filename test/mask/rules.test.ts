/**
 * Masks of random rules, ambiguous ones above all: every bit against `accept`, along random texts. Readings are united in
 * states and in masks by different code, so each holds the other. Seeds are in the failures.
 */
import { expect, test } from "vitest"
import { compile } from "../../grammar/compile.ts"
import type { GrammarError } from "../../grammar/index.ts"
import { isAllowed } from "../../mask/bits.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../mask/index.ts"
import { randomOf } from "../support/oracle.ts"

const texts = "a b c ( ) aa ab ba bb abc (( )) () )( (a a) (a) ((( ))) a(b bab aab c( )c ca".split(" ")
const vocabulary = Vocabulary.fromBytes([...texts.map((text) => new TextEncoder().encode(text)), null], {
  endIds: [texts.length],
})

/** A grammar of `count` rules; each may use all of them, at either end too. */
function randomGrammar(random: () => number, count: number): string {
  const among = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)]
  const item = (depth: number): string => {
    const kind = random()
    if (kind < 0.35) return `r${Math.floor(random() * count)}`
    if (kind < 0.7 || depth === 0)
      return among(['"a"', '"b"', '"c"', '"ab"', "[ab]", '"("', '")"', "[a-c]*", '""'])
    if (kind < 0.8) return `(${sequence(depth - 1)})${among(["*", "?", "+", "{1,2}"])}`
    return `"(" ${sequence(depth - 1)} ")"`
  }
  const sequence = (depth: number) =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => item(depth)).join(" ")
  return Array.from({ length: count }, (_, i) => {
    const alternatives = Array.from({ length: 1 + Math.floor(random() * 3) }, () => sequence(2))
    return `r${i} ::= ${alternatives.join(" | ")}`
  }).join("\n")
}

test("every bit of a mask is what accept says (400 seeds)", () => {
  const row = new Uint32Array(vocabulary.words)
  let compared = 0
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomOf(seed)
    const text = randomGrammar(random, 1 + (seed % 4))
    let matcher: Matcher
    try {
      const { grammar } = compile({ kind: "gbnf", text, root: "r0" })
      matcher = new Matcher(new TokenFsm(grammar, vocabulary))
    } catch (error) {
      expect((error as GrammarError).kind, text).toBe("unsatisfiable")
      continue
    }
    for (let step = 0; step < 12; step++) {
      matcher.fillMask(row)
      const allowed: number[] = []
      for (let id = 0; id < vocabulary.width; id++) {
        const isTaken = matcher.fork().accept(id)
        if (isTaken !== isAllowed(row, id))
          throw new Error(`seed ${seed}, step ${step}, token ${id}: ${isTaken}\n${text}`)
        if (isTaken && id < texts.length) allowed.push(id)
        compared++
      }
      if (!matcher.isAccepting() && allowed.length === 0) throw new Error(`seed ${seed}: a dead end\n${text}`)
      if (allowed.length === 0) break
      matcher.accept(allowed[Math.floor(random() * allowed.length)])
    }
  }
  expect(compared).toBeGreaterThan(50_000)
})
