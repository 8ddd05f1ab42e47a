/**
 * Kernels, buffers and one submission: a batch of packed rows in, 16 bytes a row back.
 *
 * A batch is one compute pass: `scan` and `stat` always; `hist`, `cut`, `take` and `settle` when a row filters; `hist` and
 * `cut` once more when a cut by rank or mass may fall among more tokens than a slab holds. Dispatches of one pass see
 * each other's writes, in order. Rows that are done leave a kernel at once.
 */
import type { MaskAtlas } from "./atlas.ts"
import { cut } from "./kernels/cut.ts"
import { hist } from "./kernels/hist.ts"
import { scan } from "./kernels/scan.ts"
import { settle } from "./kernels/settle.ts"
import { stat } from "./kernels/stat.ts"
import { take } from "./kernels/take.ts"
import {
  EditWords,
  HistWords,
  PartialWords,
  ResultWords,
  RowWords,
  SlabWords,
  StatWords,
  Tile,
} from "./layout.ts"

/** Bindings that each kernel uses; `kernels/common.ts` has their numbers. */
const kernels = {
  scan: [scan, ["shape", "logits", "atlas", "rows", "edits", "partials"]],
  stat: [stat, ["shape", "rows", "partials", "stats", "slab", "results"]],
  hist: [hist, ["shape", "logits", "atlas", "rows", "edits", "stats", "hist"]],
  cut: [cut, ["rows", "stats", "hist", "results"]],
  take: [take, ["shape", "logits", "atlas", "rows", "edits", "partials", "stats", "slab"]],
  settle: [settle, ["shape", "rows", "partials", "stats", "slab", "results"]],
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
} as const

type KernelName = keyof typeof kernels
type BufferName = keyof typeof bindings

/** What a batch needs beyond `scan` and `stat`. */
export interface BatchShape {
  readonly rowCount: number
  readonly width: number
  /** A row has a threshold or a cut. */
  readonly isFiltered: boolean
  /** A row has a cut by rank or mass. */
  readonly isCut: boolean
  /** Such a cut may fall among many tokens. */
  readonly isRefined: boolean
}

export interface BatchData {
  /** f32 [n, V]: rows to be written one after the other, or a buffer that holds them. */
  readonly logits: readonly Float32Array[] | GPUBuffer
  readonly rows: ArrayBuffer
  readonly edits: ArrayBuffer
  readonly atlas: MaskAtlas
}

