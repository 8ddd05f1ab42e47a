/**
 * The sources of a flag's value: the command line, else the environment, else a file, else the
 * default.
 *
 * `--max-body 1000` is `TOKENRAIL_MAX_BODY=1000` in the environment and `max-body = 1000` in the
 * file, which is TOML without tables. Lists are separated by commas in the environment, except
 * keys: the whole value is one key. Errors in the file name the line. An unknown name in the file
 * is an error, because a misspelt bound would have no effect. The environment belongs to other
 * programs too, so an unknown name there is only reported.
 */
import { readFile } from "node:fs/promises"
import { type Command, InvalidArgumentError, type Option } from "commander"
import { parse, TomlError } from "smol-toml"
import { type Io, UsageError } from "./exit.ts"

const prefix = "TOKENRAIL_"

/**
 * Sets the options of a parsed command that the command line left open. The command must have
 * `--config`. Returns the environment variables that begin like settings but are not. Throws
 * `UsageError`.
 */
export async function applySettings(command: Command, { env }: Pick<Io, "env">): Promise<string[]> {
  const isOpen = (option: Option) => command.getOptionValueSource(option.attributeName()) !== "cli"
  for (const option of command.options) {
    const text = env[variableOf(option)]
    if (!isOpen(option) || text === undefined || text.trim() === "") continue
    set(command, option, fromText(option, text.trim(), variableOf(option)), "env")
  }
  const { config } = command.opts<{ config?: string }>()
  if (config !== undefined) await applyFile(command, config)
  const known = new Set(command.options.map(variableOf))
  return Object.keys(env).filter((name) => name.startsWith(prefix) && !known.has(name))
}

/** Returns the environment of a program that must not read this program's settings. */
export function withoutSettings(env: Io["env"]): Io["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(prefix)))
}

async function applyFile(command: Command, file: string): Promise<void> {
  const source = await readSource(file)
  for (const [key, value] of Object.entries(readToml(source, file))) {
    const place = () => `${file}:${lineOf(key, source)}: ${key}`
    const option = command.options.find((each) => nameOf(each) === key && key !== "config")
    if (!option)
      throw new UsageError(`${place()} is not a setting of ${command.name()}${hintOf(key, command)}`)
    const given = command.getOptionValueSource(option.attributeName())
    if (given === "cli" || given === "env") fromToml(option, value, place)
    else set(command, option, fromToml(option, value, place), "config")
  }
}

/**
 * Sets an option. A switch that is off counts as set, so that no source of lower rank turns it on.
 */
function set(command: Command, option: Option, value: unknown, source: "env" | "config"): void {
  command.setOptionValueWithSource(option.attributeName(), value === false ? undefined : value, source)
}

function nameOf({ long }: Option): string {
  return (long ?? "").replace(/^--/, "")
}

function variableOf(option: Option): string {
  return prefix + nameOf(option).replaceAll("-", "_").toUpperCase()
}

function hintOf(key: string, command: Command): string {
  const spelling = key.replaceAll("_", "-").toLowerCase()
  const isKnown = command.options.some((option) => nameOf(option) === spelling && spelling !== "config")
  return isKnown
    ? `: write ${spelling}`
    : `: settings are the flags that tokenrail ${command.name()} --help lists, without dashes in front`
}

const switches: Readonly<Record<string, boolean>> = {
  ...{ true: true, yes: true, on: true, 1: true },
  ...{ false: false, no: false, off: false, 0: false },
}

function fromText(option: Option, text: string, place: string): unknown {
  if (option.isBoolean()) {
    const value = switches[text.toLowerCase()]
    if (value === undefined) throw new UsageError(`${place}: ${text} is neither true nor false`)
    return value
  }
  if (!option.variadic) return read(option, text, () => place)
  const texts = nameOf(option) === "api-key" ? [text] : text.split(",").map((part) => part.trim())
  return readAll(
    option,
    texts.filter((part) => part !== ""),
    () => place,
  )
}

function fromToml(option: Option, value: unknown, place: () => string): unknown {
  const wrong = (what: string) => new UsageError(`${place()}: ${JSON.stringify(value)} is not ${what}`)
  if (option.isBoolean()) {
    if (typeof value !== "boolean") throw wrong("true or false")
    return value
  }
  if (option.variadic) {
    const texts = typeof value === "string" ? [value] : value
    if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string"))
      throw wrong("a list of texts")
    return readAll(option, texts, place)
  }
  const isNumber = typeof value === "number" && option.parseArg !== undefined
  if (typeof value !== "string" && !isNumber) throw wrong(option.parseArg ? "a number or a text" : "a text")
  return read(option, String(value), place)
}

function readAll(option: Option, texts: readonly string[], place: () => string): unknown {
  return option.parseArg ? texts.map((text) => read(option, text, place)) : [...texts]
}

/** Parses a value as the command line does. */
function read(option: Option, text: string, place: () => string): unknown {
  try {
    return option.parseArg ? option.parseArg(text, undefined) : text
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new UsageError(`${place()}: ${JSON.stringify(text)} is not a valid value: ${error.message}`)
  }
}

async function readSource(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${(error as Error).message}. --config takes a TOML file`)
  }
}

function readToml(source: string, file: string): Record<string, unknown> {
  try {
    return parse(source)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [what] = error.message.split("\n")
    throw new UsageError(`${file}:${error.line}:${error.column}: ${what}`)
  }
}

/**
 * Returns the line on which the file begins to set a key: the line after the longest valid prefix
 * that does not set the key.
 */
function lineOf(key: string, source: string): number {
  const lines = source.split("\n")
  let start = 1
  for (let count = 1; count < lines.length; count++) {
    const said = parsed(lines.slice(0, count).join("\n"))
    if (said && key in said) break
    if (said) start = count + 1
  }
  return start
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return parse(text)
  } catch {
    return null
  }
}
