/**
 * The kernel that writes a run's new keys or values into the rows of an arena: one dispatch for
 * each cache tensor, whatever the number of rows.
 *
 * Numbers are moved as words of 32 bits, so their type does not matter.
 */

import type { Move } from "../ort/memory.ts"

const code = /* wgsl */ `
struct Shape { heads: u32, words: u32, length: u32, capacity: u32, count: u32 }
struct Span { fromRow: u32, at: u32, toRow: u32, place: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> spans: array<Span>;
@group(0) @binding(2) var<storage, read> source: array<u32>;
@group(0) @binding(3) var<storage, read_write> rows: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let word = id.x % shape.words;
  let position = id.x / shape.words % shape.count;
  let head = id.x / shape.words / shape.count;
  if (head >= shape.heads) { return; }
  let span = spans[id.y];
  let readAt = ((span.fromRow * shape.heads + head) * shape.length + span.at + position) * shape.words + word;
  let writeAt = ((span.toRow * shape.heads + head) * shape.capacity + span.place + position) * shape.words + word;
  rows[writeAt] = source[readAt];
}
`

/** One dispatch: from an output [B, heads, length, dim] to an arena [R, heads, capacity, dim]. */
export interface ScatterBatch {
  readonly from: GPUBuffer
  readonly to: GPUBuffer
  /** All of one count. */
  readonly moves: readonly Move[]
  readonly heads: number
  /** Words of one position of one head. */
  readonly words: number
  readonly length: number
  readonly capacity: number
}

export class Scatter {
  private readonly device: GPUDevice
  private readonly pipeline: GPUComputePipeline
  /** Small buffers of the dispatches recorded so far, by their contents. */
  private readonly records = new Map<string, GPUBuffer>()

  constructor(device: GPUDevice) {
    this.device = device
    const module = device.createShaderModule({ label: "cache rows", code })
    this.pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } })
  }

  /** Records a dispatch. */
  record(commands: GPUCommandEncoder, batch: ScatterBatch): void {
    const { from, to, moves, heads, words, length, capacity } = batch
    const { count } = moves[0]
    const { UNIFORM, STORAGE } = GPUBufferUsage
    const shape = this.recordOf([heads, words, length, capacity, count, 0, 0, 0], UNIFORM)
    const places = moves.flatMap((move) => [move.fromRow, move.from, move.toRow, move.to])
    const buffers = [shape, this.recordOf(places, STORAGE), from, to]
    const group = this.device.createBindGroup({
      layout: this.pipeline.getBindGroupLayout(0),
      entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
    })
    const pass = commands.beginComputePass()
    pass.setPipeline(this.pipeline)
    pass.setBindGroup(0, group)
    pass.dispatchWorkgroups(Math.ceil((heads * words * count) / 64), moves.length)
    pass.end()
  }

  /** Called when the recorded dispatches have begun. */
  flush(): void {
    for (const buffer of this.records.values()) buffer.destroy()
    this.records.clear()
  }

  private recordOf(words: readonly number[], usage: number): GPUBuffer {
    const key = `${usage} ${words}`
    let buffer = this.records.get(key)
    if (!buffer) {
      buffer = this.device.createBuffer({ size: 4 * words.length, usage, mappedAtCreation: true })
      new Uint32Array(buffer.getMappedRange()).set(words)
      buffer.unmap()
      this.records.set(key, buffer)
    }
    return buffer
  }
}
