/**
 * Kernels, buffers and one submission: takes a batch of packed rows, returns 16 bytes for each row.
 *
 * A batch is one compute pass. `scan` and `stat` run always for long rows; `take` and `settle` run
 * if a row filters; `hist` and `cut` run before them and `radix` after them if a row cuts by rank
 * or mass. Rows with few legal tokens need only `short`. `radix` is launched indirectly, by rows
 * whose cut `settle` could not make. If all rows start warm, `hist` is launched indirectly too, by
 * the rows whose guess was bad. `rank` and `describe` follow if a row asks for more than its token,
 * and `residual` and `replace` if a draft token is judged. Dispatches of one pass see each other's
 * writes, in order. A kernel skips finished rows at once.
 */
import { type HalfFormat, widenHalf } from "../half.ts"
import type { LogitsSource } from "../row.ts"
import { type PackedAsks, ScratchWords } from "./asks.ts"
import type { MaskSlots } from "./atlas.ts"
import { cut } from "./kernels/cut.ts"
import { describe } from "./kernels/describe.ts"
import { hist } from "./kernels/hist.ts"
import { radix } from "./kernels/radix.ts"
import { rank } from "./kernels/rank.ts"
import { replace, residual } from "./kernels/residual.ts"
import { scan } from "./kernels/scan.ts"
import { settle } from "./kernels/settle.ts"
import { short } from "./kernels/short.ts"
import { stat } from "./kernels/stat.ts"
import { take } from "./kernels/take.ts"
import {
  EditWords,
  HistWords,
  LogitFormat,
  PartialWords,
  ResultWords,
  RowWords,
  ShapeWords,
  SlabWords,
  StatWords,
  Tile,
} from "./layout.ts"

/** The bindings that each kernel uses; `kernels/common.ts` has their numbers. */
const kernels = {
  scan: [scan, ["shape", "logits", "atlas", "rows", "edits", "partials", "hist"]],
  stat: [stat, ["shape", "rows", "partials", "stats", "slab", "results", "hist", "indirect"]],
  hist: [hist, ["shape", "logits", "atlas", "rows", "edits", "stats", "hist"]],
  cut: [cut, ["rows", "stats", "hist"]],
  take: [take, ["shape", "logits", "atlas", "rows", "edits", "partials", "stats", "slab"]],
  settle: [settle, ["shape", "rows", "partials", "stats", "slab", "results", "indirect"]],
  radix: [radix, ["shape", "logits", "atlas", "rows", "edits", "partials", "stats", "slab", "results"]],
  short: [short, ["shape", "logits", "atlas", "rows", "edits", "results"]],
  rank: [rank, ["shape", "logits", "atlas", "rows", "edits", "stats", "results", "asks", "answers"]],
  describe: [describe, ["shape", "asks", "answers"]],
  residual: [residual, ["shape", "logits", "atlas", "rows", "edits", "stats", "asks", "answers"]],
  replace: [replace, ["shape", "asks", "answers"]],
} as const

const bindings = {
  shape: 0,
  logits: 1,
  atlas: 2,
  rows: 3,
  edits: 4,
  partials: 5,
  stats: 6,
  hist: 7,
  slab: 8,
  results: 9,
  indirect: 10,
  asks: 11,
  answers: 12,
} as const

type KernelName = keyof typeof kernels
type BufferName = keyof typeof bindings

export interface BatchShape {
  /** Number of rows of the long path, and of the short rows that follow them. */
  readonly rowCount: number
  readonly shortCount: number
  readonly width: number
  /** Whether a long row has a threshold or a cut. */
  readonly isFiltered: boolean
  /** Whether a long row has a cut by rank or mass. */
  readonly isCut: boolean
  /** Whether all rows that cut have a guess of their maximum. */
  readonly isWarm: boolean
}

/**
 * Logits that are on the device: rows of V values. `Handle` names the buffer to the pipeline: the
 * buffer itself, or its number if the pipeline is in another thread.
 */
export interface LogitsPlace<Handle> {
  readonly buffer: Handle
  /** How a logit is stored; half precision is widened exactly. */
  readonly format: "float32" | HalfFormat
  /** Number of logits from the start of one row to the start of the next. */
  readonly stride: number
}

/** All that a submission needs. It can be sent to another thread. */
export interface BatchData<Handle> {
  /** f32 [n, V]: rows that are written one after the other, or where they already are. */
  readonly logits: readonly Float32Array[] | LogitsPlace<Handle>
  readonly rows: ArrayBuffer
  readonly edits: ArrayBuffer
  readonly masks: MaskSlots
  readonly asks: PackedAsks
}

