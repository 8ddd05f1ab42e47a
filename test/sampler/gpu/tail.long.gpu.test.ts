/**
 * The tail of the law on the device, over 200,000 tokens; planted faults fail the same test. A software adapter takes a
 * second for four of these rows: few of them here. TOKENRAIL_TESTS=full: 18 nats and half a million draws, for a real GPU.
 */
import { expect, test } from "vitest"
import { describeGpu, gpu } from "../../support/sampler/opened.ts"
import { rowOf } from "../../support/sampler/rows.ts"
import { leakyMask, tailOf } from "../../support/sampler/tail.ts"

const isFull = process.env.TOKENRAIL_TESTS === "full"
const tail = tailOf(200_000, isFull ? 18 : 12, 60)
const n = isFull ? 500_000 : 60
const batch = isFull ? 500 : 30

describeGpu("GPU tail", () => {
  async function ratio(count: number, change: { mask?: Uint32Array; temperature?: number }): Promise<number> {
    const { mask = tail.mask, ...options } = change
    const row = rowOf(tail.width, { seed: 23, mask, ...options })
    const tokens: number[] = []
    for (let start = 0; start < count; start += batch) {
      const rows = Array.from({ length: batch }, (_, at) => ({
        ...row,
        position: start + at,
        maskId: mask === tail.mask ? 1 : 2,
      }))
      for (const { token } of await gpu.sample(tail.logits, tail.width, rows)) tokens.push(token)
    }
    return tail.ratio(tokens)
  }

  test("the tail has its share, by weight and by place", async () => {
    expect(tail.share).toBeGreaterThan(isFull ? 0.005 : 0.6)
    expect(await ratio(n, {})).toBeLessThan(1)
  }, 3_600_000)

  test("the same test fails on planted faults", async () => {
    expect(await ratio(batch, { mask: leakyMask(tail) })).toBeGreaterThan(1)
    // Of 30 draws at this temperature one comes from the tail, not 21.
    expect(await ratio(isFull ? n : batch, { temperature: isFull ? 1.05 : 0.7 })).toBeGreaterThan(1)
  }, 3_600_000)
})
