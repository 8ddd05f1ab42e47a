/**
 * The model's thread: loads the graph, owns the sessions, answers one message at a time.
 *
 * Buffers travel by transfer, never shared: each answer carries the logits, each question carries back the buffer of an
 * answer that has been read. Started from `dist` by `client.ts`, which names the messages.
 */

import { readFileSync } from "node:fs"
import { parentPort, workerData } from "node:worker_threads"
import type { InferenceSession, Tensor } from "onnxruntime-node"
import type { Answer, LoadOptions, Question } from "./client.ts"
import { Gate } from "./gate.ts"
import { Graph, type TensorConstructor } from "./graph.ts"
import { missingOrt } from "./installed.ts"
import { loadError } from "./refusal.ts"
import { OrtSession } from "./session.ts"
import { readSignature, type ValueInfo } from "./signature.ts"
import { slimmed } from "./slim.ts"
import { type PlacedGraph, placeGraph } from "./weights.ts"

interface Ort {
  InferenceSession: {
    create(model: string | Uint8Array, options: InferenceSession.SessionOptions): Promise<InferenceSession>
  }
  Tensor: typeof Tensor
}

const port = parentPort!

/** Lets the thread end. Deno's port of a thread has no `close`; there the listener is what keeps the thread. */
function closePort(): void {
  if (typeof port.close === "function") port.close()
  else process.exit()
}
const { cells, ...options } = workerData as LoadOptions & { cells: Int32Array }
const gate = new Gate(cells)

function answer(message: Answer, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

try {
  const session = await load()
  // One after the other: a run gives this thread back between its parts, and nothing may come in between.
  let last = Promise.resolve()
  port.on("message", (question: Question) => {
    last = last.then(() => serve(session, question))
  })
} catch (error) {
  answer({ kind: "failed", id: 0, message: (error as Error).message })
  closePort()
} finally {
  gate.leave()
}

async function serve(session: OrtSession, question: Question): Promise<void> {
  gate.enter()
  try {
    if (question.kind === "close") {
      await session.close()
      closePort()
      return
    }
    const logits = await session.forward(question.feeds, question.reuse)
    const buffer = logits.buffer as ArrayBuffer
    answer(
      {
        kind: "logits",
        id: question.id,
        buffer,
        length: logits.length,
        at: process.hrtime.bigint(),
        work: session.work,
      },
      [buffer],
    )
  } catch (error) {
    answer({
      kind: "failed",
      id: question.kind === "forward" ? question.id : 0,
      message: (error as Error).message,
    })
  } finally {
    gate.leave()
  }
}

async function load(): Promise<OrtSession> {
  const ort = await importOrt()
  const placed = placeGraph(options.graphPath)
  const opened = (await openSlim(ort, placed)) ?? (await openGraph(ort, placed))
  const { canRewind, marks, cutsFreely, joinsFeeds, readsSteps, description, signature } = opened
  const { width } = signature
  answer({ kind: "loaded", id: 0, width, canRewind, marks, cutsFreely, joinsFeeds, readsSteps, description })
  return opened
}

/** Undefined where it does not run so: the graph as it is says better why. */
async function openSlim(ort: Ort, { model, folder }: PlacedGraph): Promise<OrtSession | undefined> {
  if (options.provider === "webgpu") return undefined
  for (const hasSteps of [true, false]) {
    try {
      const slim = slimmed(typeof model === "string" ? readFileSync(model) : new Uint8Array(model), {
        hasSteps,
      })
      return slim ? await openGraph(ort, { model: slim, folder }) : undefined
    } catch {
      // Perhaps it runs without.
    }
  }
  return undefined
}

async function openGraph(ort: Ort, placed: PlacedGraph): Promise<OrtSession> {
  const isGpu = options.provider === "webgpu"
  const { graphPath, embeddingPath, slotCount, contextLength, batching, readsAhead, config } = options
  const common: InferenceSession.SessionOptions = {
    executionProviders: [options.provider],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: "all",
    logSeverityLevel: 4,
  }
  let session = await create(ort, placed, common)
  const infos = (list: readonly unknown[]): ValueInfo[] => list as ValueInfo[]
  const inputs = infos(session.inputMetadata)
  const wants = inputs.some(({ name }) => name === "inputs_embeds")
  // Few numbers, which come from memory and not from a computation: the processor has them sooner than a device.
  const embedding =
    wants && embeddingPath !== undefined
      ? await create(ort, placeGraph(embeddingPath), { ...common, executionProviders: ["cpu"] })
      : undefined
  const signature = readSignature(
    graphPath,
    inputs,
    infos(session.outputMetadata),
    config,
    embedding && {
      path: embeddingPath!,
      inputs: infos(embedding.inputMetadata),
      outputs: infos(embedding.outputMetadata),
    },
  )
  if (isGpu) {
    // The cache stays on the device; only logits come back. The names are known only now.
    await session.release()
    const outputs = Object.fromEntries(
      signature.caches.map(({ present }) => [present, "gpu-buffer" as const]),
    )
    session = await create(ort, placed, {
      ...common,
      preferredOutputLocation: { ...outputs, logits: "cpu" },
    })
  }
  const graph = new Graph(session, ort.Tensor as unknown as TensorConstructor, signature, embedding)
  const opened = new OrtSession(graph, {
    slotCount,
    contextLength,
    batching,
    readsAhead,
    isCacheOpaque: isGpu,
  })
  await opened.prepare()
  return opened
}

async function importOrt(): Promise<Ort> {
  // Where there is a Float16Array onnxruntime asks for it, and its native part then takes such a tensor for empty. This thread
  // is ours alone: without the class, halves are the bits in a Uint16Array, as on the Node versions before it.
  Reflect.deleteProperty(globalThis, "Float16Array")
  try {
    const module = (await import("onnxruntime-node")) as unknown as Ort & { default?: Ort }
    return module.default ?? module
  } catch (cause) {
    throw missingOrt(cause as Error)
  }
}

async function create(
  ort: Ort,
  { model, folder }: PlacedGraph,
  sessionOptions: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  // Weights in files of their own lie in that folder, which the bytes of a graph do not say.
  const extra = { session: { model_external_initializers_file_folder_path: folder } }
  try {
    return await ort.InferenceSession.create(model, { ...sessionOptions, extra })
  } catch (cause) {
    throw loadError(typeof model === "string" ? model : options.graphPath, cause as Error)
  }
}
