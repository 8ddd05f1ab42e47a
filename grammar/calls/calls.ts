/**
 * Programs that are calls of functions: `files.read({"path": "a.txt"})`, as written by models that
 * are given tools as TypeScript.
 *
 * The names are one trie. After each follows its argument: JSON, which is a subset of TypeScript's
 * literals, in the spellings of `surface: "generate"`, by the tool's JSON Schema. `callTypes`
 * returns the corresponding declarations, which are wider if types cannot express a schema. So
 * every accepted program passes the checker under `strict`.
 */

import { compile } from "../compile.ts"
import { type CompileOptions, compileFields, readLimits } from "../compiler.ts"
import { Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import { GrammarError } from "../errors.ts"
import { Grammar } from "../grammar.ts"
import { checkOptions } from "../options.ts"
import { remembering } from "../remade.ts"
import { below } from "../tags/fields.ts"
import { type CallableFunction, type CallTool, readFunctions } from "./functions.ts"
import { typeOf } from "./types.ts"

/** The form of the calls. */
export interface CallOptions {
  /** Whether `await` precedes each call. Default `never`. */
  await?: "never" | "optional" | "always"
  /**
   * Most calls of a program, each on its own line and followed by a semicolon. Default 1; Infinity
   * allows any number.
   */
  maxCalls?: number
  /** The spelling of the arguments, and limits. */
  compile?: Omit<CompileOptions, "surface" | "unsatisfiable" | "tokens">
}

const { surface: _, unsatisfiable: __, tokens: ___, ...argumentFields } = compileFields

/**
 * Returns the grammar of calls of `tools`, OpenAI's tool objects or `{name, parameters}`:
 * `name({…})`, and `name()` if a tool has no parameters. Every text passes TypeScript's checker
 * together with the declarations of `callTypes(tools)`. Throws GrammarError with the pointer into
 * `tools`: names that are not identifiers, duplicate names, arguments that are not objects, and
 * schemas that cannot be satisfied. Values that nest deeper than some 500 levels may overflow the
 * checker's own stack. Cost: compiling the schemas, and the bytes of the names.
 */
export function callGrammar(
  tools: readonly (CallTool | { type: "function"; function: CallTool })[],
  options: CallOptions = {},
): Grammar {
  return remembering(() => ({ grammar: makeGrammar(tools, options) })).grammar
}

function makeGrammar(
  tools: readonly (CallTool | { type: "function"; function: CallTool })[],
  options: CallOptions,
): Grammar {
  checkOptions(options, { await: "any", maxCalls: "number", compile: { fields: argumentFields } })
  const functions = readFunctions(tools)
  const { await: awaiting = "never", maxCalls = 1 } = options
  const own = { openObjects: "declared", ...options.compile } as const
  if (maxCalls !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(maxCalls) && maxCalls >= 1)) {
    throw new GrammarError(
      "syntax",
      "maxCalls",
      `${maxCalls} is no number of calls: an integer from 1 on, or Infinity`,
    )
  }
  const awaits = { never: [""], optional: ["", "await "], always: ["await "] }[awaiting]
  if (awaits === undefined)
    throw new GrammarError("syntax", "await", `${awaiting}: use never, optional or always`)
  const rules = new Rules(readLimits(own.limits))
  const { terms } = rules
  const argument = ({ schema, schemaPath }: CallableFunction): Term => {
    if (schema === null) return terms.text("()")
    const { grammar } = below(schemaPath, () => compile({ kind: "json", schema }, own))
    return terms.concat(terms.text("("), terms.nested(grammar), terms.text(")"))
  }
  const start = rules.declare("calls")
  rules.define(start, [], () => {
    const options = functions.flatMap((each) => {
      const rest = argument(each)
      return awaits.map((before) => [`${before}${each.name}`, rest] as const)
    })
    const call = terms.choice(options)
    const more = terms.concat(terms.text(";\n"), call)
    return terms.concat(call, terms.repeat(more, 0, maxCalls - 1))
  })
  const identity = { key: () => JSON.stringify(["calls", functions, options]), title: "TypeScript calls" }
  return rules.grammar(start, identity) ?? new Grammar([], identity)
}

/** A name with the declarations below it. */
interface Member {
  own: CallableFunction | null
  readonly members: Map<string, Member>
}

/**
 * Returns the declarations of `tools`, for a prompt, and for a checker of the texts of
 * `callGrammar(tools)`: one constant for each first name, with its functions as members. Throws
 * GrammarError as `callGrammar` does, except for mistakes inside schemas. Cost: linear in the
 * schemas.
 */
export function callTypes(tools: readonly (CallTool | { type: "function"; function: CallTool })[]): string {
  const root: Member = { own: null, members: new Map() }
  for (const each of readFunctions(tools)) {
    let at = root
    for (const segment of each.name.split(".")) {
      let next = at.members.get(segment)
      if (next === undefined) {
        next = { own: null, members: new Map() }
        at.members.set(segment, next)
      }
      at = next
    }
    at.own = each
  }
  return [...root.members]
    .map(([name, member]) => `declare const ${name}: ${memberType(member, "")}\n`)
    .join("")
}

function memberType({ own, members }: Member, indent: string): string {
  const inner = `${indent}  `
  const lines: string[] = []
  if (own !== null) {
    if (own.description !== "") lines.push(comment(own.description, inner))
    const parameter = own.schema === null ? "" : `args: ${typeOf(own.schema)}`
    lines.push(`${inner}(${parameter}): unknown`)
  }
  for (const [name, member] of members) lines.push(`${inner}${name}: ${memberType(member, inner)}`)
  return `{\n${lines.join("\n")}\n${indent}}`
}

/** Returns a comment. Its text must not end the comment. */
function comment(text: string, indent: string): string {
  return `${indent}/** ${text.replaceAll("*/", "* /").replaceAll(/\s+/g, " ")} */`
}
