/**
 * What the check of texts needs of the floors below. The build puts it in place of `runtime/`, of
 * which the worker needs nothing else.
 */
export { Grammar } from "../../grammar/grammar.ts"
export { Matcher, TokenFsm, type TokenMachine, Vocabulary } from "../../mask/index.ts"