/** The result of a batch: u32 [rows, 4], as `struct Result`, and the answers of all asks. */
export interface BatchAnswer {
  readonly results: Uint32Array
  readonly answers: Uint32Array
  /** Number of kernels launched, and of bytes written to the device. */
  readonly dispatches: number
  readonly uploadedBytes: number
}

/** Rows of logits on the device. */
export type PlacedRows<Handle> = LogitsPlace<Handle> & { readonly rowCount: number }

/** The device as the sampler sees it. One call at a time. */
export interface Pipeline<Handle> {
  /** Maximum bytes of one buffer. */
  readonly maxBytes: number
  /** Increases whenever the device is replaced: what was on it is lost. */
  readonly epoch: number
  /** Returns where logits are on the device, or null if they are elsewhere. */
  placeOf(logits: LogitsSource): PlacedRows<Handle> | null
  /** Runs one submission. Throws if the device reported an error. */
  run(shape: BatchShape, data: BatchData<Handle>): Promise<BatchAnswer>
  /** Copies one row of logits to the host. Shape [width]. */
  readRow(place: LogitsPlace<Handle>, index: number, width: number): Promise<Float32Array>
  destroy(): void
}

/** The pipeline on a device of this thread. */
export class GpuPipeline implements Pipeline<GPUBuffer> {
  readonly maxBytes: number
  readonly epoch = 0
  private dispatchCount = 0
  private uploadedBytes = 0
  private readonly device: GPUDevice
  private error: string | undefined
  /** The atlas whose slots are in the buffer. */
  private atlas = 0
  private readonly pipelines: Record<KernelName, GPUComputePipeline>
  private readonly pass: GPUComputePassDescriptor
  private readonly buffers: Partial<Record<BufferName | "staging", GPUBuffer>> = {}
  /** The logits buffer of the current bind groups: this object's or the model's. */
  private boundLogits: GPUBuffer | undefined
  private groups: Partial<Record<KernelName, GPUBindGroup>> = {}

  private constructor(
    device: GPUDevice,
    pipelines: Record<KernelName, GPUComputePipeline>,
    timestampWrites: GPUComputePassTimestampWrites | undefined,
  ) {
    this.device = device
    this.pipelines = pipelines
    this.pass = timestampWrites ? { timestampWrites } : {}
    const { maxStorageBufferBindingSize, maxBufferSize } = device.limits
    this.maxBytes = Math.min(maxStorageBufferBindingSize, maxBufferSize)
    // Validation errors do not throw; without this handler a wrong binding would read as zeros.
    device.addEventListener("uncapturederror", this.onError)
  }

  /** Compiles the kernels. Throws the message of the device if it rejects a kernel. */
  static async create(
    device: GPUDevice,
    timestampWrites?: GPUComputePassTimestampWrites,
  ): Promise<GpuPipeline> {
    const entries = await Promise.all(
      Object.entries(kernels).map(async ([name, [code]]) => {
        const module = device.createShaderModule({ label: name, code })
        const compute = { module, entryPoint: "main" }
        return [name, await device.createComputePipelineAsync({ label: name, layout: "auto", compute })]
      }),
    )
    return new GpuPipeline(device, Object.fromEntries(entries), timestampWrites)
  }

  placeOf(): null {
    return null
  }

