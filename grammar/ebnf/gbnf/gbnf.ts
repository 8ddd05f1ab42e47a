/**
 * The notation GBNF, which llama.cpp made and XGrammar calls EBNF: from a text to the rule where it begins.
 *
 * In reading order: `lexer.ts` finds rules and lexemes, `parser.ts` and `builder.ts` make trees of them (`tree.ts`), `read.ts`
 * reads a whole text, `check.ts` asks what its names mean, `lower.ts` makes rules. The language is over code points, line ends mean
 * nothing but that a name and `::=` begin a line, and every kind of recursion is legal.
 */
import type { RuleId, Rules } from "../rules.ts"
import { Mistakes, Source } from "../source.ts"
import { checkRules } from "./check.ts"
import { lowerRules } from "./lower.ts"
import { readGbnf } from "./read.ts"

export interface GbnfOptions {
  /** Where the text begins. Default `root`. */
  root?: string
  /** Place of the text inside of another input, for messages. */
  outer?: string
}

/** Reads `text` into `rules`. Throws GrammarError with all mistakes of the text. */
export function gbnfRule(text: string, rules: Rules, { root = "root", outer }: GbnfOptions = {}): RuleId {
  const source = new Source(text, rules.limits, outer)
  const mistakes = new Mistakes(source)
  const gbnfRules = readGbnf(source, rules.limits, root, mistakes)
  const checked = checkRules(gbnfRules.values(), mistakes, rules.limits, rules.tokens)
  mistakes.throwAny()
  for (const [{ offset }, macro] of checked.macros) {
    if (macro.kind === "expr" && macro.regex !== undefined)
      rules.patterns.push({ ...macro.regex, path: source.path(offset) })
  }
  return lowerRules(source, gbnfRules, checked, rules, root)
}
