/** Laws of the Matcher: its position is a value, and nothing but `accept` moves it. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compile } from "../../grammar/index.ts"
import { bindGrammar, isAllowed, Matcher, TokenFsm, type TokenMachine } from "../../mask/index.ts"
import {
  allowedIds,
  lawEnds as ends,
  idOf,
  lawGrammars,
  rowOf,
  lawTokens as tokens,
  lawVocabulary as vocabulary,
  walkOn,
} from "../support/lawgrammars.ts"

const encoder = new TextEncoder()
const fsms = new Map(lawGrammars.map(([name, grammar]) => [name, bindGrammar(grammar, vocabulary)]))
const fsmNamed = (name: string) => fsms.get(name) as TokenMachine

const viewOf = (matcher: Matcher) => ({
  ...rowOf(matcher),
  maskId: matcher.maskId(),
  length: matcher.length,
  state: matcher.state,
  accepting: matcher.isAccepting(),
  terminated: matcher.isTerminated(),
})

/** A matcher after some of the allowed tokens, and the tokens. */
function walked(fsm: TokenMachine, choices: readonly number[]): { matcher: Matcher; path: number[] } {
  const matcher = new Matcher(fsm)
  return { matcher, path: walkOn(matcher, choices) }
}

const fsmOf = fc.constantFrom(...fsms.values())
const idsOf = Array.from({ length: vocabulary.width }, (_, id) => id)
/** Ids, and what is none. */
const tokenOf = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...idsOf) },
  fc.constantFrom(-2, -1, vocabulary.width, 2 ** 32, 2 ** 32 + 1, 0.5, 1.5, Number.NaN),
)
const choicesOf = fc.array(fc.nat(1_000), { maxLength: 12 })
const runs = { seed: 7, numRuns: 400 }

describe("laws", () => {
  test("accept, then rollback, is nothing; a refused token is nothing", () => {
    fc.assert(
      fc.property(fsmOf, choicesOf, tokenOf, (fsm, choices, token) => {
        const { matcher } = walked(fsm, choices)
        const before = viewOf(matcher)
        const isBitSet = idsOf.includes(token) && isAllowed(Uint32Array.from(before.row), token)
        const isAccepted = matcher.accept(token)
        expect(isAccepted).toBe(isBitSet && !before.terminated)
        if (isAccepted) matcher.rollback(1)
        expect(viewOf(matcher)).toEqual(before)
      }),
      runs,
    )
  })

  test("rolling back n tokens is having accepted all but the last n", () => {
    fc.assert(
      fc.property(fsmOf, choicesOf, fc.nat(12), (fsm, choices, n) => {
        const { matcher, path } = walked(fsm, choices)
        const count = Math.min(n, path.length)
        matcher.rollback(count)
        const other = new Matcher(fsm)
        for (const token of path.slice(0, path.length - count)) other.accept(token)
        expect(viewOf(matcher)).toEqual(viewOf(other))
        matcher.reset()
        expect(viewOf(matcher)).toEqual(viewOf(new Matcher(fsm)))
      }),
      runs,
    )
  })

  test("forks do not move each other", () => {
    fc.assert(
      fc.property(fsmOf, choicesOf, fc.nat(100), (fsm, choices, choice) => {
        const { matcher } = walked(fsm, choices)
        const fork = matcher.fork()
        const before = viewOf(matcher)
        expect(viewOf(fork)).toEqual(before)
        const ids = allowedIds(fork)
        fork.accept(ids[choice % ids.length])
        expect(viewOf(matcher)).toEqual(before)
        const after = viewOf(fork)
        matcher.reset()
        expect(viewOf(fork)).toEqual(after)
      }),
      runs,
    )
  })

  test("validate is the longest prefix that accept takes, and does not move", () => {
    const tokenOf = fc.oneof(fc.nat(vocabulary.width + 3), fc.constantFrom(...ends))
    fc.assert(
      fc.property(
        fsmOf,
        choicesOf,
        choicesOf,
        fc.array(tokenOf, { maxLength: 3 }),
        (fsm, first, then, last) => {
          const { path } = walked(fsm, [...first, ...then])
          const start = Math.min(first.length, path.length)
          const matcher = new Matcher(fsm)
          for (const token of path.slice(0, start)) matcher.accept(token)
          const before = viewOf(matcher)
          const proposal = [...path.slice(start), ...last]
          const fork = matcher.fork()
          const refused = proposal.findIndex((token) => !fork.accept(token))
          expect(matcher.validate(proposal)).toBe(refused < 0 ? proposal.length : refused)
          expect(viewOf(matcher)).toEqual(before)
        },
      ),
      runs,
    )
  })

  test("bytes are tokens cut elsewhere", () => {
    fc.assert(
      fc.property(fsmOf, choicesOf, (fsm, choices) => {
        // By its id a token may be read otherwise than by its bytes, which count towards no budget.
        if (fsm.grammar?.readsTokens || fsm.grammar?.budgets.length) return
        const { matcher, path } = walked(fsm, choices)
        const text = path
          .filter((token) => !ends.includes(token))
          .flatMap((token) => [...vocabulary.bytes(token)])
        const other = new Matcher(fsm)
        for (const byte of text) expect(other.acceptBytes(Uint8Array.of(byte))).toBe(true)
        expect([other.state, other.length]).toEqual([matcher.state, text.length])
      }),
      runs,
    )
  })

  test("the shortest completion completes", () => {
    fc.assert(
      fc.property(fsmOf, choicesOf, (fsm, choices) => {
        const { matcher } = walked(fsm, choices)
        if (matcher.isTerminated()) return
        const rest = matcher.shortest()
        expect(rest.length === 0).toBe(matcher.isAccepting())
        expect(rest.length === 0 || matcher.acceptBytes(rest)).toBe(true)
        expect(matcher.isAccepting()).toBe(true)
      }),
      runs,
    )
  })

  test("equal mask ids of a machine mean equal rows", () => {
    const rows = new Map<TokenMachine, Map<number, number[]>>(
      [...fsms.values()].map((fsm) => [fsm, new Map()]),
    )
    fc.assert(
      fc.property(fsmOf, choicesOf, (fsm, choices) => {
        const { matcher } = walked(fsm, choices)
        const known = rows.get(fsm) as Map<number, number[]>
        const { row } = rowOf(matcher)
        expect(known.get(matcher.maskId()) ?? row).toEqual(row)
        known.set(matcher.maskId(), row)
      }),
      runs,
    )
  })

  test("a kind says what the row holds", () => {
    fc.assert(
      fc.property(fsmOf, choicesOf, (fsm, choices) => {
        const { matcher } = walked(fsm, choices)
        const { kind, row } = rowOf(matcher)
        const count = allowedIds(matcher).length
        expect(count).toBeGreaterThan(0)
        expect(kind === "single").toBe(count === 1)
        if (kind === "free") expect(row).toEqual(Array.from(vocabulary.freeRow))
      }),
      runs,
    )
  })
})

