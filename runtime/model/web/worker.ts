/**
 * The thread that owns the device: it runs the model's graph and the sampler's kernels on it, and
 * answers one message at a time. `client.ts` starts it from `dist`.
 *
 * If the device is lost, the thread ends with an error, and its starter replaces it.
 */

import { parentPort, workerData } from "node:worker_threads"
import { GpuPipeline } from "../../../sampler/gpu/pipeline.ts"
import { openDevice } from "../../device.ts"
import { Gate } from "../ort/gate.ts"
import type { Answer, Order, Question, WebLoadOptions } from "./protocol.ts"
import { Serving } from "./serving.ts"
import { checkGraph, openWebSession } from "./session.ts"
import { TrafficCounter } from "./traffic.ts"
import { tryWebSession } from "./trial.ts"

const port = parentPort!
const { cells, ...options } = workerData as WebLoadOptions & { cells: Int32Array }
const gate = new Gate(cells)

try {
  const serving = await load()
  let last = Promise.resolve()
  port.on("message", (message: Question | Order) => {
    last = last.then(() => handle(serving, message))
  })
} catch (error) {
  post({ kind: "failed", id: 0, message: (error as Error).message })
  port.close()
} finally {
  gate.leave()
}

async function handle(serving: Serving, message: Question | Order): Promise<void> {
  gate.enter()
  try {
    if (message.kind !== "close") return await serving.handle(message)
    await serving.close()
    port.close()
  } finally {
    gate.leave()
  }
}

async function load(): Promise<Serving> {
  checkGraph(options.graphPath, options.config)
  const device = await openDevice({ software: options.software, runsModel: true })
  try {
    const traffic = new TrafficCounter()
    const { session, memory } = await openWebSession(device, options)
    await tryWebSession(session, traffic, options)
    const pipeline = await GpuPipeline.create(device.device)
    await new Promise((resolve) => setImmediate(resolve))
    const reason = device.lossReason()
    if (reason !== undefined) throw new Error(`the GPU cannot run this graph: ${reason}`)
    const { canRewind, marks, cutsFreely, joinsFeeds, readsSteps, description, signature } = session
    const way = { canRewind, marks, cutsFreely, joinsFeeds, readsSteps, description, threads: 1 }
    const { maxBytes } = pipeline
    post({ kind: "loaded", id: 0, width: signature.width, ...way, maxBytes, device: device.info })
    return new Serving({ device, session, memory, pipeline, traffic }, { post, fail })
  } catch (error) {
    device.close()
    throw error
  }
}

function post(answer: Answer): void {
  port.postMessage(answer)
}

/** Ends the thread with an error. */
function fail(error: Error): void {
  setImmediate(() => {
    throw error
  })
}
