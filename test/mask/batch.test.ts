/** Rows of batches and of draft trees are those of plain matchers, bit by bit, whatever was known and however short time was. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import {
  bindGrammar,
  type Deadline,
  fillDraftMasks,
  fillMasks,
  heal,
  Matcher,
  precompile,
  TokenFsm,
  type TokenMachine,
} from "../../mask/index.ts"
import {
  idOf,
  lawEnds,
  lawGrammars,
  rowOf,
  lawVocabulary as vocabulary,
  walkOn,
} from "../support/lawgrammars.ts"

const { words } = vocabulary
const zeros = Array.from({ length: words }, () => 0)
/** Rows with what an earlier step might have left there. */
const rowsOf = (count: number) => new Uint32Array(count * words).fill(0xffffffff)
const rowAt = (rows: Uint32Array, index: number) =>
  Array.from(rows.subarray(index * words, (index + 1) * words))

/** True from the question `count` on. */
function after(count: number): Deadline {
  let asked = 0
  return () => ++asked > count
}

const machineOf = (input: GrammarInput) => new TokenFsm(compile(input).grammar, vocabulary)

const machines: (readonly [name: string, make: () => TokenMachine])[] = [
  ...lawGrammars.map(([name, grammar]) => [name, () => bindGrammar(grammar, vocabulary)] as const),
  ["no masks kept", () => new TokenFsm(lawGrammars[0][1], vocabulary, { maskBytes: 0 })],
  ["closed", () => precompile(machineOf({ kind: "choice", options: ["ab", "abé"] }))],
]
const runs = { seed: 11, numRuns: 60 }
const choicesOf = fc.array(fc.nat(1_000), { maxLength: 8 })
/** A token of a draft: an allowed one, as far as there are, or any; and its parent, as a share of those before. */
const nodesOf = fc.array(fc.record({ choice: fc.nat(1_000), isWild: fc.nat(5), parent: fc.nat(1_000) }), {
  maxLength: 12,
})

/** A tree whose nodes mostly may come. */
function treeAt(matcher: Matcher, nodes: readonly { choice: number; isWild: number; parent: number }[]) {
  const tokens: number[] = []
  const parents: number[] = []
  const places: Matcher[] = [matcher]
  for (const { choice, isWild, parent } of nodes) {
    const place = parent % places.length
    const next = places[place].fork()
    const [token] =
      isWild === 0 || next.isTerminated() ? [choice % vocabulary.width] : walkOn(next.fork(), [choice])
    next.accept(token)
    places.push(next)
    tokens.push(token)
    parents.push(place - 1)
  }
  return { tokens, parents }
}

/** The tokens from now to node `index`, itself last. */
function pathTo(index: number, tokens: readonly number[], parents: readonly number[]): number[] {
  return index < 0 ? [] : [...pathTo(parents[index], tokens, parents), tokens[index]]
}

describe.each(machines)("%s", (_, make) => {
  test("rows of a tree are those of matchers that accept its paths", () => {
    const machine = make()
    fc.assert(
      fc.property(choicesOf, nodesOf, (choices, nodes) => {
        const matcher = new Matcher(machine)
        const path = walkOn(matcher, choices)
        const { tokens, parents } = treeAt(matcher, nodes)
        const before = [matcher.state, matcher.length, matcher.isTerminated()]
        const rows = rowsOf(tokens.length + 1)
        const { filled, valid } = fillDraftMasks(matcher, rows, tokens, parents)
        expect([matcher.state, matcher.length, matcher.isTerminated()]).toEqual(before)
        expect([filled.length, valid.length]).toEqual([tokens.length + 1, tokens.length])
        for (let i = -1; i < tokens.length; i++) {
          const plain = new Matcher(machine)
          const isLegal = [...path, ...pathTo(i, tokens, parents)].every((token) => plain.accept(token))
          if (i >= 0) expect(valid[i]).toBe(isLegal ? 1 : 0)
          const expected = isLegal ? rowOf(plain) : { kind: "masked", row: zeros }
          expect({ kind: filled[i + 1], row: rowAt(rows, i + 1) }).toEqual(expected)
        }
      }),
      runs,
    )
  })

  test("rows of a chain are those of the tokens accepted one by one, as far as `validate` goes", () => {
    const machine = make()
    fc.assert(
      fc.property(choicesOf, choicesOf, fc.nat(vocabulary.width), (choices, ahead, last) => {
        const matcher = new Matcher(machine)
        walkOn(matcher, choices)
        const tokens = [...walkOn(matcher.fork(), ahead), last]
        const rows = rowsOf(tokens.length + 1)
        const { filled, valid } = fillDraftMasks(
          matcher,
          rows,
          tokens,
          tokens.map((_, i) => i - 1),
        )
        const count = matcher.validate(tokens)
        expect(Array.from(valid)).toEqual(tokens.map((_, i) => (i < count ? 1 : 0)))
        for (let i = 0; i <= tokens.length; i++) {
          const expected = i <= count ? rowOf(matcher) : { kind: "masked", row: zeros }
          expect({ kind: filled[i], row: rowAt(rows, i) }).toEqual(expected)
          if (i < count) matcher.accept(tokens[i])
        }
      }),
      runs,
    )
  })

  test("a row is that of its matcher, or zero and reported; known masks need no time", () => {
    fc.assert(
      fc.property(fc.array(choicesOf, { maxLength: 6 }), fc.nat(4), (places, time) => {
        const machine = make()
        const matchers = places.map((choices) => {
          // The way there is found on another machine, so that on this one no mask is known.
          const scout = new Matcher(make())
          const matcher = new Matcher(machine)
          for (const token of walkOn(scout, choices)) matcher.accept(token)
          return matcher
        })
        const isKnown = matchers.map((matcher) => matcher.hasMask())
        const rows = rowsOf(matchers.length)
        const filled = fillMasks(matchers, rows, after(time))
        const late = filled.filter((kind, i) => kind !== null && !isKnown[i]).length
        expect(late).toBeGreaterThanOrEqual(Math.min(time, isKnown.filter((known) => !known).length))
        for (const [i, matcher] of matchers.entries()) {
          if (isKnown[i]) expect(filled[i]).not.toBeNull()
          const expected = filled[i] === null ? { kind: null, row: zeros } : rowOf(matcher)
          expect({ kind: filled[i], row: rowAt(rows, i) }).toEqual(expected)
        }
        const again = fillMasks(matchers, rows)
        expect(again).toEqual(matchers.map((matcher) => rowOf(matcher).kind))
      }),
      runs,
    )
  })
})

