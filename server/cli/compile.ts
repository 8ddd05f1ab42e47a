/**
 * `tokenrail compile`: what a constraint becomes, keyword by keyword; with a vocabulary also what it costs; with a
 * beginning also what may follow it.
 */
import type { Command } from "commander"
import { compile, Matcher, TokenFsm } from "../../runtime/index.ts"
import { byteVocabulary } from "./check.ts"
import { type ConstraintFlags, constraintFlags, needConstraint, spelling } from "./constraint.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { readVocabulary } from "./vocabulary.ts"

interface CompileFlags extends ConstraintFlags {
  vocab?: string
  explain?: string
  json?: boolean
}

export function compileCommand(program: Command, io: Io, done: (code: number) => void): void {
  constraintFlags(program.command("compile").description("compile a constraint and print the report"))
    .option(
      "--vocab <dir>",
      "a tokenizer's directory: adds the time to the first mask and how many tokens it allows",
    )
    .option("--explain <prefix>", "say what may follow this beginning")
    .option("--json", "print one JSON object")
    .action(async (flags: CompileFlags) => done(await run(flags, io)))
}

async function run(flags: CompileFlags, io: Io): Promise<number> {
  const input = await needConstraint(flags, io)
  const vocabulary = flags.vocab ? await readVocabulary(flags.vocab) : byteVocabulary()
  const begin = performance.now()
  const { grammar, report } = compile(input, spelling(flags))
  const compileMs = performance.now() - begin
  const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
  const row = new Uint32Array(vocabulary.words)
  matcher.fillMask(row)
  const firstMaskMs = performance.now() - begin
  const allowed = row.reduce((count, word) => count + bitCount(word), 0)
  const follows = flags.explain === undefined ? undefined : explain(matcher, flags.explain)
  const cost = { compileMs, firstMaskMs, ...(flags.vocab && { allowed, width: vocabulary.width }) }
  if (flags.json) {
    io.out(`${JSON.stringify({ report, ...cost, ...(follows && { follows }) })}\n`)
    return Exit.Ok
  }
  for (const { path, keyword, status, note } of report.keywords) {
    io.out(`${(path || "/").padEnd(40)} ${keyword.padEnd(22)} ${status}${note ? ` (${note})` : ""}\n`)
  }
  io.out(`compiled in ${compileMs.toFixed(2)} ms, first mask after ${firstMaskMs.toFixed(2)} ms\n`)
  if (flags.vocab) io.out(`the first mask allows ${allowed} of ${vocabulary.width} tokens\n`)
  for (const { what, example, path } of follows ?? []) {
    io.out(
      `may follow: ${what}${example === "" ? "" : `, for example ${JSON.stringify(example)}`}${path && ` (${path})`}\n`,
    )
  }
  return Exit.Ok
}

function explain(matcher: Matcher, prefix: string): ReturnType<Matcher["explain"]> {
  matcher.reset()
  if (!matcher.acceptBytes(new TextEncoder().encode(prefix))) {
    throw new UsageError(
      `no accepted text begins with ${JSON.stringify(prefix)}: tokenrail check --prefix says where it fails`,
    )
  }
  return matcher.explain()
}

function bitCount(word: number): number {
  let count = 0
  for (let rest = word; rest; rest &= rest - 1) count++
  return count
}
