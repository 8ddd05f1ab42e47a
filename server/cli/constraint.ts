/**
 * The flags that name a constraint and how it may be spelt; they are the same in every command.
 */
import { readFile } from "node:fs/promises"
import { type Command, Option } from "commander"
import type { CompileOptions, GrammarInput } from "../../runtime/index.ts"
import { readPolicies } from "../openai/policies.ts"
import { type Io, UsageError } from "./exit.ts"

export interface ConstraintFlags {
  schema?: string
  regex?: string
  choice?: string[]
  jsonObject?: boolean
  whitespace?: string
  order?: string
  escapes?: string
  numbers?: string
  formats?: string
}

/** Adds the flags to a command. */
export function constraintFlags(command: Command): Command {
  return command
    .option("--schema <file|-|json>", "JSON Schema: a file, - for standard input, or the text itself")
    .option("--regex <pattern>", "ECMAScript regular expression that the whole text matches")
    .option("--choice <text...>", "one of these texts")
    .option("--json-object", "any JSON object")
    .addOption(
      new Option("--whitespace <policy>", "between JSON tokens").choices([
        "bounded",
        "none",
        "spaced",
        "any",
      ]),
    )
    .addOption(new Option("--order <policy>", "of properties").choices(["schema", "any"]))
    .addOption(new Option("--escapes <policy>", "in JSON strings").choices(["canonical", "json"]))
    .addOption(new Option("--numbers <policy>", "spelling of JSON numbers").choices(["plain", "json"]))
    .addOption(new Option("--formats <policy>", "what `format` does").choices(["assert", "annotate"]))
}

/** The constraint that the flags name, or null. Throws `UsageError` for two of them or an unreadable file. */
export async function readConstraint(flags: ConstraintFlags, io: Io): Promise<GrammarInput | null> {
  const given = (["schema", "regex", "choice", "jsonObject"] as const).filter(
    (name) => flags[name] !== undefined,
  )
  if (given.length > 1)
    throw new UsageError(`--${given[0]} and --${given[1]} exclude each other: give one constraint`)
  switch (given[0]) {
    case "schema":
      return { kind: "json", schema: await readSchema(flags.schema!, io) }
    case "regex":
      return { kind: "regex", pattern: flags.regex! }
    case "choice":
      return { kind: "choice", options: flags.choice! }
    case "jsonObject":
      return { kind: "json", schema: '{"type":"object"}' }
    default:
      return null
  }
}

/** The same for commands that are about a constraint. */
export async function needConstraint(flags: ConstraintFlags, io: Io): Promise<GrammarInput> {
  const input = await readConstraint(flags, io)
  if (input === null) throw new UsageError("no constraint: give --schema, --regex, --choice or --json-object")
  return input
}

/** The policies that the flags name; the rest keeps its default. */
export function spelling(flags: ConstraintFlags): CompileOptions {
  const { whitespace, order, escapes, numbers, formats } = flags
  return readPolicies({ tokenrail: { whitespace, order, escapes, numbers, formats } }).compile
}

/** The text of a file, or of standard input for `-`. */
export async function readText(name: string, io: Io): Promise<string> {
  if (name === "-") return io.stdin()
  try {
    return await readFile(name, "utf8")
  } catch (error) {
    throw new UsageError(
      `cannot read ${name}: ${(error as Error).message}. Give a file, or - for standard input`,
    )
  }
}

async function readSchema(source: string, io: Io): Promise<string> {
  // No file name begins like this, and every schema text but true and false does.
  return /^\s*\{|^(true|false)$/.test(source) ? source : readText(source, io)
}
