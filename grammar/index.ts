/** Compiles a constraint to a pushdown automaton over bytes. This floor knows bytes, not tokens. */
export { type CallOptions, callGrammar, callTypes } from "./calls/calls.ts"
export type { CallTool } from "./calls/functions.ts"
export { compile } from "./compile.ts"
export {
  type Compiled,
  type CompileOptions,
  compilerOf,
  type FrontEnd,
  type FrontEnds,
  type InputOf,
} from "./compiler.ts"
export { TimeError } from "./deadline.ts"
export { defaultLimits, GrammarError, type GrammarErrorKind, type Limits } from "./errors.ts"
export type { Expectation } from "./frame.ts"
export { formats } from "./frontends/formats.ts"
export { gbnf } from "./frontends/gbnf.ts"
export { json } from "./frontends/json.ts"
export { lark } from "./frontends/lark.ts"
export { compileJson } from "./frontends/loading.ts"
export { metaschemas } from "./frontends/metaschemas.ts"
export { regex } from "./frontends/regex.ts"
export { tags } from "./frontends/tags.ts"
export { texts } from "./frontends/texts.ts"
export { Grammar } from "./grammar.ts"
export type { GrammarInput } from "./input.ts"
export { collectDocuments } from "./json/refs/documents.ts"
export { type LintNote, type LintReport, lint } from "./lint/lint.ts"
export { type LintSource, type LintTarget, type LintVerdict, lintTargets } from "./lint/rules.ts"
export { OptionError } from "./options.ts"
export { type KeywordNote, makeReport, type Report } from "./report.ts"
export type { SqlColumn, SqlForeignKey, SqlTable } from "./sql/database.ts"
export type { SqlDialect } from "./sql/names.ts"
export { type SqlInput, sqlGrammar } from "./sql/sql.ts"
