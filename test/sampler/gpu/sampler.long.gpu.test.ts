/**
 * One suite over both samplers: the GPU returns the tokens of the definition, except at counted near ties.
 *
 * TOKENRAIL_TESTS=full makes the grid bigger.
 */
import { expect, test } from "vitest"
import { lawOf } from "../../../sampler/cpu.ts"
import { MaskAtlas } from "../../../sampler/gpu/atlas.ts"
import { packRow, RowFlag } from "../../../sampler/gpu/layout.ts"
import { createGpuSampler } from "../../../sampler/gpu/sampler.ts"
import { gumbel, rowKey, tokenBits } from "../../../sampler/rng.ts"
import type { SampleRow } from "../../../sampler/row.ts"
import { logitsOf } from "../../../sampler/sampler.ts"
import { pinned, survivors } from "../../../sampler/truncation.ts"
import { compareRows } from "../../support/sampler/compare.ts"
import { describeGpu, device, gpu } from "../../support/sampler/opened.ts"
import {
  maskOf,
  normalOf,
  type RowOptions,
  randomLogits,
  randomOf,
  randomOptions,
  rowOf,
} from "../../support/sampler/rows.ts"
import { chiSquare, normalise } from "../../support/sampler/statistics.ts"

const isFull = process.env.TOKENRAIL_TESTS === "full"

