import { expect, test } from "vitest"
import { canFindTies, isNearTie } from "../../../runtime/speculation/neartie.ts"
import { sampleRow } from "../../../sampler/cpu.ts"
import { resolveParams, type SamplingOptions, TokenCounts } from "../../../sampler/index.ts"
import { generator } from "../../support/onnx.ts"

const width = 97
const rounding = 1e-3

const kinds: [name: string, options: SamplingOptions][] = [
  ["greedy", { temperature: 0 }],
  ["temperature", { temperature: 0.7 }],
  ["top_k", { topK: 5 }],
  ["top_p", { topP: 0.8, temperature: 1.3 }],
  ["min_p", { minP: 0.1 }],
  ["top_n_sigma", { topNSigma: 1.5 }],
  ["top_k and top_p", { topK: 12, topP: 0.7 }],
  ["all", { topNSigma: 2, minP: 0.02, topK: 20, topP: 0.9, repetitionPenalty: 1.3, frequencyPenalty: 0.4 }],
]

test.each(kinds)("%s: a draw that a difference in rounding changes was called doubtful", (_, options) => {
  const random = generator(77)
  const normal = () => random() + random() + random() + random() - 2
  let changedCount = 0
  let doubtfulCount = 0
  const rowCount = 1500
  for (let at = 0; at < rowCount; at++) {
    // Coarse values give ties and neighbours at the cuts; rounding moves them apart.
    const logits = Float32Array.from({ length: width }, () =>
      at % 3 === 0 ? Math.round(4 * normal()) / 2 : 4 * normal(),
    )
    const tokens = new TokenCounts([3, 5, 7])
    for (const token of [3, 9, 9]) tokens.push(token)
    const params = resolveParams({ ...options, seed: BigInt(at) }, { width })
    const row = { logitsRow: 0, params, mask: null, tokens, position: 6, choice: 0 }
    const { token } = sampleRow(logits, row)
    const isDoubtful = isNearTie(logits, row, rounding)
    if (isDoubtful && at % 3 !== 0) doubtfulCount++
    for (let attempt = 0; attempt < 4; attempt++) {
      // The worst case for the winner, or any other.
      const moved = logits.map((x, id) => {
        const shift = attempt === 0 ? (id === token ? -1 : 1) : random() < 0.5 ? -1 : 1
        return x + 0.99 * rounding * shift
      })
      if (sampleRow(moved, row).token === token) continue
      changedCount++
      expect(isDoubtful, `row ${at}, attempt ${attempt}`).toBe(true)
      break
    }
  }
  expect(changedCount).toBeGreaterThan(0)
  // Doubt has to be rare, or every draft is computed twice: rows of distinct values, as of a model.
  expect(doubtfulCount).toBeLessThan(0.03 * rowCount)
})

test("filters whose edges nobody can tell are not plain", () => {
  const plain = (options: SamplingOptions) => canFindTies(resolveParams(options, { width }))
  expect(plain({ topK: 3, topP: 0.5, minP: 0.1, topNSigma: 1, repetitionPenalty: 1.1 })).toBe(true)
  for (const options of [
    { typicalP: 0.5 },
    { xtcProbability: 0.5 },
    { mirostat: 2 },
    { dynatempRange: 0.5 },
    { epsilonCutoff: 0.01 },
    { etaCutoff: 0.01 },
    { samplerOrder: "llamacpp" },
    { contrastive: {} },
  ])
    expect(plain(options), JSON.stringify(options)).toBe(false)
})
