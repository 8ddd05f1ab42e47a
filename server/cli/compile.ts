/**
 * `tokenrail compile`: reports how a constraint is compiled, keyword by keyword. With a vocabulary
 * it reports the cost, and with a prefix what may follow it. `--out` stores the compiled constraint
 * for another process.
 */
import type { Command } from "commander"
import {
  bindGrammar,
  type CompileOptions,
  compile,
  countAllowed,
  type GrammarInput,
  type LintTarget,
  Matcher,
  type Report,
  type TokenMachine,
  type Vocabulary,
} from "../../runtime/index.ts"
import { byteMachine, byteVocabulary } from "../suite/checker.ts"
import {
  type CompiledForm,
  compiledFlag,
  describeWritten,
  outFlags,
  readCompiled,
  writeCompiled,
} from "./compiled.ts"
import {
  type ConstraintFlags,
  compileOptions,
  constraintFlags,
  needConstraint,
  spelling,
} from "./constraint.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { describeFollows, whatFollows } from "./follows.ts"
import { checkGraphFlags, drawGraph, type GraphFlags, graphFlags } from "./graph.ts"
import { examples, groups } from "./helptext.ts"
import { addTarget, lintSchema } from "./lint.ts"
import { named } from "./progress.ts"
import { readVocabulary } from "./vocabulary.ts"

/** Characters of a constraint whose compilation may take over a second. */
const longInput = 100_000

interface CompileFlags extends ConstraintFlags, GraphFlags {
  compiled?: string
  vocab?: string
  explain?: string
  out?: string
  form: CompiledForm
  json?: boolean
  target?: LintTarget[]
}

export function compileCommand(program: Command, io: Io, done: (code: number) => void): void {
  const command = program.command("compile").description("compile a constraint and print the report")
  graphFlags(outFlags(compiledFlag(constraintFlags(command))))
    .optionsGroup(groups.output)
    .option(
      "--vocab <dir>",
      "a tokenizer's directory: adds the time to the first mask and how many tokens it allows",
    )
    .option("--explain <prefix>", "show what may follow this prefix")
    .option(
      "--target <engine>",
      "report what this engine does with the schema instead: openai, anthropic, gemini, llamacpp, xgrammar, llguidance, outlines, or all; repeatable",
      addTarget,
    )
    .option("--json", "print one JSON object, or one for each --target")
    .addHelpText(
      "after",
      examples(
        "compile --schema person.json --explain '{\"name\":'",
        "compile --regex '20[0-9]{2}' --out year.rail",
        "compile --regex '20[0-9]{2}' --graph year.svg",
        "compile --schema person.json --target openai --target llamacpp",
      ),
    )
    .action(async (flags: CompileFlags) => done(await run(flags, io)))
}

async function run(flags: CompileFlags, io: Io): Promise<number> {
  if (flags.target !== undefined) {
    const idle = (["vocab", "explain", "out", "graph", "compiled"] as const).find(
      (name) => flags[name] !== undefined,
    )
    if (idle !== undefined) throw new UsageError(`--target compiles nothing: leave --${idle} away`)
    return lintSchema(await needConstraint(flags, io), flags.target, io, flags.json)
  }
  checkGraphFlags(flags)
  const vocabulary = flags.vocab ? await readVocabulary(flags.vocab) : byteVocabulary()
  const source = flags.compiled === undefined ? await needConstraint(flags, io) : null
  if (source === null && flags.out !== undefined)
    throw new UsageError("--compiled is a file already: leave --out away")
  const begin = performance.now()
  const tokens = flags.vocab ? vocabulary : null
  const isLong = JSON.stringify(source).length > longInput
  const made =
    source && (await named(io, "compiling", isLong, () => compileHere(source, compileOptions(flags), tokens)))
  const { machine, report, form } = made ?? (await readCompiled(flags.compiled!, flags, tokens))
  const compileMs = performance.now() - begin
  const matcher = new Matcher(machine, { maskMs: flags.maxMask })
  const row = new Uint32Array(vocabulary.words)
  matcher.fillMask(row)
  const firstMaskMs = performance.now() - begin
  const allowed = countAllowed(row)
  const follows = flags.explain === undefined ? undefined : whatFollows(machine, flags.explain, flags.maxMask)
  const written =
    flags.out === undefined || made === null
      ? undefined
      : await named(io, "finishing the machine", true, () =>
          writeCompiled(flags.out!, flags.form, {
            ...{ input: source!, options: spelling(flags), machine: made.machine, report },
            isForVocabulary: flags.vocab !== undefined,
          }),
        )
  const drawn =
    flags.graph === undefined
      ? undefined
      : await named(io, "drawing the graph", true, () =>
          drawGraph(machine, flags.vocab ? "tokens" : "characters", flags, flags.maxMask),
        )
  const cost = { compileMs, firstMaskMs, ...(flags.vocab && { allowed, width: vocabulary.width }) }
  if (flags.json) {
    const more = {
      ...(form && { form }),
      ...(follows && { follows }),
      ...(written && { written }),
      ...(drawn && { graph: drawn }),
    }
    io.out(`${JSON.stringify({ report, ...cost, ...more })}\n`)
    return follows?.isPrefix === false ? Exit.Rejected : Exit.Ok
  }
  printReport(report, io)
  const verb = form === undefined ? "compiled" : `read as ${form === "machine" ? "a machine" : "a source"}`
  io.out(`${verb} in ${compileMs.toFixed(2)} ms, first mask after ${firstMaskMs.toFixed(2)} ms\n`)
  if (flags.vocab) io.out(`the first mask allows ${allowed} of ${vocabulary.width} tokens\n`)
  for (const line of follows ? describeFollows(follows) : []) io.out(`${line}\n`)
  if (written) io.out(`written to ${describeWritten(written)}\n`)
  if (drawn) io.out(`drawn in ${drawn.file}. ${drawn.summary}\n`)
  return follows?.isPrefix === false ? Exit.Rejected : Exit.Ok
}

/**
 * Compiles without a vocabulary if it is null: then control tokens are read as ordinary text, and
 * token budgets are not reported.
 */
function compileHere(
  input: GrammarInput,
  options: CompileOptions,
  vocabulary: Vocabulary | null,
): { machine: TokenMachine; report: Report; form?: undefined } {
  const { grammar, report } = compile(
    input,
    vocabulary === null ? options : { ...options, tokens: vocabulary },
  )
  if (vocabulary === null) return { machine: byteMachine(grammar), report }
  return { machine: bindGrammar(grammar, vocabulary), report }
}

function printReport({ keywords }: Report, io: Io): void {
  for (const { path, keyword, status, note } of keywords) {
    io.out(`${(path || "/").padEnd(40)} ${keyword.padEnd(22)} ${status}${note ? ` (${note})` : ""}\n`)
  }
}
