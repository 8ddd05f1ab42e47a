/**
 * `tokenrail generate`: writes the answer to one prompt to standard output, and no other output.
 */
import { Command } from "commander"
import { type GenerateOptions, type GenerateResult, GrammarError } from "../../runtime/index.ts"
import { runBatch } from "./batch.ts"
import { compiledFlag, readCompiled } from "./compiled.ts"
import { type ConstraintFlags, constraintFlags, readConstraint, spelling } from "./constraint.ts"
import { describeRefusal, Exit, type Io, outText, UsageError } from "./exit.ts"
import { examples, groups } from "./helptext.ts"
import { type ModelFlags, modelFlags, openModel, wholeNumber } from "./model.ts"
import { type SamplingFlags, samplingFlags, samplingOptions } from "./sampling.ts"

interface GenerateFlags extends ConstraintFlags, ModelFlags, SamplingFlags {
  batch?: string
  out?: string
  compiled?: string
  n?: number
  raw?: boolean
  heal?: boolean
  stream?: boolean
  report?: boolean
  json?: boolean
}

export function generateCommand(program: Command, io: Io, done: (code: number) => void): void {
  const command = program.command("generate").description("write one answer to standard output")
  samplingFlags(modelFlags(compiledFlag(constraintFlags(command))))
    .argument("[prompt]", "the user's message; - or nothing reads standard input")
    .optionsGroup(groups.prompt)
    .option("--n <n>", "number of answers", wholeNumber)
    .option("--raw", "the prompt is the text to continue, without a chat template")
    .option("--heal", "write the prompt's last tokens again if a longer one could reach across its end")
    .optionsGroup(groups.output)
    .option("--stream", "print the text as it comes")
    .option("--report", "with --json: add the constraint's report")
    .option("--json", "print one JSON object: text, value, finishReason, usage; with --stream one an event")
    .option("--batch <in.jsonl>", "answer the requests of a file, one a line, as /v1/batches does")
    .option("--out <out.jsonl>", "with --batch: append the outcomes; lines that have one do not run")
    .addHelpText(
      "after",
      examples(
        'generate "Pick a colour." --choice red green',
        "generate - --schema person.json --stream < prompt.txt",
      ),
    )
    .action(async (prompt: string | undefined, flags: GenerateFlags) => {
      const { batch, out } = flags
      if (batch === undefined && out !== undefined) throw new UsageError("--out needs --batch")
      if (batch === undefined) return done(await generate(prompt, flags, io))
      if (out === undefined) throw new UsageError("--batch needs --out: the file of the outcomes")
      const foreign = command.options.find(
        (option) =>
          !batchFlags.has(option.attributeName()) &&
          command.getOptionValueSource(option.attributeName()) === "cli",
      )
      const name = prompt === undefined ? foreign?.long : "a prompt"
      if (name) throw new UsageError(`${name} has no effect with --batch: each line has its own`)
      return done(await runBatch({ ...flags, batch, out }, io))
    })
}

/** What `--batch` goes together with: the flags of a model, and bounds. */
const batchFlags = new Set([
  ...["batch", "out", "maxCompile", "maxMask"],
  ...modelFlags(new Command()).options.map((option) => option.attributeName()),
])

async function generate(prompt: string | undefined, flags: GenerateFlags, io: Io): Promise<number> {
  const given = await readConstraint(flags, io)
  const text = prompt === undefined || prompt === "-" ? await io.stdin() : prompt
  const limits = { compileMs: flags.maxCompile, maskMs: flags.maxMask }
  const engine = await openModel(flags, io, { limits })
  try {
    const constraint =
      flags.compiled === undefined ? given : await readCompiled(flags.compiled, flags, engine.vocabulary)
    const generation = await engine.start(text, {
      ...samplingOptions(flags),
      ...own(flags),
      ...(constraint && { constraint }),
      ...spelling(flags),
      signal: io.signal,
    })
    const single = (flags.n ?? 1) === 1
    if (flags.stream) {
      for await (const event of generation) {
        if (flags.json) io.out(`${JSON.stringify(event)}\n`)
        else if (event.type === "text" && (single || event.choice === 0)) outText(event.text, io)
      }
      if (!flags.json) io.out("\n")
    }
    const result = await generation.result
    if (!flags.stream) print(result, flags, io)
    io.signal.throwIfAborted()
    return ending(result, constraint !== null, io)
  } finally {
    await engine.close()
  }
}

/** Returns the options of the flags that only this command has. */
function own({ n, raw, heal }: GenerateFlags): GenerateOptions {
  return { ...(n !== undefined && { n }), ...(raw && { raw }), ...(heal && { heal }) }
}

function print(result: GenerateResult, flags: GenerateFlags, io: Io): void {
  const choices = result.choices.length > 1 ? result.choices : [result]
  for (const { text, value, finishReason, stopReason, error, message } of choices) {
    if (!flags.json) {
      outText(`${text}\n`, io)
      continue
    }
    const { usage, report } = result
    const failure = error instanceof GrammarError ? { kind: error.kind, path: error.path } : {}
    const failed = message !== undefined && { error: { ...failure, message } }
    const all = { text, value, finishReason, stopReason, usage, ...failed, ...(flags.report && { report }) }
    io.out(`${JSON.stringify(all)}\n`)
  }
}

// Unconstrained text may be cut anywhere, but a constrained text that is cut does not satisfy its
// constraint.
function ending(result: GenerateResult, constrained: boolean, io: Io): number {
  const reasons = [result, ...result.choices].map((choice) => choice.finishReason)
  if (reasons.includes("error")) {
    const failed = [result, ...result.choices].find(({ finishReason }) => finishReason === "error")
    const { error, message } = failed ?? {}
    if (error instanceof GrammarError) {
      io.err(`tokenrail: the answer ended with a refusal: ${describeRefusal(error)}\n`)
      return Exit.Refused
    }
    io.err(`tokenrail: ${message ?? "the engine could not produce a token"}\n`)
    return Exit.Model
  }
  if (!constrained || !reasons.includes("length")) return Exit.Ok
  io.err("tokenrail: the output is incomplete: raise --max-tokens, or bound the constraint\n")
  return Exit.Incomplete
}
