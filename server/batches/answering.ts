/**
 * Answers the lines of a batch: as many at once as a gate lets through, each until it has an
 * outcome, which is recorded once.
 */
import { setMaxListeners } from "node:events"
import type { BatchLine } from "./lines.ts"
import type { Outcome, Outcomes } from "./store.ts"

/** Answers a request of a batch. */
export type Answer = (request: Request) => Response | Promise<Response>

/** No later try can succeed in this process. The line has no outcome. */
export class StoppedError extends Error {}

/** A line had a temporary failure, and is answered again after this time. */
interface Retry {
  retryMs: number
}

interface LineOptions {
  gate: Gate
  signal: AbortSignal
  claim: Outcomes["claim"]
  /** Answers the line with this number among the requests, from 1; null if the signal fired. */
  answer: (line: BatchLine, number: number, signal: AbortSignal) => Promise<Outcome | Retry | null>
  /** Resolves when the outcome is durable. */
  record: (outcome: Outcome) => Promise<void>
}

/** Maximum outcomes that are being recorded; while there are as many, no further line begins. */
const maxUnrecorded = 256

/**
 * Answers the lines that can be claimed, as many at once as the gate lets through. While a line
 * waits for its next try it leaves its place to other batches, and no further line begins: what
 * refuses one would refuse the next. Rejects with the first error, also of `lines`, when the lines
 * under way have ended.
 */
export async function runLines(lines: AsyncIterable<BatchLine>, options: LineOptions): Promise<void> {
  const { gate, signal, claim, answer, record } = options
  const underWay = new Set<Promise<void>>()
  const control = new AbortController()
  // Each line under way listens to it.
  setMaxListeners(0, control.signal)
  const stop = (): void => control.abort()
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  let failure: unknown
  let unrecorded = 0
  const pauses = new Set<Promise<void>>()
  /** The caller has entered the gate. */
  const once = async (line: BatchLine, number: number): Promise<Outcome | Retry | null> => {
    try {
      return await answer(line, number, control.signal)
    } finally {
      gate.leave()
    }
  }
  const run = async (line: BatchLine, number: number): Promise<void> => {
    let outcome = await once(line, number)
    while (outcome !== null && "retryMs" in outcome) {
      const paused = pause(outcome.retryMs, control.signal)
      pauses.add(paused)
      await paused
      pauses.delete(paused)
      await gate.enter()
      outcome = await once(line, number)
    }
    if (outcome === null) return
    unrecorded++
    await record(outcome)
    unrecorded--
  }
  /** Enters the gate when no line of these waits for its next try. */
  const enter = async (): Promise<void> => {
    for (;;) {
      while (pauses.size > 0) await Promise.race(pauses)
      await gate.enter()
      if (pauses.size === 0) return
      gate.leave()
    }
  }
  let number = 0
  const fail = (error: unknown): void => {
    failure ??= error
  }
  try {
    for await (const line of lines) {
      number++
      if (!(await claim(line.customId))) continue
      await enter()
      while (unrecorded >= maxUnrecorded && failure === undefined) await Promise.race(underWay)
      if (signal.aborted || failure !== undefined) {
        gate.leave()
        break
      }
      const ran: Promise<void> = run(line, number)
        .catch(fail)
        .finally(() => underWay.delete(ran))
      underWay.add(ran)
    }
  } catch (error) {
    fail(error)
  }
  await Promise.all(underWay)
  signal.removeEventListener("abort", stop)
  if (failure !== undefined) throw failure
}

interface LineRequest {
  /** The id of the line's outcome. */
  id: string
  key: string | null
  signal: AbortSignal
  /** Returns whether trying again is in vain. */
  isOver?: (() => boolean) | undefined
}

/** Statuses of temporary failures. */
const temporary = new Set([429, 503])

/**
 * Answers one line. Resolves to null if the signal fires before its reply is complete, and to the
 * time of the next try after a temporary failure. Rejects if no later try can succeed.
 */
export async function answerLine(
  line: BatchLine,
  { id, key, signal, isOver }: LineRequest,
  answer: Answer,
): Promise<Outcome | Retry | null> {
  const headers = {
    "content-type": "application/json",
    ...(key !== null && { authorization: `Bearer ${key}` }),
  }
  if (signal.aborted) return null
  // Requests listen to a signal until they are collected, so each gets one of its own.
  const own = new AbortController()
  const stop = (): void => own.abort()
  signal.addEventListener("abort", stop, { once: true })
  const init = { method: "POST", headers, body: line.body, signal: own.signal }
  const response = await answer(new Request(`http://localhost${line.url}`, init))
  const text = await response.text()
  signal.removeEventListener("abort", stop)
  if (signal.aborted) return null
  if (temporary.has(response.status)) {
    if (isOver?.()) throw new StoppedError("the engine is closed")
    return { retryMs: Number(response.headers.get("retry-after-ms") ?? 1_000) }
  }
  const head = `{"id":${JSON.stringify(id)},"custom_id":${JSON.stringify(line.customId)},`
  const body = jsonLine(text)
  if (body === null) {
    const error = { code: "server_error", message: `the reply (status ${response.status}) is not JSON` }
    const end = `"response":null,"error":${JSON.stringify(error)}}`
    return { customId: line.customId, isFailed: true, text: head + end }
  }
  const requestId = JSON.stringify(response.headers.get("x-request-id"))
  const reply = `"response":{"status_code":${response.status},"request_id":${requestId},"body":${body}}`
  return { customId: line.customId, isFailed: !response.ok, text: `${head}${reply},"error":null}` }
}

/** Returns a JSON text without line feeds; null if it is not JSON. */
function jsonLine(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    return text.includes("\n") ? JSON.stringify(value) : text
  } catch {
    return null
  }
}

/** Lets `width` through at once, in the order in which they came. */
export class Gate {
  private count = 0
  private readonly waiting: (() => void)[] = []
  private readonly width: number

  constructor(width: number) {
    this.width = width
  }

  async enter(): Promise<void> {
    if (this.count >= this.width) await new Promise<void>((resolve) => this.waiting.push(resolve))
    else this.count++
  }

  /** Hands the place to the first that waits. */
  leave(): void {
    const next = this.waiting.shift()
    if (next) next()
    else this.count--
  }
}

/** Writes outcomes in groups: those that come while a group is written make the next one. */
export class Recorder {
  private group: Outcome[] = []
  private writing: Promise<void> | null = null
  private readonly write: (group: readonly Outcome[]) => Promise<void>

  constructor(write: (group: readonly Outcome[]) => Promise<void>) {
    this.write = write
  }

  /** Resolves when the outcome is durable. */
  async add(outcome: Outcome): Promise<void> {
    this.group.push(outcome)
    await this.drained()
  }

  /** Resolves when all outcomes so far are durable. */
  private async drained(): Promise<void> {
    // The group that is being written does not hold the last outcome; the next one does.
    if (this.writing) await this.writing
    if (this.group.length === 0) return this.writing ?? undefined
    this.writing ??= this.writeGroup().finally(() => {
      this.writing = null
    })
    await this.writing
  }

  private async writeGroup(): Promise<void> {
    const group = this.group
    this.group = []
    await this.write(group)
  }
}

/** Waits. The timer does not keep the process running. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    ;(timer as { unref?: () => void }).unref?.()
    signal?.addEventListener("abort", done, { once: true })
    if (signal?.aborted) done()
  })
}
