import { expect, test } from "vitest"
import { killedBatch } from "../../support/batchkills.ts"

test("a server that is killed twenty times loses no line and doubles none", async () => {
  const { killsUnderWay, ...left } = await killedBatch({ kills: 20, lineCount: 400, seed: 2 })
  expect(left.status).toBe("completed")
  expect(left.counts).toEqual({ total: 400, completed: 360, failed: 40 })
  expect(left.ids).toEqual(left.expected)
  console.log(`${killsUnderWay} of 20 kills before the end of the batch`)
}, 600_000)
