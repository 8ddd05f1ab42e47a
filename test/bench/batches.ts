/**
 * What a batch over HTTP costs beside the engine's own: the same prompts run in turn through
 * `/v1/files` and `/v1/batches` and through `engine.batch`, in parts, in one process with one warm
 * engine. Both write the same tokens, which is checked. Prints the lines a second of both, the
 * ratio of each pair of parts and their median, and the memory of the process over the run: the
 * last third of it compared with the first.
 *
 * Usage: `node dist/test/bench/batches.js [--lines 5000] [--parts 10] [--tokens 4] [--slots 8]`.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type GenerateOptions, open } from "../../runtime/index.ts"
import { createApp, serve } from "../../server/index.ts"

const { values: flags } = parseArgs({
  options: {
    lines: { type: "string", default: "5000" },
    parts: { type: "string", default: "10" },
    tokens: { type: "string", default: "4" },
    slots: { type: "string", default: "8" },
  },
})
const lineCount = Number(flags.lines)
const partCount = Number(flags.parts)
const maxTokens = Number(flags.tokens)

const url = "/v1/completions"
const dataDir = mkdtempSync(join(tmpdir(), "tokenrail-bench-"))
const engine = await open({ device: "cpu", slots: Number(flags.slots), maxWaiting: 1_024 })
const server = await serve(createApp(engine, { dataDir }), { port: 0 })
const options: GenerateOptions = { raw: true, maxTokens, seed: 1n, ignoreEos: true }

/** Memory after each part, in MiB. */
const memory: number[] = []

async function json(path: string, init?: RequestInit): Promise<Record<string, string>> {
  const response = await fetch(server.url + path, init)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json() as Promise<Record<string, string>>
}

/** Runs the prompts as a batch of the server; resolves to its texts by the index of the prompt. */
async function overHttp(prompts: readonly string[]): Promise<string[]> {
  const lines = prompts.map((prompt, i) => {
    const body = { model: engine.model.id, prompt, max_tokens: maxTokens, seed: 1, ignore_eos: true }
    return JSON.stringify({ custom_id: String(i), method: "POST", url, body })
  })
  const form = new FormData()
  form.set("purpose", "batch")
  form.set("file", new Blob([lines.join("\n")]), "in.jsonl")
  const { id: input_file_id } = await json("/v1/files", { method: "POST", body: form })
  const asked = JSON.stringify({ input_file_id, endpoint: url, completion_window: "24h" })
  const headers = { "content-type": "application/json" }
  const { id } = await json("/v1/batches", { method: "POST", headers, body: asked })
  let batch = await json(`/v1/batches/${id}`)
  while (["validating", "in_progress", "finalizing"].includes(batch.status)) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    batch = await json(`/v1/batches/${id}`)
  }
  const content = await fetch(`${server.url}/v1/files/${batch.output_file_id}/content`)
  const texts: string[] = []
  for (const line of (await content.text()).trimEnd().split("\n")) {
    const { custom_id, response } = JSON.parse(line)
    texts[custom_id] = response.body.choices[0].text
  }
  for (const file of [input_file_id, batch.output_file_id])
    await json(`/v1/files/${file}`, { method: "DELETE" })
  return texts
}

async function inEngine(prompts: readonly string[]): Promise<string[]> {
  const texts: string[] = []
  for await (const { text } of engine.batch(prompts, options)) texts.push(text)
  return texts
}

async function timed(run: () => Promise<string[]>): Promise<{ texts: string[]; seconds: number }> {
  const begunAt = performance.now()
  const texts = await run()
  return { texts, seconds: (performance.now() - begunAt) / 1_000 }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]
const size = Math.ceil(lineCount / partCount)
const promptsOf = (part: number): string[] =>
  Array.from({ length: size }, (_, i) => `Line ${part * size + i}: water is`)

const ratios: number[] = []
const rates = { http: [] as number[], engine: [] as number[] }
try {
  const warm = promptsOf(0).slice(0, 64)
  await overHttp(warm)
  await inEngine(warm)
  for (let part = 0; part < partCount; part++) {
    const prompts = promptsOf(part)
    // They take turns in going first.
    const isHttpFirst = part % 2 === 0
    const first = await timed(() => (isHttpFirst ? overHttp : inEngine)(prompts))
    const second = await timed(() => (isHttpFirst ? inEngine : overHttp)(prompts))
    const [http, own] = isHttpFirst ? [first, second] : [second, first]
    if (JSON.stringify(http.texts) !== JSON.stringify(own.texts)) throw new Error("the texts differ")
    rates.http.push(size / http.seconds)
    rates.engine.push(size / own.seconds)
    ratios.push(own.seconds / http.seconds)
    memory.push(process.memoryUsage().rss / 2 ** 20)
    console.log(
      `part ${part + 1}: http ${rates.http[part].toFixed(0)} lines/s, engine ${rates.engine[part].toFixed(0)}, ratio ${ratios[part].toFixed(3)}, ${memory[part].toFixed(0)} MiB`,
    )
  }
  const third = Math.max(1, Math.floor(partCount / 3))
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const growth = mean(memory.slice(-third)) / mean(memory.slice(0, third))
  console.log(`${cpus()[0].model}, ${cpus().length} cores, ${lineCount} lines of ${maxTokens} tokens`)
  console.log(`lines/s: http ${median(rates.http).toFixed(0)}, engine ${median(rates.engine).toFixed(0)}`)
  console.log(`ratio: ${median(ratios).toFixed(3)} (bar 0.95)`)
  console.log(`memory, last third / first third: ${growth.toFixed(3)} (bar 1.05)`)
} finally {
  await server.close()
  await engine.close()
  rmSync(dataDir, { recursive: true, force: true })
}
