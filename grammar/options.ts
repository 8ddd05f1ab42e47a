/**
 * Options by name: every public function that takes an options object checks it against a table of
 * its fields.
 *
 * A name that is not in the table is refused, because an ignored option hides a mistake: `{schmea}`
 * would give free text. The message names the field that was probably meant. A table is `satisfies
 * Fields<Options>`, so it cannot lack a field of its interface. Ranges of numbers are checked by
 * the reader of the field.
 */
import { nearestName } from "./nearest.ts"

/**
 * An option that does not exist, or a value that it cannot have. `option` is its name, with the
 * path of the options that contain it.
 */
export class OptionError extends TypeError {
  readonly option: string

  constructor(option: string, message: string) {
    super(`${option}: ${message}`)
    this.name = "OptionError"
    this.option = option
  }
}

/** The type of a field; `texts` is a list of strings, a `textmap` is an object of strings. */
type Kind = "any" | "boolean" | "number" | "text" | "texts" | "textmap" | "list" | "object" | "function"

/**
 * The values of a field besides null and undefined: a type, a list of words, or an object with
 * fields of its own.
 */
export type Field = Kind | { readonly words: readonly string[] } | { readonly fields: Fields }

/** All fields of `Options`. */
export type Fields<Options = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof Required<Options>]: Field
}

const kinds: Readonly<
  Record<Exclude<Kind, "any">, readonly [what: string, is: (value: unknown) => boolean]>
> = {
  boolean: ["true or false", (value) => typeof value === "boolean"],
  number: ["a number", (value) => typeof value === "number"],
  text: ["a string", (value) => typeof value === "string"],
  texts: [
    "a list of strings",
    (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  ],
  textmap: [
    "an object of strings",
    (value) => isObject(value) && Object.values(value).every((each) => typeof each === "string"),
  ],
  list: ["a list", (value) => Array.isArray(value)],
  object: ["an object", isObject],
  function: ["a function", (value) => typeof value === "function"],
}

/** Returns whether `value` is an object with fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** A message lists at most this many names; docs/api.md lists all. */
const maxListed = 16

/**
 * Throws OptionError for options that are not an object, for a field that is not in `fields`, and
 * for a value of another type than the field's. `within` is a prefix of the names. `aliases` are
 * names that other programs have for a field.
 */
export function checkOptions(
  options: unknown,
  fields: Fields,
  { within = "", aliases = {} }: { within?: string; aliases?: Readonly<Record<string, string>> } = {},
): void {
  if (!isObject(options))
    throw new OptionError(within || "options", `${shown(options)} is not an object of options`)
  for (const name of Object.keys(options)) {
    const path = within === "" ? name : `${within}.${name}`
    if (!Object.hasOwn(fields, name)) throw unknownOption(path, name, Object.keys(fields), aliases)
    const value = (options as Readonly<Record<string, unknown>>)[name]
    if (value !== undefined && value !== null) checkValue(path, value, fields[name])
  }
}

function checkValue(path: string, value: unknown, field: Field): void {
  if (typeof field !== "string") {
    if ("words" in field) checkWord(path, value, field.words)
    else checkOptions(value, field.fields, { within: path })
    return
  }
  if (field === "any") return
  const [what, is] = kinds[field]
  if (!is(value)) throw new OptionError(path, `${shown(value)} is not ${what}`)
}

/** Throws OptionError if `value` is none of the words. */
export function checkWord(path: string, value: unknown, words: readonly string[]): void {
  if (words.includes(value as string)) return
  const meant = typeof value === "string" ? nearestName(value, words) : undefined
  const hint = meant === undefined ? "" : `. Did you mean ${JSON.stringify(meant)}?`
  throw new OptionError(path, `${shown(value)} is none of ${words.join(", ")}${hint}`)
}

function unknownOption(
  path: string,
  name: string,
  names: readonly string[],
  aliases: Readonly<Record<string, string>>,
): OptionError {
  const meant = Object.hasOwn(aliases, name) ? aliases[name] : nearestName(name, names)
  const listed =
    names.length <= maxListed
      ? `. The known names are ${names.join(", ")}`
      : ". docs/api.md lists the known names"
  const hint = meant === undefined ? listed : `. Did you mean ${meant}?`
  return new OptionError(path, `unknown name${hint}`)
}

/** Returns a value, short enough for a message. */
function shown(value: unknown): string {
  if (typeof value === "function" || (typeof value === "object" && value !== null)) {
    return Array.isArray(value) ? "a list" : typeof value === "function" ? "a function" : "an object"
  }
  const text = typeof value === "string" ? JSON.stringify(value) : String(value)
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`
}
