/**
 * Mutants of the constraints of one front end, as many as fit into the time: whatever a constraint has become, the outcome is a
 * grammar or a `GrammarError`, every mask on a random walk is that of plain walks and of `accept`, and memory does not grow with
 * the grammars that were.
 *
 * Usage: `node --max-old-space-size=1024 dist/test/soak/fronts.js gbnf|lark|tag|tools|regex|json [--minutes 10] [--seed 1]
 * [--distinct N] [--last FILE]`. `--distinct` ends it after so many different grammars; `--last` keeps the constraint at work in a
 * file, for runs that end in the middle of it. Prints memory after every thousand, the slowest
 * compilation and mask, and a line for each fault; exit 1 when there was one.
 */

import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { GrammarError } from "../../grammar/errors.ts"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import { styles } from "../../grammar/tags/styles/all.ts"
import { BudgetMachine } from "../../mask/budgets/machine.ts"
import {
  bindGrammar,
  isAllowed,
  Matcher,
  parseVocabulary,
  TokenFsm,
  type Vocabulary,
} from "../../mask/index.ts"
import { RandomTools } from "../grammar/tags/styles/randomtools.ts"
import { parseCases } from "../support/cases.ts"
import { mutated, mutatedJson } from "../support/mutants.ts"
import { randomOf } from "../support/oracle.ts"
import { randomSchema } from "../support/schemas.ts"
import { plainLocals } from "./masks.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    last: { type: "string" },
    distinct: { type: "string", default: "Infinity" },
  },
})
/** A compilation or a mask that takes longer than its bound says is a fault. */
const slackMs = 1_000
const limits = { compileMs: 2_000, maskMs: 1_000 }
const random = randomOf(Number(flags.seed))
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]
const read = (name: string) => JSON.parse(readFileSync(`runtime/embedded/${name}`, "utf8"))
const vocabulary: Vocabulary = parseVocabulary(read("tokenizer.json"), read("tokenizer_config.json"), {
  endIds: [0, 2],
})
const row = new Uint32Array(vocabulary.words)
const expected = new Uint32Array(vocabulary.words)
/** Tokens that are tried by accept at each place. */
const tries = 20
const plain = plainLocals(vocabulary)
const { specials, endIds, width, hash } = vocabulary
const tokens = { specials, endIds, width, hash, bytes: (id: number) => vocabulary.bytes(id) }

const make = makers()[positionals[0]]
if (make === undefined) {
  console.error(`usage: fronts.js ${Object.keys(makers()).join("|")}`)
  process.exit(2)
}
/** Hashes of the constraints so far: their texts would be most of the memory. */
const seen = new Set<string>()
const counts: Record<string, number> = {}
const slowest = { compile: { ms: 0, input: "" }, mask: { ms: 0, input: "" } }
const faults: string[] = []
const end = performance.now() + 60_000 * Number(flags.minutes)
while (performance.now() < end && (counts.grammar ?? 0) < Number(flags.distinct)) {
  const input = make()
  const text = JSON.stringify(input)
  const id = createHash("sha1").update(text).digest("base64").slice(0, 12)
  if (seen.has(id)) continue
  seen.add(id)
  if (flags.last !== undefined) writeFileSync(flags.last, text)
  const outcome = follow(input, text)
  counts[outcome] = (counts[outcome] ?? 0) + 1
  if (outcome === "grammar" && counts.grammar % 1_000 === 0) sample()
}
sample()
console.log(
  JSON.stringify({ front: positionals[0], seed: flags.seed, counts, slowest, faults: faults.length }),
)
process.exitCode = faults.length === 0 ? 0 : 1

function sample(): void {
  const { rss, heapUsed } = process.memoryUsage()
  console.log(
    `${counts.grammar} grammars of ${seen.size}: ${rss >> 20} MiB resident, ${heapUsed >> 20} MiB heap`,
  )
}

function fault(text: string): void {
  faults.push(text)
  console.log(text)
}

