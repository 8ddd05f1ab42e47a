/**
 * `tokenrail bench --what compile | sampler | engine`: one part of the program alone, in this
 * process. Each prints a table, or with `--json` one object for each row.
 *
 * `compile` times constraints from text to grammar; the first compilation of a process also makes
 * tables that all constraints share. `sampler` times one row of logits on the CPU. `engine` runs
 * streams of a model without HTTP.
 */
import { quantile } from "../../runtime/engine/metrics.ts"
import {
  compile,
  createCpuSampler,
  type GrammarInput,
  resolveParams,
  type SamplingOptions,
  TokenCounts,
} from "../../runtime/index.ts"
import { tableOf } from "../suite/table.ts"
import {
  describeRounds,
  engineRounds,
  machineName,
  readCounts,
  type ServerBenchFlags,
} from "./benchserver.ts"
import { readText } from "./constraint.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { progress } from "./progress.ts"

/** Width of the sampled rows: that of Llama 3. */
const width = 128_256
/** Rows and compilations of one round. */
const rowsPerRound = 100
const compilationsPerRound = 10

/** Columns and their units, then the rows: a name and figures. */
interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly [name: string, ...figures: number[]])[]
}

export async function benchPart(
  what: "compile" | "sampler" | "engine",
  file: string | undefined,
  flags: ServerBenchFlags,
  io: Io,
): Promise<number> {
  if (what !== "compile" && file !== undefined) throw new UsageError(`--what ${what} takes no file`)
  if (flags.rounds < 1) throw new UsageError("--rounds 0: give at least 1")
  const tables = {
    compile: () => compileTable(file, flags, io),
    sampler: () => samplerTable(flags, io),
    engine: () => engineTable(flags, io),
  }
  const table = await tables[what]()
  const machine = machineName()
  if (flags.json) {
    for (const row of table.rows)
      io.out(
        `${JSON.stringify(Object.fromEntries(table.columns.map((name, at) => [keyOf(name), row[at]])))}\n`,
      )
    io.out(`${JSON.stringify({ machine })}\n`)
  } else {
    const cells = table.rows.map((row) => row.map((cell) => (typeof cell === "string" ? cell : figure(cell))))
    io.out(`${tableOf([table.columns, ...cells])}${machine}\n`)
  }
  return Exit.Ok
}

/** Returns the name of a column as a key: `first, ms` is `first_ms`. */
function keyOf(column: string): string {
  return column.replace("µ", "u").replace("/", "_per_").replace(/\W+/g, "_")
}

function figure(value: number): string {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3)
}

const ten = { id: "integer", name: "string", email: "string", age: "integer", score: "number" }
const more = { street: "string", city: "string", active: "boolean", note: "string", count: "integer" }
const fields = Object.entries({ ...ten, ...more }).map(([name, type]) => [name, { type }])
const thousand = Array.from({ length: 1_000 }, (_, at) => `value ${at}`)

/** The constraints of `--what compile`, by what they are. */
const constraints: readonly (readonly [string, GrammarInput])[] = [
  [
    "JSON Schema, 10 fields",
    {
      kind: "json",
      schema: {
        type: "object",
        properties: Object.fromEntries(fields),
        required: fields.map(([name]) => `${name}`),
        additionalProperties: false,
      },
    },
  ],
  [
    "JSON Schema, recursive",
    {
      kind: "json",
      schema: { $ref: "#/$defs/t", $defs: { t: { type: "array", items: { $ref: "#/$defs/t" } } } },
    },
  ],
  ["JSON Schema, enum of 1,000", { kind: "json", schema: { enum: thousand } }],
  ["regular expression", { kind: "regex", pattern: "[a-z0-9._-]{1,40}@[a-z0-9-]{1,40}(\\.[a-z]{2,8}){1,3}" }],
  [
    "Lark grammar",
    {
      kind: "lark",
      text: 'start: term (("+" | "-") term)*\nterm: NUMBER | "(" start ")"\nNUMBER: /[0-9]+/',
    },
  ],
  ["GBNF grammar", { kind: "gbnf", text: 'root ::= item ("," item)*\nitem ::= [a-z]+ "=" [0-9]+' }],
  ["choice of 1,000", { kind: "choice", options: thousand }],
]

