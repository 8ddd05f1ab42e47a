/**
 * What a constraint costs in the whole engine under a steady load: so many clients ask again as
 * soon as they are answered, with prompts and answers of mixed lengths, at temperature 0.8. Free
 * answers and answers bound by a schema take turns, in pairs of equal time in one warm process.
 * Prints for each number of clients: tokens a second of both, the ratio of each pair and, beside
 * it, the cores that other programs took meanwhile; then runs of the model a token of one client,
 * the share of places that were computed in vain, and the times of masks.
 *
 * Usage: `node dist/test/bench/engine.js [--model NAME] [--device cpu] [--rows 1,4,8,16] [--pairs
 * 3] [--seconds 10] [--threads N] [--json]`.
 */
import { readFileSync } from "node:fs"
import { availableParallelism, cpus } from "node:os"
import { parseArgs } from "node:util"
import { quantile } from "../../runtime/engine/metrics.ts"
import { type Engine, type GenerateOptions, open } from "../../runtime/index.ts"

const { values: flags } = parseArgs({
  options: {
    model: { type: "string" },
    device: { type: "string", default: "cpu" },
    rows: { type: "string", default: "1,4,8,16" },
    pairs: { type: "string", default: "3" },
    seconds: { type: "string", default: "10" },
    threads: { type: "string" },
    json: { type: "boolean", default: false },
  },
})
const windowMs = 1_000 * Number(flags.seconds)

const schema = {
  type: "object",
  properties: {
    registered_customers: {
      type: "array",
      minItems: 1,
      maxItems: 6,
      items: {
        type: "object",
        properties: {
          customer_full_name: { type: "string", minLength: 3, maxLength: 20 },
          age_in_completed_years: { type: "integer", minimum: 0, maximum: 120 },
          role_within_organisation: { enum: ["administrator", "editor", "viewer"] },
          preferred_contact_address: { type: "string", pattern: "^[a-z]{2,8}@[a-z]{2,8}\\.(com|org)$" },
          descriptive_labels: { type: "array", items: { type: "string", maxLength: 12 }, maxItems: 3 },
        },
        required: ["customer_full_name", "age_in_completed_years", "role_within_organisation"],
        additionalProperties: false,
      },
    },
  },
  required: ["registered_customers"],
  additionalProperties: false,
}

const kinds = {
  free: { ignoreEos: true },
  bound: { schema },
} satisfies Record<string, GenerateOptions>
type Kind = keyof typeof kinds

interface Figures {
  tokensPerSecond: number
  /** Cores that other programs took; NaN where the system does not tell. */
  foreignCores: number
  /** Of the model, for each token that a client got. */
  runsPerStep: number
  vainShare: number
  forcedShare: number
  maskUs: number[]
}

/**
 * Cores at work since the machine was started, in milliseconds (proc(5): user, nice, system, irq,
 * softirq).
 */
function busyMs(): number {
  try {
    const [user, nice, system, , , irq, softirq] = readFileSync("/proc/stat", "utf8")
      .split("\n", 1)[0]
      .split(/ +/)
      .slice(1)
      .map(Number)
    return 10 * (user + nice + system + irq + softirq)
  } catch {
    return Number.NaN
  }
}

function ownMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const prose = readFileSync("README.md", "utf8").replaceAll(/[^\w\s.,;:]/g, "")

/**
 * Request number `turn`: free and bound answers have the same prompts and budgets, but for the
 * first word, so that none finds its prompt in the cache of another kind.
 */
function requestOf(kind: Kind, turn: number): { prompt: string; maxTokens: number } {
  const length = 40 + ((turn * 7_919) % 400)
  const from = (turn * 104_729) % (prose.length - length)
  return {
    prompt: `${kind} ${turn}: ${prose.slice(from, from + length)}\nList some people, please.`,
    maxTokens: 40 + ((turn * 31) % 160),
  }
}

