/** Tokenrail's engine. */
import { type GenerateOptions, open, type Prompt } from "../../../runtime/index.ts"
import { rateOf, type Subject } from "./subject.ts"

export interface ModelFlags {
  model: string
  dtype: string | undefined
  batching: "exact" | "fast"
  threads: number
  context: number
}

export async function loadTokenrail({
  model,
  dtype,
  batching,
  threads,
  context,
}: ModelFlags): Promise<Subject> {
  const engine = await open({
    model,
    batching,
    threads,
    context,
    device: "cpu",
    slots: 8,
    ...(dtype !== undefined && { dtype }),
  })
  const times = async (
    prompt: Prompt,
    options: GenerateOptions,
  ): Promise<{ times: number[]; text: string }> => {
    const generation = await engine.start(prompt, { temperature: 0, ...options })
    const times: number[] = []
    let text = ""
    for await (const event of generation) {
      if (!("tokens" in event)) continue
      const now = performance.now()
      for (const _ of event.tokens) times.push(now)
      if ("text" in event) text += event.text
    }
    return { times, text }
  }
  return {
    decode: async ({ prompts, tokens, schema }) => {
      const options = schema === undefined ? { ignoreEos: true } : { schema }
      const rows = await Promise.all(
        prompts.map((prompt) => times(prompt, { ...options, maxTokens: tokens })),
      )
      return { value: rateOf(rows.map((row) => row.times)), text: rows[0].text }
    },
    first: async ({ prompt }) => {
      const begin = performance.now()
      const got = await times(prompt, { maxTokens: 1, ignoreEos: true, raw: typeof prompt === "string" })
      return { value: got.times[0] - begin }
    },
    close: () => engine.close(),
  }
}
