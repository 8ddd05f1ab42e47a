/**
 * Caches and logits on a device. Nothing of them comes to the host, except for `readLogits`, which
 * the trials at load use.
 *
 * Copies are recorded in one command encoder and begin with `flush`, before the next run of the
 * graph. The queue of the device keeps this order.
 */

import type { Tensor } from "onnxruntime-node"
import { widenHalf } from "../../../sampler/index.ts"
import type { Memory, Move, Place } from "../ort/memory.ts"
import type { CacheShape, FloatType } from "../ort/signature.ts"
import { Scatter } from "./scatter.ts"

/** The part of onnxruntime-web that makes tensors. */
export interface WebTensors {
  new (type: string, data: Float32Array | Uint16Array, dims: readonly number[]): Tensor
  fromGpuBuffer(buffer: GPUBuffer, options: { dataType: FloatType; dims: readonly number[] }): Tensor
}

/** Logits of one call, in a buffer that nothing else uses. Shape [rowCount, width]. */
export interface DeviceLogits {
  readonly buffer: GPUBuffer
  readonly rowCount: number
  readonly width: number
  /** The type of the graph's logits; the buffer is float32 until the first of them are kept. */
  type: FloatType
}

export class DeviceMemory implements Memory<GPUBuffer, DeviceLogits> {
  readonly isOnHost = false
  readonly sharesPast = true
  private readonly device: GPUDevice
  private readonly Tensor: WebTensors
  private readonly scatter: Scatter
  private encoder: GPUCommandEncoder | undefined
  /** Buffers that are no longer needed once the recorded commands have begun. */
  private freed: GPUBuffer[] = []
  /** Copies that the next run reads. */
  private lent: GPUBuffer[] = []

  constructor(device: GPUDevice, Tensor: WebTensors) {
    this.device = device
    this.Tensor = Tensor
    this.scatter = new Scatter(device)
  }

  make(type: FloatType, length: number): GPUBuffer {
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage
    // onnxruntime binds whole buffers, in units of 16 bytes.
    const size = 16 * Math.max(1, Math.ceil((length * sizeOf(type)) / 16))
    return this.device.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST })
  }

  free(buffer: GPUBuffer): void {
    this.freed.push(buffer)
  }

  copy(type: FloatType, from: Place<GPUBuffer>, to: Place<GPUBuffer>, length: number): void {
    if (length === 0) return
    const size = sizeOf(type)
    const commands = this.commands()
    if (from.block !== to.block) {
      commands.copyBufferToBuffer(from.block, from.at * size, to.block, to.at * size, length * size)
      return
    }
    // A device refuses to copy within one buffer.
    const between = this.make(type, length)
    commands.copyBufferToBuffer(from.block, from.at * size, between, 0, length * size)
    commands.copyBufferToBuffer(between, 0, to.block, to.at * size, length * size)
    this.free(between)
  }

  tensor(
    type: FloatType,
    block: GPUBuffer,
    at: number,
    dims: readonly number[],
  ): { tensor: Tensor; isView: boolean } {
    const count = dims.reduce((product, dim) => product * dim, 1)
    // A tensor of a buffer is never empty, and begins where the buffer begins.
    if (count === 0) return { tensor: new this.Tensor(type, emptyOf(type), dims), isView: false }
    let buffer = block
    if (at > 0) {
      buffer = this.make(type, count)
      this.copy(type, { block, at }, { block: buffer, at: 0 }, count)
      this.lent.push(buffer)
    }
    return { tensor: this.Tensor.fromGpuBuffer(buffer, { dataType: type, dims }), isView: at === 0 }
  }

  write(cache: CacheShape, output: Tensor, to: GPUBuffer, capacity: number, moves: readonly Move[]): void {
    if (moves.length === 0) return
    const { heads, dim, type } = cache
    const words = (dim * sizeOf(type)) / 4
    this.scatter.record(this.commands(), {
      ...{ from: bufferOf(output), to, moves, heads, words, capacity },
      length: output.dims[2],
    })
  }

  /** Unknown, since nothing is read. A row that is taken into an arena is cleared instead. */
  isFinite(): boolean {
    return true
  }

  clear(cache: CacheShape, to: GPUBuffer, capacity: number, move: Move): void {
    const { heads, dim, type } = cache
    const place = dim * sizeOf(type)
    for (let head = 0; head < heads; head++) {
      const at = (move.toRow * heads + head) * capacity + move.to
      this.commands().clearBuffer(to, at * place, move.count * place)
    }
  }

  makeLogits(rowCount: number, width: number): DeviceLogits {
    return { buffer: this.make("float32", rowCount * width), rowCount, width, type: "float32" }
  }

  keepLogits(logits: DeviceLogits, to: number, run: Tensor, from: number, count: number): void {
    logits.type = run.type as FloatType
    const rowBytes = logits.width * sizeOf(logits.type)
    const commands = this.commands()
    commands.copyBufferToBuffer(
      bufferOf(run),
      from * rowBytes,
      logits.buffer,
      to * rowBytes,
      count * rowBytes,
    )
  }

  breakLogits(): void {
    throw new Error("internal: no slot is known to be broken on a device")
  }

  freeLogits({ buffer }: DeviceLogits): void {
    this.free(buffer)
  }

  async readLogits({ buffer, rowCount, width, type }: DeviceLogits): Promise<Float32Array> {
    const bytes = rowCount * width * sizeOf(type)
    const { COPY_DST, MAP_READ } = GPUBufferUsage
    const staging = this.device.createBuffer({ size: 4 * Math.ceil(bytes / 4), usage: COPY_DST | MAP_READ })
    this.commands().copyBufferToBuffer(buffer, 0, staging, 0, staging.size)
    this.flush()
    await staging.mapAsync(GPUMapMode.READ)
    const copy = staging.getMappedRange().slice(0, bytes)
    staging.destroy()
    return type === "float32" ? new Float32Array(copy) : widenHalf(new Uint16Array(copy), "float16")
  }

  /** Returns copies of the rows from `start` to before `end`. */
  copyLogits(logits: DeviceLogits, start: number, end: number): DeviceLogits {
    const { width, type, buffer } = logits
    const kept = { ...this.makeLogits(end - start, width), type }
    const from = { block: buffer, at: start * width }
    this.copy(type, from, { block: kept.buffer, at: 0 }, (end - start) * width)
    this.flush()
    return kept
  }

  flush(): void {
    if (this.encoder) this.device.queue.submit([this.encoder.finish()])
    this.encoder = undefined
    this.scatter.flush()
    // The device itself keeps a destroyed buffer until the commands that use it have ended.
    for (const buffer of this.freed) buffer.destroy()
    this.freed = this.lent
    this.lent = []
  }

  dispose(output: Tensor): void {
    // Its memory may be given to the next run, so what was asked for must have begun.
    this.flush()
    output.dispose()
  }

  private commands(): GPUCommandEncoder {
    this.encoder ??= this.device.createCommandEncoder()
    return this.encoder
  }
}

function sizeOf(type: FloatType): number {
  return type === "float16" ? 2 : 4
}

function emptyOf(type: FloatType): Float32Array | Uint16Array {
  return type === "float16" ? new Uint16Array(0) : new Float32Array(0)
}

/** The buffer of a tensor on the device. */
function bufferOf(tensor: Tensor): GPUBuffer {
  if (tensor.location !== "gpu-buffer")
    throw new Error("internal: an output of the graph is not on the device")
  return tensor.gpuBuffer as unknown as GPUBuffer
}