/** `count` clients for the time of one window; their requests are numbered from `first` on. */
async function load(engine: Engine, count: number, kind: Kind, first: number): Promise<Figures> {
  const begin = { now: performance.now(), busy: busyMs(), own: ownMs(), work: { ...engine.modelWork() } }
  const until = begin.now + windowMs
  const abort = new AbortController()
  const end = setTimeout(() => abort.abort(), windowMs)
  let tokens = 0
  let forced = 0
  const maskUs: number[] = []
  const client = async (index: number): Promise<void> => {
    for (let turn = first + index; performance.now() < until; turn += count) {
      const { prompt, maxTokens } = requestOf(kind, turn)
      const options = {
        ...kinds[kind],
        maxTokens,
        temperature: 0.8,
        seed: BigInt(turn),
        signal: abort.signal,
      }
      try {
        const generation = await engine.start(prompt, options)
        for await (const event of generation) if ("tokens" in event) tokens += event.tokens.length
        const { usage } = await generation.result
        forced += usage.forcedTokens
        for (const sequence of generation.sequences) maskUs.push(...sequence.maskUs)
      } catch (error) {
        if (!abort.signal.aborted) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: count }, (_, index) => client(index)))
  clearTimeout(end)
  const ms = performance.now() - begin.now
  const { runs, places, placesInVain } = engine.modelWork()
  return {
    tokensPerSecond: (1_000 * tokens) / ms,
    foreignCores: Math.max(0, (busyMs() - begin.busy - (ownMs() - begin.own)) / ms),
    runsPerStep: ((runs - begin.work.runs) * count) / tokens,
    vainShare: (placesInVain - begin.work.placesInVain) / (places - begin.work.places),
    forcedShare: forced / tokens,
    maskUs,
  }
}

const median = (values: number[]): number => quantile(values, 0.5)
const show = (value: number, digits: number, width = 9): string => value.toFixed(digits).padStart(width)

const counts = flags.rows.split(",").map(Number)
const engine = await open({
  device: flags.device as "auto" | "gpu" | "cpu",
  slots: Math.max(...counts),
  ...(flags.model !== undefined && { model: flags.model }),
  ...(flags.threads !== undefined && { threads: Number(flags.threads) }),
  log: flags.json ? () => {} : console.log,
})
const machine = `${availableParallelism()} × ${cpus()[0]?.model}, Node ${process.version}`
if (!flags.json) {
  console.log(`machine: ${machine}`)
  console.log(
    `model: ${engine.model.id}, ${engine.model.width} columns, context ${engine.model.contextLength}`,
  )
  console.log(
    `${flags.pairs} pairs of ${flags.seconds} s each; medians, and the ratio of each pair (cores of others)`,
  )
  console.log("clients  free/s  bound/s  ratio  runs/step   in vain %  forced %  mask µs p50     p99  pairs")
}
const results: { clients: number; pairs: Record<Kind, Figures>[] }[] = []
for (const clients of counts) {
  for (const kind of ["free", "bound"] as const) await load(engine, clients, kind, 500_000)
  const pairs: Record<Kind, Figures>[] = []
  for (let pair = 0; pair < Number(flags.pairs); pair++) {
    const order: Kind[] = pair % 2 === 0 ? ["free", "bound"] : ["bound", "free"]
    const figures = {} as Record<Kind, Figures>
    for (const kind of order) figures[kind] = await load(engine, clients, kind, 1_000 * pair)
    pairs.push(figures)
  }
  results.push({ clients, pairs })
  if (flags.json) continue
  const of = (kind: Kind, figure: "tokensPerSecond" | "runsPerStep" | "vainShare" | "forcedShare"): number =>
    median(pairs.map((pair) => pair[kind][figure]))
  const ratioOf = ({ free, bound }: Record<Kind, Figures>): number =>
    bound.tokensPerSecond / free.tokensPerSecond
  const masks = pairs.flatMap(({ bound }) => bound.maskUs)
  const two = (figure: "runsPerStep" | "vainShare", scale: number, digits: number): string =>
    `${show(scale * of("free", figure), digits, 5)} ${show(scale * of("bound", figure), digits, 5)}`
  const each = pairs.map(
    (pair) =>
      `${ratioOf(pair).toFixed(2)} (${Math.max(pair.free.foreignCores, pair.bound.foreignCores).toFixed(1)})`,
  )
  console.log(
    [
      show(clients, 0, 7),
      show(of("free", "tokensPerSecond"), 0, 8),
      show(of("bound", "tokensPerSecond"), 0),
      show(median(pairs.map(ratioOf)), 2, 7),
      two("runsPerStep", 1, 2),
      two("vainShare", 100, 1),
      show(100 * of("bound", "forcedShare"), 0, 8),
      show(median(masks), 1, 10),
      show(quantile(masks, 0.99), 1),
      `  ${each.join("  ")}`,
    ].join(""),
  )
}
if (flags.json) console.log(JSON.stringify({ machine, model: engine.model.id, results }))
await engine.close()
