/**
 * Loads onnxruntime-web on a device of this thread.
 *
 * It is made for pages, so Node has to look like one in three respects. All sessions of a thread
 * share one module, which runs one graph at a time: two runs at once end the process.
 */

import { setFlagsFromString } from "node:v8"
import type { InferenceSession } from "onnxruntime-node"
import { missingWeb } from "./installed.ts"
import type { WebTensors } from "./memory.ts"

/** The part of onnxruntime-web that is used here. */
export interface WebOrt {
  readonly InferenceSession: {
    create(model: Uint8Array, options: InferenceSession.SessionOptions): Promise<InferenceSession>
  }
  readonly Tensor: WebTensors
  readonly env: { readonly wasm: { numThreads?: number }; logLevel?: string }
}

let started: Promise<WebOrt> | undefined

/** Loads the package. Throws ModelError with the command to run if it is missing. */
export function startWebOrt(gpu: GPU): Promise<WebOrt> {
  started ??= start(gpu)
  return started
}

async function start(gpu: GPU): Promise<WebOrt> {
  const [major] = process.versions.node.split(".").map(Number)
  // The optimising compiler of Node 20 works on the module of 27 MB for half a minute before the
  // first run. Later versions do not need the flag.
  if (major < 22) setFlagsFromString("--wasm-tiering-budget=100000000")
  const navigator = { gpu, userAgent: "node", hardwareConcurrency: 1 }
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true })
  copySharedMemory()
  let ort: WebOrt
  try {
    ort = (await import("onnxruntime-web/webgpu")) as unknown as WebOrt
  } catch (cause) {
    throw missingWeb(cause as Error)
  }
  ort.env.wasm.numThreads = 1
  ort.env.logLevel = "error"
  return ort
}

/** The memory of the module is shared, and Dawn refuses to write from such memory: it is copied. */
function copySharedMemory(): void {
  const { prototype } = GPUQueue
  const write = prototype.writeBuffer
  prototype.writeBuffer = function (buffer, offset, data, at = 0, size) {
    const isView = ArrayBuffer.isView(data)
    const memory: ArrayBufferLike = isView ? data.buffer : data
    if (memory instanceof ArrayBuffer) return write.call(this, buffer, offset, data as ArrayBuffer, at, size)
    // Offset and size count elements of a view.
    const unit = isView && "BYTES_PER_ELEMENT" in data ? Number(data.BYTES_PER_ELEMENT) : 1
    const start = (isView ? data.byteOffset : 0) + at * unit
    const rest = (isView ? data.byteLength : memory.byteLength) - at * unit
    const bytes = new Uint8Array(memory, start, size === undefined ? rest : size * unit).slice()
    return write.call(this, buffer, offset, bytes)
  }
}
