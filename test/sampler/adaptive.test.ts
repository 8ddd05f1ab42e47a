/** Adaptive-p: its transform by hand, its average, and what it is not taken beside. */
import { expect, test } from "vitest"
import { lawOf, sampleRow } from "../../sampler/cpu.ts"
import { probabilities } from "../support/sampler/law.ts"
import { rowOf } from "../support/sampler/rows.ts"

const logits = Float32Array.from([0.5, 0.3, 0.2].map(Math.log))

test("logits fall with the distance from the aim: squared near it, in proportion far from it", () => {
  const law = lawOf(logits, rowOf(3, { adaptiveTarget: 0.3 }))
  const values = [5 - (10 * (4 / 9)) / (5 / 3), 5, 5 - (10 * (1 / 9)) / (4 / 3)]
  const sum = values.reduce((all, value) => all + Math.exp(value), 0)
  for (const [id, chance] of probabilities(law)) expect(chance).toBeCloseTo(Math.exp(values[id]) / sum, 5)
})

test("the average moves by the probability that the drawn token had, and the aim to the other side", () => {
  const row = rowOf(3, { adaptiveTarget: 0.3, adaptiveDecay: 0.5, position: 4 })
  const { token } = sampleRow(logits, row)
  const mean = (0.3 + [0.5, 0.3, 0.2][token]) / 2
  expect(row.tokens.muBefore(5, -1)).toBeCloseTo(mean, 6)
  // The same position again begins with the average of before.
  expect(sampleRow(logits, row).token).toBe(token)
  expect(row.tokens.muBefore(5, -1)).toBeCloseTo(mean, 6)
})

test("a higher target draws tokens that were likelier on average", () => {
  const halves = Float32Array.from({ length: 12 }, (_, id) => -id * Math.LN2)
  const averages = [0, 0.2, 0.4, 0.6].map((target) => {
    const row = rowOf(12, { adaptiveTarget: target })
    const { chances } = lawOf(halves, row)
    const drawn = Array.from(
      { length: 500 },
      (_, at) => sampleRow(halves, { ...row, position: at + 1 }).token,
    )
    return drawn.reduce((sum, token) => sum + chances!.get(token)!, 0) / 500
  })
  for (let at = 1; at < averages.length; at++) {
    expect(averages[at], averages.join()).toBeGreaterThan(averages[at - 1] + 0.05)
  }
})

test("a single legal token and greedy rows say nothing", () => {
  for (const options of [{ bits: 0b010 }, { temperature: 0 }]) {
    const row = rowOf(3, { adaptiveTarget: 0.3, ...options })
    sampleRow(logits, row)
    expect(row.tokens.muBefore(9, -1)).toBe(-1)
  }
})

test("negative targets are off; beside mirostat and out of range it is refused", () => {
  expect(lawOf(logits, rowOf(3, { adaptiveTarget: -1 })).chances).toBe(undefined)
  expect(() => rowOf(3, { adaptiveTarget: 0.3, mirostat: 2 })).toThrow(
    /adaptive_target: 0.3 has no effect with mirostat 2/,
  )
  expect(() => rowOf(3, { adaptiveTarget: 1.5 })).toThrow(/adaptive_target/)
  expect(() => rowOf(3, { adaptiveTarget: 0.5, adaptiveDecay: 1 })).toThrow(/adaptive_decay/)
})
