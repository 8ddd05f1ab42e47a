/**
 * Runs batches: validating → in_progress → finalizing → completed.
 *
 * A line is answered by the application itself, in this process, so that it is checked, refused and
 * limited as any other request. Lines are under way in the background: a line gets a slot only when
 * no other request waits. There are more of them than slots, so that no slot waits for a line. A
 * batch under way takes slots in turn with the other ones.
 *
 * Whatever is temporary is tried again: a full queue, a rate limit, a model that is being loaded, a
 * full disk. An outcome is recorded once; a line that was running when the process ended has none,
 * and runs again after a restart.
 */
import { toHttpError } from "../errors.ts"
import { type Answer, answerLine, Gate, pause, Recorder, runLines, StoppedError } from "./answering.ts"
import { checkInput, readInput } from "./lines.ts"
import {
  type BatchError,
  type BatchStore,
  isOpenBatch,
  maxLines,
  maxOpenBatches,
  nowSeconds,
  type Outcome,
  type Outcomes,
  type StoredBatch,
} from "./store.ts"

export interface RunnerOptions {
  store: BatchStore
  answer: Answer
  /** Number of lines that may be under way at once. */
  width: number
  /** Returns whether this process answers no more requests, so that trying again is in vain. */
  isOver?: () => boolean
  /** Returns the API key of an owner, null if it needs none, undefined if it is not known. */
  keyOf: (owner: string) => string | null | undefined
  /** Receives messages for the log. */
  log?: (message: string) => void
  /** Milliseconds after which a full disk is tried again. */
  retryMs?: number
}

/** A batch that runs here. */
interface Running {
  outcomes: Outcomes | null
  readonly control: AbortController
  /** Whether it waits for room on the disk. */
  isDiskFull: boolean
}

export class BatchRunner {
  private readonly options: RunnerOptions
  private readonly running = new Map<string, Running>()
  /** Batches whose end could not be stored; they run again after a restart. */
  private readonly stuck = new Set<string>()
  private readonly gate: Gate
  private lastChange: Promise<unknown> = Promise.resolve()
  private isStopped = false

  constructor(options: RunnerOptions) {
    this.options = options
    this.gate = new Gate(options.width)
  }

  /**
   * Ends all work here, when another process has taken the store: lines under way are aborted,
   * nothing is recorded or changed, and no further batch begins.
   */
  stop(): void {
    this.isStopped = true
    for (const { control } of this.running.values()) control.abort()
  }

  /** Begins the open batches of the store, as far as there is room. Never rejects. */
  async wake(): Promise<void> {
    try {
      this.begin(await this.options.store.listBatches())
    } catch (error) {
      this.options.log?.(`batches: ${(error as Error).message}`)
    }
  }

  private begin(batches: readonly StoredBatch[]): void {
    for (const batch of batches) {
      if (this.isStopped || this.running.size >= maxOpenBatches) return
      const { id, owner } = batch
      if (!isOpenBatch(batch) || this.running.has(id) || this.stuck.has(id)) continue
      if (this.options.keyOf(owner) === undefined) continue
      this.running.set(id, { outcomes: null, control: new AbortController(), isDiskFull: false })
      void this.run(id)
    }
  }

  /** Returns the batch with its state of this moment. */
  present(batch: StoredBatch): StoredBatch {
    const { outcomes, isDiskFull = false } = this.running.get(batch.id) ?? {}
    return {
      ...batch,
      ...(outcomes && { request_counts: { ...batch.request_counts, ...outcomes.counts } }),
      ...(outcomes?.usage && { usage: outcomes.usage }),
      ...(isDiskFull && { errors: { object: "list", data: [diskFull] } }),
    }
  }

  /**
   * Cancels a batch: lines under way are aborted, outcomes so far are kept. Resolves to the batch,
   * unchanged if it is too late.
   */
  async cancel(id: string): Promise<StoredBatch> {
    const batch = await this.change(id, (now) => {
      if (now.status !== "validating" && now.status !== "in_progress") return now
      if (now.status === "validating" && !this.running.has(id)) return cancelledBatch(now)
      return { ...now, status: "cancelling", cancelling_at: nowSeconds() }
    })
    if (batch.status === "cancelling") this.running.get(id)?.control.abort()
    await this.wake()
    return this.present(batch)
  }

