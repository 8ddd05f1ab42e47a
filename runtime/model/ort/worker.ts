/**
 * The model's thread: it loads the graph, owns the sessions, and answers one message at a time.
 *
 * Buffers are transferred, never shared: each answer carries the logits, and each question carries
 * back the buffer of an answer that has been read. `client.ts` starts it from `dist` and defines
 * the messages.
 */

import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import type { InferenceSession, Tensor } from "onnxruntime-node"
import type { Answer, LoadOptions, Question } from "./client.ts"
import { Gate } from "./gate.ts"
import { type CacheArray, Graph, type TensorConstructor } from "./graph.ts"
import { HostMemory } from "./host.ts"
import { missingOrt } from "./installed.ts"
import { loadError } from "./refusal.ts"
import { OrtSession } from "./session.ts"
import { signatureOf, wantsEmbeddings } from "./signature.ts"
import { slimmed } from "./slim.ts"
import { type Candidate, fastest, StepWatch, threadCounts } from "./threads.ts"
import { type PlacedGraph, placeGraph, weightBytes } from "./weights.ts"

interface Ort {
  InferenceSession: {
    create(model: string | Uint8Array, options: InferenceSession.SessionOptions): Promise<InferenceSession>
  }
  Tensor: typeof Tensor
}

const port = parentPort!

/**
 * Lets the thread end. In Deno a thread's port has no `close`; there the listener keeps the thread
 * running.
 */
function closePort(): void {
  if (typeof port.close === "function") port.close()
  else process.exit()
}
const { cells, ...options } = workerData as LoadOptions & { cells: Int32Array }
const gate = new Gate(cells)

/** Maximum bytes of weights of a small graph, which is cheap to open several times. */
const SmallWeights = 256 << 20

/** An open model. */
interface Opened {
  readonly session: OrtSession<CacheArray, Float32Array>
  readonly memory: HostMemory
  threads: number
  /**
   * Opens the same graph again with another number of threads; undefined if the caller gave the
   * number.
   */
  readonly again: ((threads: number) => Promise<InferenceSession>) | undefined
}

