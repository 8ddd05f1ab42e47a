/** Front ends whose constraints are rules: grammars in a notation, structural tags and turns. */
import { type Compiled, type Context, compileInnerSchema } from "../compiler.ts"
import type { LarkGrammar } from "../ebnf/lark/lark.ts"
import { type RuleId, Rules } from "../ebnf/rules.ts"
import { GrammarError } from "../errors.ts"
import { Grammar } from "../grammar.ts"
import { patternNotes } from "../regex/foreign.ts"
import { hasCompiled } from "../worlds.ts"
import { compiled } from "./result.ts"

/**
 * Returns `compile`. Its modules make constants in the tables of the process while they are loaded,
 * and these are equal in all worlds only if that happens before the first compilation
 * (`worlds.ts`). So a front end that was loaded later refuses every constraint.
 */
export function loadedFirst<Input>(
  kind: string,
  compile: (input: Input, context: Context) => Compiled,
): (input: Input, context: Context) => Compiled {
  if (!hasCompiled()) return compile
  return () => {
    const message = `the front end of kind ${kind} was imported after the first compilation. Import it before`
    throw new GrammarError("unsupported", "", message)
  }
}

/** Compiles rules. `read` declares them and returns the rule with which a text begins. */
export function fromRules(
  title: string,
  { options, limits, json, notes }: Context,
  read: (rules: Rules) => RuleId | LarkGrammar,
): Compiled {
  const rules = new Rules(limits, options.tokens)
  const identity = { key: json.key, title }
  const begin = read(rules)
  const grammar =
    typeof begin === "number"
      ? rules.grammar(begin, identity)
      : rules.grammar(begin.rule, { ...identity, isForced: !begin.noForcing })
  const allNotes = () => [...notes.flatMap((make) => make()), ...patternNotes(rules.patterns, limits)]
  const emptiness = "no text satisfies the grammar: each of its rules needs another that never ends"
  const wayOut = "Give one an alternative that ends"
  return compiled(grammar ?? new Grammar([], { ...identity, limits }), json, allNotes, {
    emptiness: grammar === null ? emptiness : null,
    wayOut,
  })
}

/** Returns the compiler of the JSON Schemas inside a grammar. */
export function schemaCompiler(rules: Rules, context: Context): (text: string) => Grammar {
  const compileText = (schema: string, isChecked: boolean) => compileInnerSchema(schema, isChecked, context)
  return (text) => rules.schemas.of(text, compileText, (schema) => schema)
}
