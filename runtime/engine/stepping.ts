/**
 * Runs steps as long as there is work, until the engine is closed or its model is lost.
 *
 * A step that fails as a whole ends the running answers with its error; waiting ones continue in
 * the next step. If no answer can be the cause, the model is lost, and so are all answers.
 */

import { AbortError, RequestError } from "../errors.ts"
import type { GuideHost } from "../guides/guide.ts"
import type { Model } from "../model/model.ts"
import type { Admission } from "./admission.ts"
import type { EngineMetrics } from "./metrics.ts"
import type { Scheduler } from "./scheduler.ts"
import type { Sequence } from "./sequence.ts"
import type { Stepper } from "./step.ts"

/** Milliseconds without the end of a step after which an engine with work counts as dead. */
const stallMs = 30_000

export interface SteppingParts {
  readonly model: Model
  readonly scheduler: Scheduler
  readonly stepper: Stepper
  readonly guides: GuideHost
  readonly admission: Admission
  readonly metrics: EngineMetrics
  readonly log: (line: string) => void
}

export class Stepping {
  /** Whether `end` has been called, so that no request is answered any more. */
  isClosing = false
  private readonly parts: SteppingParts
  private loop: Promise<void> | undefined
  private death: Error | undefined
  /** performance.now() when the engine last got work after being idle. */
  private busySince = 0

  constructor(parts: SteppingParts) {
    this.parts = parts
  }

  /** Whether the model is lost, or no step has ended for 30 s although there is work. */
  get isDead(): boolean {
    const { model, metrics, scheduler } = this.parts
    if (this.death) return true
    if (model.isRestarting) return false
    const since = Math.max(this.busySince, metrics.lastStepAt, model.answeredAt)
    return scheduler.hasWork && performance.now() - since > stallMs
  }

  /** Throws RequestError if no request is answered any more. */
  checkAlive(): void {
    if (this.isClosing) throw closingError()
    if (this.death) throw new RequestError("engine_dead", `the model is lost: ${this.death.message}`)
  }

  /** Returns the refusal of an engine that is closing, if that ended a request; else the error. */
  causeOf(error: unknown, signal: AbortSignal | undefined): unknown {
    const isOwn = error instanceof AbortError && !signal?.aborted
    return isOwn && this.isClosing ? closingError() : error
  }

  /** Begins to run steps, unless they run. Called when work has arrived. */
  wake(): void {
    if (!this.loop) this.busySince = performance.now()
    this.loop ??= this.keepStepping().finally(() => {
      this.loop = undefined
      // A request may have arrived since the last check.
      if (this.hasWork) this.wake()
    })
  }

  /** Requests that are being prepared use cores too, so they also count as busy. */
  tellBusy(): void {
    const { guides, admission } = this.parts
    guides.isBusy(admission.isPreparing || this.hasWork)
  }

  /** Ends all answers with an error, for good. */
  die(error: Error): void {
    if (this.death) return
    this.death = error
    this.parts.log(`model lost: ${error.message}`)
    for (const sequence of this.sequences()) this.parts.stepper.fail(sequence, error)
  }

  /** Ends all answers by `abort`. Resolves when the last step has ended. */
  async end(): Promise<void> {
    this.isClosing = true
    for (const sequence of this.sequences()) this.parts.stepper.end(sequence, "abort", null)
    await this.loop
  }

  private get hasWork(): boolean {
    return this.parts.scheduler.hasWork && !this.isClosing
  }

  private sequences(): Sequence[] {
    const { running, waiting } = this.parts.scheduler
    return [...running, ...waiting]
  }

  private async keepStepping(): Promise<void> {
    this.tellBusy()
    while (this.hasWork) {
      try {
        await this.parts.stepper.step()
      } catch (error) {
        this.fault(error as Error)
      }
    }
    this.tellBusy()
  }

  private fault(error: Error): void {
    const { log, scheduler, stepper, model } = this.parts
    log(`step failed: ${error.message}`)
    const running = [...scheduler.running]
    for (const sequence of running) stepper.fail(sequence, error, false)
    // No sequence ran, so no request caused the failure, and another try would fail too.
    if (model.isDead || (running.length === 0 && !model.isRestarting)) this.die(error)
  }
}

function closingError(): RequestError {
  return new RequestError("shutting_down", "the engine is shutting down")
}
