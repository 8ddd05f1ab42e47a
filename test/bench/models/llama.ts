/** node-llama-cpp on the same weights as GGUF, with its own grammar of a JSON schema. */

import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { rateOf, type Subject } from "./subject.ts"

export interface LlamaFlags {
  /** The folder whose node_modules holds node-llama-cpp. */
  llama: string
  gguf: string
  threads: number
  context: number
}

export async function loadLlama({
  llama: folder,
  gguf,
  threads,
  context: contextSize,
}: LlamaFlags): Promise<Subject> {
  const entry = pathToFileURL(join(folder, "node_modules/node-llama-cpp/dist/index.js")).href
  // It is no dependency of the project: only who measures beside it installs it.
  const { getLlama, LlamaChatSession } = await import(entry)
  const llama = await getLlama({ gpu: false, maxThreads: threads, build: "never", logLevel: "error" })
  const model = await llama.loadModel({ modelPath: gguf })
  const context = await model.createContext({ contextSize, threads, sequences: 8, batchSize: 512 })
  const sequences = Array.from({ length: 8 }, () => context.getSequence())
  const clear = () => Promise.all(sequences.map((sequence) => sequence.clearHistory()))
  return {
    decode: async ({ prompts, tokens, schema }) => {
      await clear()
      const grammar = schema === undefined ? undefined : await llama.createGrammarForJsonSchema(schema)
      let text = ""
      const rows = await Promise.all(
        prompts.map(async (prompt, i) => {
          const times: number[] = []
          const session = new LlamaChatSession({ contextSequence: sequences[i], systemPrompt: "" })
          const answer = await session.prompt(prompt, {
            maxTokens: tokens,
            temperature: 0,
            grammar,
            onToken: (ids: number[]) => {
              for (const _ of ids) times.push(performance.now())
            },
          })
          if (i === 0) text = answer
          return times
        }),
      )
      return { value: rateOf(rows), text }
    },
    first: async ({ prompt }) => {
      await clear()
      const ids = typeof prompt === "string" ? model.tokenize(prompt) : prompt
      const begin = performance.now()
      for await (const _ of sequences[0].evaluate(ids, { temperature: 0 }))
        return { value: performance.now() - begin }
      throw new Error("no token")
    },
    close: () => llama.dispose(),
  }
}
