/**
 * Compares the linter's tables with the engines themselves: every schema of a MaskBench split, and
 * the probe of every rule. docs/lint.md defines the agreement.
 *
 * Usage: `node dist/test/bench/lint.js [FILE.jsonl.gz] --python VENV/bin/python --llamacpp PROGRAM
 * [--target llguidance…] [--answers DIR]`. `bench/lint/README.md` says how both are made. A target
 * whose engine is missing is skipped by name. `--answers` keeps what the engines answered, and asks
 * them for nothing that is there.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { gunzipSync } from "node:zlib"
import { type LintReport, type LintTarget, lint } from "../../grammar/index.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: "string" },
    llamacpp: { type: "string" },
    target: { type: "string", multiple: true, default: ["llguidance", "xgrammar", "outlines", "llamacpp"] },
    answers: { type: "string" },
    all: { type: "boolean", default: false },
  },
})

interface Row {
  readonly id: string
  readonly schema: string
  readonly texts: readonly string[]
  readonly valid: readonly boolean[]
}

/** What an engine answered: `failed` is neither a refusal nor an answer, such as too much time. */
interface Answer {
  readonly id: string
  readonly accepted?: readonly boolean[]
  readonly refused?: string
  readonly failed?: string
}

interface Probe {
  readonly rule: string
  readonly schema: unknown
  readonly text: string
  readonly valid: boolean
  /** `failed`: it does not end in time. */
  readonly engine: "refused" | "accepted" | "rejected" | "failed"
}

/** The folder of this program's sources: it also runs from `dist/`. */
const here = fileURLToPath(
  new URL(import.meta.url.includes("/dist/") ? "../../../test/bench/" : "./", import.meta.url),
)

function commandOf(target: string, isProbe: boolean): string[] | null {
  if (target === "llamacpp") return flags.llamacpp === undefined ? null : [flags.llamacpp]
  // The engine itself answers the probes. The schemas of the corpus are too large for its index.
  const engine = target === "outlines" && !isProbe ? "outlines-regex" : target
  return flags.python === undefined ? null : [flags.python, join(here, "lint/engines.py"), engine]
}

/** Asks an engine about rows, in their order. Null if the engine is missing. */
async function ask(target: string, rows: readonly Row[], isProbe: boolean): Promise<Answer[] | null> {
  const command = commandOf(target, isProbe)
  const kept = flags.answers && join(flags.answers, `${target}${isProbe ? ".probes" : ""}.jsonl`)
  const known = new Map<string, Answer>()
  if (kept && existsSync(kept))
    for (const line of linesOf(readFileSync(kept, "utf8"))) known.set(line.id, line as Answer)
  const open = rows.filter(({ id }) => !known.has(id))
  if (open.length > 0) {
    if (command === null) return null
    for (const answer of await run(command, open)) known.set(answer.id, answer)
    if (kept) {
      mkdirSync(flags.answers!, { recursive: true })
      writeFileSync(kept, [...known.values()].map((answer) => `${JSON.stringify(answer)}\n`).join(""))
    }
  }
  return rows.flatMap(({ id }) => known.get(id) ?? [])
}

function run([program, ...args]: string[], rows: readonly Row[]): Promise<Answer[]> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] })
  let out = ""
  child.stdout.setEncoding("utf8").on("data", (text) => {
    out += text
  })
  child.stdin.on("error", () => {})
  child.stdin.end(rows.map(({ id, schema, texts }) => `${JSON.stringify({ id, schema, texts })}\n`).join(""))
  return new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("close", () => resolve(linesOf(out) as Answer[]))
  })
}

function linesOf(text: string): { id: string }[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
}

/** What the engine did with a row: `wide` accepts an invalid text, `narrow` only rejects a valid one. */
type Real = "refused" | "failed" | "wide" | "narrow" | "right"

function realOf({ accepted, refused, failed }: Answer, { valid }: Row): Real {
  if (refused !== undefined) return "refused"
  if (failed !== undefined || accepted === undefined) return "failed"
  if (accepted.some((isAccepted, i) => isAccepted && !valid[i])) return "wide"
  return accepted.some((isAccepted, i) => !isAccepted && valid[i]) ? "narrow" : "right"
}