async function compileTable(file: string | undefined, { rounds }: ServerBenchFlags, io: Io): Promise<Table> {
  const inputs: typeof constraints =
    file === undefined ? constraints : [[file, { kind: "json", schema: await readText(file, io) }]]
  const tick = progress(io, "bench", inputs.length)
  const rows = inputs.map(([name, input]): Table["rows"][number] => {
    const times: number[] = []
    for (let round = 0; round < 1 + rounds * compilationsPerRound; round++) {
      const begin = performance.now()
      compile(input)
      times.push(performance.now() - begin)
      io.signal.throwIfAborted()
    }
    tick()
    const [first, ...later] = times
    return [name, first, quantile(later, 0.5), quantile(later, 0.99)]
  })
  return { columns: ["constraint", "first, ms", "p50, ms", "p99, ms"], rows }
}

/** Sampling options by their name in the table; `allowed` tokens are legal, or all. */
const samplings: readonly (readonly [string, SamplingOptions, allowed?: number])[] = [
  ["greedy", { temperature: 0 }],
  ["temperature 0.8", { temperature: 0.8 }],
  ["top-k 50, top-p 0.9", { temperature: 1, topK: 50, topP: 0.9 }],
  ["top-p 0.9", { temperature: 1, topP: 0.9 }],
  ["min-p 0.05", { temperature: 1, minP: 0.05 }],
  ["64 legal tokens, top-p 0.9", { temperature: 1, topP: 0.9 }, 64],
]

async function samplerTable({ rounds }: ServerBenchFlags, io: Io): Promise<Table> {
  const sampler = createCpuSampler()
  const logits = normalRow()
  const tick = progress(io, "bench", samplings.length)
  const rows: Table["rows"][number][] = []
  for (const [name, options, allowed] of samplings) {
    const params = resolveParams({ ...options, seed: 1 }, { width })
    const tokens = new TokenCounts([])
    const mask = allowed === undefined ? null : everyNth(Math.floor(width / allowed))
    const times: number[] = []
    for (let position = 0; position < (1 + rounds) * rowsPerRound; position++) {
      const begin = performance.now()
      await sampler.sample(logits, width, [{ logitsRow: 0, params, mask, tokens, position, choice: 0 }])
      times.push(1000 * (performance.now() - begin))
      io.signal.throwIfAborted()
    }
    // The first round compiles code.
    const later = times.slice(rowsPerRound)
    rows.push([name, quantile(later, 0.5), quantile(later, 0.99)])
    tick()
  }
  sampler.close()
  return { columns: [`one row of ${width} logits`, "p50, µs", "p99, µs"], rows }
}

/** Returns logits of the normal distribution (Box and Muller 1958), always the same. */
function normalRow(): Float32Array {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 1) / 2 ** 32
  }
  return Float32Array.from(
    { length: width },
    () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random()),
  )
}

/** Returns a mask that allows every n-th token. */
function everyNth(n: number): Uint32Array {
  const mask = new Uint32Array(Math.ceil(width / 32))
  for (let id = 0; id < width; id += n) mask[id >>> 5] |= 1 << (id & 31)
  return mask
}

async function engineTable(flags: ServerBenchFlags, io: Io): Promise<Table> {
  const counts = readCounts(flags)
  const tick = progress(io, "bench", counts.length * flags.rounds)
  const results = await engineRounds(flags, counts, io, tick)
  const rows = counts.map((count): Table["rows"][number] => {
    const row = describeRounds(count, results.get(count) ?? [], null)
    const { first_token_ms: first, gap_ms: gap } = row
    return [`${count}`, row.tokens, row.tokens_per_s, first.p50, first.p99, gap.p50, gap.p99]
  })
  const spread = ["first token p50, ms", "first token p99, ms", "gap p50, ms", "gap p99, ms"]
  return { columns: ["streams", "tokens", "tokens/s", ...spread], rows }
}
