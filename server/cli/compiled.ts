/**
 * Compiled constraints in files: `compile --out <file>` writes them, and `--compiled <file>` reads
 * them.
 */
import { readFile } from "node:fs/promises"
import { type Command, Option } from "commander"
import {
  type CompileOptions,
  deserialize,
  GrammarError,
  type GrammarInput,
  precompile,
  type Report,
  type Stored,
  serializeMachine,
  serializeSource,
  type TokenMachine,
  type Vocabulary,
} from "../../runtime/index.ts"
import { byteVocabulary } from "../suite/checker.ts"
import { type ConstraintFlags, givenConstraints, spelling } from "./constraint.ts"
import { UsageError, writeText } from "./exit.ts"
import { groups } from "./helptext.ts"

/** `auto` stores the finite machine if there is one, else the source. */
export type CompiledForm = "auto" | "machine" | "source"

/** Kinds of constraints that cannot name tokens. */
const closedKinds: ReadonlySet<GrammarInput["kind"]> = new Set(["json", "regex", "choice", "substring"])

/** Describes the written file. */
export interface Written {
  file: string
  form: "machine" | "source"
  bytes: number
  /** Number of states, for a machine. */
  states?: number
  /** For `auto`: why no machine was stored. */
  reason?: string
}

/** Adds `--compiled` to a command. */
export function compiledFlag(command: Command): Command {
  return command
    .optionsGroup(groups.constraint)
    .option("--compiled <file>", "constraint written by compile --out")
}

/** Adds `--out` and `--form` to a command. */
export function outFlags(command: Command): Command {
  return command
    .optionsGroup(groups.output)
    .option("--out <file>", "write the compiled constraint; with --vocab, only for that vocabulary")
    .addOption(
      new Option(
        "--form <form>",
        "form of the file: a finite machine, the source, or auto (a machine if possible, else the source)",
      )
        .choices(["auto", "machine", "source"])
        .default("auto"),
    )
}

/**
 * Reads a file. With a null `vocabulary` it is compiled over bytes, and control tokens are read as
 * they are spelled. Throws `UsageError` if the file is unreadable or other constraint flags are
 * given, and the errors of `deserialize`.
 */
export async function readCompiled(
  file: string,
  flags: ConstraintFlags,
  vocabulary: Vocabulary | null,
): Promise<Stored> {
  const { root, unit } = flags
  const given = [...givenConstraints(flags), root, unit, ...Object.values(spelling(flags))]
  if (given.some((value) => value !== undefined)) {
    throw new UsageError(
      "--compiled names the whole constraint: give neither another one nor how it is spelt",
    )
  }
  let bytes: Uint8Array
  try {
    bytes = await readFile(file)
  } catch (error) {
    throw new UsageError(
      `cannot read ${file}: ${(error as Error).message}. --compiled takes what compile --out wrote`,
    )
  }
  const compileMs = flags.maxCompile
  return vocabulary === null
    ? deserialize(bytes, byteVocabulary(), { spellsTokens: true, compileMs })
    : deserialize(bytes, vocabulary, { compileMs })
}

/**
 * Writes a constraint to `file`. Throws GrammarError if a machine is required and the constraint
 * has none.
 */
export async function writeCompiled(
  file: string,
  form: CompiledForm,
  source: {
    input: GrammarInput
    options: CompileOptions
    machine: TokenMachine
    report: Report
    isForVocabulary: boolean
  },
): Promise<Written> {
  const { input, options, machine, report, isForVocabulary } = source
  const write = async (bytes: Uint8Array, written: Omit<Written, "file" | "bytes">): Promise<Written> => {
    await writeText(file, bytes)
    return { file, bytes: bytes.length, ...written }
  }
  // Without a vocabulary, control tokens are read as text; with another vocabulary such a machine
  // would be a different constraint.
  const isSource = !isForVocabulary && !closedKinds.has(input.kind)
  if (isSource && form === "machine")
    throw new UsageError(
      "a grammar that may name tokens needs --vocab: its machine works with one vocabulary only",
    )
  let reason = isSource ? "without --vocab the tokens that the grammar names are unknown" : undefined
  if (form !== "source" && !isSource) {
    try {
      const closed = precompile(machine)
      const states = closed.stateCount - 1
      return await write(serializeMachine(closed, report, { masks: isForVocabulary }), {
        form: "machine",
        states,
      })
    } catch (error) {
      if (form === "machine" || !(error instanceof GrammarError)) throw error
      reason = error.message
    }
  }
  const bytes = serializeSource(input, options, isForVocabulary ? machine.vocabulary : undefined)
  return write(bytes, { form: "source", ...(reason && { reason }) })
}

/** Returns a sentence that describes the written file. */
export function describeWritten({ file, form, bytes, states, reason }: Written): string {
  const what =
    form === "machine"
      ? `a machine of ${states} states`
      : "the source, which is compiled again when it is read"
  return `${file}: ${what}, ${bytes} bytes${reason === undefined ? "" : `. No machine: ${reason}`}`
}
