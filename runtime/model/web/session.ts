/**
 * Opens a graph with onnxruntime-web on a device that the sampler uses too, so that caches and
 * logits stay there.
 */

import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { InferenceSession } from "onnxruntime-node"
import type { Device } from "../../device.ts"
import { ModelError } from "../../errors.ts"
import { dataFilesOf } from "../ort/datafiles.ts"
import { Graph, type TensorConstructor } from "../ort/graph.ts"
import { readGraph } from "../ort/onnx.ts"
import { loadError } from "../ort/refusal.ts"
import { OrtSession, type SessionOptions } from "../ort/session.ts"
import { readSignature, type ValueInfo } from "../ort/signature.ts"
import { slimmed } from "../ort/slim.ts"
import { type PlacedGraph, placeGraph, weightBytes } from "../ort/weights.ts"
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

/** Throws ModelError if onnxruntime-web cannot run this graph on any device. */
export function checkGraph(graphPath: string): void {
  const bytesOfWeights = weightBytes(graphPath)
  if (bytesOfWeights > maxWeightBytes) {
    throw new ModelError(
      `${graphPath}: its weights have ${bytesOfWeights} bytes, and onnxruntime-web can load ${maxWeightBytes}: choose a smaller dtype, or the model runtime node`,
    )
  }
  if (!isGrouped(bytesOf(placeGraph(graphPath)))) {
    throw new ModelError(
      `${graphPath}: the model runtime web runs graphs with the operator GroupQueryAttention, which writes new keys and values in place, and this graph has none. Choose another export, such as q4 or q4f16, or the model runtime node`,
    )
  }
}

/** Opens a model, and finds out by trials how it runs. Throws ModelError. */
export async function openWebSession(device: Device, options: WebSessionOptions): Promise<OpenedSession> {
  const { graphPath, embeddingPath, config, ...rest } = options
  const ort = await startWebOrt(device.gpu)
  const session = await load(ort, graphPath, [{ name: "webgpu", device: device.device }])
  const infos = (list: unknown): ValueInfo[] => list as ValueInfo[]
  const inputs = infos(session.inputMetadata)
  const wants = inputs.some(({ name }) => name === "inputs_embeds")
  // It only looks up a few numbers in memory.
  const embedding =
    wants && embeddingPath !== undefined ? await load(ort, embeddingPath, ["wasm"]) : undefined
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
  const placed = placeGraph(path)
  const { folder } = placed
  const bytes = bytesOf(placed)
  const isOnDevice = providers.some((provider) => typeof provider !== "string")
  const options = {
    executionProviders: [...providers],
    graphOptimizationLevel: "all",
    logSeverityLevel: 4,
    externalData: dataFilesOf(bytes).map((file) => ({ path: file, data: readFileSync(join(folder, file)) })),
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

/** Returns whether a graph has attention that can write new keys and values in place. */
function isGrouped(bytes: Uint8Array): boolean {
  try {
    return readGraph(bytes).nodes.some(({ op }) => op === "GroupQueryAttention")
  } catch {
    return false
  }
}
