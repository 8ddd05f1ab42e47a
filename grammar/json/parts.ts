/**
 * The parts of JSON Schema that a compiler may leave out. Each is an argument, so a program that
 * leaves one out does not load it. A schema that needs it is then refused.
 */

import type { SubstringUnit } from "../ebnf/substring.ts"
import { GrammarError, type Limits } from "../errors.ts"
import { isFormat } from "../format/names.ts"
import type { ExprId } from "../lexeme/expr/expr.ts"
import type { JsonNode } from "./read/reader.ts"
import type { SurfacePolicy } from "./spelling.ts"

/** Reads the regular expressions in a schema. */
export interface PatternReader {
  /** Returns the texts in which `pattern` is found. */
  search(pattern: string, path: string, limits: Limits): ExprId
  /** Returns what `x-guidance` says, which has patterns of its own. Throws GrammarError. */
  guidance(value: JsonNode, policy: SurfacePolicy, limits: Limits): Guidance
  /** Returns a note on `x-guidance` if a key is set that has no effect; else undefined. */
  guidanceNote(value: JsonNode): string | undefined
  /** Returns a note if patterns, read before, use syntax of another dialect; else undefined. */
  note(patterns: readonly string[], path: string, limits: Limits): string | undefined
}

/** The spelling that a schema asks for. */
export interface Guidance {
  readonly policy: SurfacePolicy
  /** Texts that no string may contain, because their escapes are not allowed. */
  readonly excludes: readonly string[]
}

/** What the compiler of a table reads in schemas. */
export interface JsonParts {
  readonly patterns?: PatternReader
  /** Returns the texts of a format, or null if no draft defines it. */
  readonly formats?: (name: string) => ExprId | null
  /** Returns the quotations of a text by characters or words. Throws GrammarError. */
  readonly quotations?: (source: string, unit: SubstringUnit, path: string, limits: Limits) => ExprId
  /** Returns the text of a metaschema by its URI, or null if no draft has it. */
  readonly metaschemas?: (uri: string) => string | null
}

/** A schema that needs a part which the compiler does not have. */
export class MissingPart extends GrammarError {
  readonly part: keyof JsonParts

  constructor(part: keyof JsonParts, path: string, message: string) {
    super("unsupported", path, message)
    this.part = part
  }
}

/** How refusals call a part, and the front end that has it. */
const names: { readonly [Part in keyof Required<JsonParts>]: readonly [what: string, frontEnd: string] } = {
  patterns: ["regular expressions", "regex"],
  formats: ["formats", "formats"],
  quotations: ["quotations", "texts"],
  metaschemas: ["metaschemas", "metaschemas"],
}

/** Returns a part that the schema needs at `path`. Throws MissingPart if the compiler lacks it. */
export function partOf<Part extends keyof JsonParts>(
  parts: JsonParts,
  part: Part,
  path: string,
): NonNullable<JsonParts[Part]> {
  const found = parts[part]
  if (found !== undefined) return found
  const [what, frontEnd] = names[part]
  const message = `this compiler cannot read ${what}. Add \`...${frontEnd}\` to its table`
  throw new MissingPart(part, path, message)
}

/**
 * Returns the texts of the format at `path`, or null if no draft defines it. Throws MissingPart for
 * a defined one if the compiler has no formats.
 */
export function formatOf(parts: JsonParts, name: string, path: string): ExprId | null {
  return isFormat(name) ? partOf(parts, "formats", path)(name) : null
}