  private async run(id: string): Promise<void> {
    const { store, log } = this.options
    const running = this.running.get(id)!
    try {
      const batch = await this.validated(await current(store, id))
      if (!isOpenBatch(batch)) return
      const outcomes = await this.patiently(() => store.openOutcomes(batch), id)
      running.outcomes = outcomes
      await this.answerAll(batch, outcomes, running.control.signal)
      await this.finish(batch, outcomes)
    } catch (error) {
      log?.(`batch ${id}: ${(error as Error).message}`)
      if (this.isStopped || error instanceof StoppedError) this.stuck.add(id)
      else await this.failed(id, error, running.outcomes)
    } finally {
      await running.outcomes?.close().catch(({ message }: Error) => log?.(`batch ${id}: ${message}`))
      this.running.delete(id)
      await this.wake()
    }
  }

  /** Checks the input of a new batch, and returns the batch in its next state. */
  private async validated(batch: StoredBatch): Promise<StoredBatch> {
    // It was cancelled before its input was checked.
    if (batch.status === "cancelling" && batch.in_progress_at === null)
      return this.patientlyChange(batch.id, cancelledBatch)
    if (batch.status !== "validating") return batch
    const content = this.options.store.readFile(batch.input_file_id)
    const { total, errors } = await checkInput(content, { endpoint: batch.endpoint, maxLines })
    return this.patientlyChange(batch.id, (now) => {
      // It may have been cancelled meanwhile.
      if (!isOpenBatch(now)) return now
      if (errors.length > 0) return failedBatch(now, errors)
      const status = now.status === "validating" ? "in_progress" : now.status
      const counts = { total, completed: 0, failed: 0 }
      return { ...now, status, in_progress_at: nowSeconds(), request_counts: counts }
    })
  }

  /** Runs the lines without an outcome, until all have one, or it is cancelled or expires. */
  private async answerAll(batch: StoredBatch, outcomes: Outcomes, cancelled: AbortSignal): Promise<void> {
    const { store, answer, keyOf, isOver } = this.options
    const leftMs = (batch.expires_at - nowSeconds()) * 1000
    if (batch.status !== "in_progress" || leftMs <= 0) return
    const recorder = new Recorder((group) => this.patiently(() => outcomes.append(group), batch.id))
    const key = keyOf(batch.owner) ?? null
    await runLines(readInput(store.readFile(batch.input_file_id), batch.endpoint), {
      gate: this.gate,
      signal: AbortSignal.any([cancelled, AbortSignal.timeout(leftMs)]),
      claim: (customId) => outcomes.claim(customId),
      answer: (line, number, signal) =>
        answerLine(line, { id: requestId(batch, number), key, signal, isOver }, answer),
      record: (outcome) => recorder.add(outcome),
    })
  }

  /** Ends a batch whose lines have run, or will not. */
  private async finish({ id }: StoredBatch, outcomes: Outcomes): Promise<void> {
    const unrun = (batch: StoredBatch) =>
      outcomes.counts.completed + outcomes.counts.failed < batch.request_counts.total
    let batch = await current(this.options.store, id)
    const isExpired = batch.status === "in_progress" && unrun(batch)
    if (isExpired) await this.refuseRest(batch, outcomes, expired)
    else {
      batch = await this.patientlyChange(id, (now) => {
        if (now.status !== "in_progress") return now
        return { ...now, status: "finalizing", finalizing_at: nowSeconds() }
      })
      if (batch.status === "cancelling") await this.refuseRest(batch, outcomes, cancelled)
    }
    const ending = isExpired ? "expired" : batch.status === "cancelling" ? "cancelled" : "completed"
    const { outputFileId, errorFileId } = await this.patiently(() => outcomes.finish(), id)
    await this.patientlyChange(id, (now) => ({
      ...now,
      status: ending,
      [`${ending}_at`]: nowSeconds(),
      request_counts: { ...now.request_counts, ...outcomes.counts },
      ...(outcomes.usage && { usage: outcomes.usage }),
      output_file_id: outputFileId,
      error_file_id: errorFileId,
    }))
  }