/** Compiles it and goes some tokens at random; the kind of its refusal, or "grammar". */
function follow(input: GrammarInput, text: string): string {
  let phase: "compile" | "mask" = "compile"
  let begin = performance.now()
  const took = () => {
    const ms = performance.now() - begin
    if (ms > slowest[phase].ms) slowest[phase] = { ms: Math.round(ms), input: text.slice(0, 2_000) }
    const bound = phase === "compile" ? limits.compileMs : limits.maskMs
    if (ms > bound + slackMs) fault(`${phase} took ${Math.round(ms)} ms: ${text}`)
    begin = performance.now()
  }
  try {
    const { grammar } = compile(input, { tokens, limits })
    took()
    phase = "mask"
    const matcher = new Matcher(bindGrammar(grammar, vocabulary), { maskMs: limits.maskMs })
    const walking = new TokenFsm(grammar, vocabulary, { locals: plain, ignoresBudgets: true })
    const counting = grammar.budgets.length === 0 ? walking : new BudgetMachine(walking, { isPlain: true })
    const slow = new Matcher(counting, { maskMs: 10 * limits.maskMs })
    for (let step = 0; step < 12 && !matcher.isTerminated(); step++) {
      begin = performance.now()
      matcher.fillMask(row)
      took()
      slow.fillMask(expected)
      for (let i = 0; i < tries; i++) {
        const id = Math.floor(random() * width)
        if ((matcher.validate([id]) === 1) !== isAllowed(row, id))
          fault(`accept and the mask differ at ${id} after ${step} tokens: ${text}`)
      }
      if (row.some((word, w) => word !== expected[w])) {
        fault(`the mask after ${step} tokens is not that of plain walks: ${text}`)
        break
      }
      const allowed = Array.from({ length: width }, (_, id) => id).filter((id) => isAllowed(row, id))
      if (allowed.length === 0) {
        fault(`nothing is allowed after ${step} tokens: ${text}`)
        break
      }
      const id = pick(allowed)
      begin = performance.now()
      if (!matcher.accept(id)) fault(`the mask allows ${id}, accept does not: ${text}`)
      took()
      slow.accept(id)
    }
    return "grammar"
  } catch (error) {
    took()
    if (!(error instanceof GrammarError)) {
      fault(`${(error as Error).stack} in ${text}`)
      return "fault"
    }
    if (error.message.length > 6_000) fault(`a message of ${error.message.length} units: ${text}`)
    return phase === "compile" || error.kind === "unsatisfiable" ? error.kind : `${error.kind} later`
  }
}

function makers(): Record<string, () => GrammarInput> {
  const cases = (folder: string) =>
    readdirSync(`test/cases/${folder}`).flatMap((file) =>
      file.endsWith(".txt") ? parseCases(readFileSync(`test/cases/${folder}/${file}`, "utf8")) : [],
    )
  const texts = (folder: string) => cases(folder).map(({ grammar }) => grammar)
  const changed = (list: readonly string[]) => {
    let text = pick(list)
    for (let i = Math.floor(random() * random() * 4); i >= 0; i--) text = mutated(text, list, random)
    return text
  }
  const changedJson = (from: unknown, others: readonly unknown[]) => {
    let value = from
    for (let i = Math.floor(random() * random() * 4); i >= 0; i--) value = mutatedJson(value, others, random)
    return value
  }
  const [gbnf, lark] = [texts("gbnf"), texts("lark")]
  const formats = texts("tags").map((text) => JSON.parse(text) as unknown)
  const source = new RandomTools(random)
  const turn = () => ({
    style: pick(styles).name,
    tools: source.tools(1 + Math.floor(random() * 4)).map((each) => ({ type: "function", function: each })),
    tool_choice: pick(["auto", "required", "none"]),
    parallel_tool_calls: random() < 0.5,
  })
  const patterns = [
    "^(a|b)*c{2,5}$",
    "[^\\d\\s]+(?=x)x",
    "(?<!a)b\\b|\\p{L}{1,3}",
    "^(?:[a-z0-9]+(?:-[a-z0-9]+)*)$",
    "(\\w+\\.)*\\w+@[\\w-]+",
    "(?i:yes|no)|[\\u{1f600}-\\u{1f64f}]",
  ]
  let number = 1_000 * Number(flags.seed)
  return {
    gbnf: () => ({ kind: "gbnf", text: changed(gbnf) }),
    lark: () => ({ kind: "lark", text: changed(lark) }),
    tag: () => ({ kind: "tag", format: changedJson(pick(formats), formats) }),
    tools: () => {
      const { style, ...rest } = turn()
      return { kind: "tools", style, ...(changedJson(rest, [turn()]) as object) }
    },
    regex: () => ({ kind: "regex", pattern: changed(patterns), flags: pick(["", "u", "i", "iu", "s"]) }),
    json: () => {
      const [schema, other] = [randomSchema(number++), randomSchema(number++)]
      return { kind: "json", schema: changedJson(schema, [other]) }
    },
  }
}
