/**
 * A `Model` over onnxruntime's build for WebAssembly, in the caller's thread, such as the worker of
 * a page. The sessions are the same as in Node (`ort/session.ts`).
 *
 * A run blocks its thread, so each run waits for a turn of the event loop first: messages that
 * arrived meanwhile, such as an abort, are handled between two steps.
 */

import type { InferenceSession, Tensor } from "onnxruntime-node"
import { ModelError } from "../../errors.ts"
import { hostLogits, type StepLogits } from "../logits.ts"
import type { Feed, Model, ModelWork } from "../model.ts"
import { dataFilesOf } from "../ort/datafiles.ts"
import { type CacheArray, Graph, type TensorConstructor } from "../ort/graph.ts"
import { HostMemory } from "../ort/host.ts"
import { loadError } from "../ort/refusal.ts"
import { OrtSession } from "../ort/session.ts"
import { signatureOf, wantsEmbeddings } from "../ort/signature.ts"
import { slimmed } from "../ort/slim.ts"

/** The part of onnxruntime-web that is used: that of onnxruntime-node, and its settings. */
export interface WasmOrt {
  readonly InferenceSession: {
    create(model: Uint8Array, options: InferenceSession.SessionOptions): Promise<InferenceSession>
  }
  readonly Tensor: typeof Tensor
  readonly env: {
    logLevel?: "verbose" | "info" | "warning" | "error" | "fatal"
    readonly wasm: { numThreads?: number; wasmBinary?: ArrayBufferLike | Uint8Array }
  }
}

export interface WasmOptions {
  readonly graphPath: string
  readonly embeddingPath: string | undefined
  /** Returns the bytes of a file, which the caller does not keep. */
  readonly read: (path: string) => Promise<Uint8Array>
  readonly slotCount: number
  readonly contextLength: number
  readonly batching: "exact" | "fast"
  readonly config: Readonly<Record<string, unknown>>
}

/** Opens a graph. Throws ModelError. */
export async function openWasmModel(ort: WasmOrt, options: WasmOptions): Promise<Model> {
  ort.env.logLevel = "fatal"
  ort.env.wasm.numThreads = 1
  for (const hasSteps of [true, false]) {
    const session = await openSlim(ort, options, hasSteps).catch(() => null)
    if (session) return new WasmModel(session, options)
  }
  return new WasmModel(await openGraph(ort, options, await options.read(options.graphPath)), options)
}

/**
 * Opens the slimmed graph. Returns null if there is none. Rejects if it does not run in this form:
 * the error of the original graph is clearer.
 */
async function openSlim(ort: WasmOrt, options: WasmOptions, hasSteps: boolean): Promise<HostSession | null> {
  const slim = slimmed(await options.read(options.graphPath), { hasSteps })
  return slim && openGraph(ort, options, slim)
}

type HostSession = OrtSession<CacheArray, Float32Array>

async function openGraph(ort: WasmOrt, options: WasmOptions, model: Uint8Array): Promise<HostSession> {
  const { graphPath, embeddingPath, config, slotCount, contextLength, batching } = options
  const { session, weightBytes } = await create(ort, options, graphPath, model)
  const embedding =
    wantsEmbeddings(session) && embeddingPath !== undefined
      ? await create(ort, options, embeddingPath, await options.read(embeddingPath))
      : undefined
  const signature = signatureOf(
    graphPath,
    session,
    config,
    embedding && { path: embeddingPath!, graph: embedding.session },
  )
  const Tensor = ort.Tensor as unknown as TensorConstructor
  const graph = new Graph(session, Tensor, signature, embedding?.session)
  const opened = new OrtSession(graph, new HostMemory(Tensor), {
    ...{ slotCount, contextLength, batching, weightBytes },
    readsAhead: batching === "fast",
    isCacheOpaque: false,
  })
  try {
    await opened.prepare()
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Creates a session, with the files in which the graph keeps weights. */
async function create(
  ort: WasmOrt,
  { read }: WasmOptions,
  path: string,
  model: Uint8Array,
): Promise<{ session: InferenceSession; weightBytes: number }> {
  const folder = path.slice(0, path.lastIndexOf("/") + 1)
  const externalData: { path: string; data: Uint8Array }[] = []
  for (const file of filesOf(path, model))
    externalData.push({ path: file, data: await read(`${folder}${file}`) })
  const weightBytes = externalData.reduce((sum, { data }) => sum + data.length, model.length)
  try {
    const session = await ort.InferenceSession.create(model, {
      executionProviders: ["wasm"],
      graphOptimizationLevel: "all",
      logSeverityLevel: 4,
      ...(externalData.length > 0 && { externalData }),
    } as InferenceSession.SessionOptions)
    return { session, weightBytes }
  } catch (cause) {
    throw loadError(path, cause instanceof Error ? cause : new Error(String(cause)))
  }
}

/** Returns the names of the files beside the graph. Throws ModelError for a file elsewhere. */
function filesOf(path: string, model: Uint8Array): string[] {
  let files: string[]
  try {
    files = dataFilesOf(model)
  } catch {
    // onnxruntime reports a clearer error for bytes that are no graph.
    return []
  }
  for (const file of files)
    if (/^[/\\]|:|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(file))
      throw new ModelError(
        `${path}: its weights are in ${JSON.stringify(file)}, outside of the model's folder. Export the graph again`,
      )
  return files
}

class WasmModel implements Model {
  readonly contextLength: number
  readonly slotCount: number
  readonly width: number
  readonly isRestarting = false
  answeredAt = 0
  onRestart: (() => void) | undefined
  onDeath: ((error: Error) => void) | undefined
  private readonly session: HostSession
  private death: ModelError | undefined

  constructor(session: HostSession, { contextLength, slotCount }: WasmOptions) {
    this.session = session
    this.contextLength = contextLength
    this.slotCount = slotCount
    this.width = session.signature.width
  }

  get canRewind(): boolean {
    return this.session.canRewind
  }

  get marks(): number {
    return this.session.marks
  }

  get cutsFreely(): boolean {
    return this.session.cutsFreely
  }

  get joinsFeeds(): boolean {
    return this.session.joinsFeeds
  }

  get readsSteps(): boolean {
    return this.session.readsSteps
  }

  get description(): string {
    return `onnxruntime-web/wasm, ${this.session.description}`
  }

  get work(): ModelWork {
    return this.session.work
  }

  get isDead(): boolean {
    return this.death !== undefined
  }

  async forward(feeds: readonly Feed[]): Promise<StepLogits> {
    if (this.death) throw this.death
    await turn()
    try {
      return hostLogits(await this.session.forward(feeds), this.width)
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause))
      const failure = error instanceof ModelError ? error : new ModelError(error.message, { cause: error })
      // After a trap, such as one for lack of memory, the module cannot be used any more.
      if (error instanceof WebAssembly.RuntimeError || /\bAborted\(/.test(error.message)) this.die(failure)
      throw failure
    } finally {
      this.answeredAt = performance.now()
    }
  }

  close(): Promise<void> {
    return this.death ? Promise.resolve() : this.session.close()
  }

  private die(error: ModelError): void {
    this.death = error
    this.onDeath?.(error)
  }
}

/** Resolves in the next turn of the event loop, at once, unlike a timer. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}
