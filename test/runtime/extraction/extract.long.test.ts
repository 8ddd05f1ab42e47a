/** 10,000 extractions with random logits, in four parts. */
import { afterAll, beforeAll, expect, test } from "vitest"
import type { Engine } from "../../../runtime/index.ts"
import { extractMany, openRandom } from "../../support/extractions.ts"

let engine: Engine
beforeAll(async () => {
  engine = await openRandom()
})
afterAll(() => engine.close())

test.each([1, 2, 3, 4])(
  "copied strings are in the text, values in the schema (part %i)",
  { timeout: 500_000 },
  async (part) => {
    expect(await extractMany(engine, 2_500, part * 2_500)).toBeGreaterThan(1_000)
  },
)
