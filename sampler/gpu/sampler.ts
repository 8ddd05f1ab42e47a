/**
 * The GPU sampler: rows of any parameters and masks in one submission, 16 bytes a row back.
 *
 * What the kernels do not compute is computed here by the definition's fast path, row by row: stages that only few use,
 * log-probabilities, and rows whose answer float32 cannot tell. The random bits are the same on both sides, so which side
 * computed a row shows nowhere but in the counters.
 */
import { describeDrawn, forcedResult } from "../cpu.ts"
import { vllmOrder } from "../order.ts"
import { isGreedy, type SamplingParams } from "../params.ts"
import { Ban, collectEdits, type Edits } from "../penalties.ts"
import { rowKey, Stream } from "../rng.ts"
import { checkDrawn, countBits, type SampleResult, type SampleRow, type Sampler } from "../row.ts"
import { logitsOf, sampleOnCpu } from "../sampler.ts"
import { MaskAtlas } from "./atlas.ts"
import { EditWords, HistWords, packEdits, packRow, ResultStatus, ResultWords, RowWords } from "./layout.ts"
import { type BatchData, GpuPipeline } from "./pipeline.ts"

/** Sums of 12-bit halves of masses fit a word up to this width. */
const MaxWidth = 2 ** 20
/** Rows of one submission; more are cut into several. */
const MaxRows = 1024

export interface GpuSamplerStats {
  /** Rows that the kernels answered. */
  gpuRows: number
  /** Rows that were computed on the CPU: by their parameters, and because the kernels could not tell. */
  cpuRows: number
  redoneRows: number
  submissions: number
  dispatches: number
  uploadedBytes: number
  /** Rows of logits that had to come to the host; results are 16 bytes a row beside them. */
  readBackBytes: number
}

export interface GpuSampler extends Sampler {
  readonly name: "gpu"
  readonly stats: Readonly<GpuSamplerStats>
  /**
   * As `sample`, over logits that are on the device: f32 [R, V], usages STORAGE and COPY_SRC. They are bound where they
   * are; only rows that the kernels do not compute come to the host.
   */
  sampleBuffer(logits: GPUBuffer, width: number, rows: readonly SampleRow[]): Promise<SampleResult[]>
}

/** Where a step's logits are. */
interface LogitsSource {
  readonly width: number
  /** Whether a row costs nothing to look at here. */
  readonly isOnHost: boolean
  /** A row on the host. */
  rowOf(index: number): Promise<Float32Array>
  /** What a submission binds for these rows, and where each is in it. */
  place(indexes: readonly number[]): {
    logits: BatchData["logits"]
    placeOf: (logitsRow: number) => number
  }
}

export interface GpuSamplerOptions {
  /**
   * Rows with at most this many legal tokens are computed here: that is 20 µs, and their logits, which are here already,
   * need no way to the device. Default 64.
   */
  readonly shortRows?: number
  /** Where each pass writes when it began and ended: for benches. */
  readonly timestampWrites?: GPUComputePassTimestampWrites
}

/** Compiles the kernels on a device that stays the caller's. Rejects with what the device says of a kernel. */
export async function createGpuSampler(
  device: GPUDevice,
  options: GpuSamplerOptions = {},
): Promise<GpuSampler> {
  return new KernelSampler(
    device,
    await GpuPipeline.create(device, options.timestampWrites),
    options.shortRows ?? 64,
  )
}

class KernelSampler implements GpuSampler {
  readonly name = "gpu"
  readonly stats: GpuSamplerStats = {
    gpuRows: 0,
    cpuRows: 0,
    redoneRows: 0,
    submissions: 0,
    dispatches: 0,
    uploadedBytes: 0,
    readBackBytes: 0,
  }
  private readonly device: GPUDevice
  private readonly pipeline: GpuPipeline
  private readonly shortRows: number
  private atlas: { width: number; atlas: MaskAtlas } | undefined
  /** Steps share the buffers, so one waits for the other. */
  private last: Promise<unknown> = Promise.resolve()
  private error: string | undefined
  private isClosed = false

  constructor(device: GPUDevice, pipeline: GpuPipeline, shortRows: number) {
    this.device = device
    this.shortRows = shortRows
    this.pipeline = pipeline
    // Validation errors do not throw: without this a wrong binding would read as zeros.
    device.onuncapturederror = ({ error }) => {
      this.error ??= error.message
    }
  }

