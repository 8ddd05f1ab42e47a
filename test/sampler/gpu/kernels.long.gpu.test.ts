/**
 * The kernels that only some rows reach: `radix`, `short`, the histogram of a warm start, the mirostat threshold; and
 * logits in half precision. Tokens of the definition, with nothing left to the CPU.
 */
import { expect, test } from "vitest"
import { TokenCounts } from "../../../sampler/counts.ts"
import { lawOf, sampleRow } from "../../../sampler/cpu.ts"
import { createGpuSampler } from "../../../sampler/gpu/sampler.ts"
import { widenHalf } from "../../../sampler/half.ts"
import { gumbel, rowKey, tokenBits } from "../../../sampler/rng.ts"
import type { SampleRow } from "../../../sampler/row.ts"
import { logitsOf } from "../../../sampler/sampler.ts"
import { pinned, survivors } from "../../../sampler/truncation.ts"
import { compareRows } from "../../support/sampler/compare.ts"
import { describeGpu, device, gpu } from "../../support/sampler/opened.ts"
import { normalOf, type RowOptions, randomOf, randomOptions, rowOf } from "../../support/sampler/rows.ts"

describeGpu("GPU kernels", () => {
  /** Rows under whose seeds the tokens on both sides of a cut win the draw, if they are kept: one an offset from the cut. */
  function edgeRows(
    own: Float32Array,
    logitsRow: number,
    options: RowOptions,
    offsets: readonly number[],
  ): SampleRow[] {
    const { values, alive } = lawOf(
      own,
      rowOf(own.length, { ...options, topK: 0, topP: 1, minP: 0 }),
    ).candidates
    const order = pinned({ values, alive })
    const kept = survivors(lawOf(own, rowOf(own.length, options)).candidates)
    const top = values[order[0]]
    const lse = top + Math.log(kept.reduce((sum, id) => sum + Math.exp(values[id] - top), 0))
    const { position = 0 } = options
    return offsets
      .map((offset) => order[kept.length + offset])
      .filter((id) => id !== undefined)
      .flatMap((id) => {
        for (let seed = 0; seed < 200_000; seed++) {
          if (gumbel(tokenBits(id, rowKey(BigInt(seed), position, 0, 0))) < lse - values[id] + 1) continue
          return [rowOf(own.length, { ...options, seed, logitsRow })]
        }
        return []
      })
  }

  test("S4-15: radix cuts what no sort can hold: all equal, huge ties, nothing near the maximum", async () => {
    const width = 12_000
    const random = randomOf(51)
    const logits = new Float32Array(4 * width)
    for (let id = 0; id < width; id++) {
      logits[id] = -7.25
      // Three values; one bucket's width; one token, and all the others 40 nats and more below.
      logits[width + id] = 0.5 * Math.floor(3 * random())
      logits[2 * width + id] = 0.04 * random()
      logits[3 * width + id] = id === 2345 ? 0 : -40 - 20 * random()
    }
    const cuts: RowOptions[] = [
      { topP: 0.5 },
      { topP: 0.97 },
      { topK: 9000 },
      { topK: 11_000, topP: 0.75 },
      { topK: 10_500, topP: 0.999, minP: 0.2 },
      { topP: 1 - 1e-13 },
    ]
    const penalties = { repetitionPenalty: 1.3, prompt: Array.from({ length: 40 }, (_, at) => 290 * at) }
    const rows = cuts.flatMap((options, cut) =>
      [0, 1, 2, 3].map((logitsRow) =>
        rowOf(width, {
          ...options,
          ...(cut % 2 === 1 ? penalties : {}),
          logitsRow,
          seed: 9 * cut + logitsRow,
        }),
      ),
    )
    const before = { ...gpu.stats }
    expect((await compareRows(gpu, logits, width, rows)).tieCount).toBeLessThanOrEqual(1)
    const edges = [0, 1].flatMap((logitsRow) =>
      cuts
        .slice(0, 4)
        .flatMap((options) =>
          edgeRows(logitsOf(logits, width, logitsRow), logitsRow, options, [-900, -1, 0]),
        ),
    )
    expect(edges.length).toBeGreaterThan(15)
    expect((await compareRows(gpu, logits, width, edges)).tieCount).toBeLessThanOrEqual(4)
    expect(gpu.stats.redoneRows).toBe(before.redoneRows)
    expect(gpu.stats.cpuRows).toBe(before.cpuRows)
  })

  test("equal values keep exact shares: a half is a half, wherever the sum is made", async () => {
    for (const width of [8, 853, 9000]) {
      const count = width - (width % 4)
      const logits = Float32Array.from({ length: width }, (_, id) => (id < count ? 2 : -700))
      const options: RowOptions[] = [
        {},
        { minP: 0.81, temperature: 0.7 },
        { topNSigma: 1.28 },
        { topK: count },
      ]
      const rows = options.flatMap((each) =>
        [0.25, 0.5, 0.75].flatMap((topP) =>
          Array.from({ length: 2 }, (_, at) => {
            // The token after the cut wins, if it is kept.
            const next = topP * count
            let seed = 1000 * at
            while (gumbel(tokenBits(next, rowKey(BigInt(seed), 0, 0, 0))) < Math.log(count) + 1) seed++
            return rowOf(width, { ...each, topP, seed })
          }),
        ),
      )
      expect((await compareRows(gpu, logits, width, rows)).tieCount).toBe(0)
    }
  })

  test("rows of few legal tokens are one dispatch, and read only their logits", async () => {
    const width = 40_000
    const random = randomOf(52)
    const normal = normalOf(random)
    const logits = Float32Array.from({ length: 2 * width }, normal)
    const rows = Array.from({ length: 60 }, (_, index) => {
      const count = [2, 3, 31, 64, 255, 256, 257, 1000, 1024][index % 9]
      const ids = Array.from({ length: count }, () => Math.floor(random() * width))
      const options = randomOptions(width, random)
      return rowOf(width, {
        ...options,
        // Stages that only the CPU has.
        ...{
          typicalP: 1,
          epsilonCutoff: 0,
          etaCutoff: 0,
          xtcProbability: 0,
          dynatempRange: 0,
          logprobs: null,
        },
        topK: index % 3 === 0 ? 1 + Math.floor(random() * 40) : options.topK,
        allowedTokenIds: index % 7 === 3 ? ids.slice(0, 1 + (count >> 1)) : null,
        mask: ids,
        logitsRow: index % 2,
      })
    })
    const { stats } = gpu
    const before = { ...stats }
    expect((await compareRows(gpu, logits, width, rows)).tieCount).toBeLessThanOrEqual(1)
    expect(stats.dispatches - before.dispatches).toBe(2)
    expect(stats.gpuRows - before.gpuRows).toBeGreaterThan(100)
    const ids = Array.from({ length: 700 }, (_, at) => 57 * at)
    const cuts: RowOptions[] = [
      { topK: 20 },
      { topP: 0.6 },
      { topK: 300, topP: 0.8 },
      { minP: 0.1, temperature: 1.5 },
    ]
    const edges = cuts.flatMap((options) =>
      edgeRows(logitsOf(logits, width, 1), 1, { ...options, mask: ids }, [-1, 0]),
    )
    expect(edges.length).toBeGreaterThanOrEqual(6)
    expect((await compareRows(gpu, logits, width, edges)).tieCount).toBeLessThanOrEqual(1)
    // The same state again: its list of ids is there already.
    const warm = { ...rowOf(width, { mask: [1, 39_999], seed: 3 }), maskId: 5 }
    await gpu.sample(logits, width, [warm])
    const cold = stats.uploadedBytes
    await gpu.sample(logits, width, [warm])
    expect(stats.uploadedBytes - cold).toBe(4 * width + 64 + 32)
  })

  test("S0-13, S3-06: half-precision logits are widened exactly, wherever a row begins", async () => {
    const width = 4097
    const rowCount = 3
    const random = randomOf(53)
    const special = [0x7c00, 0xfc00, 0x8000, 0x0001, 0x83ff, 0x0400, 0x7bff, 0xfbff]
    for (const format of ["float16", "bfloat16"] as const) {
      for (const stride of [width, width + 3]) {
        const halves = new Uint16Array(2 * Math.ceil((rowCount * stride) / 2))
        // Exponents of both signs; of float16 from 2^−10 to 2^3.
        for (let at = 0; at < halves.length; at++) {
          const exponent =
            format === "float16"
              ? (5 + Math.floor(14 * random())) << 10
              : (120 + Math.floor(10 * random())) << 7
          halves[at] =
            (random() < 0.5 ? 0x8000 : 0) |
            exponent |
            Math.floor(random() * (format === "float16" ? 1024 : 128))
          if (random() < 0.01) halves[at] = special[Math.floor(random() * special.length)]
        }
        for (let row = 0; row < rowCount; row++)
          halves.subarray(row * stride, row * stride + width).fill(0x4900, 7, 9)
        const wide = widenHalf(halves, format)
        const logits = new Float32Array(rowCount * width)
        for (let row = 0; row < rowCount; row++)
          logits.set(wide.subarray(row * stride, row * stride + width), row * width)
        const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage
        const buffer = device.device.createBuffer({
          size: halves.byteLength,
          usage: STORAGE | COPY_SRC | COPY_DST,
        })
        device.device.queue.writeBuffer(buffer, 0, halves)
        const few = Array.from({ length: 30 }, () => Math.floor(random() * width))
        const kinds: RowOptions[] = [
          { temperature: 0 },
          { temperature: 0.7 },
          { topP: 0.9 },
          { topK: 20 },
          { mask: few },
          { typicalP: 0.5 },
        ]
        const rows = kinds.flatMap((options, kind) =>
          [0, 1, 2].map((logitsRow) => rowOf(width, { ...options, logitsRow, seed: kind, logprobs: 2 })),
        )
        const found = await gpu.sampleBuffer(buffer, width, rows, { format, stride })
        expect(found).toEqual(await gpu.sample(logits, width, rows))
        buffer.destroy()
      }
    }
  })

  test("float16 and bfloat16 are the numbers that they stand for", () => {
    const bits = [0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x3c00, 0xc000, 0x7bff, 0x7c00, 0xfc00, 0x7e00]
    const values = [0, -0, 2 ** -24, 1023 * 2 ** -24, 2 ** -14, 1, -2, 65504, Infinity, -Infinity, NaN]
    expect(Array.from(widenHalf(Uint16Array.from(bits), "float16"))).toEqual(values)
    const brain = widenHalf(Uint16Array.of(0x3f80, 0xc0a0, 0x7f80, 0x8000), "bfloat16")
    expect(Array.from(brain)).toEqual([1, -5, Infinity, -0])
  })

  test("S4-11: mirostat 2 on the device: the tokens and the surprise of the definition, step by step", async () => {
    const width = 5000
    const normal = normalOf(randomOf(54))
    const history = [new TokenCounts([1, 2]), new TokenCounts([1, 2])] as const
    const few = Array.from({ length: 300 }, (_, at) => 16 * at)
    const before = { ...gpu.stats }
    let differences = 0
    for (let step = 0; step < 60; step++) {
      const logits = Float32Array.from({ length: width }, () => 3 * normal())
      const options = { mirostat: 2, mirostatTau: 4, temperature: step % 2 === 0 ? 0.8 : 1, seed: 77 }
      const base = rowOf(width, { ...options, mask: step % 5 === 4 ? few : undefined })
      const [own, other] = history.map((tokens) => ({ ...base, tokens, position: tokens.length }))
      const expected = sampleRow(logits, own)
      const [found] = await gpu.sample(logits, width, [other])
      if (found.token !== expected.token) differences++
      else expect(found.surprise).toBeCloseTo(expected.surprise!, 4)
      for (const tokens of history) tokens.push(expected.token)
      const [mu, gpuMu] = history.map((tokens) => tokens.muBefore(tokens.length, 0))
      if (found.token === expected.token) expect(gpuMu).toBeCloseTo(mu, 3)
    }
    expect(differences).toBe(0)
    expect(gpu.stats.cpuRows).toBe(before.cpuRows)
    // One legal token leaves μ alone.
    const row = rowOf(width, { mirostat: 2, mask: few, allowedTokenIds: [16] })
    await gpu.sample(new Float32Array(width), width, [row])
    expect(row.tokens.muBefore(row.position + 1, -1)).toBe(10)
  })

  test("S4-17: a cut that starts from the last step's maximum is the cut that starts from nothing", async () => {
    const width = 5000
    const normal = normalOf(randomOf(55))
    const warm = await createGpuSampler(device.device, { shortRows: 0 })
    const cuts: RowOptions[] = [
      { topP: 0.9 },
      { topK: 50, topP: 0.9 },
      { topK: 2000 },
      { topP: 0.5, temperature: 1.7 },
      { topP: 1 - 1e-9 },
    ]
    const histories = cuts.map(() => new TokenCounts([]))
    // Drifts that a guess survives, up and down; leaps that it does not; and nothing in common at all.
    const levels = [0, 1.9, -1, -1.2, 12, 11, -30, 400, 398]
    for (const [step, level] of levels.entries()) {
      const spread = step % 4 === 3 ? 0.01 : 2
      const logits = Float32Array.from({ length: width }, () => level + spread * normal())
      // Among them rows in which the last token that is kept wins, or the first that is not would.
      const rows = cuts.flatMap((options, cut) => {
        const plain = rowOf(width, { ...options, seed: 100 * step + cut, position: step })
        const edges = edgeRows(logits, 0, { ...options, position: step }, [-1, 0])
        return [plain, ...edges].map((row) => ({ ...row, tokens: histories[cut] }))
      })
      expect(rows.length).toBeGreaterThan(10)
      const cold = rows.map((row) => ({ ...row, tokens: new TokenCounts([]) }))
      const before = warm.stats.dispatches
      const found = await warm.sample(logits, width, rows)
      expect(warm.stats.dispatches - before).toBe(7)
      expect(found, `step ${step}`).toEqual(await gpu.sample(logits, width, cold))
      for (const [index, row] of step === 5 ? rows.entries() : []) {
        const alone = await gpu.sample(logits, width, [row])
        expect(alone[0]).toEqual(found[index])
      }
    }
    warm.close()
  })
})
