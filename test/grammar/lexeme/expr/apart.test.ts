/** Intersections taken apart against the same intersections whole. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { Completions } from "../../../../grammar/completions.ts"
import { nextBytes } from "../../../../grammar/explain.ts"
import { compile } from "../../../../grammar/index.ts"
import { lengthApart } from "../../../../grammar/lexeme/expr/apart.ts"
import { exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { matchesText } from "../../../../grammar/lexeme/expr/finite.ts"
import { Unbounded } from "../../../../grammar/lexeme/expr/nodes.ts"
import { parseRegex } from "../../../../grammar/regex/parse.ts"
import { States } from "../../../../grammar/state.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const search = (pattern: string) => parseRegex(pattern, { mode: "search", path: "" })

const counts = fc.constantFrom("{16}", "{18,}", "{2,17}", "{16,20}")
const counted = fc
  .tuple(
    fc.constantFrom("", "a", "b[ab]", "a?"),
    fc.constantFrom(".", "[ab]", "a"),
    counts,
    fc.constantFrom("", "b", "aa"),
  )
  .map(([before, body, count, after]) => `^${before}${body}${count}${after}$`)
const other = fc.constantFrom("ab", "b.*a", "aba", "^[ab]*$", "[ab]", "bb$", "^a", "a.a", "^(ab)*a?$")
const factors = fc.tuple(fc.array(counted, { maxLength: 2 }), fc.array(other, { minLength: 2, maxLength: 5 }))

test("what is taken apart accepts what the whole accepts", () => {
  let tried = 0
  const texts = fc.array(fc.array(fc.constantFrom("a", "b"), { minLength: 12, maxLength: 24 }), {
    minLength: 20,
    maxLength: 20,
  })
  fc.assert(
    fc.property(factors, texts, ([loops, others], all) => {
      const whole = exprs.and([...loops, ...others].map(search))
      const apart = lengthApart(whole)
      if (apart === null) return
      tried++
      for (const letters of all) {
        const text = letters.join("")
        const isLong = text.length >= apart.min && (apart.max === Unbounded || text.length <= apart.max)
        expect({ text, is: isLong && matchesText(apart.expr, text) }).toEqual({
          text,
          is: matchesText(whole, text),
        })
      }
    }),
  )
  expect(tried).toBeGreaterThan(30)
})

test("a count becomes a bound, and what another factor implies is dropped", () => {
  const apart = lengthApart(exprs.and(["^z9.{100}z9$", "^([a-z][0-9])+$"].map(search)))
  expect(apart).toMatchObject({ min: 104, max: 104 })
  const implied = lengthApart(exprs.and(["ab1", "b12", "b1", "[ab]", "1.*2"].map(search)))
  expect(implied).toEqual({ expr: exprs.and(["ab1", "b12"].map(search)), min: 0, max: Unbounded })
  const dots = lengthApart(exprs.and([`^${".".repeat(60)}$`, "ab"].map(search)))
  expect(dots).toMatchObject({ min: 60, max: 60 })
})

test.each<[string, readonly string[]]>([
  ["two loops with counts", ["^a{20}b{20}$", "ab"]],
  ["a loop that is not alone with a length", ["^(a|bc)a{20}$", "aa"]],
  ["a bound from above", ["^(?=.{1,253}$)[a-z]", "ab"]],
  ["words that repeat", ["^(ab){20}$", "ba"]],
])("%s: their length says less than they do", (_, patterns) => {
  expect(lengthApart(exprs.and(patterns.map(search)))).toBe(null)
})

/** Numbers from 0 to 1, the same ones for the same seed. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) / 2 ** 24
  }
}

const twelve = ["ab1", "bc1", "ca1", "a12", "b12", "c12", "[aA][12].*[zZ]", "ac", "a2", "xyz", "zyx", "pqr"]

test.each<[string, readonly string[], readonly RegExp[]]>([
  [
    "steps of words and gaps within a length",
    ["^([a-z][0-9])+$", "((c1d3g3).{4,8}){6,6}", "(t|8){10,10}..$", "^z9((.){10,10}){10,10}z9$"],
    [/^..((c1d3g3).{4,8}){6,6}/],
  ],
  ["words in sixty characters", [`^${".".repeat(60)}$`, "^\\w*$", ...twelve], []],
  ["words in any length", ["^\\w*$", ...twelve, "stu", "[0-9]{5}"], []],
])("%s: each beginning that is open has an end", (_, patterns, others) => {
  const allOf = patterns.map((pattern) => ({ pattern }))
  const not = { anyOf: [{ pattern: "^$" }, ...others.map(({ source }) => ({ pattern: source }))] }
  const schema = { type: "string", allOf, not }
  const states = new States(compile({ kind: "json", schema }).grammar)
  const expectText = (bytes: readonly number[]) => {
    const text = JSON.parse(decoder.decode(Uint8Array.from(bytes))) as string
    for (const pattern of patterns) expect(text).toMatch(new RegExp(pattern, "u"))
    for (const pattern of others) expect(text).not.toMatch(pattern)
  }
  for (let seed = 1; seed <= 2; seed++) {
    const random = dice(seed)
    const read: number[] = []
    for (let state = states.start; read.length < 66; ) {
      // What ends one beginning ends those before it.
      if (read.length % 13 === 0) expectText([...read, ...new Completions(states).shortest(state)])
      const bytes = nextBytes(states, state).filter((byte) => byte >= 0x20 && byte < 0x7f)
      if (bytes.length === 0) break
      const byte = bytes[Math.floor(random() * bytes.length)]
      read.push(byte)
      state = states.advance(state, encoder.encode(String.fromCharCode(byte)))
    }
  }
})
