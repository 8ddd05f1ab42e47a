/**
 * What a constraint adds to the first token, over HTTP on one server: a response format that is cached beside the same request without
 * one, in turn; and, with a file of tools, a hundred tools in one request beside the same request without tools, on a server that
 * has just started (cold), on the same one with tools that it has not seen (warm), and with those that it has (cached).
 *
 * Milliseconds from the request to its first piece of text (`auto`) or to the name of its first call (`required`).
 *
 * Usage: `node dist/test/bench/firsttoken.js [--pairs 300] [--tools TOOLS.jsonl] [--count 100] [--starts 5]`. A line of the file is
 * `{"tools": [...]}` with tools as chat requests have them; of tools of one name the first counts.
 */
import { readFileSync } from "node:fs"
import { Agent } from "node:http"
import { cpus } from "node:os"
import { parseArgs } from "node:util"
import { compile, GrammarError } from "../../runtime/index.ts"
import { quantile } from "../attack/figures.ts"
import { AttackedServer } from "../attack/server.ts"
import { streamed } from "./streamed.ts"

const { values: flags } = parseArgs({
  options: {
    pairs: { type: "string", default: "300" },
    tools: { type: "string" },
    count: { type: "string", default: "100" },
    starts: { type: "string", default: "5" },
  },
})

const schema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 40 },
    email: { type: "string", format: "email" },
    age: { type: "integer", minimum: 0, maximum: 130 },
    tags: { type: "array", items: { enum: ["red", "green", "blue"] }, maxItems: 5 },
  },
  required: ["name", "age"],
  additionalProperties: false,
}
const format = { response_format: { type: "json_schema", json_schema: { name: "person", schema } } }
const maxGroups = 6
const short = { max_tokens: 4, seed: 1 }

console.log(`${cpus()[0]?.model}, node ${process.version}`)
await compareFormats(Number(flags.pairs))
if (flags.tools !== undefined) await compareTools(hundreds(flags.tools), Number(flags.starts))

async function compareFormats(pairs: number): Promise<void> {
  const { server, agent } = await opened()
  const first = async (fields: object) => {
    const { times, sentAt } = await streamed(server.port, agent, { ...short, ...fields })
    return times[0] - sentAt
  }
  const free: number[] = []
  const formatted: number[] = []
  for (let pair = -20; pair < pairs; pair++) {
    const [a, b] = [await first({}), await first(format)]
    if (pair < 0) continue
    free.push(a)
    formatted.push(b)
  }
  await closed(server, agent)
  const more = formatted.map((ms, at) => ms - free[at])
  console.log(`first token, medians of ${pairs} pairs`)
  console.log(`  free ${said(free)}; cached response_format ${said(formatted)}; difference ${said(more)}`)
}

/** `groups`: at least two lists of tools that share none. */
async function compareTools(groups: readonly (readonly object[])[], starts: number): Promise<void> {
  const bytes = JSON.stringify(groups[0]).length
  console.log(
    `${groups[0].length} tools (${Math.round(bytes / 1000)} kB), less the same request without them`,
  )
  for (const choice of ["auto", "required"] as const) {
    const cold: number[] = []
    const warm: number[] = []
    const cached: number[] = []
    for (let start = 0; start < starts; start++) {
      const { server, agent } = await opened()
      const ask = async (fields: object) => {
        const { times, sentAt, namedAt } = await streamed(server.port, agent, { ...short, ...fields })
        return (namedAt ?? times[0]) - sentAt
      }
      // The connection and the model are those of any request.
      const bare: number[] = []
      for (let i = 0; i < 10; i++) bare.push(await ask({}))
      const none = quantile(bare, 0.5)
      const withTools = async (group: number) => {
        const tools = groups[group % groups.length]
        const tokens = choice === "required" ? 400 : short.max_tokens
        const fields = { tools, tool_choice: choice, max_tokens: tokens }
        return (await ask({ ...fields, tokenrail: { tools_in_prompt: false } })) - none
      }
      cold.push(await withTools(start))
      for (let group = 1; group < groups.length; group++) warm.push(await withTools(start + group))
      for (let i = 0; i < 5; i++) cached.push(await withTools(start))
      await closed(server, agent)
    }
    console.log(
      `  ${choice}: cold ${said(cold)}; warm, not seen before ${said(warm)}; cached ${said(cached)}`,
    )
  }
}

/** Lists of tools of different names, none of which is in two; those that cannot be called are left out. */
function hundreds(path: string): object[][] {
  const byName = new Map<string, object>()
  const size = Number(flags.count)
  for (const line of readFileSync(path, "utf8").split("\n").filter(Boolean))
    for (const tool of JSON.parse(line).tools)
      if (byName.size < maxGroups * size && !byName.has(tool.function.name) && canBeCalled(tool))
        byName.set(tool.function.name, tool)
  const tools = [...byName.values()]
  if (tools.length < 2 * size)
    throw new Error(`${path} has ${tools.length} tools of different names: ${2 * size} are needed`)
  return Array.from({ length: Math.floor(tools.length / size) }, (_, group) =>
    tools.slice(group * size, (group + 1) * size),
  )
}

function canBeCalled(tool: object): boolean {
  try {
    compile({ kind: "tools", style: "hermes", tools: [tool], tool_choice: "required" })
    return true
  } catch (error) {
    if (error instanceof GrammarError) return false
    throw error
  }
}

async function opened(): Promise<{ server: AttackedServer; agent: Agent }> {
  const server = new AttackedServer()
  await server.start()
  return { server, agent: new Agent({ keepAlive: true }) }
}

async function closed(server: AttackedServer, agent: Agent): Promise<void> {
  agent.destroy()
  await server.stop()
}

/** The tenth percentile is what a busy machine spoils least. */
function said(values: number[]): string {
  const at = (part: number) => quantile(values, part).toFixed(1)
  return `${at(0.5)} (p10 ${at(0.1)}, p90 ${at(0.9)}, n ${values.length}) ms`
}
