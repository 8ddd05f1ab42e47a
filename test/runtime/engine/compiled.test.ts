import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { deserialize, precompile, serializeMachine, TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { CompiledConstraints } from "../../../runtime/engine/compiled.ts"

const vocabulary = Vocabulary.fromBytes(
  Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  { endIds: [256] },
)

test("equal input and options are one grammar and one machine; others are not", () => {
  const cache = new CompiledConstraints(vocabulary)
  const schema = { type: "integer" }
  const first = cache.compile({ kind: "json", schema })
  const again = cache.compile({ kind: "json", schema: structuredClone(schema) })
  expect([first.isCached, again.isCached, again.grammar]).toEqual([false, true, first.grammar])
  expect(cache.machine(again.grammar)).toBe(cache.machine(first.grammar))
  const others = [
    cache.compile({ kind: "json", schema: { type: "number" } }),
    cache.compile({ kind: "json", schema }, { whitespace: "compact" }),
    // As text the spelling counts: 1.0 and 1 are two inputs.
    cache.compile({ kind: "json", schema: '{"const":1.0}' }),
    cache.compile({ kind: "json", schema: '{"const":1}' }),
  ]
  expect(others.map(({ isCached }) => isCached)).toEqual([false, false, false, false])
  expect([cache.hitCount, cache.missCount]).toEqual([1, 5])
})

test("a schema that its owner changes is another one", () => {
  const cache = new CompiledConstraints(vocabulary)
  const schema: Record<string, unknown> = { type: "integer" }
  const before = cache.compile({ kind: "json", schema })
  schema.minimum = 3
  expect(cache.compile({ kind: "json", schema }).grammar).not.toBe(before.grammar)
})

test("what is kept is bounded by count and by bytes, and a dropped entry costs time only", () => {
  const compile = (cache: CompiledConstraints, option: string) =>
    cache.compile({ kind: "choice", options: [option] })
  const few = new CompiledConstraints(vocabulary, { count: 2 })
  const machine = few.machine(compile(few, "a").grammar)
  compile(few, "b")
  compile(few, "c")
  expect(compile(few, "a").isCached).toBe(false)
  expect(few.machine(compile(few, "a").grammar)).not.toBe(machine)
  // Each of these is counted with some 2 MB.
  const small = new CompiledConstraints(vocabulary, { maxBytes: 5 << 20 })
  const texts = ["a", "b", "c"].map((letter) => letter.repeat(1 << 20))
  for (const text of texts) compile(small, text)
  expect(small.bytes).toBeLessThan(5 << 20)
  expect(texts.map((text) => compile(small, text).isCached)[2]).toBe(false)
})

test("a refusal is kept as a grammar is, but not one for time", () => {
  const cache = new CompiledConstraints(vocabulary)
  const refuse = (schema: object, compileMs?: number) => {
    try {
      cache.compile({ kind: "json", schema }, compileMs === undefined ? {} : { limits: { compileMs } })
    } catch (error) {
      return error
    }
    return undefined
  }
  const empty = { type: "integer", minimum: 3, maximum: 2 }
  expect(refuse(empty)).toBe(refuse(structuredClone(empty)))
  expect([cache.hitCount, cache.missCount]).toEqual([1, 1])
})

test("an input with no JSON text is compiled each time, not confused with another", () => {
  const cache = new CompiledConstraints(vocabulary)
  const compile = (minimum: number) => {
    try {
      return cache.compile({ kind: "json", schema: { type: "integer", minimum } }).isCached
    } catch {
      return "refused"
    }
  }
  // JSON.stringify would write both as null.
  expect([compile(Number.NaN), compile(Number.POSITIVE_INFINITY)]).not.toContain(true)
})

test("a constraint that was compiled elsewhere keeps its machine, if it is over this vocabulary", () => {
  const { grammar, report } = compile({ kind: "choice", options: ["a", "b"] })
  const file = serializeMachine(precompile(new TokenFsm(grammar, vocabulary)), report, { masks: false })
  const cache = new CompiledConstraints(vocabulary)
  const stored = deserialize(file, vocabulary)
  expect(cache.stored(stored)).toBe(stored.machine)
  const other = Vocabulary.fromBytes([Uint8Array.of(0x61), null], { endIds: [1] })
  expect(() => cache.stored(deserialize(file, other))).toThrow(
    /constraint: it was compiled for another vocabulary/,
  )
})

test("control tokens that a grammar names are those of the engine's vocabulary", () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  const special = Vocabulary.fromBytes([...bytes, null, null], {
    ...{ width: 258, endIds: [256], specials: { "<|x|>": 257 } },
  })
  const cache = new CompiledConstraints(special)
  const { machine } = cache.bind(
    { input: { kind: "grammar", text: "start: <|x|>" }, policies: {} },
    "x",
    1_000,
  )
  expect(machine.isAccepting(machine.next(machine.start, 257))).toBe(true)
  expect(machine.nextBytes(machine.start)).not.toContain("<".charCodeAt(0))
  expect(() => cache.compile({ kind: "gbnf", text: "root ::= <|y|>" })).toThrow(/line 1, column 10: no token/)
})