  async run(shape: BatchShape, data: BatchData<GPUBuffer>): Promise<BatchAnswer> {
    const { device, dispatchCount, uploadedBytes } = this
    const { rowCount, shortCount, width } = shape
    const { asks } = data
    const askCount = asks.count
    const allCount = rowCount + shortCount
    const tiles = Math.ceil(width / Tile)
    this.reserve(shape, tiles, data)
    let [stride, format]: [number, number] = [width, LogitFormat.float32]
    if (isRows(data.logits)) {
      for (const [index, logits] of data.logits.entries()) this.write("logits", 4 * width * index, logits)
    } else [stride, format] = [data.logits.stride, LogitFormat[data.logits.format]]
    this.write("rows", 0, new Uint32Array(data.rows))
    if (data.edits.byteLength > 0) this.write("edits", 0, new Uint32Array(data.edits))
    this.write(
      "shape",
      0,
      Uint32Array.of(width, Math.ceil(width / 32), tiles, rowCount, stride, format, asks.answerWords, 0),
    )
    if (askCount > 0) this.write("asks", 0, asks.words)
    const { words: slotWords, writes } = data.masks
    for (const { slot, words } of writes) this.write("atlas", 4 * slotWords * slot, words)
    const encoder = device.createCommandEncoder()
    if (shape.isCut) {
      encoder.clearBuffer(this.buffers.hist!, 0, 4 * HistWords * rowCount)
      encoder.clearBuffer(this.buffers.indirect!)
    }
    if (askCount > 0) encoder.clearBuffer(this.buffers.answers!, 0, 4 * asks.answerWords)
    const pass = encoder.beginComputePass(this.pass)
    this.dispatchAll(pass, shape, asks)
    pass.end()
    const { results, answers, staging } = this.buffers
    const resultWords = ResultWords * allCount
    const bytes = 4 * (resultWords + asks.answerWords)
    encoder.copyBufferToBuffer(results!, 0, staging!, 0, 4 * resultWords)
    if (askCount > 0) encoder.copyBufferToBuffer(answers!, 0, staging!, 4 * resultWords, 4 * asks.answerWords)
    device.queue.submit([encoder.finish()])
    await staging!.mapAsync(GPUMapMode.READ, 0, bytes)
    const words = new Uint32Array(staging!.getMappedRange(0, bytes).slice(0))
    staging!.unmap()
    if (this.error !== undefined) throw new Error(`GPU: ${this.error}`)
    return {
      results: words.subarray(0, resultWords),
      answers: words.subarray(resultWords),
      dispatches: this.dispatchCount - dispatchCount,
      uploadedBytes: this.uploadedBytes - uploadedBytes,
    }
  }

  async readRow(place: LogitsPlace<GPUBuffer>, index: number, width: number): Promise<Float32Array> {
    const { buffer, format, stride } = place
    if (format === "float32") {
      return new Float32Array(await this.readBack(buffer, 4 * stride * index, 4 * width))
    }
    return widenHalf(new Uint16Array(await this.readBack(buffer, 2 * stride * index, 2 * width)), format)
  }

  destroy(): void {
    this.device.removeEventListener("uncapturederror", this.onError)
    for (const buffer of Object.values(this.buffers)) buffer.destroy()
  }

  private readonly onError = ({ error }: GPUUncapturedErrorEvent): void => {
    this.error ??= error.message
  }

  /** Copies bytes of a buffer to the host. `offset` and `size` are even; whole words are copied. */
  private async readBack(buffer: GPUBuffer, offset: number, size: number): Promise<ArrayBuffer> {
    const { COPY_DST, MAP_READ } = GPUBufferUsage
    const lead = offset % 4
    const bytes = 4 * Math.ceil((lead + size) / 4)
    const staging = this.device.createBuffer({ size: bytes, usage: COPY_DST | MAP_READ })
    const encoder = this.device.createCommandEncoder()
    encoder.copyBufferToBuffer(buffer, offset - lead, staging, 0, bytes)
    this.device.queue.submit([encoder.finish()])
    await staging.mapAsync(GPUMapMode.READ)
    const copy = staging.getMappedRange().slice(lead, lead + size)
    staging.destroy()
    if (this.error !== undefined) throw new Error(`GPU: ${this.error}`)
    return copy
  }

  /** Dispatches the kernels of one batch, in their order. */
  private dispatchAll(pass: GPUComputePassEncoder, shape: BatchShape, asks: PackedAsks): void {
    const { rowCount, shortCount, width } = shape
    const tiles = Math.ceil(width / Tile)
    const askCount = asks.count
    const byTile: [number, number] = [tiles, rowCount]
    const byRow: [number, number] = [rowCount, 1]
    if (rowCount > 0) {
      this.dispatch(pass, "scan", byTile)
      this.dispatch(pass, "stat", byRow)
    }
    if (shape.isCut) {
      this.dispatch(pass, "hist", shape.isWarm ? 0 : byTile)
      this.dispatch(pass, "cut", byRow)
    }
    if (shape.isFiltered) {
      this.dispatch(pass, "take", byTile)
      this.dispatch(pass, "settle", byRow)
    }
    if (shape.isCut) this.dispatch(pass, "radix", 12)
    if (shortCount > 0) this.dispatch(pass, "short", [shortCount, 1])
    if (askCount > 0) {
      this.dispatch(pass, "rank", [tiles, askCount])
      this.dispatch(pass, "describe", [askCount, 1])
    }
    if (asks.hasJudged) {
      this.dispatch(pass, "residual", [tiles, askCount])
      this.dispatch(pass, "replace", [askCount, 1])
    }
  }

