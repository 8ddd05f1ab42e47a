/**
 * The flags that name a constraint and its permitted spelling; they are the same in every command.
 */
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { type Command, Option } from "commander"
import type { CompileOptions, GrammarInput } from "../../runtime/index.ts"
import { policyWords } from "../../runtime/options.ts"
import { readPolicies } from "../openai/request/policies.ts"
import { type Io, UsageError } from "./exit.ts"
import { groups } from "./helptext.ts"
import { wholeNumber } from "./model.ts"

export interface ConstraintFlags {
  schema?: string
  regex?: string
  choice?: string[]
  jsonObject?: boolean
  gbnf?: string
  lark?: string
  root?: string
  tag?: string
  substring?: string
  unit?: "chars" | "words"
  whitespace?: string
  order?: string
  escapes?: string
  numbers?: string
  formats?: string
  openObjects?: string
  maxCompile: number
  maxMask: number
}

/** Milliseconds for the compilation of a constraint, and for one mask, in every command. */
export const defaultCompileMs = 2_000
export const defaultMaskMs = 1_000

/** The flags that name a constraint. A command takes one of them. */
const constraintNames = {
  schema: "--schema",
  regex: "--regex",
  choice: "--choice",
  jsonObject: "--json-object",
  gbnf: "--gbnf",
  lark: "--lark",
  tag: "--tag",
  substring: "--substring",
} as const

/** Adds the constraint flags to a command. */
export function constraintFlags(command: Command): Command {
  return command
    .optionsGroup(groups.constraint)
    .option("--schema <file|-|json>", "JSON Schema: a file, - for standard input, or the text itself")
    .option("--regex <pattern>", "ECMAScript regular expression that the whole text matches")
    .option("--choice <text...>", "one of these texts")
    .option("--json-object", "any JSON object")
    .option("--gbnf <file|-|text>", "grammar in GBNF: a file, - for standard input, or the text itself")
    .option("--lark <file|-|text>", "grammar in the Lark dialect, likewise")
    .option("--root <rule>", "start rule of the grammar (default: root in GBNF, start in Lark)")
    .option("--tag <file|-|json>", "structural tag: free text that switches to constrained parts")
    .option(
      "--substring <file|-|text>",
      "consecutive pieces of this text, or of the file with this name if it exists",
    )
    .addOption(
      new Option("--unit <unit>", "with --substring: the unit of a piece").choices(["chars", "words"]),
    )
    .optionsGroup(groups.policies)
    .addOption(policyOption("whitespace", "white space between JSON tokens"))
    .addOption(policyOption("order", "of properties"))
    .addOption(policyOption("escapes", "escapes in JSON strings"))
    .addOption(policyOption("numbers", "spelling of JSON numbers"))
    .addOption(policyOption("formats", "effect of `format`"))
    .addOption(
      policyOption(
        "openObjects",
        "property names of objects that do not set additionalProperties: the declared ones, or any",
      ),
    )
    .optionsGroup(groups.limits)
    .option(
      "--max-compile <ms>",
      "time that the constraint may take to compile",
      wholeNumber,
      defaultCompileMs,
    )
    .option("--max-mask <ms>", "time that one mask may take", wholeNumber, defaultMaskMs)
}

/** Returns the option of a policy, which also accepts the older values of the policy. */
function policyOption(name: keyof typeof policyWords, what: string): Option {
  const { words, older } = policyWords[name]
  const option = new Option(`--${name === "openObjects" ? "open-objects" : name} <policy>`, what).choices(
    words,
  )
  const choose = option.parseArg!
  return option.argParser((value: string, before: unknown) =>
    Object.hasOwn(older, value) ? value : choose(value, before as never),
  )
}

/**
 * Returns the constraint that the flags name, or null. Throws `UsageError` if there are two
 * constraints or a file is unreadable.
 */
