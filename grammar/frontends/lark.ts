/** Grammars in the Lark dialect, and grammars in GBNF or Lark. */
import { type Compiled, type Context, compileInner, type FrontEnd } from "../compiler.ts"
import { gbnfRule } from "../ebnf/gbnf/gbnf.ts"
import { larkRule } from "../ebnf/lark/lark.ts"
import { notationOf } from "../ebnf/notation/notation.ts"
import type { GrammarInput } from "../input.ts"
import { fromRules, loadedFirst, schemaCompiler } from "./rules.ts"

type InputOfKind<Kind> = Extract<GrammarInput, { kind: Kind }>

function compileLark({ text, start, named = {} }: InputOfKind<"lark">, context: Context): Compiled {
  const others = Object.entries(named).map(([name, other]) => {
    return [name, typeof other === "string" ? other : compileInner(other, context).grammar] as const
  })
  return fromRules("Lark grammar", context, (rules) => {
    const schema = schemaCompiler(rules, context)
    return larkRule(text, rules, { start, named: Object.fromEntries(others), schema })
  })
}

function compileEither({ text, root }: InputOfKind<"grammar">, context: Context): Compiled {
  if (notationOf(text, context.limits) === "gbnf")
    return fromRules("GBNF grammar", context, (rules) => gbnfRule(text, rules, { root }))
  return fromRules("Lark grammar", context, (rules) =>
    larkRule(text, rules, { start: root, schema: schemaCompiler(rules, context) }),
  )
}

/**
 * The front ends of `kind: "lark"` and `kind: "grammar"`. They must be imported before the first
 * compilation. A grammar with JSON Schemas needs the front end `json` in the same table.
 */
export const lark: FrontEnd<"lark" | "grammar"> = {
  lark: loadedFirst("lark", compileLark),
  grammar: loadedFirst("grammar", compileEither),
}
