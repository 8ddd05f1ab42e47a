import { describe, expect, test } from "vitest"
import { sampleRow } from "../../sampler/cpu.ts"
import { type LogitsProcessor, SamplingError } from "../../sampler/index.ts"
import { type RowOptions, rowOf } from "../support/sampler/rows.ts"

const sample = (logits: readonly number[], options: RowOptions) =>
  sampleRow(Float32Array.from(logits), rowOf(logits.length, options))

describe("processors", () => {
  test("see −∞ where nothing is allowed, may ban and change, and never unban", () => {
    const seen: number[][] = []
    const edit: LogitsProcessor = (logits, { mask }) => {
      seen.push([...logits], [...mask])
      logits[0] = 50
      logits[1] = Number.NEGATIVE_INFINITY
      logits[3] = 7
      mask[0] = 0b1011
    }
    const options: RowOptions = { bits: 0b1110, processors: [edit], temperature: 0 }
    expect(sample([1, 9, 3, 4], options).token).toBe(3)
    expect(seen).toEqual([[-Infinity, 9, 3, 4], [0b1110]])
  })

  test("run one after the other, each on what the one before left", () => {
    const raise: LogitsProcessor = (logits) => logits.set([logits[1] + 10], 1)
    const forbid: LogitsProcessor = (logits, { mask }) => {
      expect([...logits]).toEqual([1, 12])
      mask[0] &= ~2
    }
    expect(sample([1, 2], { processors: [raise, forbid], temperature: 0 }).token).toBe(0)
  })

  test("NaN, a promise and a row without a token are errors; NaN of a denied token is not read", () => {
    const errorOf = (processor: LogitsProcessor, bits = 0b11) => {
      try {
        return sample([1, 2], { processors: [processor], bits, temperature: 0 }).token
      } catch (error) {
        expect(error).toBeInstanceOf(SamplingError)
        return (error as SamplingError).message
      }
    }
    expect(errorOf((logits) => void logits.fill(Number.NaN))).toMatch(
      /^processors\[0\]: it wrote NaN for token 0/,
    )
    expect(errorOf((logits) => void logits.fill(-Infinity))).toMatch(
      /^processors\[0\]: it forbids all 2 tokens/,
    )
    expect(errorOf(async () => {})).toMatch(/^processors\[0\]: it returned a promise/)
    expect(errorOf((logits) => void logits.fill(Number.NaN, 0, 1), 0b10)).toBe(1)
  })

  test("a promise that is rejected is the same error, and no rejection that nobody handles", async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on("unhandledRejection", note)
    const failing: LogitsProcessor = async () => {
      throw new Error("failed")
    }
    expect(() => sample([1, 2], { processors: [failing] })).toThrow("it returned a promise")
    await new Promise((resolve) => setTimeout(resolve, 1))
    process.off("unhandledRejection", note)
    expect(rejections).toEqual([])
  })

  test("an infinite or huge value counts as the greatest logit", () => {
    const raise: LogitsProcessor = (logits) => void logits.fill(Infinity, 1, 2)
    expect(sample([1, 2, 3], { processors: [raise] }).token).toBe(1)
  })
})
