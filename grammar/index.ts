/** grammar/: from a constraint to a pushdown over bytes. Knows bytes, not tokens. */
export { type CompileOptions, compile, type GrammarInput } from "./compile.ts"
export { TimeError } from "./deadline.ts"
export { defaultLimits, GrammarError, type GrammarErrorKind, type Limits } from "./errors.ts"
export type { Expectation } from "./frame.ts"
export { Grammar } from "./grammar.ts"
export { collectDocuments } from "./json/refs/refs.ts"
export { type KeywordNote, makeReport, type Report } from "./report.ts"
