/**
 * Writes expected.json: what llama.cpp answers with the files of this folder, greedily, and some logits of the first step.
 *
 * usage: llama.mjs [NAME…]        (needs the package node-llama-cpp, 3.22)
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { getLlama } from "node-llama-cpp"

const folder = dirname(fileURLToPath(import.meta.url))
const count = 16
// Of 32 tokens or more some builds of llama.cpp read rows that are shorter than their kernel is wide, and answer by chance.
const prompts = [
  Array.from({ length: 20 }, (_, at) => (at * 37 + 11) % 284),
  Array.from({ length: 29 }, (_, at) => (at * at * 13 + 5 * at + 90) % 284),
]
const path = join(folder, "expected.json")
let expected = {}
try {
  expected = JSON.parse(readFileSync(path, "utf8"))
} catch {}
const asked = process.argv.slice(2)
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".gguf"))
  .map((file) => basename(file, ".gguf"))
  .filter((name) => asked.length === 0 || asked.includes(name))
const llama = await getLlama({ gpu: false, build: "never", logLevel: "error", maxThreads: 1 })
for (const name of names) {
  try {
    const model = await llama.loadModel({ modelPath: join(folder, `${name}.gguf`), gpuLayers: 0 })
    const context = await model.createContext({ contextSize: 128, batchSize: 128, threads: 1 })
    const sequence = context.getSequence()
    expected[name] = []
    for (const prompt of prompts) {
      await sequence.clearHistory()
      const tokens = []
      let logits
      for (let feed = prompt; tokens.length < count; feed = [tokens.at(-1)]) {
        const generateNext = { token: true, logits: tokens.length === 0, options: { temperature: 0 } }
        const input = feed.map((token, at) => (at === feed.length - 1 ? [token, { generateNext }] : token))
        const { next } = (await sequence.controlledEvaluate(input)).at(-1)
        logits ??= [...next.logits].sort((a, b) => a[0] - b[0]).filter(([id]) => id % 24 === 0)
        tokens.push(Number(next.token))
      }
      expected[name].push({
        prompt,
        tokens,
        logits: logits.map(([id, value]) => [Number(id), Number(value.toFixed(4))]),
      })
    }
    console.log(name, expected[name].map(({ tokens }) => tokens.join(" ")).join("\n   "))
    await model.dispose()
  } catch (error) {
    console.log(name, error.message)
  }
}
const lines = Object.entries(expected)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(
    ([name, rows]) => `${JSON.stringify(name)}: [\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]`,
  )
writeFileSync(path, `{\n${lines.join(",\n")}\n}\n`)
process.exit(0)
