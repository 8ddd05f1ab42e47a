/**
 * `compile(input, options)`: compiles any constraint to an immutable grammar and a report. Here is
 * the table of all front ends; `compiler.ts` says how they are called.
 */
import { type Compiled, type CompileOptions, compilerOf } from "./compiler.ts"
import { formats } from "./frontends/formats.ts"
import { gbnf } from "./frontends/gbnf.ts"
import { json } from "./frontends/json.ts"
import { lark } from "./frontends/lark.ts"
import { metaschemas } from "./frontends/metaschemas.ts"
import { regex } from "./frontends/regex.ts"
import { tags } from "./frontends/tags.ts"
import { texts } from "./frontends/texts.ts"
import type { GrammarInput } from "./input.ts"

const compileAny = compilerOf({
  ...{ ...json, ...regex, ...formats, ...metaschemas, ...texts },
  ...{ ...gbnf, ...lark, ...tags },
})

/**
 * Compiles a constraint. Throws GrammarError: `syntax`, `unsupported`, `unsatisfiable` (unless
 * `"empty"` is set) or `limit`, each with its place and the way out.
 */
export function compile(input: GrammarInput, options: CompileOptions = {}): Compiled {
  return compileAny(input, options)
}
