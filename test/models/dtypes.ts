/**
 * Every type of weights under every Node: tiny exports of 32, 16, 8 and 4 bits, the last by optimum and by onnxruntime-genai's builder with
 * GroupQueryAttention. Greedy texts of twenty prompts, 64 tokens each, alone and eight at once, beside those of a bare loop of onnxruntime.
 *
 * Usage: `node dist/test/models/dtypes.js [NODE…]`: paths of Node's binaries; without any, the one that runs it. Exit 1 where a text differs.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { type Engine, open } from "../../runtime/index.ts"
import { rawGreedy } from "../support/rawgreedy.ts"

const kinds = [
  { name: "fp32", model: "test/exports/llama_dtypes", dtype: "fp32" },
  { name: "fp16", model: "test/exports/llama_dtypes", dtype: "fp16" },
  { name: "int8", model: "test/exports/llama_dtypes", dtype: "int8" },
  { name: "q4", model: "test/exports/llama_dtypes", dtype: "q4" },
  { name: "q4 by genai", model: "test/exports/llama_genai_q4", dtype: undefined },
]
const [, program, ...nodes] = process.argv
const count = 64

if (nodes.length === 0) process.exitCode = (await examine()) ? 0 : 1
else {
  for (const node of nodes)
    process.exitCode = (spawnSync(node, [program], { stdio: "inherit" }).status ?? 1) || process.exitCode
}

async function examine(): Promise<boolean> {
  const { prompts } = JSON.parse(readFileSync("test/exports/llama_dtypes/expected.json", "utf8"))
  let isRight = true
  for (const { name, model, dtype } of kinds) {
    const lines: string[] = []
    const log = (line: string) => lines.push(line)
    const engine = await open({ model, device: "cpu", threads: 1, log, ...(dtype && { dtype }) })
    const alone: string[] = []
    for (const prompt of prompts) alone.push(await answer(engine, prompt))
    const together = await Promise.all(prompts.map((prompt: number[]) => answer(engine, prompt)))
    const { specials, endIds, tokenCount } = engine.vocabulary
    await engine.close()
    const never = [...specials.values()].filter((id) => !endIds.includes(id))
    const allowed = (id: number) => id < tokenCount && !never.includes(id)
    const raw = (await rawGreedy(model, dtype, prompts, { count, allowed })).map(String)
    const equal = (texts: string[]) => texts.filter((text, i) => text === raw[i]).length
    const digest = createHash("sha256").update(alone.join("\n")).digest("hex").slice(0, 8)
    const isBatched = lines.some((line) => line.includes(", batched"))
    console.log(
      `${process.version} ${name}: ${equal(alone)} of ${raw.length} alone and ${equal(together)} together are onnxruntime's own, texts ${digest}, ${isBatched ? "batched" : "one row at a time"}`,
    )
    isRight &&= equal(alone) === raw.length && equal(together) === raw.length
  }
  return isRight
}

async function answer(engine: Engine, prompt: readonly number[]): Promise<string> {
  const options = { temperature: 0, maxTokens: count, ignoreEos: true }
  return String((await engine.generate(prompt, options)).tokens)
}
