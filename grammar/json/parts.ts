/**
 * The parts of JSON Schema that a compiler may leave out: patterns and formats. Each is an argument,
 * so a program that leaves one out does not load it. A schema that needs it is then refused.
 */
import { GrammarError, type Limits } from "../errors.ts"
import { isFormat } from "../format/names.ts"
import type { ExprId } from "../lexeme/expr/expr.ts"

/** Reads the regular expressions in a schema. */
export interface PatternReader {
  /** Returns the texts in which `pattern` is found. */
  search(pattern: string, path: string, limits: Limits): ExprId
  /** Returns the texts that `pattern` matches as a whole. */
  match(pattern: string, path: string, limits: Limits): ExprId
  /** Returns a note if patterns, read before, use syntax of another dialect; else undefined. */
  note(patterns: readonly string[], path: string, limits: Limits): string | undefined
}

/** What the compiler of a table reads in schemas. */
export interface JsonParts {
  readonly patterns?: PatternReader
  /** Returns the texts of a format, or null if no draft defines it. */
  readonly formats?: (name: string) => ExprId | null
}

/** A schema that needs a part which the compiler does not have. */
export class MissingPart extends GrammarError {
  readonly part: keyof JsonParts

  constructor(part: keyof JsonParts, path: string, message: string) {
    super("unsupported", path, message)
    this.part = part
  }
}

/** Returns the reader of the pattern at `path`. Throws MissingPart if there is none. */
export function patternReader({ patterns }: JsonParts, path: string): PatternReader {
  if (patterns !== undefined) return patterns
  const message = "this compiler has no front end of regular expressions. Add `...regex` to its table"
  throw new MissingPart("patterns", path, message)
}

/**
 * Returns the texts of the format at `path`, or null if no draft defines it. Throws MissingPart for
 * a defined one if the compiler has no formats.
 */
export function formatOf({ formats }: JsonParts, name: string, path: string): ExprId | null {
  if (formats !== undefined) return formats(name)
  if (!isFormat(name)) return null
  const message = `this compiler has no formats, so it cannot assert ${JSON.stringify(name)}. Add \`...formats\` to its table, or set the option formats to "annotate"`
  throw new MissingPart("formats", path, message)
}
