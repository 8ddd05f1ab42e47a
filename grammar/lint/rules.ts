/**
 * The form of a linter table: what one engine does with each keyword of a JSON Schema.
 *
 * A table is an ordered list of rules. A rule names keywords, says when it applies to them, and
 * what becomes of them. Every rule carries its source: a version of a package that was measured, or
 * a page of documentation with its date.
 */
import type { Position } from "./position.ts"

/** The engines and services that the linter knows. */
export const lintTargets = [
  "openai",
  "anthropic",
  "gemini",
  "llamacpp",
  "xgrammar",
  "llguidance",
  "outlines",
] as const

/** The name of an engine or service. */
export type LintTarget = (typeof lintTargets)[number]

/**
 * What becomes of a keyword. `refused`: the engine does not accept the schema. `dropped`: it
 * ignores the keyword, so invalid values are accepted. `wrong`: it reads the keyword with another
 * meaning, so invalid values are accepted. `narrowed`: all that it accepts is valid, but some valid
 * texts are rejected.
 */
export type LintVerdict = "refused" | "dropped" | "wrong" | "narrowed"

/** The package or page that a rule comes from. */
export interface LintSource {
  /**
   * The package and version that were measured, or the name of the page and the date of its rules.
   */
  name: string
  url: string
}

export interface Rule {
  /** Names the rule in its table and in its probe. */
  id: string
  /** Keywords with spaces between them. `*` stands for every keyword that constrains values. */
  keywords: string
  /** Whether the rule applies. Missing: it applies wherever the keyword has an effect. */
  when?: (position: Position, keyword: string) => boolean
  /**
   * Whether the rule applies where the keyword is missing, and only there. Its note has the path of
   * the schema.
   */
  missing?: boolean
  /** Whether only the first place is reported: for rules that hold almost everywhere. */
  once?: boolean
  /**
   * Whether the engine does not read what is below the keyword. Always so for `refused` and
   * `dropped`.
   */
  ends?: boolean
  verdict: LintVerdict
  note: string
  /** Missing: the source of the table. */
  source?: LintSource
}

/**
 * A bound on a sum over all schemas that the engine reads. The schema that exceeds it is refused.
 */
interface Total {
  id: string
  /** The keyword that is reported. */
  keyword: string
  bound: number
  /** What one schema adds. */
  measure: (position: Position) => number
  note: string
  source?: LintSource
}

export interface Table {
  /** The name of the engine for people. */
  title: string
  source: LintSource
  /**
   * Tried in order. `refused`, `dropped` and `ends` end the search for a keyword, and its
   * subschemas are not read.
   */
  rules: readonly Rule[]
  totals?: readonly Total[]
  /** Whether the engine reads keywords beside `$ref` in drafts that ignore them. */
  readsBesideRef: boolean
  /** Keywords that the engine reads although no draft, or not this draft, has them. */
  extraKeywords?: readonly string[]
}
