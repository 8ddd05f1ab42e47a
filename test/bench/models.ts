/**
 * A real model in the engine, beside a raw loop of onnxruntime over the same graph and node-llama-cpp over the same weights: load
 * time, resident memory, tokens a second free and bound by a JSON schema with one row and with eight, the first token of 500 tokens, and
 * that of a second prompt with the same 1,000 tokens before it. Each in a process of its own, the measures in turn, medians of rounds.
 *
 * Usage: `node dist/test/bench/models.js --model NAME [--dtype q4] [--batching fast] [--threads 2]
 * [--gguf FILE --llama DIR] [--without raw] [--rounds 3] [--json]`. NAME is one that `open` takes,
 * and by default the GGUF file. DIR of `--llama` has node-llama-cpp installed; without it and
 * without `--gguf` the raw loop stands alone beside us.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { cpus } from "node:os"
import { parseArgs } from "node:util"
import { quantile } from "../../runtime/engine/metrics.ts"
import { BuiltModels } from "../../runtime/model/build/cache.ts"
import { readModelDirectory } from "../../runtime/model/folder.ts"
import { locateModel } from "../../runtime/model/hub/locate.ts"
import { readPlaces } from "../../runtime/model/hub/places.ts"
import { styleOfTemplate } from "../../runtime/turn/style.ts"
import { readTokenizer } from "../../server/cli/vocabulary.ts"
import { loadLlama } from "./models/llama.ts"
import { loadRaw } from "./models/raw.ts"
import { type Answer, type Loaded, serve, type Task } from "./models/subject.ts"
import { loadTokenrail } from "./models/tokenrail.ts"

const { values: flags } = parseArgs({
  options: {
    model: { type: "string" },
    dtype: { type: "string" },
    batching: { type: "string", default: "exact" },
    threads: { type: "string", default: "2" },
    context: { type: "string", default: "2048" },
    gguf: { type: "string" },
    llama: { type: "string" },
    without: { type: "string", multiple: true, default: [] },
    rounds: { type: "string", default: "3" },
    tokens: { type: "string", default: "96" },
    subject: { type: "string" },
    json: { type: "boolean", default: false },
  },
})
const model = flags.model ?? flags.gguf
if (model === undefined) throw new Error("--model names a model, or --gguf a file")
const settings = {
  model,
  dtype: flags.dtype,
  batching: flags.batching as "exact" | "fast",
  threads: Number(flags.threads),
  context: Number(flags.context),
  gguf: flags.gguf ?? "",
  llama: flags.llama ?? "",
}

const schema = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 24 },
    age: { type: "integer", minimum: 0, maximum: 120 },
    role: { enum: ["administrator", "editor", "viewer"] },
    address: {
      type: "object",
      properties: { street: { type: "string", maxLength: 24 }, city: { type: "string", maxLength: 24 } },
      required: ["street", "city"],
      additionalProperties: false,
    },
    tags: { type: "array", items: { type: "string", maxLength: 12 }, minItems: 3, maxItems: 6 },
  },
  required: ["name", "age", "role", "address", "tags"],
  additionalProperties: false,
} as const

const subjects = {
  tokenrail: () => loadTokenrail(settings),
  raw: async () => loadRaw({ ...settings, model: await directoryOf(settings.model) }),
  llama: () => loadLlama(settings),
}

if (flags.subject !== undefined) await serve(subjects[flags.subject as keyof typeof subjects])
else await compare()

/** Where the graph and the tokenizer of a model lie; what has weights alone is built. */
async function directoryOf(name: string): Promise<string> {
  const { path, source } = await locateModel(name, { dtype: flags.dtype })
  if (source === null) return path
  const built = new BuiltModels(readPlaces(process.env).built)
  return built.directoryOf(source, { dtype: flags.dtype, provider: "cpu" })
}

