/**
 * The GPU sampler: samples rows with any parameters and masks in one submission, and reads back 16
 * bytes for each row and the log-probabilities that were asked for.
 *
 * Two kinds of rows are computed on the CPU by the definition's fast path: rows with rarely used
 * stages, and rows whose answer float32 cannot determine. The random bits are the same on both
 * sides, so only the counters show which side computed a row.
 */
import type { TokenCounts } from "../counts.ts"
import { describeDrawn, forcedResult, recordSurprise } from "../cpu.ts"
import type { HalfFormat } from "../half.ts"
import { isGreedy } from "../params.ts"
import { Ban, collectEdits, type Edits } from "../penalties.ts"
import { rowKey, Stream, uniform } from "../rng.ts"
import {
  checkDrawn,
  countBits,
  type LogitsSource,
  type SampleResult,
  type SampleRow,
  type Sampler,
} from "../row.ts"
import { logitsOf, onHost, sampleOnCpu } from "../sampler.ts"
import { type Answer, Asks, addAsk, describeAnswer, floatOf, judgeAnswer, withVerdict } from "./asks.ts"
import { MaskAtlas } from "./atlas.ts"
import {
  canStartWarm,
  EditWords,
  hasRareStages,
  packEdits,
  packRare,
  packRow,
  RareRecords,
  ResultStatus,
  ResultWords,
  RowFlag,
  RowWords,
  rowFlags,
  SlabWords,
} from "./layout.ts"
import {
  type BatchAnswer,
  type BatchData,
  type BatchShape,
  GpuPipeline,
  type Pipeline,
  type PlacedRows,
} from "./pipeline.ts"
import { isGpuRow, isShort, slotsOf } from "./route.ts"

/** Maximum rows of one submission; more rows are split into several submissions. */
const MaxRows = 1024

/** Totals of a GPU sampler since it was created. */
export interface GpuSamplerStats {
  /** Rows that the kernels answered. */
  gpuRows: number
  /**
   * Rows that were computed on the CPU because of their parameters (`cpuRows`), or because float32
   * could not determine the answer (`redoneRows`).
   */
  cpuRows: number
  redoneRows: number
  submissions: number
  dispatches: number
  uploadedBytes: number
  /**
   * Bytes of logits rows that were copied to the host. The 16 bytes of each result are not counted.
   */
  readBackBytes: number
}

/** A sampler whose kernels run on a device; it also takes logits that are already there. */
export interface GpuSampler extends Sampler {
  readonly name: "gpu"
  readonly stats: Readonly<GpuSamplerStats>
  /**
   * Samples like `sample` from logits on the device: [R, V], usages STORAGE and COPY_SRC. The
   * buffer is bound in place; only rows that the kernels do not compute are copied to the host.
   */
  sampleBuffer(
    logits: GPUBuffer,
    width: number,
    rows: readonly SampleRow[],
    layout?: LogitsLayout,
  ): Promise<SampleResult[]>
}

/** The layout of logits in a buffer of the device. */
export interface LogitsLayout {
  /** Format of a logit; half precision is widened exactly. Default float32. */
  readonly format?: "float32" | HalfFormat
  /** Number of logits from the start of one row to the start of the next. Default: the width. */
  readonly stride?: number
}

/** Where the logits of a step are. */
interface RowSource<Handle> {
  readonly width: number
  /** Whether reading a row on the host costs nothing. */
  readonly isOnHost: boolean
  /** Returns a row on the host. */
  rowOf(index: number): Promise<Float32Array>
  /** Returns what a submission binds for these rows, and the index of each row in it. */
  place(indexes: readonly number[]): {
    logits: BatchData<Handle>["logits"]
    placeOf: (logitsRow: number) => number
  }
}

