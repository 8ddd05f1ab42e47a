/** The graph in a bare loop of onnxruntime: the largest logit, and present is past. One row; nothing is batched, masked or reused. */
import { InferenceSession, Tensor } from "onnxruntime-node"
import { readModelDirectory } from "../../../runtime/model/directory.ts"
import { makeArray } from "../../../runtime/model/ort/graph.ts"
import { readSignature, type ValueInfo } from "../../../runtime/model/ort/signature.ts"
import { readTokenizer } from "../../../server/cli/vocabulary.ts"
import { rateOf, type Subject } from "./subject.ts"
import type { ModelFlags } from "./tokenrail.ts"

export async function loadRaw({ model, dtype, threads }: ModelFlags): Promise<Subject> {
  const tokenizer = await readTokenizer(model)
  const directory = await readModelDirectory(model, dtype)
  const session = await InferenceSession.create(directory.graphPath, {
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
  })
  const infos = (list: readonly unknown[]) => list as ValueInfo[]
  const { caches } = readSignature(
    directory.graphPath,
    infos(session.inputMetadata),
    infos(session.outputMetadata),
    directory.config,
  )
  const fresh = () =>
    new Map(
      caches.map(({ past, heads, dim, type, state }) => [
        past,
        new Tensor(
          type,
          makeArray(type, state ? dim : 0) as Float32Array,
          state ? [1, ...state] : [1, heads, 0, dim],
        ),
      ]),
    )
  const step = async (tokens: readonly number[], past: ReadonlyMap<string, Tensor>, start: number) => {
    const feeds: Record<string, Tensor> = Object.fromEntries(past)
    const int64 = (values: number[], dims: number[]) =>
      new Tensor("int64", BigInt64Array.from(values, BigInt), dims)
    feeds.input_ids = int64([...tokens], [1, tokens.length])
    feeds.attention_mask = int64(Array(start + tokens.length).fill(1), [1, start + tokens.length])
    if (session.inputNames.includes("position_ids"))
      feeds.position_ids = int64(
        tokens.map((_, i) => start + i),
        [1, tokens.length],
      )
    const out = await session.run(feeds)
    const width = out.logits.dims[2]
    const logits = out.logits.data as Float32Array
    const last = logits.subarray(logits.length - width)
    let best = 0
    for (let i = 1; i < width; i++) if (last[i] > last[best]) best = i
    const next = new Map(caches.map(({ past, present }) => [past, out[present]]))
    return { token: best, next }
  }
  const decode = async (prompt: readonly number[], count: number): Promise<number[]> => {
    let past: ReadonlyMap<string, Tensor> = fresh()
    let feed = prompt
    let start = 0
    const times: number[] = []
    while (times.length < count) {
      const { token, next } = await step(feed, past, start)
      times.push(performance.now())
      start += feed.length
      past = next
      feed = [token]
    }
    return times
  }
  return {
    decode: async ({ prompts, tokens, schema }) => {
      if (prompts.length > 1 || schema !== undefined) return null
      const ids = tokenizer.encode(prompts[0], { addSpecialTokens: true })
      return { value: rateOf([await decode(ids, tokens)]) }
    },
    first: async ({ prompt }) => {
      const begin = performance.now()
      const ids = typeof prompt === "string" ? tokenizer.encode(prompt, { addSpecialTokens: true }) : prompt
      return { value: (await decode(ids, 1))[0] - begin }
    },
    close: async () => {},
  }
}
