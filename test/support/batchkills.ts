/** A batch whose server is killed again and again, and what is left of it. */
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI, { toFile } from "openai"
import { start } from "./program.ts"
import { address } from "./served.ts"

interface Killed {
  status: string
  counts: object | undefined
  /** The custom ids of the output and of the error file, sorted. */
  ids: string[]
  /** Those of the lines. */
  expected: string[]
  /** How often the server was killed before the batch had ended. */
  killsUnderWay: number
}

/** Runs a batch of so many lines on a server that is killed so often, at moments that `seed` chooses. */
export async function killedBatch(options: {
  kills: number
  lineCount: number
  seed: number
}): Promise<Killed> {
  const { kills, lineCount, seed } = options
  const random = generator(seed)
  const directory = mkdtempSync(join(tmpdir(), "tokenrail-kills-"))
  let server = await serving(directory)
  try {
    const expected = Array.from({ length: lineCount }, (_, i) => `row-${i}`)
    const file = await toFile(Buffer.from(expected.map(lineOf).join("")), "in.jsonl")
    const { id: input_file_id } = await server.client.files.create({ file, purpose: "batch" })
    const { id } = await server.client.batches.create({
      ...{ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" },
    })
    let killsUnderWay = 0
    for (let kill = 0; kill < kills; kill++) {
      await new Promise((resolve) => setTimeout(resolve, random() * 400))
      server.child.kill("SIGKILL")
      await once(server.child, "close")
      server = await serving(directory)
      if ((await server.client.batches.retrieve(id)).status === "in_progress") killsUnderWay++
    }
    let batch = await server.client.batches.retrieve(id)
    while (batch.status === "in_progress" || batch.status === "validating" || batch.status === "finalizing") {
      await new Promise((resolve) => setTimeout(resolve, 50))
      batch = await server.client.batches.retrieve(id)
    }
    const ids = []
    for (const fileId of [batch.output_file_id, batch.error_file_id]) {
      const text = await (await server.client.files.content(fileId!)).text()
      for (const line of text.trimEnd().split("\n")) ids.push(JSON.parse(line).custom_id)
    }
    const { status, request_counts: counts } = batch
    return { status, counts, ids: ids.sort(), expected: expected.sort(), killsUnderWay }
  } finally {
    server.child.kill("SIGKILL")
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Each tenth line is refused. */
function lineOf(custom_id: string, index: number): string {
  const body = {
    model: "any",
    messages: [{ role: "user", content: `say ${index}` }],
    ...{ max_tokens: 24, ignore_eos: true, top_p: index % 10 === 0 ? 7 : 1 },
  }
  return `${JSON.stringify({ custom_id, method: "POST", url: "/v1/chat/completions", body })}\n`
}

async function serving(directory: string) {
  // A server that starts itself once more would survive its first process.
  const env = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "1048576" }
  const child = start(["serve", "--port", "0", "--any-model", "--data-dir", directory, "--quiet"], env)
  child.stderr!.resume()
  const baseURL = `${await address(child)}/v1`
  return { child, client: new OpenAI({ apiKey: "none", maxRetries: 0, baseURL }) }
}

/** Returns a function that returns numbers from 0 to 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