  /** `groups` is the number of workgroups, or an offset into the buffer of indirect launches. */
  private dispatch(pass: GPUComputePassEncoder, name: KernelName, groups: [number, number] | number): void {
    pass.setPipeline(this.pipelines[name])
    pass.setBindGroup(0, this.group(name))
    if (typeof groups === "number") pass.dispatchWorkgroupsIndirect(this.buffers.indirect!, groups)
    else pass.dispatchWorkgroups(...groups)
    this.dispatchCount++
  }

  private group(name: KernelName): GPUBindGroup {
    this.groups[name] ??= this.device.createBindGroup({
      layout: this.pipelines[name].getBindGroupLayout(0),
      entries: kernels[name][1].map((buffer: BufferName) => ({
        binding: bindings[buffer],
        resource: { buffer: (buffer === "logits" ? this.boundLogits : this.buffers[buffer])! },
      })),
    })
    return this.groups[name]
  }

  private write(name: BufferName, offset: number, data: Float32Array | Uint32Array): void {
    // The queue refuses a view over shared memory.
    const own = data.buffer instanceof ArrayBuffer ? data : data.slice()
    this.device.queue.writeBuffer(this.buffers[name]!, offset, own as Float32Array<ArrayBuffer>)
    this.uploadedBytes += own.byteLength
  }

  private reserve(
    { rowCount, shortCount, width }: BatchShape,
    tiles: number,
    data: BatchData<GPUBuffer>,
  ): void {
    const { STORAGE, UNIFORM, INDIRECT, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage
    const allCount = rowCount + shortCount
    // A binding must not be empty, even if all rows are short.
    const longCount = Math.max(1, rowCount)
    this.reserveOne("shape", 4 * ShapeWords, UNIFORM | COPY_DST)
    this.reserveOne("indirect", 24, STORAGE | INDIRECT | COPY_DST)
    if (isRows(data.logits)) this.reserveOne("logits", 4 * width * data.logits.length, STORAGE | COPY_DST)
    const bound = isRows(data.logits) ? this.buffers.logits : data.logits.buffer
    if (this.boundLogits !== bound) {
      this.boundLogits = bound
      this.groups = {}
    }
    this.reserveOne("rows", 4 * RowWords * allCount, STORAGE | COPY_DST)
    this.reserveOne("edits", Math.max(4 * EditWords, data.edits.byteLength), STORAGE | COPY_DST)
    this.reserveOne("partials", 4 * PartialWords * tiles * longCount, STORAGE)
    this.reserveOne("stats", 4 * StatWords * longCount, STORAGE)
    this.reserveOne("hist", 4 * HistWords * longCount, STORAGE | COPY_DST)
    this.reserveOne("slab", 4 * SlabWords * longCount, STORAGE)
    this.reserveOne("results", 4 * ResultWords * allCount, STORAGE | COPY_SRC)
    const { count, answerWords } = data.asks
    if (count > 0) {
      this.reserveOne("asks", data.asks.words.byteLength, STORAGE | COPY_DST)
      const scratchWords = ScratchWords * tiles * count
      this.reserveOne("answers", 4 * (answerWords + scratchWords), STORAGE | COPY_SRC | COPY_DST)
    }
    this.reserveOne("staging", 4 * (ResultWords * allCount + answerWords), MAP_READ | COPY_DST)
    const { atlas, words, slotCount } = data.masks
    if (this.atlas !== atlas) {
      this.atlas = atlas
      this.buffers.atlas?.destroy()
      const size = 4 * words * slotCount
      this.buffers.atlas = this.device.createBuffer({ label: "masks", size, usage: STORAGE | COPY_DST })
      this.groups = {}
    }
  }

  /** Grows by doubling, so that a growing batch does not reallocate every step. */
  private reserveOne(name: Exclude<BufferName, "atlas"> | "staging", bytes: number, usage: number): void {
    const old = this.buffers[name]
    if (old && old.size >= bytes) return
    const size = Math.min(this.maxBytes, Math.max(bytes, old ? 2 * old.size : 0))
    this.buffers[name] = this.device.createBuffer({ label: name, size, usage })
    old?.destroy()
    this.groups = {}
  }
}

/** Returns whether logits are rows on the host. */
export function isRows<Handle>(logits: BatchData<Handle>["logits"]): logits is readonly Float32Array[] {
  return Array.isArray(logits)
}
