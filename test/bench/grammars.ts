/**
 * Grammars that are no schemas, beside llguidance in one run: C, SQL, JSON, 500 and 400 tools behind a tag, 1,500 choices. Both read
 * the same Lark text and the same tokens. Prints the milliseconds from text to first mask, of each round, in which a text is written
 * behind it, and of a hundred times over and over (median and p99), and the microseconds of fill and accept a token, p50 and p99, of the last of some rounds, and the ratio to
 * llguidance over the tokens that both took; beside them the tokens of the first round, in which everything is new, in all and the
 * longest.
 *
 * Usage: `node dist/test/bench/grammars.js --vocab DIR [--rounds 3] [--only c,sql] [--python PYTHON] [--json]`. DIR holds tokenizer.json.
 * PYTHON has `llguidance` and `numpy`; without it ours stand alone.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { isAllowed, wordCount } from "../../mask/index.ts"
import { compile, Matcher, TokenFsm, warmUp } from "../../runtime/index.ts"
import { compileEarly, settle } from "../../server/cli/restart.ts"
import { readTokenizer, readVocabulary } from "../../server/cli/vocabulary.ts"

const { values: flags } = parseArgs({
  options: {
    vocab: { type: "string" },
    rounds: { type: "string", default: "3" },
    only: { type: "string" },
    python: { type: "string", default: process.env.PYTHON ?? "python3" },
    json: { type: "boolean", default: false },
  },
})
if (flags.vocab === undefined) throw new Error("--vocab names the directory of a tokenizer")

interface Case {
  id: string
  lark: string
  text: string
}

interface Result {
  id: string
  first_ms: number[]
  /** The same over and over, behind the rounds. */
  again_ms: number[]
  us: number[]
  /** The same of the first round. */
  cold_us: number[]
  stopped: number | string | null
}

/** As in the peer's program. */
const Again = 100
const folder = "test/bench/grammars"
const rounds = Number(flags.rounds)
const only = flags.only?.split(",")
const vocabulary = await readVocabulary(flags.vocab)
const tokenizer = await readTokenizer(flags.vocab)
const cases = [c(), sql(), json(), tools(500), tools(400), choices()].filter(
  ({ id }) => only === undefined || only.includes(id),
)
const encoded = cases.map((one) => ({ ...one, tokens: [...tokenizer.encode(one.text)] }))
const theirs = peer()
// As the program does.
settle()
compileEarly(true)
for (const _ of warmUp(vocabulary));
compileEarly(false)
const machine = `${cpus()[0]?.model}, node ${process.version}`
console.log(
  `${machine}; first masks in ms, tokens in µs, llguidance ${theirs.size > 0 ? "beside" : "not there"}`,
)
const results = encoded.map(({ id, lark, tokens }) => {
  const ours = run(id, lark, tokens)
  const their = theirs.get(id)
  if (!flags.json) print(ours, their)
  return { ours, theirs: their }
})
if (flags.json) console.log(JSON.stringify({ machine, results }))

function run(id: string, lark: string, tokens: number[]): Result {
  const row = new Uint32Array(wordCount(vocabulary.width))
  const result: Result = { id, first_ms: [], again_ms: [], us: [], cold_us: [], stopped: null }
  const firstMask = (times: number[]): TokenFsm => {
    const begin = performance.now()
    const { grammar } = compile({ kind: "lark", text: lark })
    const fsm = new TokenFsm(grammar, vocabulary)
    new Matcher(fsm).fillMask(row)
    times.push(performance.now() - begin)
    return fsm
  }
  for (let round = 0; round < rounds; round++) {
    const fsm = firstMask(result.first_ms)
    const matcher = new Matcher(fsm)
    result.us = []
    result.stopped = null
    for (const [i, token] of tokens.entries()) {
      const filling = performance.now()
      matcher.fillMask(row)
      const filled = performance.now()
      if (!isAllowed(row, token)) {
        result.stopped = i
        break
      }
      const accepting = performance.now()
      matcher.accept(token)
      result.us.push(1000 * (filled - filling + performance.now() - accepting))
    }
    if (round === 0) result.cold_us = result.us
  }
  for (let i = 0; i < Again; i++) firstMask(result.again_ms)
  return result
}