  sample(logits: Float32Array, width: number, rows: readonly SampleRow[]): Promise<SampleResult[]> {
    return this.enqueue(
      {
        width,
        isOnHost: true,
        rowOf: async (index) => logitsOf(logits, width, index),
        place: (indexes) => {
          const sources = [...new Set(indexes)]
          const at = new Map(sources.map((source, place) => [source, place]))
          return {
            logits: sources.map((source) => logitsOf(logits, width, source)),
            placeOf: (row) => at.get(row)!,
          }
        },
      },
      rows,
    )
  }

  sampleBuffer(logits: GPUBuffer, width: number, rows: readonly SampleRow[]): Promise<SampleResult[]> {
    const rowCount = Math.floor(logits.size / (4 * width))
    for (const { logitsRow } of rows) {
      if (Number.isInteger(logitsRow) && logitsRow >= 0 && logitsRow < rowCount) continue
      const error = new RangeError(`logitsRow: ${logitsRow} is outside the ${rowCount} rows of the buffer`)
      return Promise.reject(error)
    }
    return this.enqueue(
      {
        width,
        isOnHost: false,
        rowOf: (index) => this.readBack(logits, width, index),
        place: () => ({ logits, placeOf: (row) => row }),
      },
      rows,
    )
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.pipeline.destroy()
    this.atlas?.atlas.destroy()
  }

  private enqueue(source: LogitsSource, rows: readonly SampleRow[]): Promise<SampleResult[]> {
    const step = this.last.then(() => this.step(source, rows))
    this.last = step.catch(() => {})
    return step
  }

  private async step(source: LogitsSource, rows: readonly SampleRow[]): Promise<SampleResult[]> {
    const { width } = source
    const results = new Array<SampleResult>(rows.length)
    const pending: number[] = []
    for (const [index, row] of rows.entries()) {
      const forced = forcedResult(row)
      if (forced) results[index] = forced
      else if (isGpuRow(row, width) && !(source.isOnHost && this.isShort(row))) pending.push(index)
      else results[index] = await this.sampleOnCpu(source, row)
    }
    const { maxStorageBufferBindingSize, maxBufferSize } = this.device.limits
    const rowBytes = Math.max(4 * width, 8 * HistWords)
    const most = Math.floor(Math.min(maxStorageBufferBindingSize, maxBufferSize) / rowBytes)
    const chunk = Math.max(1, Math.min(MaxRows, most))
    for (let start = 0; start < pending.length; start += chunk) {
      await this.submit(source, rows, pending.slice(start, start + chunk), results)
    }
    return results
  }

  private async submit(
    source: LogitsSource,
    rows: readonly SampleRow[],
    indexes: readonly number[],
    results: SampleResult[],
  ): Promise<void> {
    const { width } = source
    const atlas = this.atlasOf(width, indexes.length)
    const edits = indexes.map((index) => collectEdits(rows[index]))
    const { logits, placeOf } = source.place(indexes.map((index) => rows[index].logitsRow))
    const rowData = new ArrayBuffer(4 * RowWords * indexes.length)
    const editData = new ArrayBuffer(4 * EditWords * edits.reduce((sum, { count }) => sum + count, 0))
    let editOffset = 0
    for (const [at, index] of indexes.entries()) {
      const { params, mask, maskId, position, choice, logitsRow } = rows[index]
      packRow(new DataView(rowData), at, {
        params,
        key: rowKey(params.seed, position, Stream.draw, choice),
        slot: atlas.slotOf(mask, maskId),
        slot2: atlas.slotOf(params.allowed, params.allowed),
        editOffset,
        editCount: edits[at].count,
        logitsRow: placeOf(logitsRow),
      })
      packEdits(new DataView(editData), editOffset, edits[at], Ban.badWords | Ban.minTokens | Ban.ngram)
      editOffset += edits[at].count
    }
    const shape = { rowCount: indexes.length, width, ...needsOf(indexes.map((index) => rows[index].params)) }
    const answer = await this.pipeline.run(shape, {
      logits,
      rows: rowData,
      edits: editData,
      atlas,
    })
    this.stats.submissions++
    this.stats.dispatches = this.pipeline.dispatchCount
    this.stats.uploadedBytes = this.pipeline.uploadedBytes + atlas.uploadedBytes
    if (this.error !== undefined) throw new Error(`GPU: ${this.error}`)
    for (const [at, index] of indexes.entries()) {
      const words = answer.subarray(ResultWords * at, ResultWords * (at + 1))
      results[index] = await this.read(words, source, rows[index], edits[at])
    }
  }