  /** Records that the lines without an outcome did not run. */
  private async refuseRest(batch: StoredBatch, outcomes: Outcomes, error: object): Promise<void> {
    let number = 0
    let group: Outcome[] = []
    const flush = async (): Promise<void> => {
      await this.patiently(() => outcomes.append(group), batch.id)
      group = []
    }
    const content = this.options.store.readFile(batch.input_file_id)
    for await (const { customId } of readInput(content, batch.endpoint)) {
      number++
      if (!(await outcomes.claim(customId))) continue
      const line = { id: requestId(batch, number), custom_id: customId, response: null, error }
      group.push({ customId, isFailed: true, text: JSON.stringify(line) })
      if (group.length >= 256) await flush()
    }
    await flush()
  }

  /** Ends a batch by an error that is not of a line. Outcomes so far are kept. */
  private async failed(id: string, error: unknown, outcomes: Outcomes | null): Promise<void> {
    const { message } = toHttpError(error).body.error
    const failure = { code: "server_error", message, param: null, line: null }
    const files = await this.patiently(async () => outcomes?.finish(), id).catch(() => undefined)
    const kept = files && { output_file_id: files.outputFileId, error_file_id: files.errorFileId }
    try {
      await this.patientlyChange(id, (now) => {
        if (!isOpenBatch(now)) return now
        const counts = { ...now.request_counts, ...outcomes?.counts }
        const usage = outcomes?.usage && { usage: outcomes.usage }
        return { ...failedBatch(now, [failure]), request_counts: counts, ...usage, ...kept }
      })
    } catch {
      this.stuck.add(id)
    }
  }

  /** Stores the batch as `change` returns it. Changes happen one after the other. */
  private change(id: string, change: (now: StoredBatch) => StoredBatch): Promise<StoredBatch> {
    const { store } = this.options
    const changed = this.lastChange.then(async () => {
      const now = await current(store, id)
      this.refuseStopped()
      const next = change(now)
      if (next !== now) await store.putBatch(next)
      return next
    })
    this.lastChange = changed.catch(() => {})
    return changed
  }

  private refuseStopped(): void {
    if (this.isStopped) throw new StoppedError("another process has taken the store")
  }

  private patientlyChange(id: string, change: (now: StoredBatch) => StoredBatch): Promise<StoredBatch> {
    return this.patiently(() => this.change(id, change), id)
  }

  /** Does something, if need be again until the disk has room for it. */
  private async patiently<T>(act: () => Promise<T>, id: string): Promise<T> {
    const { retryMs = 5_000, log, isOver } = this.options
    const running = this.running.get(id)
    for (let isFirst = true; ; isFirst = false) {
      this.refuseStopped()
      try {
        const result = await act()
        if (running) running.isDiskFull = false
        return result
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== "ENOSPC" && code !== "EDQUOT") throw error
        if (isFirst) log?.(`batch ${id} waits: the disk is full`)
        if (running) running.isDiskFull = true
        await pause(retryMs)
        if (isOver?.()) throw new StoppedError("the engine is closed")
      }
    }
  }
}

/** Told while a batch waits; it goes on by itself when there is room. */
const diskFull: BatchError = {
  code: "disk_full",
  message: "The server's disk is full. The batch waits until there is room.",
  param: null,
  line: null,
}

const expired = {
  code: "batch_expired",
  message: "This request could not be executed before the completion window expired.",
}

const cancelled = {
  code: "batch_cancelled",
  message: "The batch was cancelled before this request was executed.",
}

/** Returns the id of a line's outcome. */
function requestId({ id }: StoredBatch, number: number): string {
  return `${id.replace("batch_", "batch_req_")}_${number}`
}

function failedBatch(batch: StoredBatch, data: BatchError[]): StoredBatch {
  return { ...batch, status: "failed", failed_at: nowSeconds(), errors: { object: "list", data } }
}

function cancelledBatch(batch: StoredBatch): StoredBatch {
  const now = nowSeconds()
  return { ...batch, status: "cancelled", cancelling_at: batch.cancelling_at ?? now, cancelled_at: now }
}

async function current(store: BatchStore, id: string): Promise<StoredBatch> {
  const batch = await store.getBatch(id)
  if (batch === undefined) throw new Error("it is no longer stored")
  return batch
}
