/**
 * The thread that owns the device: it runs the model's graph and the sampler's kernels on it, and
 * answers one message at a time. `client.ts` starts it from `dist`.
 *
 * If the device is lost, the thread ends with an error, and its starter replaces it. A run on a
 * lost device does not fail, so the loss is looked for before an answer leaves.
 */

import { parentPort, workerData } from "node:worker_threads"
import { GpuPipeline, isRows, type LogitsPlace } from "../../../sampler/gpu/pipeline.ts"
import { type Device, openDevice } from "../../device.ts"
import { Gate } from "../ort/gate.ts"
import type { DeviceLogits, DeviceMemory } from "./memory.ts"
import type { Answer, Order, Question, WebLoadOptions } from "./protocol.ts"
import { checkGraph, openWebSession, type WebSession } from "./session.ts"
import { TrafficCounter } from "./traffic.ts"
import { tryWebSession } from "./trial.ts"

const port = parentPort!
const { cells, ...options } = workerData as WebLoadOptions & { cells: Int32Array }
const gate = new Gate(cells)

interface Opened {
  readonly device: Device
  readonly session: WebSession
  readonly memory: DeviceMemory
  readonly pipeline: GpuPipeline
  readonly traffic: TrafficCounter
}

/** Logits by their numbers. */
const kept = new Map<number, DeviceLogits>()

try {
  const opened = await load()
  let last = Promise.resolve()
  port.on("message", (message: Question | Order) => {
    last = last.then(() => handle(opened, message))
  })
} catch (error) {
  port.postMessage({ kind: "failed", id: 0, message: (error as Error).message } satisfies Answer)
  port.close()
} finally {
  gate.leave()
}

async function load(): Promise<Opened> {
  checkGraph(options.graphPath)
  const device = await openDevice({ software: options.software, runsModel: true })
  try {
    const traffic = new TrafficCounter()
    const { session, memory } = await openWebSession(device, options)
    await tryWebSession(session, traffic, options)
    const pipeline = await GpuPipeline.create(device.device)
    const { canRewind, marks, cutsFreely, joinsFeeds, readsSteps, description, signature } = session
    const way = { canRewind, marks, cutsFreely, joinsFeeds, readsSteps, description, threads: 1 }
    const { maxBytes } = pipeline
    port.postMessage({
      ...{ kind: "loaded", id: 0, width: signature.width, ...way, maxBytes, device: device.info },
    } satisfies Answer)
    return { device, session, memory, pipeline, traffic }
  } catch (error) {
    device.close()
    throw error
  }
}

async function handle(opened: Opened, message: Question | Order): Promise<void> {
  gate.enter()
  try {
    if (message.kind === "keep") keep(opened, message)
    else if (message.kind === "release") release(message.logits)
    else if (message.kind === "close") await close(opened)
    else port.postMessage(await answerTo(opened, message))
  } catch (error) {
    await checkDevice(opened.device)
    const id = "id" in message ? message.id : 0
    port.postMessage({ kind: "failed", id, message: (error as Error).message } satisfies Answer)
  } finally {
    gate.leave()
  }
}

async function answerTo({ session, pipeline, traffic, device }: Opened, question: Question): Promise<Answer> {
  const { id } = question
  traffic.side = question.kind === "forward" ? "model" : "sampler"
  if (question.kind === "sample") {
    const { shape, data } = question
    const logits = isRows(data.logits) ? data.logits : placed(data.logits)
    const answer = await pipeline.run(shape, { ...data, logits })
    return { kind: "sample", id, answer, traffic: traffic.sums }
  }
  if (question.kind === "row") {
    const row = await pipeline.readRow(placed(question.place), question.index, question.width)
    return { kind: "row", id, row: row as Float32Array<ArrayBuffer>, traffic: traffic.sums }
  }
  const logits = await session.forward(question.feeds)
  await checkDevice(device)
  kept.set(question.logits, logits)
  const { rowCount, type: format } = logits
  const { work } = session
  return { kind: "forward", id, rowCount, format, at: process.hrtime.bigint(), work, traffic: traffic.sums }
}

function placed({ buffer, ...place }: LogitsPlace<number>): LogitsPlace<GPUBuffer> {
  return { ...place, buffer: logitsOf(buffer).buffer }
}

/** Returns logits by their number. Throws if they were those of an earlier thread. */
function logitsOf(number: number): DeviceLogits {
  const logits = kept.get(number)
  if (!logits) throw new Error("the logits were lost when the model's thread was started again")
  return logits
}

function keep({ memory }: Opened, { logits, start, end, as }: Extract<Order, { kind: "keep" }>): void {
  kept.set(as, memory.copyLogits(logitsOf(logits), start, end))
}

function release(number: number): void {
  kept.get(number)?.buffer.destroy()
  kept.delete(number)
}

async function close({ session, pipeline, device }: Opened): Promise<void> {
  try {
    await session.close()
    pipeline.destroy()
  } finally {
    device.close()
    port.close()
  }
}

/** Ends the thread with an error if the device was lost. The loss is reported asynchronously. */
async function checkDevice(device: Device): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  const reason = device.lossReason()
  if (reason === undefined) return
  setImmediate(() => {
    throw new Error(`the device was lost (${reason})`)
  })
  // No answer leaves any more.
  await new Promise(() => {})
}
