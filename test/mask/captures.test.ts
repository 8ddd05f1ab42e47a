/** What a matcher captured, by tokens and bytes, through everything that moves it. */
import { expect, test } from "vitest"
import { compile } from "../../grammar/compile.ts"
import type { Limits } from "../../grammar/index.ts"
import { captures, heal, Matcher, precompile, TokenFsm, Vocabulary } from "../../mask/index.ts"

const texts = ["a", "b", "ab", " ", "=", "b=", " a", "1", "12", "=1"]
const vocabulary = Vocabulary.fromBytes([...texts.map((text) => new TextEncoder().encode(text)), null], {
  endIds: [texts.length],
})
const pairs = `root ::= pair (" " pair)*
pair ::= name "=" value
name[capture] ::= [ab]+
value[capture="number"] ::= [0-9]+`

const matcherOf = (text: string, limits: Partial<Limits> = {}) =>
  new Matcher(new TokenFsm(compile({ kind: "gbnf", text }, { limits }).grammar, vocabulary))
const decoder = new TextDecoder()
const told = (matcher: Matcher) =>
  captures(matcher)?.map(({ name, start, end, bytes }) => `${name} ${start}-${end} ${decoder.decode(bytes)}`)

test("spans begin and end inside of tokens", () => {
  const matcher = matcherOf(pairs)
  for (const token of [0, 5, 8]) expect(matcher.accept(token)).toBe(true)
  expect(told(matcher)).toEqual(["name 0-2 ab", "number 3-5 12"])
  for (const token of [6, 9]) expect(matcher.accept(token)).toBe(true)
  expect(told(matcher)).toEqual(["name 0-2 ab", "number 3-5 12", "name 6-7 a", "number 8-9 1"])
})

test("rollback, forks and an end id leave others' captures alone; an incomplete text has none", () => {
  const matcher = matcherOf(pairs)
  matcher.acceptBytes(new TextEncoder().encode("a=1"))
  const fork = matcher.fork()
  expect([6, 9].every((token) => matcher.accept(token))).toBe(true)
  expect(told(fork)).toEqual(["name 0-1 a", "number 2-3 1"])
  matcher.rollback(1)
  expect(captures(matcher)).toBeNull()
  matcher.rollback(1)
  expect(matcher.accept(texts.length)).toBe(true)
  expect(told(matcher)).toEqual(["name 0-1 a", "number 2-3 1"])
})

test("offsets of a healed prompt count from where the constraint begins", () => {
  const { drop, machine } = heal(matcherOf('root ::= word\nword[capture] ::= "=1" [0-9]*').fsm, [1])
  expect(drop).toBe(1)
  const matcher = new Matcher(machine)
  for (const token of [5, 7, 8]) expect(matcher.accept(token)).toBe(true)
  expect(told(matcher)).toEqual(["word 0-4 =112"])
})

test("the steps to find captures are an option", () => {
  const matcher = matcherOf(pairs, { captureSteps: 10 })
  for (const token of [0, 5, 8]) expect(matcher.accept(token)).toBe(true)
  expect(() => captures(matcher)).toThrow(/more than 10 steps. Raise limits.captureSteps or make the rules/)
})

test("a grammar without names captures nothing, and one with them has no closed machine", () => {
  const plain = matcherOf('root ::= "a" "b"?')
  expect(captures(plain)).toBeNull()
  plain.accept(0)
  expect(captures(plain)).toEqual([])
  const { grammar } = compile({ kind: "gbnf", text: 'root[capture] ::= "a"' })
  expect(() => precompile(new TokenFsm(grammar, vocabulary))).toThrow("store its source")
})