export interface GpuSamplerOptions {
  /**
   * Rows with at most this many legal tokens are computed on the CPU if their logits are on the
   * host: this takes 20 µs and avoids their upload. Default 64.
   */
  readonly shortRows?: number
  /** Where each pass writes the times of its start and end; for benchmarks. */
  readonly timestampWrites?: GPUComputePassTimestampWrites
}

/**
 * Compiles the kernels on a device that the caller keeps owning. Rejects with the device's message
 * if it rejects a kernel.
 */
export async function createGpuSampler(
  device: GPUDevice,
  options: GpuSamplerOptions = {},
): Promise<GpuSampler> {
  return new DeviceSampler(await GpuPipeline.create(device, options.timestampWrites), options.shortRows)
}

/**
 * The sampler over a pipeline, which may be in another thread. It packs the rows, decodes the
 * answers, and computes the rows that the kernels do not.
 */
export class KernelSampler<Handle> implements Sampler {
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
  private readonly pipeline: Pipeline<Handle>
  private readonly shortRows: number
  private atlas: { width: number; epoch: number; atlas: MaskAtlas } | undefined
  /** The previous step. Steps share the buffers, so each waits for the one before. */
  private last: Promise<unknown> = Promise.resolve()
  /**
   * The maximum after temperature of each sequence's previous step, from which the cut of the next
   * step starts.
   */
  private readonly lastMax = new WeakMap<TokenCounts, number>()
  private isClosed = false

  constructor(pipeline: Pipeline<Handle>, shortRows = 64) {
    this.shortRows = shortRows
    this.pipeline = pipeline
  }

  async sample(
    logits: Float32Array | LogitsSource,
    width: number,
    rows: readonly SampleRow[],
  ): Promise<SampleResult[]> {
    if (logits instanceof Float32Array) return this.sampleHost(logits, width, rows)
    if (logits.host) return this.sampleHost(logits.host, width, rows)
    const place = this.pipeline.placeOf(logits)
    if (place) return this.samplePlaced(place, width, rows)
    return this.sampleHost(await onHost(logits), width, rows)
  }

