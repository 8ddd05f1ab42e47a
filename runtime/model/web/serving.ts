/**
 * Answers the messages of the engine's thread on one device: runs of the graph, batches of the
 * sampler, and rows of logits.
 *
 * A run on a lost device does not fail, and its logits are zeros. So the loss is looked for before
 * an answer leaves, and after a loss none leaves any more.
 */

import { type GpuPipeline, isRows, type LogitsPlace } from "../../../sampler/gpu/pipeline.ts"
import type { Device } from "../../device.ts"
import type { DeviceLogits, DeviceMemory } from "./memory.ts"
import type { Answer, Order, Question } from "./protocol.ts"
import type { WebSession } from "./session.ts"
import type { TrafficCounter } from "./traffic.ts"

/** All of one device. */
export interface Opened {
  readonly device: Device
  readonly session: WebSession
  readonly memory: DeviceMemory
  readonly pipeline: GpuPipeline
  readonly traffic: TrafficCounter
}

/** Where answers go, and what is called once when the device is lost or reported an error. */
export interface Outlets {
  readonly post: (answer: Answer) => void
  readonly fail: (error: Error) => void
}

export class Serving {
  private readonly opened: Opened
  private readonly outlets: Outlets
  /** Logits by their numbers. */
  private readonly kept = new Map<number, DeviceLogits>()
  private hasFailed = false

  constructor(opened: Opened, outlets: Outlets) {
    this.opened = opened
    this.outlets = outlets
  }

  /** Handles a message. One call at a time. */
  async handle(message: Question | Exclude<Order, { kind: "close" }>): Promise<void> {
    let answer: Answer | undefined
    try {
      if (message.kind === "keep") this.keep(message)
      else if (message.kind === "release") this.release(message.logits)
      else answer = await this.answerTo(message)
    } catch (error) {
      const id = "id" in message ? message.id : -1
      answer = { kind: "failed", id, message: (error as Error).message }
    }
    if (answer && (await this.isWhole())) this.outlets.post(answer)
  }

  /** Frees all of the device. */
  async close(): Promise<void> {
    const { session, pipeline, device } = this.opened
    try {
      await session.close()
      pipeline.destroy()
    } finally {
      device.close()
    }
  }

  /** Returns false once the device is lost. The loss is reported asynchronously. */
  private async isWhole(): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve))
    const reason = this.opened.device.lossReason()
    if (reason === undefined) return true
    if (!this.hasFailed) this.outlets.fail(new Error(`the GPU cannot be used any more: ${reason}`))
    this.hasFailed = true
    return false
  }

  private async answerTo(question: Question): Promise<Answer> {
    const { session, pipeline, traffic } = this.opened
    const { id } = question
    traffic.side = question.kind === "forward" ? "model" : "sampler"
    if (question.kind === "sample") {
      const { shape, data } = question
      const logits = isRows(data.logits) ? data.logits : this.placed(data.logits)
      const answer = await pipeline.run(shape, { ...data, logits })
      return { kind: "sample", id, answer, traffic: traffic.sums }
    }
    if (question.kind === "row") {
      const row = await pipeline.readRow(this.placed(question.place), question.index, question.width)
      return { kind: "row", id, row: row as Float32Array<ArrayBuffer>, traffic: traffic.sums }
    }
    const logits = await session.forward(question.feeds)
    this.kept.set(question.logits, logits)
    const { rowCount, type: format } = logits
    const { work } = session
    const at = process.hrtime.bigint()
    return { kind: "forward", id, rowCount, format, at, work, traffic: traffic.sums }
  }

  private placed({ buffer, ...place }: LogitsPlace<number>): LogitsPlace<GPUBuffer> {
    return { ...place, buffer: this.logitsOf(buffer).buffer }
  }

  /** Returns logits by their number. Throws if they were those of an earlier thread. */
  private logitsOf(number: number): DeviceLogits {
    const logits = this.kept.get(number)
    if (!logits) throw new Error("the logits were lost when the model's thread was started again")
    return logits
  }

  private keep({ logits, start, end, as }: Extract<Order, { kind: "keep" }>): void {
    this.kept.set(as, this.opened.memory.copyLogits(this.logitsOf(logits), start, end))
  }

  private release(number: number): void {
    this.kept.get(number)?.buffer.destroy()
    this.kept.delete(number)
  }
}
