/**
 * The model and the sampler in the engine's thread, where both use the device of one other thread:
 * logits stay there, and only what was drawn comes back.
 *
 * `openWebModel` returns both. The sampler packs rows and decodes answers here; its kernels run in
 * the thread. If the thread dies, or its device is lost, a new one replaces it (`thread.ts`).
 */

import type {
  BatchAnswer,
  BatchData,
  BatchShape,
  LogitsPlace,
  Pipeline,
  PlacedRows,
} from "../../../sampler/gpu/pipeline.ts"
import { isRows } from "../../../sampler/gpu/pipeline.ts"
import { KernelSampler } from "../../../sampler/gpu/sampler.ts"
import type { LogitsSource, Sampler } from "../../../sampler/index.ts"
import type { StepLogits } from "../logits.ts"
import type { DeviceTraffic, Feed, Model, Traffic } from "../model.ts"
import { ModelThread } from "../thread.ts"
import type { Answer, Order, Question, WebLoaded, WebLoadOptions } from "./protocol.ts"

export interface OpenedWebModel {
  readonly model: Model
  /** Its `close` does nothing: the model's ends the thread. */
  readonly sampler: Sampler
  /** The device's name. */
  readonly device: string
}

/** Starts the thread and loads the graph. Throws ModelError with its message. */
export async function openWebModel(options: WebLoadOptions): Promise<OpenedWebModel> {
  const client = new WebClient(options)
  await client.start()
  return { model: client, sampler: new KernelSampler(client.pipeline), device: client.device }
}

class WebClient extends ModelThread<Question, Answer, WebLoaded> {
  readonly contextLength: number
  readonly slotCount: number
  readonly pipeline: Pipeline<number>
  private lastLogits = 0
  /** Sums of the running thread, which is that of `trafficEpoch`, and of all before it. */
  private current: DeviceTraffic = noTraffic
  private before: DeviceTraffic = noTraffic
  private trafficEpoch = 0

  constructor(options: WebLoadOptions) {
    const { graphPath } = options
    super({ path: "dist/runtime/model/web/worker.js", data: options, graphPath })
    this.contextLength = options.contextLength
    this.slotCount = options.slotCount
    this.pipeline = new ThreadPipeline(this)
  }

  get description(): string {
    return `onnxruntime-web/webgpu, ${this.loaded!.description}`
  }

  get device(): string {
    return this.loaded!.device
  }

  get maxBytes(): number {
    return this.loaded!.maxBytes
  }

  get traffic(): DeviceTraffic {
    return sumOf(this.before, this.current)
  }

  async forward(feeds: readonly Feed[]): Promise<StepLogits> {
    await this.ready(feeds)
    const logits = ++this.lastLogits
    const answer = await this.ask<"forward">({ kind: "forward", feeds, logits })
    const { rowCount, format, work, at, traffic } = answer
    this.note(work, at)
    this.count(traffic)
    return new ThreadLogits(this, logits, { rowCount, format })
  }

  async sample(shape: BatchShape, data: BatchData<number>): Promise<BatchAnswer> {
    const { answer, traffic } = await this.ask<"sample">({ kind: "sample", shape, data })
    this.count(traffic)
    return answer
  }

  async readRow(place: LogitsPlace<number>, index: number, width: number): Promise<Float32Array> {
    const { row, traffic } = await this.ask<"row">({ kind: "row", place, index, width })
    this.count(traffic)
    return row
  }

  /** Copies rows of logits on the device. */
  keep(logits: number, start: number, end: number): number {
    const as = ++this.lastLogits
    this.order({ kind: "keep", logits, start, end, as })
    return as
  }

  release(logits: number): void {
    this.order({ kind: "release", logits })
  }

  private count(traffic: DeviceTraffic): void {
    if (this.trafficEpoch !== this.epoch) {
      this.before = this.traffic
      this.trafficEpoch = this.epoch
    }
    this.current = traffic
  }

  private order(order: Order): void {
    this.tell(order)
  }
}

const none: Traffic = { uploadedBytes: 0, readBytes: 0, maps: 0 }
const noTraffic: DeviceTraffic = { model: none, sampler: none }

function sumOf(one: DeviceTraffic, other: DeviceTraffic): DeviceTraffic {
  const sum = (a: Traffic, b: Traffic): Traffic => ({
    uploadedBytes: a.uploadedBytes + b.uploadedBytes,
    readBytes: a.readBytes + b.readBytes,
    maps: a.maps + b.maps,
  })
  return { model: sum(one.model, other.model), sampler: sum(one.sampler, other.sampler) }
}

/** Logits on the device of a thread. */
class ThreadLogits implements StepLogits {
  readonly width: number
  readonly rowCount: number
  readonly host = null
  readonly client: WebClient
  readonly place: LogitsPlace<number>

  constructor(
    client: WebClient,
    logits: number,
    { rowCount, format }: Pick<LogitsPlace<number>, "format"> & { rowCount: number },
  ) {
    this.client = client
    this.width = client.width
    this.rowCount = rowCount
    this.place = { buffer: logits, format, stride: client.width }
  }

  async row(index: number): Promise<Float32Array> {
    if (!(Number.isInteger(index) && index >= 0 && index < this.rowCount)) {
      throw new RangeError(`logitsRow: ${index} is outside the ${this.rowCount} rows of the logits`)
    }
    return this.client.readRow(this.place, index, this.width)
  }

  keep(start: number, end: number): StepLogits {
    const { buffer, format } = this.place
    return new ThreadLogits(this.client, this.client.keep(buffer, start, end), {
      rowCount: end - start,
      format,
    })
  }

  release(): void {
    this.client.release(this.place.buffer)
  }
}

/** The sampler's kernels in the thread. */
class ThreadPipeline implements Pipeline<number> {
  private readonly client: WebClient

  constructor(client: WebClient) {
    this.client = client
  }

  get maxBytes(): number {
    return this.client.maxBytes
  }

  get epoch(): number {
    return this.client.epoch
  }

  placeOf(logits: LogitsSource): PlacedRows<number> | null {
    if (!(logits instanceof ThreadLogits) || logits.client !== this.client) return null
    return { ...logits.place, rowCount: logits.rowCount }
  }

  run(shape: BatchShape, data: BatchData<number>): Promise<BatchAnswer> {
    // A view is sent with all of its memory, so copies of the views are sent.
    const writes = data.masks.writes.map(({ slot, words }) => ({ slot, words: words.slice() }))
    const logits = isRows(data.logits) ? data.logits.map((row) => row.slice()) : data.logits
    return this.client.sample(shape, { ...data, logits, masks: { ...data.masks, writes } })
  }

  readRow(place: LogitsPlace<number>, index: number, width: number): Promise<Float32Array> {
    return this.client.readRow(place, index, width)
  }

  destroy(): void {}
}