describe("ends", () => {
  const start = () => new Matcher(fsmNamed("a choice"))
  test("every end id is set exactly when the text is complete", () => {
    const matcher = start()
    for (const [token, complete] of [
      ["a", true],
      ["b", true],
    ] as const) {
      expect(matcher.accept(idOf(token))).toBe(true)
      expect(ends.map((id) => allowedIds(matcher).includes(id))).toEqual([complete, complete])
    }
    expect([matcher.isExhausted(), rowOf(matcher).kind]).toEqual([true, "masked"])
    expect(start().accept(ends[0])).toBe(false)
  })

  test.each(ends)("after end id %i nothing but the end follows", (end) => {
    const matcher = start()
    matcher.accept(idOf("a"))
    const before = viewOf(matcher)
    expect(matcher.accept(end)).toBe(true)
    expect([matcher.isTerminated(), allowedIds(matcher)]).toEqual([true, ends])
    expect([
      matcher.accept(idOf("b")),
      matcher.accept(end),
      matcher.acceptBytes(encoder.encode("b")),
    ]).toEqual([false, false, false])
    expect(matcher.validate([idOf("b")])).toBe(0)
    expect(matcher.fork().isTerminated()).toBe(true)
    matcher.rollback(1)
    expect(viewOf(matcher)).toEqual(before)
  })

  test("an end id that the text names is text there, and ends it nowhere", () => {
    const matcher = new Matcher(fsmNamed("control tokens"))
    expect(matcher.accept(ends[1])).toBe(true)
    expect([matcher.isTerminated(), matcher.validate([ends[1], ends[0], ends[0]])]).toEqual([false, 2])
    expect(matcher.accept(ends[0])).toBe(true)
    expect(matcher.isTerminated()).toBe(true)
  })

  test("duplicates share a bit's fate; holes, padding and the rest of the last word are 0", () => {
    const matcher = new Matcher(fsmNamed("a regular expression"))
    const copies = tokens.flatMap((text, id) => (text === "ab" ? [id] : []))
    expect(copies.length).toBe(2)
    for (const id of copies) expect(allowedIds(matcher)).toContain(id)
    for (const id of allowedIds(matcher)) expect(id < tokens.length || ends.includes(id)).toBe(true)
    expect(matcher.accept(tokens.length + 1)).toBe(false)
    expect(matcher.accept(60)).toBe(false)
    expect(matcher.accept(5_000)).toBe(false)
  })

  test.each([-1, 0.5, 2, Number.NaN])("rollback(%d) after one token is refused", (count) => {
    const matcher = start()
    matcher.accept(idOf("a"))
    expect(() => matcher.rollback(count)).toThrow(`rollback(${count}): 1 tokens have been accepted`)
    expect(matcher.length).toBe(1)
  })
})

test("stats tell what was found and what was known already", () => {
  const fsm = new TokenFsm(compile({ kind: "regex", pattern: "[ab]+é" }).grammar, vocabulary)
  const matcher = new Matcher(fsm)
  const first = matcher.stats()
  rowOf(matcher)
  const found = matcher.stats()
  expect([found.hits, found.walks > first.walks, found.nodes > first.nodes]).toEqual([0, true, true])
  rowOf(matcher)
  expect(matcher.stats()).toEqual({ ...found, hits: 1 })
})
