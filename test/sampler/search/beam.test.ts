/** Beam search by hand-made models, and against the search through all texts. */
import { describe, expect, test } from "vitest"
import { compile, type GrammarInput } from "../../../grammar/index.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { type BeamOptions, BeamSearch, bestOf } from "../../../sampler/search/beam.ts"
import { normalOf, type RowOptions, randomOf, rowOf } from "../../support/sampler/rows.ts"

type Model = (tokens: readonly number[]) => Float32Array

function run(
  model: Model,
  options: Partial<BeamOptions> & { beamWidth: number },
  steps: number,
  row: RowOptions = {},
) {
  const search = new BeamSearch({ endIds: [], ...options })
  const parents: number[][] = []
  for (let step = 0; step < steps && !search.isDone(); step++) {
    const rows = search.beams.map(({ tokens }) => {
      const logits = model(tokens)
      return { logits, row: rowOf(logits.length, { ...row, output: tokens }) }
    })
    parents.push(search.step(rows))
  }
  search.stop()
  return { search, parents }
}

const byTable: Model = (tokens) => {
  const table: Record<string, number[]> = { "": [0.5, 0.4, 0.1], 0: [0.4, 0.3, 0.3], 1: [0.9, 0.05, 0.05] }
  return Float32Array.from(table[tokens.join()] ?? [1, 1, 1], Math.log)
}