describeGpu("GPU sampler", () => {
  /** Fails on a difference that is no near tie; returns how many were. */
  async function compare(logits: Float32Array, width: number, rows: readonly SampleRow[]): Promise<number> {
    return (await compareRows(gpu, logits, width, rows)).tieCount
  }

  const kinds: [string, RowOptions][] = [
    ["greedy", { temperature: 0 }],
    ["temperature 1", {}],
    ["temperature .7", { temperature: 0.7 }],
    ["temperature .05", { temperature: 0.05 }],
    ["top-k 1", { topK: 1 }],
    ["top-k 50", { topK: 50 }],
    ["top-k 300", { topK: 300 }],
    ["top-k 5000", { topK: 5000 }],
    ["top-p .9", { topP: 0.9 }],
    ["top-p .1", { topP: 0.1 }],
    ["top-p .999", { topP: 0.999 }],
    ["top-k 50, top-p .9", { topK: 50, topP: 0.9 }],
    ["min-p .05", { minP: 0.05 }],
    ["top-nσ 1", { topNSigma: 1 }],
    ["all filters", { temperature: 1.3, topNSigma: 2, minP: 0.01, topK: 40, topP: 0.95 }],
  ]
  const penalties: RowOptions = {
    repetitionPenalty: 1.3,
    frequencyPenalty: 0.4,
    presencePenalty: 0.2,
    logitBias: { 0: 2, 1: -3 },
    minTokens: 100,
    endIds: [2],
    prompt: [3, 4, 5, 5, 6, 7, 8],
    output: [9, 10, 10, 10, 11],
  }

  const widths = isFull ? [31, 32, 33, 257, 999, 1024, 2047, 4097, 32000, 128256] : [33, 2049, 20000]
  test.each(widths)(
    "S2-24, S3-04, S4-14, S4-15: tokens of the definition, V %i",
    async (width) => {
      const random = randomOf(width)
      const normal = normalOf(random)
      const sources = 4
      const logits = Float32Array.from(
        { length: sources * width },
        (_, at) => normal() * (at < 2 * width ? 1 : 5),
      )
      // Ties across tiles, values of −∞, one row all equal.
      for (let at = 0; at < width; at += 7) logits[width + at] = 1.5
      for (let at = 0; at < width; at++) if (random() < 0.3) logits[2 * width + at] = -Infinity
      logits.fill(0.25, 3 * width)
      const rows: SampleRow[] = []
      for (const [, options] of kinds) {
        for (let source = 0; source < sources; source++) {
          const density = [1, 0.5, 0.01][rows.length % 3]
          const mask =
            density < 1
              ? maskOf(
                  width,
                  Array.from({ length: width }, (_, id) => id).filter(() => random() < density),
                )
              : undefined
          const extra = rows.length % 2 === 1 && width > 32 ? penalties : {}
          rows.push(
            rowOf(width, {
              ...options,
              ...extra,
              mask,
              seed: 7 + rows.length,
              logitsRow: source,
              position: 20 + rows.length,
            }),
          )
        }
      }
      const before = { ...gpu.stats }
      const exempt = await compare(logits, width, rows)
      expect(exempt).toBeLessThanOrEqual(Math.ceil(rows.length / 100))
      if (width > 32) expect(gpu.stats.gpuRows - before.gpuRows).toBeGreaterThan(rows.length / 2)
    },
    isFull ? 1_200_000 : 120_000,
  )

  test("S4-16: cuts among thousands of nearly equal values are refined, not given up", async () => {
    const width = 8000
    const random = randomOf(31)
    const logits = new Float32Array(3 * width)
    // One bucket and a half; six buckets of more than a slab each; tiles whose means differ, for the deviations of top-nσ.
    for (let id = 0; id < width; id++) {
      logits[id] = -0.04 * random()
      logits[width + id] = -0.2 * random()
      logits[2 * width + id] = 0.001 * id + random()
    }
    const cuts: RowOptions[] = [
      { topP: 0.5 },
      { topP: 0.97 },
      { topK: 3000 },
      { topK: 7990 },
      { topNSigma: 1 },
      { topNSigma: 2.5 },
    ]
    const rows = cuts.flatMap((options) =>
      Array.from({ length: 6 }, (_, at) => rowOf(width, { ...options, logitsRow: at % 3, seed: 100 + at })),
    )
    const before = gpu.stats.redoneRows
    const exempt = await compare(logits, width, rows)
    expect(exempt).toBeLessThanOrEqual(2)
    expect(gpu.stats.redoneRows - before).toBe(0)
    // Whether a token is kept shows only when its noise would win: tokens on both sides of each cut.
    const edges = [0, 1, 2].flatMap((source) => {
      const own = logitsOf(logits, width, source)
      const order = pinned(lawOf(own, rowOf(width)).candidates)
      return cuts.flatMap((options) => {
        const count = survivors(lawOf(own, rowOf(width, options)).candidates).length
        return [-600, -200, -1, 0, 200, 600]
          .filter((offset) => count + offset >= 0 && count + offset < width)
          .flatMap((offset) => winningRow(own, options, order[count + offset], source))
      })
    })
    expect(await compare(logits, width, edges)).toBeLessThanOrEqual(6)
  })

  /** A row under whose seed the token wins the draw, if it is kept. */
  function winningRow(own: Float32Array, options: RowOptions, id: number, logitsRow: number): SampleRow[] {
    for (let seed = 0; seed < 30_000; seed++) {
      const bits = tokenBits(id, rowKey(BigInt(seed), 0, 0, 0))
      if (gumbel(bits) > 9.5 - own[id]) return [rowOf(own.length, { ...options, seed, logitsRow })]
    }
    return []
  }

  test("random parameters, masks and values", async () => {
    const random = randomOf(77)
    let exempt = 0
    let count = 0
    for (let round = 0; round < (isFull ? 400 : 18); round++) {
      const width = [1, 2, 31, 32, 33, 64, 257, 600, 2100][round % 9]
      const logits = new Float32Array(4 * width)
      for (let source = 0; source < 4; source++) logits.set(randomLogits(width, random), source * width)
      const rows = Array.from({ length: 24 }, (_, index) => {
        return rowOf(width, { ...randomOptions(width, random), logitsRow: index % 4, logprobs: undefined })
      })
      exempt += await compare(logits, width, rows)
      count += rows.length
    }
    expect(exempt).toBeLessThanOrEqual(count / 200)
  })

  test("S0-03, S2-29, S1-18: a row of a batch is the row alone, wherever it stands", async () => {
    const width = 3000
    const normal = normalOf(randomOf(4))
    const logits = Float32Array.from({ length: 5 * width }, normal)
    const random = randomOf(5)
    const rows = Array.from({ length: 40 }, (_, index) => {
      return rowOf(width, { ...randomOptions(width, random), logitsRow: index % 5 })
    })
    const batch = await gpu.sample(logits, width, rows)
    for (const [index, row] of rows.entries()) {
      const [alone] = await gpu.sample(logits, width, [row])
      expect(alone, `row ${index}`).toEqual(batch[index])
    }
    const turned = await gpu.sample(logits, width, rows.toReversed())
    expect(turned.reverse()).toEqual(batch)
  })

  test("the mask atlas keeps a mask under its id and drops the least recently used", async () => {
    const width = 2048
    const logits = Float32Array.from({ length: width }, (_, id) => id / width)
    const { stats } = gpu
    const rows = (base: number) =>
      Array.from({ length: 6 }, (_, index) => {
        const id = base + index
        return { ...rowOf(width, { temperature: 0, mask: [id, id + 7] }), maskId: id }
      })
    const tokens = async (base: number) =>
      (await gpu.sample(logits, width, rows(base))).map(({ token }) => token)
    const expected = (base: number) => Array.from({ length: 6 }, (_, index) => base + index + 7)
    expect(await tokens(100)).toEqual(expected(100))
    const cold = stats.uploadedBytes
    expect(await tokens(100)).toEqual(expected(100))
    const warm = stats.uploadedBytes - cold
    // Logits, 64 bytes a row, the shape: no mask.
    expect(warm).toBe(4 * width + 6 * 64 + 32)
  })

  test("a full atlas reuses the slot that was not used for longest, never one of the running step", () => {
    const atlas = new MaskAtlas(64, { minSlots: 3, maxBytes: 2 ** 20, budget: 0 })
    expect(atlas.slotCount).toBe(4)
    const mask = Uint32Array.of(1, 0)
    const slots = [1, 2, 3].map((key) => atlas.slotOf(mask, key))
    expect(new Set([0, ...slots]).size).toBe(4)
    expect(() => atlas.slotOf(mask, 4)).toThrow(/all 4 mask slots are in use/)
    atlas.beginStep()
    expect(atlas.slotOf(mask, 1)).toBe(slots[0])
    expect(atlas.slotOf(mask, 4)).toBe(slots[1])
    atlas.beginStep()
    // A mask without an id is for one step.
    const once = atlas.slotOf(mask, undefined)
    expect(once).toBe(slots[2])
    atlas.beginStep()
    expect(atlas.slotOf(mask, undefined)).toBe(once)
    expect(atlas.slotOf(null, 9)).toBe(0)
  })

  test("S0-16, S2-25, S2-28, S2-30, S4-09: two dispatches without filters, seven with, the last an indirect one of no groups; one submission", async () => {
    const width = 5000
    const logits = Float32Array.from({ length: width }, normalOf(randomOf(8)))
    const cost = async (...all: RowOptions[]) => {
      const before = { ...gpu.stats }
      await gpu.sample(
        logits,
        width,
        all.map((options) => rowOf(width, options)),
      )
      expect(gpu.stats.submissions - before.submissions).toBe(1)
      return gpu.stats.dispatches - before.dispatches
    }
    expect(await cost({ temperature: 0 }, {}, { temperature: 1.5 })).toBe(2)
    expect(await cost({ minP: 0.1 })).toBe(4)
    expect(await cost({ topK: 50, topP: 0.9 }, { temperature: 0 }, { minP: 0.1 })).toBe(7)
    expect(await cost({ topP: 0.9 })).toBe(7)
    const few = Array.from({ length: 100 }, (_, at) => 3 * at)
    expect(await cost({ topP: 0.9, mask: few }, { temperature: 0, mask: few.slice(40) })).toBe(1)
  })

  test("the law of the draw on the device, and a wrong temperature is found", async () => {
    const slope = Array.from({ length: 64 }, (_, i) => -i / 8)
    const law = normalise(slope.map(Math.exp))
    const draw = async (options: RowOptions, n: number) => {
      const counts = new Float64Array(64)
      const row = rowOf(64, { seed: 11, ...options })
      for (let start = 0; start < n; start += 500) {
        const rows = Array.from({ length: 500 }, (_, index) => ({ ...row, position: start + index }))
        for (const { token } of await gpu.sample(Float32Array.from(slope), 64, rows)) counts[token]++
      }
      return chiSquare(counts, law, n).ratio
    }
    expect(await draw({}, isFull ? 50_000 : 1500)).toBeLessThan(1)
    expect(await draw({ temperature: 2 }, 500)).toBeGreaterThan(1)
  })

  test("rows of few legal tokens stay on the host, with the same tokens", async () => {
    const width = 200
    const logits = Float32Array.from({ length: width }, normalOf(randomOf(12)))
    const mask = Array.from({ length: 64 }, (_, at) => 3 * at)
    const rows = [rowOf(width, { mask, seed: 1 }), rowOf(width, { mask: [...mask, 199], seed: 1 })]
    const own = await createGpuSampler(device.device)
    expect(await own.sample(logits, width, rows)).toEqual(await gpu.sample(logits, width, rows))
    expect([own.stats.cpuRows, own.stats.gpuRows]).toEqual([1, 1])
    own.close()
  })

  test("logits that are on the device are bound there, and give the same tokens", async () => {
    const width = 3000
    const random = randomOf(44)
    const logits = Float32Array.from({ length: 3 * width }, normalOf(random))
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST
    const buffer = device.device.createBuffer({ size: logits.byteLength, usage })
    device.device.queue.writeBuffer(buffer, 0, logits)
    const rows = [{ topP: 0.9 }, { temperature: 0 }, { topK: 40 }, { typicalP: 0.5 }, {}].map(
      (options, index) => rowOf(width, { ...options, seed: index, logitsRow: (index + 1) % 3 }),
    )
    const expected = await gpu.sample(logits, width, rows)
    const before = { ...gpu.stats }
    expect(await gpu.sampleBuffer(buffer, width, rows)).toEqual(expected)
    // Up: 64 bytes a row and the shape. Back: the one row whose stages the kernels do not have.
    expect(gpu.stats.uploadedBytes - before.uploadedBytes).toBe(4 * 64 + 32)
    expect(gpu.stats.readBackBytes - before.readBackBytes).toBe(4 * width)
    expect(await gpu.sample(logits, width, rows)).toEqual(expected)
    await expect(gpu.sampleBuffer(buffer, width, [rowOf(width, { logitsRow: 3 })])).rejects.toThrow(
      /logitsRow: 3 is outside the 3 rows/,
    )
    buffer.destroy()
  })

  test("NaN at an allowed token ends the row, at a denied one it is nothing", async () => {
    const logits = Float32Array.of(1, Number.NaN, 3, Number.POSITIVE_INFINITY)
    const rows = [
      rowOf(4, { temperature: 0 }),
      rowOf(4, { temperature: 0, bits: 0b0101 }),
      rowOf(4, { temperature: 0, bits: 0b1101 }),
      rowOf(4, { bits: 0b0000 }),
      rowOf(4, { topP: 0.5 }),
    ]
    const found = await gpu.sample(logits, 4, rows)
    expect(found.map(({ status, token }) => `${status} ${token}`)).toEqual([
      "model_output -1",
      "ok 2",
      "ok 3",
      "empty_mask -1",
      "model_output -1",
    ])
  })

  test("S1-15, S3-14: the 64-byte record of a row says what the row is", () => {
    const { params } = rowOf(100, {
      temperature: 0.5,
      topK: 7,
      topP: 0.25,
      minP: 0.5,
      topNSigma: 3,
      repetitionPenalty: 2,
    })
    const data = new ArrayBuffer(2 * 64)
    const view = new DataView(data)
    const record = {
      params,
      key: [1, 2, 3, 4] as const,
      slot: 5,
      slot2: 6,
      editOffset: 7,
      editCount: 8,
      logitsRow: 9,
    }
    packRow(view, 1, record)
    const words = Array.from({ length: 16 }, (_, at) => view.getUint32(64 + 4 * at, true))
    const floats = Array.from({ length: 16 }, (_, at) => view.getFloat32(64 + 4 * at, true))
    expect(words[0]).toBe(RowFlag.threshold | RowFlag.sigma | RowFlag.minP | RowFlag.topK | RowFlag.topP)
    expect(words.slice(1, 5)).toEqual([5, 6, 7, 8])
    expect(floats[5]).toBe(2)
    expect(words[6]).toBe(7)
    expect(floats.slice(7, 12)).toEqual([0.25, Math.fround(Math.log(0.5)), 3, 2, 0.5])
    expect(words.slice(12)).toEqual([1, 2, 3, 9])
    expect(words.length * 4).toBe(64)
    expect(Array.from(new Uint32Array(data, 0, 16))).toEqual(Array(16).fill(0))
  })
})
