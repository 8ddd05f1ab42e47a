/** S3-15, S0-12: sparse counts, equal to a recount after any pushes, rollbacks and forks. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { TokenCounts } from "../../sampler/counts.ts"

type Step =
  | { kind: "push" | "force"; token: number }
  | { kind: "rollback"; n: number }
  | { kind: "count" | "fork" }

function recount(counts: TokenCounts): Record<string, number[]> {
  const table: Record<string, number[]> = {}
  for (let index = 0; index < counts.length; index++) {
    table[counts.at(index)] ??= [0, 0, 0]
    const entry = table[counts.at(index)]
    if (index < counts.promptCount) entry[0]++
    else entry[1]++
    if (counts.isForced(index)) entry[2]++
  }
  return table
}

function tableOf(counts: TokenCounts): Record<string, number[]> {
  const { size, ids, promptCounts, outputCounts, forcedCounts } = counts.counts()
  const rows = Array.from({ length: size }, (_, slot): [number, number[]] => [
    ids[slot],
    [promptCounts[slot], outputCounts[slot], forcedCounts[slot]],
  ])
  return Object.fromEntries(rows.filter(([, [prompt, output]]) => prompt + output > 0))
}

const token = fc.integer({ min: 0, max: 300 })
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ kind: fc.constantFrom("push" as const, "force" as const), token }),
    fc.record({ kind: fc.constant("rollback" as const), n: fc.nat(5) }),
    fc.record({ kind: fc.constantFrom("count" as const, "fork" as const) }),
  ),
  { maxLength: 200 },
)

test("counts are those of a recount", () => {
  fc.assert(
    fc.property(fc.array(token, { maxLength: 100 }), steps, (prompt, all) => {
      let counts = new TokenCounts(prompt)
      const model = [...prompt]
      for (const step of all) {
        if (step.kind === "push" || step.kind === "force") {
          if (step.kind === "push") counts.push(step.token)
          else counts.pushForced(step.token)
          model.push(step.token)
        } else if (step.kind === "rollback") {
          const n = Math.min(step.n, counts.outputCount)
          counts.rollback(n)
          model.length -= n
        } else if (step.kind === "fork") {
          const copy = counts.fork()
          counts.push(1)
          counts = copy
        } else counts.counts()
      }
      expect(Array.from(counts.history())).toEqual(model)
      expect(tableOf(counts)).toEqual(recount(counts))
    }),
    { numRuns: 300, seed: 1 },
  )
})

test("a rollback beyond the output is refused", () => {
  const counts = new TokenCounts([1, 2])
  counts.push(3)
  expect(() => counts.rollback(2)).toThrow(/2 is not from 0 to the 1 output tokens/)
  expect(() => counts.rollback(-1)).toThrow(RangeError)
})

test("μ belongs to a position: repeated, rolled back and forked steps find theirs", () => {
  const counts = new TokenCounts([1])
  expect(counts.muBefore(1, 10)).toBe(10)
  counts.recordMu(1, 9)
  counts.recordMu(2, 8)
  expect([1, 2, 3].map((position) => counts.muBefore(position, 10))).toEqual([10, 9, 8])
  const copy = counts.fork()
  counts.recordMu(1, 7)
  expect([2, 3].map((position) => counts.muBefore(position, 10))).toEqual([7, 7])
  expect(copy.muBefore(3, 10)).toBe(8)
})