describe("S1-14, S2-14: beams", () => {
  test("two beams find what greedy misses; the first step has no duplicates", () => {
    const { search, parents } = run(byTable, { beamWidth: 2 }, 2)
    const [first, second] = search.results(2)
    expect(first.tokens).toEqual([1, 0])
    expect(Math.exp(first.score)).toBeCloseTo(0.36, 6)
    expect(second.tokens).toEqual([0, 0])
    expect(Math.exp(second.score)).toBeCloseTo(0.2, 6)
    expect(parents).toEqual([
      [0, 0],
      [1, 0],
    ])
    expect(run(byTable, { beamWidth: 1 }, 2).search.results(1)[0].tokens).toEqual([0, 0])
  })

  test("the mask removes candidates and does not renormalise, unless it is asked to", () => {
    const unmasked = run(byTable, { beamWidth: 1 }, 1, { mask: [1, 2] }).search.results(1)[0]
    expect(unmasked.tokens).toEqual([1])
    expect(Math.exp(unmasked.score)).toBeCloseTo(0.4, 6)
    const masked = run(byTable, { beamWidth: 1, scores: "masked" }, 1, { mask: [1, 2] }).search.results(1)[0]
    expect(Math.exp(masked.score)).toBeCloseTo(0.8, 6)
  })

  test("an end among the first W is a hypothesis, a later one is dropped, and length is without it", () => {
    const model: Model = () => Float32Array.from([0.5, 0.3, 0.2], Math.log)
    const { search } = run(model, { beamWidth: 2, endIds: [1], earlyStopping: true, lengthPenalty: 1 }, 1)
    expect(search.finished.filter(({ reason }) => reason === "stop").map(({ tokens }) => tokens)).toEqual([
      [],
    ])
    const late = run(model, { beamWidth: 1, endIds: [1] }, 1).search
    expect(late.finished.map(({ reason, tokens }) => [reason, tokens])).toEqual([["length", [0]]])
  })

  test("as many beams as texts: the best of all texts", () => {
    const width = 3
    const model: Model = (tokens) => {
      return Float32Array.from(
        { length: width },
        normalOf(randomOf(1 + tokens.reduce((sum, id) => 7 * sum + id + 1, 0))),
      )
    }
    const { search } = run(model, { beamWidth: 9, lengthPenalty: 0 }, 3)
    const logProb = (tokens: readonly number[]) => {
      return tokens.reduce((sum, id, at) => {
        const z = model(tokens.slice(0, at))
        return sum + z[id] - Math.log(z.reduce((total, value) => total + Math.exp(value), 0))
      }, 0)
    }
    const all = Array.from({ length: 27 }, (_, at) => [Math.floor(at / 9), Math.floor(at / 3) % 3, at % 3])
    const best = all.sort((a, b) => logProb(b) - logProb(a))[0]
    expect(search.results(1)[0].tokens).toEqual(best)
    expect(search.results(1)[0].score).toBeCloseTo(logProb(best), 6)
  })

  test.each<[string, GrammarInput]>([
    ["a regex", { kind: "regex", pattern: "(a|ab)(b|ba|c)?a?" }],
    ["a schema", { kind: "json", schema: { enum: ["a", "ab", 1, [1, "b"], true, { a: "b" }] } }],
  ])(
    "under a grammar, %s: enough beams find the best accepted texts, each with its own state",
    (_, input) => {
      const encoder = new TextEncoder()
      const texts = [
        "a",
        "b",
        "c",
        "ab",
        "ba",
        '"',
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "1",
        "true",
        '"a',
        '"b"',
        '"a":',
      ]
      const end = texts.length
      const vocabulary = Vocabulary.fromBytes([...texts.map((text) => encoder.encode(text)), null], {
        width: end + 1,
        endIds: [end],
      })
      const fsm = new TokenFsm(compile(input).grammar, vocabulary)
      const model: Model = (tokens) =>
        Float32Array.from(
          { length: end + 1 },
          normalOf(randomOf(1 + tokens.reduce((sum, id) => 31 * sum + id + 1, 0))),
        )
      const maskOfMatcher = (matcher: Matcher): Uint32Array => {
        const mask = new Uint32Array(vocabulary.words)
        matcher.fillMask(mask)
        return mask
      }
      const allows = (mask: Uint32Array, id: number) => ((mask[id >>> 5] >>> (id & 31)) & 1) === 1
      // All accepted texts by exhaustion: the model's own probabilities, an end that is certain for nothing.
      const all: { tokens: number[]; score: number }[] = []
      const walk = (matcher: Matcher, tokens: number[], score: number): void => {
        const mask = maskOfMatcher(matcher)
        const z = model(tokens)
        const lse = Math.log(z.reduce((sum, value) => sum + Math.exp(value), 0))
        const legal = Array.from(z.keys()).filter((id) => allows(mask, id))
        for (const id of legal) {
          const own = score + (legal.length === 1 && id === end ? 0 : z[id] - lse)
          if (id === end) all.push({ tokens, score: own })
          else {
            const next = matcher.fork()
            next.accept(id)
            walk(next, [...tokens, id], own)
          }
        }
      }
      walk(new Matcher(fsm), [], 0)
      expect(all.length).toBeGreaterThan(8)
      const search = new BeamSearch({ beamWidth: 16, lengthPenalty: 0, endIds: [end] })
      let matchers = [new Matcher(fsm)]
      while (!search.isDone()) {
        const rows = search.beams.map(({ tokens }, beam) => ({
          logits: model(tokens),
          row: rowOf(end + 1, { output: tokens, mask: maskOfMatcher(matchers[beam]) }),
        }))
        const parents = search.step(rows)
        matchers = parents.map((parent, beam) => {
          const matcher = matchers[parent].fork()
          matcher.accept(search.beams[beam].tokens.at(-1)!)
          return matcher
        })
      }
      const best = all.sort((a, b) => b.score - a.score)
      const found = search.results(3)
      expect(found.map(({ tokens }) => tokens)).toEqual(best.slice(0, 3).map(({ tokens }) => tokens))
      for (const [at, { score }] of found.entries()) expect(score).toBeCloseTo(best[at].score, 5)
    },
  )

  test("out of range is refused by name", () => {
    expect(() => new BeamSearch({ beamWidth: 17, endIds: [] })).toThrow(/^beam_width: 17/)
    expect(() => new BeamSearch({ beamWidth: 2, lengthPenalty: Number.NaN, endIds: [] })).toThrow(
      /^length_penalty/,
    )
  })
})

test("best_of: by mean log-probability, ties by index", () => {
  const of = (...logprobs: number[]) => logprobs.map((logprob) => ({ logprob }))
  expect(bestOf([of(-2), of(-1, -1), of(-0.5, -1.5), of(-3)], 3)).toEqual([1, 2, 0])
})