export class GpuPipeline {
  /** Kernels launched and bytes written so far. */
  dispatchCount = 0
  uploadedBytes = 0
  private readonly device: GPUDevice
  private readonly pipelines: Record<KernelName, GPUComputePipeline>
  private readonly pass: GPUComputePassDescriptor
  private readonly buffers: Partial<Record<BufferName | "staging", GPUBuffer>> = {}
  /** The logits of the bind groups: own or the model's. */
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
  }

  /** Compiles the kernels. Throws what the device says of a kernel that it does not take. */
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

  /** One submission. Results are u32 [rows, 4], as `struct Result`. */
  async run(shape: BatchShape, data: BatchData): Promise<Uint32Array> {
    const { device } = this
    const { rowCount, width } = shape
    const tiles = Math.ceil(width / Tile)
    this.reserve(rowCount, width, tiles, data)
    if (isRows(data.logits)) {
      for (const [index, logits] of data.logits.entries()) this.write("logits", 4 * width * index, logits)
    }
    this.write("rows", 0, new Uint32Array(data.rows))
    if (data.edits.byteLength > 0) this.write("edits", 0, new Uint32Array(data.edits))
    this.write("shape", 0, Uint32Array.of(width, Math.ceil(width / 32), tiles, rowCount))
    const encoder = device.createCommandEncoder()
    if (shape.isCut) encoder.clearBuffer(this.buffers.hist!, 0, 8 * HistWords * rowCount)
    const pass = encoder.beginComputePass(this.pass)
    const byTile: [number, number] = [tiles, rowCount]
    this.dispatch(pass, "scan", byTile)
    this.dispatch(pass, "stat", [rowCount, 1])
    for (let level = 0; level < (shape.isCut ? (shape.isRefined ? 2 : 1) : 0); level++) {
      this.dispatch(pass, "hist", byTile)
      this.dispatch(pass, "cut", [rowCount, 1])
    }
    if (shape.isFiltered) {
      this.dispatch(pass, "take", byTile)
      this.dispatch(pass, "settle", [rowCount, 1])
    }
    pass.end()
    const { results, staging } = this.buffers
    const bytes = 4 * ResultWords * rowCount
    encoder.copyBufferToBuffer(results!, 0, staging!, 0, bytes)
    device.queue.submit([encoder.finish()])
    await staging!.mapAsync(GPUMapMode.READ, 0, bytes)
    const answer = new Uint32Array(staging!.getMappedRange(0, bytes).slice(0))
    staging!.unmap()
    return answer
  }

  destroy(): void {
    for (const buffer of Object.values(this.buffers)) buffer.destroy()
  }

  private dispatch(pass: GPUComputePassEncoder, name: KernelName, [x, y]: [number, number]): void {
    pass.setPipeline(this.pipelines[name])
    pass.setBindGroup(0, this.group(name))
    pass.dispatchWorkgroups(x, y)
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
    // A view over shared memory is refused by the queue.
    const own = data.buffer instanceof ArrayBuffer ? data : data.slice()
    this.device.queue.writeBuffer(this.buffers[name]!, offset, own as Float32Array<ArrayBuffer>)
    this.uploadedBytes += own.byteLength
  }

  private reserve(rowCount: number, width: number, tiles: number, data: BatchData): void {
    const { STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage
    this.reserveOne("shape", 16, UNIFORM | COPY_DST)
    if (isRows(data.logits)) this.reserveOne("logits", 4 * width * data.logits.length, STORAGE | COPY_DST)
    const bound = isRows(data.logits) ? this.buffers.logits : data.logits
    if (this.boundLogits !== bound) {
      this.boundLogits = bound
      this.groups = {}
    }
    this.reserveOne("rows", 4 * RowWords * rowCount, STORAGE | COPY_DST)
    this.reserveOne("edits", Math.max(4 * EditWords, data.edits.byteLength), STORAGE | COPY_DST)
    this.reserveOne("partials", 4 * PartialWords * tiles * rowCount, STORAGE)
    this.reserveOne("stats", 4 * StatWords * rowCount, STORAGE)
    this.reserveOne("hist", 8 * HistWords * rowCount, STORAGE | COPY_DST)
    this.reserveOne("slab", 4 * SlabWords * rowCount, STORAGE)
    this.reserveOne("results", 4 * ResultWords * rowCount, STORAGE | COPY_SRC)
    this.reserveOne("staging", 4 * ResultWords * rowCount, MAP_READ | COPY_DST)
    if (this.buffers.atlas !== data.atlas.buffer) {
      this.buffers.atlas = data.atlas.buffer
      this.groups = {}
    }
  }

  /** Grows by doubling, so that a growing batch does not reallocate every step. */
  private reserveOne(name: Exclude<BufferName, "atlas"> | "staging", bytes: number, usage: number): void {
    const old = this.buffers[name]
    if (old && old.size >= bytes) return
    const limit = Math.min(this.device.limits.maxStorageBufferBindingSize, this.device.limits.maxBufferSize)
    const size = Math.min(limit, Math.max(bytes, old ? 2 * old.size : 0))
    this.buffers[name] = this.device.createBuffer({ label: name, size, usage })
    old?.destroy()
    this.groups = {}
  }
}

function isRows(logits: BatchData["logits"]): logits is readonly Float32Array[] {
  return Array.isArray(logits)
}
