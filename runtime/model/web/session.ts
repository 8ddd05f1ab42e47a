/**
 * Opens a graph with onnxruntime-web on a device that the sampler uses too, so that caches and
 * logits stay there.
 */

import { readFileSync, statSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import type { InferenceSession } from "onnxruntime-node"
import type { Device } from "../../device.ts"
import { ModelError } from "../../errors.ts"
import { dataFilesOf } from "../ort/datafiles.ts"
import { Graph, type TensorConstructor } from "../ort/graph.ts"
import { type OnnxGraph, readGraph } from "../ort/onnx.ts"
import { loadError } from "../ort/refusal.ts"
import { OrtSession, type SessionOptions } from "../ort/session.ts"
import { signatureOf, wantsEmbeddings } from "../ort/signature.ts"
import { slimmed } from "../ort/slim.ts"
import { isBelow, type PlacedGraph, placeGraph, weightBytes } from "../ort/weights.ts"
import { type DeviceLogits, DeviceMemory } from "./memory.ts"
import { startWebOrt, type WebOrt } from "./start.ts"

export type WebSession = OrtSession<GPUBuffer, DeviceLogits>

export interface OpenedSession {
  readonly session: WebSession
  readonly memory: DeviceMemory
}

export interface WebSessionOptions extends Pick<SessionOptions, "slotCount" | "contextLength" | "batching"> {
  readonly graphPath: string
  /** The graph that computes `inputs_embeds`, if the main graph takes them. */
  readonly embeddingPath?: string | undefined
  readonly config: Readonly<Record<string, unknown>>
}

/** Maximum bytes of weights: they pass through the memory of a module that has 4 GiB. */
const maxWeightBytes = 1.5 * 2 ** 30

/** Half precision, in onnx.proto3. */
const Float16 = 10

/**
 * Reads a graph and the names of its weight files. Throws ModelError if onnxruntime-web cannot run
 * it on any device, or if a weight file is not a regular file in the folder of the graph.
 */
export function checkGraph(graphPath: string, config: Readonly<Record<string, unknown>>): void {
  checkFile(graphPath, graphPath)
  const bytesOfWeights = weightBytes(graphPath)
  if (bytesOfWeights > maxWeightBytes) {
    throw new ModelError(
      `${graphPath}: its weights have ${bytesOfWeights} bytes, and onnxruntime-web can load ${maxWeightBytes}: choose a smaller dtype, or the model runtime node`,
    )
  }
  const placed = placeGraph(graphPath)
  const bytes = bytesOf(placed)
  filesOf(graphPath, placed.folder, bytes)
  const { nodes, outputs } = graphOf(bytes)
  if (!nodes.some(({ op }) => op === "GroupQueryAttention")) {
    throw new ModelError(
      `${graphPath}: the model runtime web runs graphs with the operator GroupQueryAttention, which writes new keys and values in place, and this graph has none. Choose another export, such as q4 or q4f16, or the model runtime node`,
    )
  }
  const { type, dims } = outputs.find(({ name }) => name === "logits") ?? {}
  const width = dims?.at(-1) || Number(config.vocab_size)
  // Rows would begin within a word, which a device cannot copy.
  if (type === Float16 && width % 2 === 1) {
    throw new ModelError(
      `${graphPath}: its logits are of 16 bits and have ${width} columns, and the model runtime web needs an even number. Choose another dtype, or the model runtime node`,
    )
  }
}

/** Opens a model, and finds out by trials how it runs. Throws ModelError. */
export async function openWebSession(device: Device, options: WebSessionOptions): Promise<OpenedSession> {
  const { graphPath, embeddingPath, config, ...rest } = options
  const ort = await startWebOrt(device.gpu)
  const session = await load(ort, graphPath, [{ name: "webgpu", device: device.device }])
  // It only looks up a few numbers in memory.
  const embedding =
    wantsEmbeddings(session) && embeddingPath !== undefined
      ? await load(ort, embeddingPath, ["wasm"])
      : undefined
  const signature = signatureOf(
    graphPath,
    session,
    config,
    embedding && { path: embeddingPath!, graph: embedding },
  )
  if (signature.hasStates) {
    throw new ModelError(
      `${graphPath}: some layers keep a state instead of keys, which onnxruntime-web cannot keep for several texts: choose the model runtime node`,
    )
  }
  const graph = new Graph(session, ort.Tensor as unknown as TensorConstructor, signature, embedding)
  const memory = new DeviceMemory(device.device, ort.Tensor)
  const opened = new OrtSession(graph, memory, {
    ...rest,
    weightBytes: weightBytes(graphPath),
    isCacheOpaque: false,
  })
  await opened.prepare()
  if (!opened.isBatched)
    throw new ModelError(`${graphPath}: ${opened.description}: choose the model runtime node`)
  return { session: opened, memory }
}

type Providers = readonly (string | { name: "webgpu"; device: GPUDevice })[]

async function load(ort: WebOrt, path: string, providers: Providers): Promise<InferenceSession> {
  checkFile(path, path)
  const placed = placeGraph(path)
  const { folder } = placed
  const bytes = bytesOf(placed)
  const isOnDevice = providers.some((provider) => typeof provider !== "string")
  const options = {
    executionProviders: [...providers],
    graphOptimizationLevel: "all",
    logSeverityLevel: 4,
    externalData: filesOf(path, folder, bytes).map((file) => ({
      path: file,
      data: readFileSync(join(folder, file)),
    })),
    ...(isOnDevice && { preferredOutputLocation: "gpu-buffer" }),
  } as InferenceSession.SessionOptions
  const slim = isOnDevice ? slimmed(new Uint8Array(bytes), { hasSteps: false, hasFresh: false }) : null
  try {
    return await ort.InferenceSession.create(slim ?? bytes, options)
  } catch (cause) {
    throw loadError(path, cause as Error)
  }
}

function bytesOf({ model }: PlacedGraph): Uint8Array {
  return typeof model === "string" ? new Uint8Array(readFileSync(model)) : new Uint8Array(model)
}

/** Returns a graph, without anything in it if the bytes are not an ONNX model. */
function graphOf(bytes: Uint8Array): Pick<OnnxGraph, "nodes" | "outputs"> {
  try {
    return readGraph(bytes)
  } catch {
    return { nodes: [], outputs: [] }
  }
}

/** Returns the weight files of a graph. Throws ModelError for one elsewhere, or a special file. */
function filesOf(path: string, folder: string, bytes: Uint8Array): string[] {
  let files: string[]
  try {
    files = dataFilesOf(bytes)
  } catch {
    // onnxruntime reports a clearer error for bytes that are no graph.
    return []
  }
  for (const file of files) {
    if (isAbsolute(file) || !isBelow(folder, join(folder, file))) {
      throw new ModelError(
        `${path}: its weights are in ${JSON.stringify(file)}, outside of the model's folder. Export the graph again`,
      )
    }
    checkFile(path, join(folder, file))
  }
  return files
}

function checkFile(path: string, file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return
  throw new ModelError(`${path}: ${file} is missing, or not a regular file. Download the graph again`)
}