export async function readConstraint(
  flags: Omit<ConstraintFlags, "maxCompile" | "maxMask">,
  io: Pick<Io, "stdin">,
): Promise<GrammarInput | null> {
  const given = givenConstraints(flags)
  if (given.length > 1) {
    const [one, other] = given.map((name) => constraintNames[name])
    throw new UsageError(`${one} and ${other} exclude each other: give one constraint`)
  }
  const { root, unit } = flags
  if (root !== undefined && given[0] !== "gbnf" && given[0] !== "lark")
    throw new UsageError("--root is where a grammar begins: give --gbnf or --lark with it")
  if (unit !== undefined && given[0] !== "substring")
    throw new UsageError("--unit is of the pieces of a substring: give --substring with it")
  switch (given[0]) {
    case "schema":
      return { kind: "json", schema: await readJsonText(flags.schema!, io) }
    case "regex":
      return { kind: "regex", pattern: flags.regex! }
    case "choice":
      return { kind: "choice", options: flags.choice! }
    case "jsonObject":
      return { kind: "json", schema: '{"type":"object"}' }
    case "gbnf":
      return { kind: "gbnf", text: await readGrammar(flags.gbnf!, /::=/, io), ...(root && { root }) }
    case "lark": {
      const text = await readGrammar(flags.lark!, /^%|:[\s"(]|^(?![A-Za-z]:)[\w?!-]+:/, io)
      return { kind: "lark", text, ...(root && { start: root }) }
    }
    case "tag":
      return { kind: "tag", format: await readJsonText(flags.tag!, io) }
    case "substring":
      return { kind: "substring", text: await readSubstring(flags.substring!, io), ...(unit && { unit }) }
    default:
      return null
  }
}

/** Returns the constraint that the flags name, for commands that require one. */
export async function needConstraint(flags: ConstraintFlags, io: Io): Promise<GrammarInput> {
  const input = await readConstraint(flags, io)
  if (input === null) {
    const names = Object.values(constraintNames)
    const last = names.pop()
    throw new UsageError(`no constraint: give ${names.join(", ")} or ${last}`)
  }
  return input
}

/** Returns the names of the constraint flags that are given. */
export function givenConstraints(flags: Partial<ConstraintFlags>): (keyof typeof constraintNames)[] {
  const names = Object.keys(constraintNames) as (keyof typeof constraintNames)[]
  return names.filter((name) => flags[name] !== undefined)
}

/** Returns the policies that the flags name; all others keep their defaults. */
export function spelling(flags: Partial<ConstraintFlags>): CompileOptions {
  const { whitespace, order, escapes, numbers, formats, openObjects: open_objects } = flags
  return readPolicies({ tokenrail: { whitespace, order, escapes, numbers, formats, open_objects } }).compile
}

/** Returns the policies and the time limit for compiling. */
export function compileOptions(flags: ConstraintFlags): CompileOptions {
  return { ...spelling(flags), limits: { compileMs: flags.maxCompile } }
}

/** Returns the text of a file, or of standard input for `-`. */
export async function readText(name: string, io: Pick<Io, "stdin">): Promise<string> {
  if (name === "-") return io.stdin()
  try {
    return await readFile(name, "utf8")
  } catch (error) {
    throw new UsageError(
      `cannot read ${name}: ${(error as Error).message}. Give a file, or - for standard input`,
    )
  }
}

/** Returns the text of a schema or a structural tag. */
async function readJsonText(source: string, io: Pick<Io, "stdin">): Promise<string> {
  // No file name begins like this, but every such JSON text does except true and false.
  return /^\s*\{|^(true|false)$/.test(source) ? source : readText(source, io)
}

/**
 * Returns the text of a grammar. `definition` matches a part of every grammar in this notation that
 * no file name contains.
 */
async function readGrammar(source: string, definition: RegExp, io: Pick<Io, "stdin">): Promise<string> {
  return definition.test(source) ? source : readText(source, io)
}

async function readSubstring(source: string, io: Pick<Io, "stdin">): Promise<string> {
  return source === "-" || existsSync(source) ? readText(source, io) : source
}
