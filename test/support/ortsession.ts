/** Sessions of onnxruntime on graphs of tests, in this thread: as they are, or slim. */
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as ort from "onnxruntime-node"
import { afterAll } from "vitest"
import { readModelDirectory } from "../../runtime/model/folder.ts"
import { type CacheArray, Graph, type TensorConstructor } from "../../runtime/model/ort/graph.ts"
import { HostMemory } from "../../runtime/model/ort/host.ts"
import { OrtSession, type SessionOptions } from "../../runtime/model/ort/session.ts"
import { readSignature, type ValueInfo } from "../../runtime/model/ort/signature.ts"
import { slimmed } from "../../runtime/model/ort/slim.ts"
import { type TinyOptions, writeTinyModel } from "./onnx.ts"

type How = Partial<SessionOptions> & { isSlim?: boolean }

export type HostSession = OrtSession<CacheArray, Float32Array>

const sessions: HostSession[] = []
afterAll(async () => {
  for (const session of sessions) await session.close()
})

export async function openTiny(options: TinyOptions = {}, how: How = {}): Promise<HostSession> {
  return openGraph(writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), options), how)
}

/** Throws where no slim graph can be made of it and one is asked for. */
export async function openGraph(
  model: string,
  { slotCount = 8, isCacheOpaque = false, isSlim = true, ...how }: How = {},
): Promise<HostSession> {
  const { graphPath, embeddingPath, config } = await readModelDirectory(model)
  const load = (graph: string | Uint8Array) =>
    ort.InferenceSession.create(graph as string, {
      intraOpNumThreads: 1,
      logSeverityLevel: 4,
      extra: { session: { model_external_initializers_file_folder_path: dirname(graphPath) } },
    })
  const infosOf = (graph: ort.InferenceSession) =>
    [graph.inputMetadata, graph.outputMetadata] as unknown as ValueInfo[][]
  const slim = isSlim ? slimmed(readFileSync(graphPath)) : null
  if (isSlim && slim === null) throw new Error(`${graphPath}: no slim graph can be made of it`)
  const graph = await load(slim ?? graphPath)
  const embedding = embeddingPath === undefined ? undefined : await load(embeddingPath)
  const [inputs, outputs] = infosOf(graph)
  const [tokens, embeddings] = embedding ? infosOf(embedding) : []
  const signature = readSignature(
    "model.onnx",
    inputs,
    outputs,
    config,
    embedding && { path: "embed_tokens.onnx", inputs: tokens, outputs: embeddings },
  )
  const Tensor = ort.Tensor as unknown as TensorConstructor
  const session = new OrtSession(new Graph(graph, Tensor, signature, embedding), new HostMemory(Tensor), {
    contextLength: 512,
    batching: "exact",
    weightBytes: 1e9,
    ...how,
    slotCount,
    isCacheOpaque,
  })
  await session.prepare()
  sessions.push(session)
  return session
}
