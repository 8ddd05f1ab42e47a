/**
 * Writes docs/models.md: each model of models.json, with what was measured of those that lie on this machine.
 *
 * Usage: `node dist/test/bench/table.js [--at "NAME=FILE"…] [--llama DIR] [--rounds 3] [--threads
 * 2]`. FILE is a GGUF file, or a name that `open` takes; DIR has node-llama-cpp installed. What was
 * measured before is kept in test/bench/results/models.json, so that models can be measured one by
 * one.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { availableParallelism, cpus } from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { quantile } from "../../runtime/engine/metrics.ts"
import type { ModelStyle } from "../../runtime/turn/style.ts"
import type { Loaded } from "./models/subject.ts"

const { values: flags } = parseArgs({
  options: {
    at: { type: "string", multiple: true, default: [] },
    llama: { type: "string" },
    rounds: { type: "string", default: "3" },
    threads: { type: "string", default: "2" },
  },
})

interface Model {
  readonly name: string
  readonly parameters: string
  readonly types: string
  readonly about?: string
  readonly tools?: string
  readonly reasoning?: string
}

/** Of one model: by subject, as `models.js --json` says it. */
interface Measured {
  readonly machine: string
  readonly mb: number
  readonly style: ModelStyle
  readonly loaded: Readonly<Record<string, Loaded>>
  readonly results: Readonly<Record<string, Readonly<Record<string, number[]>>>>
}

const listFile = "test/bench/models/models.json"
const measuredFile = "test/bench/results/models.json"
const pageFile = "docs/models.md"

const models = JSON.parse(readFileSync(listFile, "utf8")) as Model[]
const known: Record<string, Measured> = existsSync(measuredFile)
  ? JSON.parse(readFileSync(measuredFile, "utf8"))
  : {}

for (const at of flags.at) {
  const [, name, path] = /^(.*?)=(.*)$/.exec(at) ?? []
  if (!models.some((model) => model.name === name))
    throw new Error(`--at ${at}: ${listFile} has no model of that name`)
  known[name] = measure(path)
  writeFileSync(measuredFile, `${JSON.stringify(known, null, 1)}\n`)
  console.log(`${name}: measured`)
}
writeFileSync(pageFile, page())

function measure(path: string): Measured {
  const isGguf = path.endsWith(".gguf")
  const args = [
    fileURLToPath(new URL("./models.js", import.meta.url)),
    ...["--json", "--without", "raw", "--rounds", flags.rounds, "--threads", flags.threads],
    ...(isGguf && flags.llama !== undefined ? ["--gguf", path, "--llama", flags.llama] : ["--model", path]),
  ]
  const said = execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 2 ** 26 })
  const { style, loaded, results } = JSON.parse(said.slice(said.indexOf("{"))) as Measured
  const machine = `${availableParallelism()} × ${cpus()[0]?.model}, Node ${process.version}, ${flags.threads} threads`
  const file = isGguf ? path : `${path}/onnx/model.onnx`
  return { machine, mb: Math.round(statSync(file).size / 1e6), style, loaded, results }
}

function page(): string {
  const columns = [
    ...["model", "parameters", "types", "file, MB", "memory, MB", "load, s"],
    ...[
      "1 row, free",
      "1 row, JSON",
      "8 rows, free",
      "8 rows, JSON",
      "first of 500, ms",
      "tools",
      "reasoning",
    ],
  ]
  const rows = models.map((model) => cells(model, known[model.name]))
  const machines = [...new Set(Object.values(known).map(({ machine }) => machine))]
  return `# Which model?

This page is made by \`test/bench/table.ts\`. Speeds are medians of tokens per second; the figure after the slash is node-llama-cpp on the same file, with
its own grammar of the same schema. Memory is that of the process after the model is loaded. "First of 500" is the time to the first token after a
prompt of 500 tokens. A dash means that it was not tried.

Measured on: ${machines.join("; ") || "nothing yet"}.

| ${columns.join(" | ")} |
|${"---|".repeat(columns.length)}
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}

Models without figures were not tried here: their architectures are compared with llama.cpp on small files of random weights ([gguf.md](gguf.md)), and their
tools and reasoning come from their templates ([tool-styles.md](tool-styles.md)).

To compare a model of your own with node-llama-cpp installed in \`DIR\`:

\`\`\`
npm run build:programs
node dist/test/bench/models.js --gguf FILE --llama DIR
\`\`\`
`
}

function cells(model: Model, measured: Measured | undefined): string[] {
  const { name, parameters, types, about } = model
  const label = about === undefined ? name : `${name} (${about})`
  if (!measured)
    return [
      label,
      parameters,
      types,
      ...Array<string>(8).fill("–"),
      model.tools ?? "–",
      codeOf(model.reasoning) ?? "–",
    ]
  const { loaded, results, style, mb } = measured
  const both = (of: (subject: string) => number | undefined, digits = 0): string =>
    ["tokenrail", "llama"]
      .map(of)
      .filter((value) => value !== undefined)
      .map((value) => value.toFixed(digits))
      .join(" / ")
  const median = (label: string) => (subject: string) => {
    const values = results[label]?.[subject] ?? []
    return values.length === 0 ? undefined : quantile(values, 0.5)
  }
  return [
    ...[label, parameters, types, String(mb)],
    both((subject) => loaded[subject]?.rssMiB && loaded[subject].rssMiB * 1.048576),
    both((subject) => loaded[subject]?.ms && loaded[subject].ms / 1_000, 1),
    ...["free, 1 row", "bound, 1 row", "free, 8 rows", "bound, 8 rows"].map((label) =>
      both(median(`${label}: tokens/s`)),
    ),
    both(median("first token of 500: ms")),
    style.style,
    codeOf(style.reasoning?.end.trim()) ?? "none",
  ]
}

/** A mark such as `</think>` as code: as text it would be a tag. */
function codeOf(mark: string | undefined): string | undefined {
  return mark === undefined ? undefined : `\`${mark}\``
}
