/**
 * The notation GBNF, which llama.cpp invented and XGrammar calls EBNF: from a text to its start
 * rule.
 *
 * In reading order: `lexer.ts` finds rules and lexemes, `parser.ts` and `builder.ts` parse them
 * into trees (`notation/tree.ts`), and `read.ts` reads a whole text. The language is over code
 * points. Line ends have no meaning, except that a name and `::=` begin a line. Every kind of
 * recursion is legal. There are no terminals: every part without recursion, tokens or attributes
 * becomes one lexeme by itself (`terms.ts`).
 */

import { Checker } from "../notation/check.ts"
import type { Dialect } from "../notation/dialect.ts"
import { Lowering } from "../notation/lower.ts"
import { Scope } from "../notation/scope.ts"
import { Mistakes, Source } from "../notation/source.ts"
import type { RuleId, Rules } from "../rules.ts"
import { readAttributes } from "./attributes.ts"
import { macroMeaning } from "./macros.ts"
import { readGbnf } from "./read.ts"
import { readTokens } from "./tokens.ts"

export interface GbnfOptions {
  /** Name of the start rule. Default `root`. */
  root?: string
  /** Place of the text inside another input, for messages. */
  outer?: string
}

const dialect: Dialect = {
  hasTerminals: false,
  isTerminalName: () => false,
  article: "",
  faultOfName: () => null,
  attributesOf: readAttributes,
  placeOf: ({ name }) => name.start,
  tokensOf: readTokens,
  macroOf: macroMeaning,
}

/** Only Lark texts can contain schemas and other grammars. */
function nothingInside(): never {
  throw new Error("internal: a GBNF text holds no schema and no grammar")
}

/** Reads `text` into `rules`. Throws GrammarError with all mistakes of the text. */
export function gbnfRule(text: string, rules: Rules, { root = "root", outer }: GbnfOptions = {}): RuleId {
  const { limits, tokens, patterns } = rules
  const source = new Source(text, limits, outer)
  const mistakes = new Mistakes(source)
  const scope = new Scope(
    { source, dialect },
    readGbnf(source, limits, mistakes),
    mistakes,
    limits.schemaDepth,
  )
  // A misplaced lexeme may hide definitions, so undefined names are reported only if the text could
  // be read.
  const isClean = mistakes.count === 0
  const around = { limits, tokens, patterns, schema: nothingInside, grammar: nothingInside }
  new Checker(scope, mistakes, around, { has: () => !isClean }).check(root)
  mistakes.throwAny()
  return new Lowering(scope, rules, () => scope.captures).start(root)
}