/** What llguidance needs for each case; empty where it is not installed. */
function peer(): Map<string, Result> {
  const input = encoded.map(({ id, lark, tokens }) => JSON.stringify({ id, lark, tokens })).join("\n")
  const args = [join(flags.vocab!, "tokenizer.json"), vocabulary.width, vocabulary.endIds[0], rounds].map(
    String,
  )
  const program = join(folder, "llguidance_peer.py")
  const { stdout } = spawnSync(flags.python, [program, ...args], { input, maxBuffer: 1e9, encoding: "utf8" })
  const lines = (stdout ?? "").split("\n").filter((line) => line.startsWith("{"))
  return new Map(lines.map((line): Result => JSON.parse(line)).map((result) => [result.id, result]))
}

function print(ours: Result, theirs: Result | undefined): void {
  // Over the tokens that both took.
  const count = Math.min(ours.us.length, theirs?.us.length ?? 0)
  const ratio = (share: number) =>
    `${(at(ours.us, share, count) / at(theirs!.us, share, count)).toFixed(2)} ×`
  console.log(ours.id)
  console.log(`  ours       ${describe(ours)}`)
  if (theirs === undefined) return
  console.log(`  llguidance ${describe(theirs)}`)
  console.log(`  ratio      p50 ${ratio(0.5)}, p99 ${ratio(0.99)}`)
}

function describe(result: Result): string {
  const first = result.first_ms.map((ms) => ms.toFixed(1)).join(", ")
  const stopped = result.stopped === null ? "" : `, stopped at ${result.stopped}`
  const again = [0.5, 0.99].map((share) => at(result.again_ms, share).toFixed(2)).join(" and ")
  const n = result.us.length
  const cold = result.cold_us.map((us) => us / 1000)
  const coldMs = `${cold.reduce((sum, ms) => sum + ms, 0).toFixed(0)} ms, longest ${Math.max(0, ...cold).toFixed(1)}`
  return `first ${first}, over and over ${again}; ${n} tokens: p50 ${at(result.us, 0.5).toFixed(1)}, p99 ${at(result.us, 0.99).toFixed(0)}; at first ${coldMs}${stopped}`
}

function at(values: readonly number[], share: number, count = values.length): number {
  const sorted = values.slice(0, count).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

function file(name: string): string {
  return readFileSync(join(folder, name), "utf8")
}

function c(): Case {
  return { id: "c", lark: file("c.lark"), text: file("text.c") }
}

function sql(): Case {
  return { id: "sql", lark: file("sql.lark"), text: file("text.sql").trim() }
}

function json(): Case {
  return { id: "json", lark: file("json.lark"), text: file("../../../package.json").trim() }
}

/** One of so many tools behind a tag, each with a schema of its own; the text calls some of them. */
function tools(count: number): Case {
  const schema = (i: number) => ({
    type: "object",
    properties: {
      [`field_${i}`]: { type: "string", minLength: 1, maxLength: 40 },
      count: { type: "integer", minimum: 0, maximum: 10 + i },
      kind: { enum: ["small", "large", `kind ${i % 7}`] },
    },
    required: [`field_${i}`, "count"],
    additionalProperties: false,
  })
  const name = (i: number) => `tool_${(i * 7919) % 1000}_${["get", "set", "list", "find"][i % 4]}`
  const calls = Array.from({ length: count }, (_, i) => {
    const head = JSON.stringify(`{"name":"${name(i)}","arguments":`)
    return `call_${i}: ${head} %json ${JSON.stringify(schema(i))} "}"`
  })
  const any = Array.from({ length: count }, (_, i) => `call_${i}`).join(" | ")
  const lark = `start: ("<tool_call>" call "</tool_call>")+\ncall: ${any}\n${calls.join("\n")}\n`
  const call = (i: number) =>
    `<tool_call>{"name":"${name(i)}","arguments":{"field_${i}":"some words of text","count":7,"kind":"large"}}</tool_call>`
  return { id: `${count} tools`, lark, text: [3, 77, 210, 399, 5, 123].map(call).join("") }
}

/** 1,500 choices of 500 words. */
function choices(): Case {
  const words = Array.from({ length: 500 }, (_, i) => `w${((i * 2654435761) >>> 0).toString(36)}`)
  const options = Array.from({ length: 1_500 }, (_, i) =>
    Array.from({ length: 500 }, (_, k) => words[(i * 31 + k * (1 + (i % 97))) % 500]).join(" "),
  )
  return {
    id: "choices",
    lark: `start: ${options.map((option) => `"${option}"`).join(" | ")}\n`,
    text: options[700],
  }
}