  private async read(
    [token, status]: Uint32Array,
    source: LogitsSource,
    row: SampleRow,
    edits: Edits,
  ): Promise<SampleResult> {
    const isBanned = status === ResultStatus.emptyMask && edits.bans.some((bans) => bans !== 0)
    if (status === ResultStatus.redo || isBanned) {
      this.stats.redoneRows++
      return this.sampleOnCpu(source, row)
    }
    this.stats.gpuRows++
    if (status === ResultStatus.emptyMask) return { token: -1, status: "empty_mask" }
    if (status === ResultStatus.modelOutput) return { token: -1, status: "model_output" }
    if (status !== ResultStatus.ok) throw new Error("internal: the GPU wrote no result")
    checkDrawn(row, token, source.width)
    if (row.params.logprobs === null) return { token, status: "ok" }
    return {
      token,
      status: "ok",
      logprobs: describeDrawn(await source.rowOf(row.logitsRow), row, token),
    }
  }

  private isShort({ mask }: SampleRow): boolean {
    return this.shortRows > 0 && mask !== null && countBits(mask) <= this.shortRows
  }

  private async sampleOnCpu(source: LogitsSource, row: SampleRow): Promise<SampleResult> {
    this.stats.cpuRows++
    return sampleOnCpu(await source.rowOf(row.logitsRow), row)
  }

  /** One row of a buffer on the device. */
  private async readBack(logits: GPUBuffer, width: number, index: number): Promise<Float32Array> {
    const { COPY_DST, MAP_READ } = GPUBufferUsage
    const staging = this.device.createBuffer({ size: 4 * width, usage: COPY_DST | MAP_READ })
    const encoder = this.device.createCommandEncoder()
    encoder.copyBufferToBuffer(logits, 4 * width * index, staging, 0, 4 * width)
    this.device.queue.submit([encoder.finish()])
    await staging.mapAsync(GPUMapMode.READ)
    const row = new Float32Array(staging.getMappedRange().slice(0))
    staging.destroy()
    this.stats.readBackBytes += 4 * width
    return row
  }

  private atlasOf(width: number, rowCount: number): MaskAtlas {
    const { atlas: kept } = this
    // Each row has two masks at most.
    if (kept?.width === width && kept.atlas.slotCount > 2 * rowCount) {
      kept.atlas.beginStep()
      return kept.atlas
    }
    kept?.atlas.destroy()
    const atlas = new MaskAtlas(this.device, width, { minSlots: 2 * rowCount })
    this.atlas = { width, atlas }
    return atlas
  }
}

/** Whether the kernels know all stages of the row. */
function isGpuRow({ params, processors }: SampleRow, width: number): boolean {
  if (processors?.length) return false
  if (width > MaxWidth || params.contrastive !== null || !hasDefaultOrder(params)) return false
  if (params.logprobs !== null && params.logprobsMode.startsWith("processed")) return false
  if (isGreedy(params)) return true
  return (
    params.typicalP === 1 &&
    params.epsilonCutoff === 0 &&
    params.etaCutoff === 0 &&
    params.xtcProbability === 0 &&
    params.dynatempRange === 0 &&
    params.mirostat === 0 &&
    params.topPBoundary === "ge"
  )
}

function hasDefaultOrder({ order }: SamplingParams): boolean {
  return order.every((stage, at) => stage === vllmOrder[at])
}

function needsOf(all: readonly SamplingParams[]): {
  isFiltered: boolean
  isCut: boolean
  isRefined: boolean
} {
  const drawn = all.filter((params) => !isGreedy(params))
  const cuts = drawn.filter(({ topK, topP }) => topK > 0 || topP < 1)
  return {
    isFiltered:
      drawn.some(({ topNSigma, minP, temperature }) => topNSigma > 0 || minP > 0 || temperature < 0.2) ||
      cuts.length > 0,
    isCut: cuts.length > 0,
    // With a small k the cut lies in the thin head; both cuts at once are not refined.
    isRefined: cuts.some(({ topK, topP }) => (topK === 0 && topP < 1) || (topK > 256 && topP === 1)),
  }
}
