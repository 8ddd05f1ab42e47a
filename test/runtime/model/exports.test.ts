/** Tiny exports by the public exporters (`test/exports/make.py`): the engine writes what transformers' own model writes, alone and together. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"

const folder = "test/exports"
const exported = readdirSync(folder).filter((name) => existsSync(join(folder, name, "expected.json")))

/** How each runs, where that is not in batches of rows alone. */
const ways: Readonly<Record<string, string>> = {
  lfm2_genai: "batched, with states, of which nothing can be reused",
  granite_hybrid:
    "batched, with states, of which nothing can be reused, token by token, as the graph takes no more at once",
  lfm2_merged:
    "batched, with states, of which nothing can be reused, prompts token by token behind their first chunk, as the graph takes several tokens without a past only",
  qwen3_5: "batched, with states, of which nothing can be reused",
  gemma3_optimum: "one row at a time: in no layout do rows of several lengths say what they say alone",
  gemma3_positions: "batched, each step copying its rows, which a sliding window needs",
}

const answer = async (engine: Engine, prompt: readonly number[]) => {
  const options = { temperature: 0, maxTokens: 64, ignoreEos: true }
  return (await engine.generate(prompt, options)).tokens
}

describe.each(exported)("%s", (name) => {
  const model = join(folder, name)
  const { prompts, answers } = JSON.parse(readFileSync(join(model, "expected.json"), "utf8"))

  test("greedy texts are those of transformers, alone and in a batch of eight", async () => {
    const lines: string[] = []
    const log = (line: string) => lines.push(line)
    const engine = await open({ model, device: "cpu", threads: 1, slots: 8, log })
    expect(lines.join("\n")).toContain(`onnxruntime-node/cpu, ${ways[name] ?? "batched"}, sampler`)
    for (const [i, prompt] of prompts.entries())
      expect(await answer(engine, prompt), `prompt ${i}`).toEqual(answers[i])
    expect(await Promise.all(prompts.map((prompt: number[]) => answer(engine, prompt)))).toEqual(answers)
    await engine.close()
  })
})
