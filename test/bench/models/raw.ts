/**
 * The graph in a bare loop of onnxruntime: the largest logit, and present is past. Rows are of one length: several prompts are cut to the
 * shortest. Nothing is masked or reused.
 */
import { InferenceSession, Tensor } from "onnxruntime-node"
import { readModelDirectory } from "../../../runtime/model/folder.ts"
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
  const fresh = (rows: number) =>
    new Map(
      caches.map(({ past, heads, dim, type, state }) => [
        past,
        new Tensor(
          type,
          makeArray(type, state ? rows * dim : 0) as Float32Array,
          state ? [rows, ...state] : [rows, heads, 0, dim],
        ),
      ]),
    )
  /** `tokens` has the same number for each row. */
  const step = async (
    tokens: readonly (readonly number[])[],
    past: ReadonlyMap<string, Tensor>,
    start: number,
  ) => {
    const rows = tokens.length
    const count = tokens[0].length
    const feeds: Record<string, Tensor> = Object.fromEntries(past)
    const int64 = (values: number[], dims: number[]) =>
      new Tensor("int64", BigInt64Array.from(values, BigInt), dims)
    feeds.input_ids = int64(tokens.flat(), [rows, count])
    feeds.attention_mask = int64(Array(rows * (start + count)).fill(1), [rows, start + count])
    if (session.inputNames.includes("position_ids"))
      feeds.position_ids = int64(
        tokens.flatMap((row) => row.map((_, at) => start + at)),
        [rows, count],
      )
    const out = await session.run(feeds)
    const width = out.logits.dims[2]
    const logits = out.logits.data as Float32Array
    const best = tokens.map((_, row) => {
      const last = logits.subarray((count * (row + 1) - 1) * width, count * (row + 1) * width)
      let most = 0
      for (let id = 1; id < width; id++) if (last[id] > last[most]) most = id
      return most
    })
    const next = new Map(caches.map(({ past, present }) => [past, out[present]]))
    return { best, next }
  }
  /** When the tokens of each row came: of all at once. */
  const decode = async (prompts: readonly (readonly number[])[], count: number): Promise<number[]> => {
    let past: ReadonlyMap<string, Tensor> = fresh(prompts.length)
    let feed = prompts
    let start = 0
    const times: number[] = []
    while (times.length < count) {
      const { best, next } = await step(feed, past, start)
      times.push(performance.now())
      start += feed[0].length
      past = next
      feed = best.map((token) => [token])
    }
    return times
  }
  return {
    decode: async ({ prompts, tokens, schema }) => {
      if (schema !== undefined) return null
      const ids = prompts.map((prompt) => tokenizer.encode(prompt, { addSpecialTokens: true }))
      const shortest = Math.min(...ids.map(({ length }) => length))
      const times = await decode(
        ids.map((row) => row.slice(0, shortest)),
        tokens,
      )
      return { value: rateOf(prompts.map(() => times)) }
    },
    first: async ({ prompt }) => {
      const begin = performance.now()
      const ids = typeof prompt === "string" ? tokenizer.encode(prompt, { addSpecialTokens: true }) : prompt
      return { value: (await decode([ids], 1))[0] - begin }
    },
    close: async () => {},
  }
}