/** The agreement of docs/lint.md. */
function agrees(real: Real, { outcome, notes }: LintReport): boolean {
  const names = (...verdicts: string[]) => notes.some(({ verdict }) => verdicts.includes(verdict))
  if (real === "refused") return outcome === "refused"
  if (outcome === "refused") return false
  if (real === "wide") return names("dropped", "wrong")
  return real === "right" || names("narrowed", "wrong")
}

function compare(target: LintTarget, rows: readonly Row[], answers: readonly Answer[]): void {
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  const counts = new Map<string, number>()
  const bad: string[] = []
  let failed = 0
  for (const row of rows) {
    const answer = byId.get(row.id) ?? { id: row.id, failed: "no answer" }
    const real = realOf(answer, row)
    const report = lint(row.schema, target)
    const cell = `${real} / ${report.outcome}`
    counts.set(cell, (counts.get(cell) ?? 0) + 1)
    if (real === "failed") {
      failed++
      if (flags.all) console.log(`  ${row.id}: ${answer.failed}`)
      continue
    }
    if (agrees(real, report)) continue
    const rules = report.notes.map(({ rule, path }) => `${rule} ${path}`).slice(0, 3)
    bad.push(`  ${row.id}: ${cell}; ${answer.refused ?? answer.failed ?? ""} [${rules.join(", ")}]`)
  }
  const answered = rows.length - failed
  const share = (100 * (answered - bad.length)) / answered
  console.log(`${target}: ${answered - bad.length} of ${answered} schemas agree (${share.toFixed(2)} %)`)
  for (const [cell, count] of [...counts].sort((a, b) => b[1] - a[1])) console.log(`  ${cell}: ${count}`)
  if (failed > 0) console.log(`  without an answer in time, not counted: ${failed}`)
  for (const line of flags.all ? bad : bad.slice(0, 20)) console.log(line.slice(0, 300))
}

async function probe(target: LintTarget): Promise<void> {
  const file = join(here, "../grammar/lint/probes.json")
  const probes: Probe[] = JSON.parse(readFileSync(file, "utf8"))[target] ?? []
  const rows = probes.map(({ schema, text, valid }, i) => ({
    ...{
      id: `${i}`,
      schema: typeof schema === "string" ? schema : JSON.stringify(schema),
      texts: [text],
      valid: [valid],
    },
  }))
  const answers = await ask(target, rows, true)
  if (answers === null) return
  const bad = probes.flatMap(({ rule, engine }, i) => {
    const answer: Partial<Answer> | undefined = answers.find(({ id }) => id === `${i}`)
    const { refused, failed, accepted } = answer ?? { failed: "no answer" }
    const read = accepted?.[0] ? "accepted" : "rejected"
    const real = refused !== undefined ? "refused" : failed !== undefined ? "failed" : read
    return real === engine ? [] : [`  ${rule}: ${failed ?? real}, not ${engine}`]
  })
  console.log(`${target}: ${probes.length - bad.length} of ${probes.length} probes hold`)
  for (const line of bad) console.log(line)
}

function rowsOf(file: string): Row[] {
  const bytes = readFileSync(file)
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8")
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { id, tests } = JSON.parse(line)
      // The schema's own text keeps its numbers and the order of its keys.
      const schema = line.slice(line.indexOf('"schema":') + 9, line.lastIndexOf(',"tests":'))
      return {
        id,
        schema,
        texts: tests.map((each: { text: string }) => each.text),
        valid: tests.map((each: { valid: boolean }) => each.valid),
      }
    })
}

for (const target of flags.target as LintTarget[]) {
  if (commandOf(target, true) === null && flags.answers === undefined) {
    console.log(`${target}: skipped, ${target === "llamacpp" ? "--llamacpp" : "--python"} is not given`)
    continue
  }
  await probe(target)
  if (positionals.length === 0) continue
  const rows = rowsOf(positionals[0])
  const answers = await ask(target, rows, false)
  if (answers !== null) compare(target, rows, answers)
}