function answer(message: Answer, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

try {
  const opened = await load()
  const watch = new StepWatch(performance.now())
  // Messages are handled one after the other: a run yields this thread between its parts, and no
  // other message may run in between.
  let last = Promise.resolve()
  port.on("message", (question: Question) => {
    last = last.then(async () => {
      const start = performance.now()
      await serve(opened, question)
      const now = performance.now()
      if (opened.again === undefined || question.kind !== "forward") return
      const isStep = question.feeds.every(({ tokens }) => tokens.length === 1)
      if (isStep && watch.note(question.feeds.length, now - start, now)) await chooseThreads(opened, true)
    })
  })
} catch (error) {
  answer({ kind: "failed", id: 0, message: (error as Error).message })
  closePort()
} finally {
  gate.leave()
}

async function serve({ session, memory }: Opened, question: Question): Promise<void> {
  gate.enter()
  try {
    if (question.kind === "close") {
      await session.close()
      closePort()
      return
    }
    memory.reuse = question.reuse
    const logits = await session.forward(question.feeds)
    const buffer = logits.buffer as ArrayBuffer
    answer(
      {
        kind: "forward",
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

async function load(): Promise<Opened> {
  const ort = await importOrt()
  const placed = placeGraph(options.graphPath)
  const opened = (await openSlim(ort, placed)) ?? (await openGraph(ort, placed))
  await chooseThreads(opened, false)
  const { session, threads } = opened
  const { canRewind, marks, cutsFreely, joinsFeeds, readsSteps, description, signature } = session
  const { width } = signature
  const way = { canRewind, marks, cutsFreely, joinsFeeds, readsSteps, description, threads }
  answer({ kind: "loaded", id: 0, width, ...way })
  return opened
}

/**
 * Switches the graph to the number of threads that is fastest. `keepsBits`: considers only numbers
 * that give the same logits.
 */
async function chooseThreads(opened: Opened, keepsBits: boolean): Promise<void> {
  const { session, again } = opened
  if (again === undefined) return
  const { graph } = session
  const current = graph.session
  const candidate = async (threads: number): Promise<Candidate & { run: InferenceSession }> => {
    const run = threads === opened.threads ? current : await again(threads)
    const step = async (): Promise<number> => {
      graph.session = run
      const start = performance.now()
      await session.tryStep()
      return performance.now() - start
    }
    return { threads, run, step }
  }
  const release = async (run: InferenceSession): Promise<void> => {
    if (run !== current) await run.release()
  }
  gate.enter()
  try {
    const said = await session.tryStep()
    const best = await fastest(threadCounts(availableParallelism()), candidate, ({ run }) => release(run))
    graph.session = best.run
    if (best.run === current) return
    if (keepsBits && (await session.tryStep()).some((value, id) => value !== said[id])) {
      graph.session = current
      await best.run.release()
    } else {
      opened.threads = best.threads
      await current.release()
    }
  } catch {
    // If a trial fails, the running session stays.
    graph.session = current
  } finally {
    gate.leave()
  }
}

/**
 * Opens the slimmed graph. Returns undefined if it does not run in this form: the error of the
 * original graph is clearer.
 */
async function openSlim(ort: Ort, { model, folder }: PlacedGraph): Promise<Opened | undefined> {
  if (options.provider === "webgpu") return undefined
  for (const hasSteps of [true, false]) {
    try {
      const slim = slimmed(typeof model === "string" ? readFileSync(model) : new Uint8Array(model), {
        hasSteps,
      })
      return slim ? await openGraph(ort, { model: slim, folder }) : undefined
    } catch {
      // The graph may run without the added steps.
    }
  }
  return undefined
}

async function openGraph(ort: Ort, placed: PlacedGraph): Promise<Opened> {
  const isGpu = options.provider === "webgpu"
  const { graphPath, embeddingPath, slotCount, contextLength, batching, readsAhead, config } = options
  const bytesOfWeights = weightBytes(graphPath)
  const isSmall = bytesOfWeights <= SmallWeights
  const threads = options.threads ?? (isSmall ? 1 : Math.max(1, availableParallelism() - 1))
  const common: InferenceSession.SessionOptions = {
    executionProviders: [options.provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: "all",
    logSeverityLevel: 4,
  }
  let session = await create(ort, placed, common)
  // This graph only looks up a few numbers in memory: the processor does that faster than a device.
  const embedding =
    wantsEmbeddings(session) && embeddingPath !== undefined
      ? await create(ort, placeGraph(embeddingPath), { ...common, executionProviders: ["cpu"] })
      : undefined
  const signature = signatureOf(
    graphPath,
    session,
    config,
    embedding && { path: embeddingPath!, graph: embedding },
  )
  if (isGpu) {
    // The cache stays on the device; only logits are copied back. The names of the outputs are
    // known only now.
    await session.release()
    const outputs = Object.fromEntries(
      signature.caches.map(({ present }) => [present, "gpu-buffer" as const]),
    )
    session = await create(ort, placed, {
      ...common,
      preferredOutputLocation: { ...outputs, logits: "cpu" },
    })
  }
  const Tensor = ort.Tensor as unknown as TensorConstructor
  const graph = new Graph(session, Tensor, signature, embedding)
  const memory = new HostMemory(Tensor)
  const opened = new OrtSession(graph, memory, {
    slotCount,
    contextLength,
    batching,
    readsAhead,
    weightBytes: bytesOfWeights,
    isCacheOpaque: isGpu,
  })
  await opened.prepare()
  const isTried = options.threads === undefined && isSmall && !isGpu && contextLength > 1
  const again = (count: number): Promise<InferenceSession> =>
    create(ort, placed, { ...common, intraOpNumThreads: count })
  return { session: opened, memory, threads, again: isTried ? again : undefined }
}

async function importOrt(): Promise<Ort> {
  // If there is a Float16Array, onnxruntime asks for it, and its native part then treats such a
  // tensor as empty. This thread runs no other code: without the class, halves are the bits in a
  // Uint16Array, as on older Node versions.
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
  // Weights in separate files are in that folder, which onnxruntime cannot know from the bytes of a
  // graph.
  const extra = { session: { model_external_initializers_file_folder_path: folder } }
  try {
    return await ort.InferenceSession.create(model, { ...sessionOptions, extra })
  } catch (cause) {
    throw loadError(typeof model === "string" ? model : options.graphPath, cause as Error)
  }
}
