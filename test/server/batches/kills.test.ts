import { expect, test } from "vitest"
import { killedBatch } from "../../support/batchkills.ts"

test("a server that is killed loses no line and doubles none", async () => {
  const { status, counts, ids, expected } = await killedBatch({ kills: 2, lineCount: 60, seed: 1 })
  expect(status).toBe("completed")
  expect(counts).toEqual({ total: 60, completed: 54, failed: 6 })
  expect(ids).toEqual(expected)
})