async function compare(): Promise<void> {
  // Before anything is timed: the first who opens the model converts it.
  const folder = await directoryOf(settings.model)
  const tokenizer = await readTokenizer(folder)
  const { chatTemplates, tokenizerConfig } = await readModelDirectory(folder)
  const templates = [...chatTemplates.values(), String(tokenizerConfig.chat_template)]
  const names = Object.keys(subjects).filter(
    (name) => !flags.without.includes(name) && (name !== "llama" || flags.gguf !== undefined),
  )
  const processes: Record<string, ChildProcess> = {}
  const loaded: Record<string, Loaded> = {}
  for (const name of names) {
    const child = fork(process.argv[1], [...process.argv.slice(2), "--subject", name])
    const [said] = await once(child, "message")
    processes[name] = child
    loaded[name] = said as Loaded
  }
  const ask = async (name: string, task: Task): Promise<Answer | null> => {
    processes[name].send(task)
    const [answer] = await once(processes[name], "message")
    return answer as Answer | null
  }
  const prose = tokenizer.encode(readFileSync("README.md", "utf8"))
  const prompts = [
    "Describe a person.",
    "A dog?",
    "Who reads?",
    "Some town.",
    "A friend.",
    "Any poet.",
    "A cook.",
    "A king.",
  ]
  const tokens = Number(flags.tokens)
  const measures: Record<string, (round: number) => Task[]> = {
    "free, 1 row: tokens/s": () => [{ kind: "decode", prompts: prompts.slice(0, 1), tokens }],
    "free, 8 rows: tokens/s": () => [{ kind: "decode", prompts, tokens }],
    "bound, 1 row: tokens/s": () => [{ kind: "decode", prompts: prompts.slice(0, 1), tokens, schema }],
    "bound, 8 rows: tokens/s": () => [{ kind: "decode", prompts, tokens, schema }],
    "first token of 500: ms": (round) => [
      { kind: "first", prompt: prose.slice(7 * round + 1, 7 * round + 501) },
    ],
    "first token of 1,020: ms": (round) => [
      { kind: "first", prompt: prose.slice(500 + 9 * round, 1_520 + 9 * round) },
    ],
    // The second of two prompts that share 1,000 tokens.
    "the same again, 20 new: ms": (round) => {
      const shared = prose.slice(900 + 9 * round, 1_900 + 9 * round)
      return [0, 40].map((from) => ({ kind: "first", prompt: [...shared, ...prose.slice(from, from + 20)] }))
    },
  }
  const results: Record<string, Record<string, number[]>> = {}
  for (const label of Object.keys(measures))
    results[label] = Object.fromEntries(names.map((name) => [name, []]))
  // The first round warms up. All measures take turns: what is compared meets the same minutes of the machine.
  for (let round = 0; round <= Number(flags.rounds); round++) {
    for (const [label, tasks] of Object.entries(measures)) {
      for (const name of names) {
        let last: Answer | null = null
        for (const task of tasks(round)) last = await ask(name, task)
        if (last !== null && round > 0) results[label][name].push(last.value)
      }
    }
  }
  for (const child of Object.values(processes)) child.send({ kind: "close" } satisfies Task)
  const machine = `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${settings.threads} threads`
  if (flags.json) {
    const style = styleOfTemplate(templates.join("\n"))
    console.log(JSON.stringify({ machine, model, dtype: settings.dtype, style, loaded, results }))
    return
  }
  console.log(`${settings.model} ${settings.dtype ?? ""}; ${machine}; medians of ${flags.rounds}`)
  const row = (label: string, values: (number | undefined)[], digits: number) =>
    console.log(
      label.padEnd(30) + values.map((value) => (value?.toFixed(digits) ?? "–").padStart(12)).join(""),
    )
  console.log(" ".repeat(30) + names.map((name) => name.padStart(12)).join(""))
  row(
    "load: ms",
    names.map((name) => loaded[name].ms),
    0,
  )
  row(
    "resident: MiB",
    names.map((name) => loaded[name].rssMiB),
    0,
  )
  for (const [label, byName] of Object.entries(results))
    row(
      label,
      names.map((name) => (byName[name].length > 0 ? quantile(byName[name], 0.5) : undefined)),
      1,
    )
}
