/**
 * Random rows on both samplers: widths from 1 to 256,000, masks from one token to all, any parameters, side by side in a
 * batch. TOKENRAIL_ROWS=100000 is the full run: an hour on a software adapter.
 */
import { expect, test } from "vitest"
import { sampleRow } from "../../../sampler/cpu.ts"
import { Selector } from "../../../sampler/fast/select.ts"
import { isGpuRow } from "../../../sampler/gpu/route.ts"
import type { SampleRow } from "../../../sampler/row.ts"
import { isLegal, luringRows } from "../../support/sampler/adversarial.ts"
import { compareRows } from "../../support/sampler/compare.ts"
import { describeGpu, gpu } from "../../support/sampler/opened.ts"
import { maskOf, randomLogits, randomOf, randomOptions, rowOf } from "../../support/sampler/rows.ts"

const rowCount = Number(
  process.env.TOKENRAIL_ROWS ?? (process.env.TOKENRAIL_TESTS === "full" ? 100_000 : 300),
)
const widest = rowCount > 1000 ? 256_000 : 12_000
const firstSeed = Number(process.env.TOKENRAIL_SEED ?? 1)

describeGpu("GPU sampler", () => {
  /** One batch: a few rows of logits, each the source of several rows. */
  function randomBatch(seed: number): { logits: Float32Array; width: number; rows: SampleRow[] } {
    const random = randomOf(seed)
    const width = Math.max(1, Math.round(widest ** (random() ** 5)))
    const count = Math.max(2, Math.min(64, Math.floor(400_000 / width)))
    const sources = Math.min(4, count)
    const logits = new Float32Array(sources * width)
    for (let source = 0; source < sources; source++) logits.set(randomLogits(width, random), source * width)
    const rows = Array.from({ length: count }, (_, index) => {
      const options = { ...randomOptions(width, random), logprobs: null, logitsRow: index % sources }
      const kind = random()
      if (kind < 0.04) {
        const { seed, position, mask, logitsRow } = options
        const row = (mirostat: number) =>
          rowOf(width, {
            ...{ seed, position, mask, logitsRow, mirostat },
            mirostatTau: 5 * options.xtcThreshold! + 0.1,
          })
        return isGpuRow(row(1), width) ? row(1) : row(2)
      }
      // A single token is emitted unseen; two are the fewest that are looked at.
      const few = kind < 0.08 ? 1 : kind < 0.16 ? 2 : kind < 0.24 ? 500 : 0
      const mask =
        few > 0
          ? maskOf(
              width,
              Array.from({ length: few }, () => Math.floor(random() * width)),
            )
          : options.mask
      const row = rowOf(width, { ...options, mask, dynatempRange: random() < 0.05 ? random() : 0 })
      // Rows that go to the CPU are few: there both answers come from the same code.
      if (isGpuRow(row, width) || random() < 0.02) return row
      const plain = { typicalP: 1, epsilonCutoff: 0, etaCutoff: 0, xtcProbability: 0 }
      return rowOf(width, { ...options, mask, ...plain })
    })
    return { logits, width, rows }
  }

  test(
    `${rowCount} random rows, V to ${widest}: tokens of the definition`,
    async () => {
      const selector = new Selector()
      const ties = { scores: 0, threshold: 0, mass: 0 }
      let count = 0
      for (let seed = firstSeed; count < rowCount; seed++) {
        const { logits, width, rows } = randomBatch(seed)
        const found = await compareRows(gpu, logits, width, rows, {
          definition: (own, row) => selector.select(own, row),
          once: seed % 3 !== 0,
        })
        count += found.rowCount
        for (const kind of ["scores", "threshold", "mass"] as const) ties[kind] += found.ties[kind]
      }
      const { gpuRows, cpuRows, redoneRows } = gpu.stats
      console.info(
        `${count} rows: near ties ${JSON.stringify(ties)}; GPU ${gpuRows}, CPU ${cpuRows}, redone ${redoneRows}`,
      )
      expect(ties.scores + ties.threshold + ties.mass).toBeLessThanOrEqual(1 + count / 1000)
    },
    120_000 + 600 * rowCount,
  )

  test("where the mass before a token is top_p but for rounding, the host says which side it is on", async () => {
    const shares = [0.4, 0.3, 0.2, 0.1]
    const before = gpu.stats.redoneRows
    for (const width of [4, 3000]) {
      // The four shares; behind them what no draw would miss.
      const logits = Float32Array.from({ length: width }, (_, id) => (id < 4 ? Math.log(shares[id]) : -40))
      const few = maskOf(width, [0, 1, 2, 3])
      const rows = [0.4, 0.7, 0.9, 0.1 + 0.2].flatMap((topP) =>
        [undefined, few].flatMap((mask) =>
          Array.from({ length: 40 }, (_, position) => rowOf(width, { topP, position, mask })),
        ),
      )
      const found = await gpu.sample(logits, width, rows)
      expect(found).toEqual(rows.map((row) => sampleRow(logits, row)))
    }
    expect(gpu.stats.redoneRows).toBeGreaterThan(before)
  }, 120_000)

  test(
    "adversarial rows: no token outside the mask",
    async () => {
      const lures = luringRows()
      for (const width of new Set(lures.map(({ logits }) => logits.length))) {
        const own = lures.filter(({ logits }) => logits.length === width)
        const logits = new Float32Array(own.length * width)
        for (const [index, lure] of own.entries()) logits.set(lure.logits, index * width)
        const rows = own.map(({ row }, index) => ({ ...row, logitsRow: index }))
        for (let round = 0; round < (rowCount > 1000 ? 100 : 2); round++) {
          const found = await gpu.sample(
            logits,
            width,
            rows.map((row) => ({ ...row, position: round })),
          )
          const wrong = own.filter(
            (lure, index) => found[index].status !== "ok" || !isLegal(lure, found[index].token),
          )
          expect(wrong.map(({ name }) => name)).toEqual([])
        }
      }
    },
    120_000 + 20 * rowCount,
  )
})
