/**
 * Which requests find a place in the queue.
 *
 * A request counts from its start, while its prompt is tokenized and its constraint compiled: else
 * a thousand requests that arrive together would all pass. Answers of the background take no place
 * from the others.
 */
import { RequestError, wrong } from "../errors.ts"
import type { Scheduler } from "./scheduler.ts"

export class Admission {
  private readonly scheduler: Scheduler
  private readonly slotCount: number
  private readonly maxWaiting: number
  /** Answers whose requests are being prepared, and those of them that are of the background. */
  private preparing = 0
  private preparingBackground = 0

  /** `maxWaiting`: maximum number of answers that wait for a slot. */
  constructor(scheduler: Scheduler, slotCount: number, maxWaiting: number) {
    this.scheduler = scheduler
    this.slotCount = slotCount
    this.maxWaiting = maxWaiting
  }

  get isPreparing(): boolean {
    return this.preparing > 0
  }

  /**
   * Throws RequestError unless `count` more answers find a slot, or a place in a queue of `most`
   * and of the engine's own bound.
   */
  check(count: number, isBackground: boolean, most = Number.POSITIVE_INFINITY): void {
    const { waiting, slots } = this.scheduler
    const maxWaiting = Math.min(most, this.maxWaiting)
    if (count > maxWaiting + this.slotCount) {
      throw wrong(
        "n",
        `${count} answers are more than the ${this.slotCount} that run at once and the ${maxWaiting} that may wait: ask for fewer`,
      )
    }
    const taken = isBackground
      ? waiting.length + this.preparing
      : waiting.filter(({ options }) => !options.isBackground).length +
        this.preparing -
        this.preparingBackground
    if (taken + count <= maxWaiting + slots.freeCount) return
    throw new RequestError(
      "queue_full",
      `${taken} answers are waiting, and ${maxWaiting} is the bound: try again later`,
    )
  }

  /** Counts `count` answers as being prepared. Returns the function that ends this. */
  begin(count: number, isBackground: boolean): () => void {
    const add = (more: number): void => {
      this.preparing += more
      if (isBackground) this.preparingBackground += more
    }
    add(count)
    return () => add(-count)
  }
}
