/**
 * `tokenrail generate`: writes the answer to one prompt to standard output, and no other output.
 */
import { Command, InvalidArgumentError, Option } from "commander"
import { type GenerateOptions, type GenerateResult, GrammarError } from "../../runtime/index.ts"
import { runBatch } from "./batch.ts"
import { compiledFlag, readCompiled } from "./compiled.ts"
import { type ConstraintFlags, constraintFlags, readConstraint, spelling } from "./constraint.ts"
import { describeRefusal, Exit, type Io, UsageError } from "./exit.ts"
import { decimalNumber, type ModelFlags, modelFlags, openModel, wholeNumber } from "./model.ts"

interface GenerateFlags extends ConstraintFlags, ModelFlags {
  batch?: string
  out?: string
  compiled?: string
  temperature?: number
  topP?: number
  topK?: number
  minP?: number
  seed?: bigint
  maxTokens?: number
  stop?: string[]
  stopRegex?: string[]
  stopWhen?: GenerateOptions["stopWhen"]
  onLength?: GenerateOptions["onLength"]
  n?: number
  raw?: boolean
  heal?: boolean
  stream?: boolean
  report?: boolean
  json?: boolean
}

export function generateCommand(program: Command, io: Io, done: (code: number) => void): void {
  const command = program.command("generate").description("write one answer to standard output")
  modelFlags(compiledFlag(constraintFlags(command)))
    .argument("[prompt]", "the user's message; - or nothing reads standard input")
    .option("--temperature <x>", "0 is greedy", decimalNumber)
    .option("--top-p <x>", "keep the most likely tokens whose probabilities reach this sum", decimalNumber)
    .option("--top-k <n>", "keep this many tokens", wholeNumber)
    .option("--min-p <x>", "drop tokens with less than this share of the best probability", decimalNumber)
    .option("--seed <n>", "64-bit integer; the same seed gives the same text", integer64)
    .option("--max-tokens <n>", "end after this many tokens", wholeNumber)
    .option("--stop <text...>", "end before this text")
    .option("--stop-regex <pattern...>", "end before the first match")
    .addOption(
      new Option("--stop-when <what>", "end with the first complete value of this kind").choices([
        "json",
        "xml",
        "tool_call",
      ]),
    )
    .addOption(
      new Option(
        "--on-length <what>",
        "cut a constrained answer at --max-tokens, or complete it by then",
      ).choices(["truncate", "close"]),
    )
    .option("--n <n>", "number of answers", wholeNumber)
    .option("--raw", "the prompt is the text to continue, without a chat template")
    .option("--heal", "write the prompt's last tokens again if a longer one could reach across its end")
    .option("--stream", "print the text as it comes")
    .option("--report", "with --json: add the constraint's report")
    .option("--json", "print one JSON object: text, value, finishReason, usage; with --stream one an event")
    .option("--batch <in.jsonl>", "answer the requests of a file, one a line, as /v1/batches does")
    .option("--out <out.jsonl>", "with --batch: append the outcomes; lines that have one do not run")
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
      ...sampling(flags),
      ...(constraint && { constraint }),
      ...spelling(flags),
      signal: io.signal,
    })
    const single = (flags.n ?? 1) === 1
    if (flags.stream) {
      for await (const event of generation) {
        if (flags.json) io.out(`${JSON.stringify(event)}\n`)
        else if (event.type === "text" && (single || event.choice === 0)) io.out(event.text)
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

function sampling(flags: GenerateFlags): GenerateOptions {
  const { temperature, topP, topK, minP, seed, maxTokens, stop, stopRegex, stopWhen, onLength } = flags
  const { n, raw, heal } = flags
  const sampled = { temperature, topP, topK, minP, seed }
  const given = { ...sampled, maxTokens, stop, stopRegex, stopWhen, onLength, n, raw, heal }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function print(result: GenerateResult, flags: GenerateFlags, io: Io): void {
  const choices = result.choices.length > 1 ? result.choices : [result]
  for (const { text, value, finishReason, stopReason, error, message } of choices) {
    if (!flags.json) {
      io.out(`${text}\n`)
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

function integer64(text: string): bigint {
  if (!/^-?\d+$/.test(text) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) {
    throw new InvalidArgumentError("must be an integer of 64 bits.")
  }
  return BigInt(text)
}