const fresh = () => machineOf({ kind: "regex", pattern: "(ab|true)*é?" })
const never = () => {
  throw new Error("time was asked for")
}

test("time is not asked for where every mask is known, and an equal place is found once", () => {
  const [one, other] = [fresh(), fresh()]
  const matchers = [new Matcher(one), new Matcher(other), new Matcher(one), new Matcher(other)]
  const rows = rowsOf(4)
  expect(fillMasks(matchers, rows, after(1))).toEqual(["masked", null, "masked", null])
  expect(rowAt(rows, 3)).toEqual(zeros)
  expect(fillMasks(matchers, rows, after(1))).toEqual(["masked", "masked", "masked", "masked"])
  expect(fillMasks(matchers, rows, never)).toEqual(["masked", "masked", "masked", "masked"])
  expect(rowAt(rows, 3)).toEqual(rowOf(matchers[3]).row)
})

test("of a tree, what is legal is known whatever the time", () => {
  const matcher = new Matcher(fresh())
  const rows = rowsOf(4)
  const tokens = [idOf("ab"), idOf("{"), idOf("true")]
  const { filled, valid } = fillDraftMasks(matcher, rows, tokens, [-1, 0, 0], after(0))
  expect([filled, Array.from(valid)]).toEqual([
    [null, null, "masked", null],
    [1, 0, 1],
  ])
  expect(Array.from(rows)).toEqual([...zeros, ...zeros, ...zeros, ...zeros])
})

test("behind an end id of a draft come the end ids, and nothing is below it", () => {
  const matcher = new Matcher(fresh())
  const rows = rowsOf(4)
  const tokens = [idOf("ab"), lawEnds[0], idOf("ab")]
  const { filled, valid } = fillDraftMasks(matcher, rows, tokens, [-1, 0, 1])
  expect([filled[2], Array.from(valid)]).toEqual(["masked", [1, 1, 0]])
  const ends = zeros.slice()
  for (const id of lawEnds) ends[id >>> 5] |= 1 << (id & 31)
  expect(rowAt(rows, 2)).toEqual(Array.from(Uint32Array.from(ends)))
  expect(rowAt(rows, 3)).toEqual(zeros)
})

test("of a healed prompt rows are known once they were found", () => {
  expect(heal(fresh(), [idOf("a")]).drop).toBe(0)
  const { drop, machine } = heal(machineOf({ kind: "regex", pattern: '":ab' }), [idOf("{")])
  expect(drop).toBe(1)
  const healed = new Matcher(machine)
  const rows = rowsOf(2)
  expect(fillMasks([healed], rows, after(0))).toEqual([null])
  expect(fillMasks([healed, healed.fork()], rows, after(1))).toEqual(["masked", "masked"])
  const { filled } = fillDraftMasks(healed, rows, [idOf('{"')], [-1])
  expect(filled).toEqual(["masked", "single"])
})

test("no matchers and no drafts need no rows", () => {
  expect(fillMasks([], new Uint32Array(0))).toEqual([])
  const { filled, valid } = fillDraftMasks(new Matcher(fresh()), rowsOf(1), [], [])
  expect([filled.length, valid.length]).toEqual([1, 0])
})

test.each<[name: string, call: (matcher: Matcher) => unknown, message: string]>([
  [
    "rows too short",
    (m) => fillDraftMasks(m, rowsOf(1), [1], [-1]),
    `rows: ${words} words are too few for 2 rows`,
  ],
  [
    "a parent that comes later",
    (m) => fillDraftMasks(m, rowsOf(3), [1, 1], [1, -1]),
    "the parent of token 0 is 1",
  ],
  ["its own parent", (m) => fillDraftMasks(m, rowsOf(2), [1], [0]), "the parent of token 0 is 0"],
  ["no index", (m) => fillDraftMasks(m, rowsOf(3), [1, 1], [-1, 0.5]), "the parent of token 1 is 0.5"],
  ["too few parents", (m) => fillDraftMasks(m, rowsOf(2), [1], []), "1 tokens have 0 parents"],
  ["rows of a batch too short", (m) => fillMasks([m, m], rowsOf(1)), "too few for 2 rows"],
])("%s: refused", (_, call, message) => {
  expect(() => call(new Matcher(fresh()))).toThrow(RangeError)
  expect(() => call(new Matcher(fresh()))).toThrow(message)
})
