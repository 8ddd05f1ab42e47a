/**
 * Tokens a second of the embedded model through the server: one request at a time, constrained, on two threads.
 *
 * Starts `tokenrail serve`, sends the hand-written texts with their schemas, and prints the median over the texts of the
 * tokens of an answer by the time from request to reply (prompt included), and of the decoding alone. Usage:
 * `npm run build && npx tsc -p test/eval && node dist/test/eval/served.js [rounds]`.
 */

import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { cpus } from "node:os"

const rounds = Number(process.argv[2] ?? 5)
const server = spawn(process.execPath, ["dist/server/main.js", "serve", "--port", "0", "--threads", "2"], {
  stdio: ["ignore", "pipe", "pipe"],
})
const url = await new Promise<string>((resolve, reject) => {
  let said = ""
  const listen = (chunk: Buffer) => {
    said += chunk
    const found = /http:\/\/\S+:\d+/.exec(said)
    if (found) resolve(found[0])
  }
  server.stdout.on("data", listen)
  server.stderr.on("data", listen)
  server.on("exit", () => reject(new Error(`the server ended: ${said}`)))
})
const texts = readFileSync("test/eval/handwritten.jsonl", "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { messages: unknown; schema: unknown })

interface Reply {
  usage: { completion_tokens: number; tokenrail: { tpot_ms: number } }
}

async function ask({ messages, schema }: { messages: unknown; schema: unknown }): Promise<Reply> {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "tokenrail-embedded",
      messages,
      temperature: 0,
      max_tokens: 300,
      response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
      tokenrail: { timing: true },
    }),
  })
  if (!reply.ok) throw new Error(await reply.text())
  return (await reply.json()) as Reply
}

const whole: number[] = []
const decoding: number[] = []
for (let round = -1; round < rounds; round++) {
  for (const text of texts) {
    const begin = performance.now()
    const { usage } = await ask(text)
    if (round < 0) continue // the first round compiles the constraints and fills their masks
    whole.push((1000 * usage.completion_tokens) / (performance.now() - begin))
    decoding.push(1000 / usage.tokenrail.tpot_ms)
  }
}
server.kill()
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1].toFixed(0)
console.log(
  `${cpus()[0].model}: ${median(whole)} tokens/s, prompt included; decoding ${median(decoding)} tokens/s`,
)
