/**
 * Greedy decoding in a bare loop of onnxruntime over the graph of a model directory: the prompt in the engine's chunks, since the logits of
 * quantised activations depend on them, then a token a run; present is past.
 */
import { InferenceSession, Tensor } from "onnxruntime-node"
import { readModelDirectory } from "../../runtime/model/folder.ts"
import { makeArray } from "../../runtime/model/ort/graph.ts"
import { halfToFloat } from "../../runtime/model/ort/host.ts"
import { readSignature, type ValueInfo } from "../../runtime/model/ort/signature.ts"

// With this class onnxruntime takes halves for something that its native part does not know.
Reflect.deleteProperty(globalThis, "Float16Array")

const chunkSize = 96

/** `allowed`: ids that may be written. */
export async function rawGreedy(
  model: string,
  dtype: string | undefined,
  prompts: readonly (readonly number[])[],
  { count, allowed }: { count: number; allowed: (id: number) => boolean },
): Promise<number[][]> {
  const { graphPath, config } = await readModelDirectory(model, dtype)
  const session = await InferenceSession.create(graphPath, { intraOpNumThreads: 1, logSeverityLevel: 4 })
  const infos = (list: readonly unknown[]) => list as ValueInfo[]
  const signature = readSignature(
    graphPath,
    infos(session.inputMetadata),
    infos(session.outputMetadata),
    config,
  )
  const int64 = (values: number[]) =>
    new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length])
  const answers: number[][] = []
  for (const prompt of prompts) {
    let start = 0
    let past: Record<string, Tensor> = Object.fromEntries(
      signature.caches.map(({ past, type, heads, dim }) => [
        past,
        new Tensor(type, makeArray(type, 0) as Float32Array, [1, heads, 0, dim]),
      ]),
    )
    const text = [...prompt]
    while (text.length < prompt.length + count) {
      const feed = text.slice(start, start + chunkSize)
      const inputs: Record<string, Tensor> = { ...past, input_ids: int64(feed) }
      inputs.attention_mask = int64(Array(start + feed.length).fill(1))
      if (signature.positionPlanes > 0) inputs.position_ids = int64(feed.map((_, at) => start + at))
      const outputs = await session.run(inputs)
      start += feed.length
      past = Object.fromEntries(signature.caches.map(({ past, present }) => [past, outputs[present]]))
      if (start < text.length) continue
      const data = outputs.logits.data as Float32Array | Uint16Array
      const last = data.subarray(data.length - signature.width)
      const logits = last instanceof Float32Array ? last : Float32Array.from(last, halfToFloat)
      const best = logits.reduce(
        (best, value, id) => (allowed(id) && !(value <= logits[best]) ? id : best),
        logits.findIndex((_, id) => allowed(id)),
      )
      text.push(best)
    }
    answers.push(text.slice(prompt.length))
  }
  await session.release()
  return answers
}