  private sampleHost(
    logits: Float32Array,
    width: number,
    rows: readonly SampleRow[],
  ): Promise<SampleResult[]> {
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

  /**
   * Samples like `sample` from `rowCount` rows of logits on the device. Only rows that the kernels
   * do not compute are copied to the host.
   */
  samplePlaced(
    place: PlacedRows<Handle>,
    width: number,
    rows: readonly SampleRow[],
  ): Promise<SampleResult[]> {
    const { buffer, format, stride, rowCount } = place
    for (const { logitsRow } of rows) {
      if (Number.isInteger(logitsRow) && logitsRow >= 0 && logitsRow < rowCount) continue
      const error = new RangeError(`logitsRow: ${logitsRow} is outside the ${rowCount} rows of the buffer`)
      return Promise.reject(error)
    }
    const source: RowSource<Handle> = {
      width,
      isOnHost: false,
      rowOf: async (index) => {
        const row = await this.pipeline.readRow(place, index, width)
        this.stats.readBackBytes += (format === "float32" ? 4 : 2) * width
        return row
      },
      place: () => ({ logits: { buffer, format, stride }, placeOf: (row) => row }),
    }
    return this.enqueue(source, rows)
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.pipeline.destroy()
  }

  private enqueue(source: RowSource<Handle>, rows: readonly SampleRow[]): Promise<SampleResult[]> {
    const step = this.last.then(() => this.step(source, rows))
    this.last = step.catch(() => {})
    return step
  }

  private async step(source: RowSource<Handle>, rows: readonly SampleRow[]): Promise<SampleResult[]> {
    const { width } = source
    const results = new Array<SampleResult>(rows.length)
    const pending: number[] = []
    for (const [index, row] of rows.entries()) {
      const forced = forcedResult(row)
      if (forced) results[index] = withVerdict(forced, row)
      else if (isGpuRow(row, width) && !(source.isOnHost && this.isHostRow(row))) pending.push(index)
      else results[index] = await this.sampleOnCpu(source, row)
    }
    // Short rows have kernels of their own, over the last rows of a submission.
    const isShortAt = (index: number) => Number(isShort(rows[index], width))
    pending.sort((a, b) => isShortAt(a) - isShortAt(b) || a - b)
    const most = Math.floor(this.pipeline.maxBytes / (4 * Math.max(width, SlabWords)))
    const chunk = Math.max(1, Math.min(MaxRows, most))
    for (let start = 0; start < pending.length; start += chunk) {
      await this.submit(source, rows, pending.slice(start, start + chunk), results)
    }
    return results
  }

  private async submit(
    source: RowSource<Handle>,
    rows: readonly SampleRow[],
    indexes: readonly number[],
    results: SampleResult[],
  ): Promise<void> {
    const { width } = source
    const atlas = this.atlasOf(width, indexes.length)
    const batch = indexes.map((index) => rows[index])
    const edits = batch.map((row) => collectEdits(row))
    const { logits, placeOf } = source.place(batch.map(({ logitsRow }) => logitsRow))
    const rowData = new ArrayBuffer(4 * RowWords * indexes.length)
    const counts = batch.map(({ params }, at) => edits[at].count + (hasRareStages(params) ? RareRecords : 0))
    const editData = new ArrayBuffer(4 * EditWords * counts.reduce((sum, count) => sum + count, 0))
    const asks = new Asks()
    const askOf: number[] = []
    let editOffset = 0
    for (const [at, row] of batch.entries()) {
      const { params, tokens, position, choice, logitsRow } = row
      const slots = slotsOf(atlas, row, width)
      askOf.push(
        addAsk(asks, row, at, () => {
          return isShort(row, width) ? atlas.slotOf(row.mask, row.maskId) : slots.slot
        }),
      )
      packRow(new DataView(rowData), at, {
        params,
        key: rowKey(params.seed, position, Stream.draw, choice),
        ...slots,
        editOffset,
        editCount: edits[at].count,
        logitsRow: placeOf(logitsRow),
        lastMax: this.lastMax.get(tokens),
        ...(params.mirostat !== 0 ? { mu: tokens.muBefore(position, 2 * params.mirostatTau) } : {}),
        dropsHead: dropsHead(row),
      })
      packEdits(new DataView(editData), editOffset, edits[at], Ban.badWords | Ban.minTokens | Ban.ngram)
      if (hasRareStages(params)) packRare(new DataView(editData), editOffset + edits[at].count, params)
      editOffset += counts[at]
    }
    const data = { logits, rows: rowData, edits: editData, masks: atlas.take(), asks: asks.pack() }
    const found = await this.run(this.shapeOf(batch, width), data)
    this.stats.submissions++
    this.stats.dispatches += found.dispatches
    this.stats.uploadedBytes += found.uploadedBytes
    for (const [at, index] of indexes.entries()) {
      const words = found.results.subarray(ResultWords * at, ResultWords * (at + 1))
      const answer = askOf[at] < 0 ? undefined : asks.read(askOf[at], found.answers)
      results[index] = await this.read(words, answer, source, batch[at], edits[at])
    }
  }

  private async run(shape: BatchShape, data: BatchData<Handle>): Promise<BatchAnswer> {
    try {
      return await this.pipeline.run(shape, data)
    } catch (error) {
      // It is unknown which masks were written, so all are written again.
      this.atlas = undefined
      throw error
    }
  }

  private async read(
    [token, status, value, count]: Uint32Array,
    answer: Answer | undefined,
    source: RowSource<Handle>,
    row: SampleRow,
    edits: Edits,
  ): Promise<SampleResult> {
    const { params, tokens } = row
    const isBanned = status === ResultStatus.emptyMask && edits.bans.some((bans) => bans !== 0)
    const verdict = row.judged && status === ResultStatus.ok ? judgeAnswer(row, token, answer) : undefined
    if (status === ResultStatus.redo || isBanned || verdict?.token === -1) {
      this.stats.redoneRows++
      return this.sampleOnCpu(source, row)
    }
    this.stats.gpuRows++
    if (status === ResultStatus.emptyMask) return { token: -1, status: "empty_mask" }
    if (status === ResultStatus.modelOutput) return { token: -1, status: "model_output" }
    if (status !== ResultStatus.ok) throw new Error("internal: the GPU wrote no result")
    checkDrawn(row, verdict?.token ?? token, source.width)
    if (canStartWarm(params)) this.lastMax.set(tokens, floatOf(value))
    if (verdict) return { ...verdict, status: "ok" }
    const logprobs = params.logprobs !== null && {
      logprobs: answer
        ? describeAnswer(answer, token, params)
        : describeDrawn(await source.rowOf(row.logitsRow), row, token),
    }
    if (params.mirostat === 0 || isGreedy(params)) return { token, status: "ok", ...logprobs }
    const surprise = floatOf(value)
    recordSurprise(row, surprise, count)
    return { token, status: "ok", ...logprobs, surprise }
  }

  /** `rows` lists long rows first, then short ones. */
  private shapeOf(rows: readonly SampleRow[], width: number): BatchShape {
    const long = rows.filter((row) => !isShort(row, width))
    const drawn = long.filter(({ params }) => !isGreedy(params))
    const cuts = drawn.filter(({ params: { topK, topP } }) => topK > 0 || topP < 1)
    return {
      rowCount: long.length,
      shortCount: rows.length - long.length,
      width,
      isFiltered: drawn.some(({ params }) => (rowFlags(params) & ~RowFlag.warm) !== 0),
      isCut: cuts.length > 0,
      isWarm: cuts.every(({ params, tokens }) => canStartWarm(params) && this.lastMax.has(tokens)),
    }
  }

  private isHostRow(row: SampleRow): boolean {
    return this.shortRows > 0 && row.mask !== null && countBits(row.mask) <= this.shortRows
  }

  private async sampleOnCpu(source: RowSource<Handle>, row: SampleRow): Promise<SampleResult> {
    this.stats.cpuRows++
    return sampleOnCpu(await source.rowOf(row.logitsRow), row)
  }

  private atlasOf(width: number, rowCount: number): MaskAtlas {
    const { atlas: kept } = this
    const { epoch, maxBytes } = this.pipeline
    // Each row has at most two masks, or its ids and one mask for raw log-probabilities.
    if (kept?.width === width && kept.epoch === epoch && kept.atlas.slotCount > 3 * rowCount) {
      kept.atlas.beginStep()
      return kept.atlas
    }
    const atlas = new MaskAtlas(width, { minSlots: 3 * rowCount, maxBytes })
    this.atlas = { width, epoch, atlas }
    return atlas
  }
}

/** The sampler on a device of this thread. */
class DeviceSampler extends KernelSampler<GPUBuffer> implements GpuSampler {
  sampleBuffer(
    buffer: GPUBuffer,
    width: number,
    rows: readonly SampleRow[],
    { format = "float32", stride = width }: LogitsLayout = {},
  ): Promise<SampleResult[]> {
    if (!(Number.isInteger(stride) && stride >= width)) {
      return Promise.reject(
        new RangeError(`stride: ${stride} is not an integer of at least the width, ${width}`),
      )
    }
    const size = format === "float32" ? 4 : 2
    const rowCount = Math.floor((buffer.size / size + stride - width) / stride)
    return this.samplePlaced({ buffer, format, stride, rowCount }, width, rows)
  }
}

/** Returns whether XTC drops the head in this draw. */
function dropsHead({ params, position, choice }: SampleRow): boolean {
  const { xtcProbability, xtcThreshold, seed } = params
  if (xtcProbability === 0 || xtcThreshold > 0.5) return false
  return uniform(rowKey(seed, position, Stream.xtc, choice)) < xtcProbability
}
