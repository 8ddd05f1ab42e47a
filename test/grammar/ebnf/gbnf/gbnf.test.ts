/** The notation by its cases, which are text files: one for each kind of behaviour. */
import { gbnfRule } from "../../../../grammar/ebnf/gbnf/gbnf.ts"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits, GrammarError } from "../../../../grammar/errors.ts"
import { type CaseCompiler, testCases } from "../../../support/cases.ts"

const compileCase: CaseCompiler = ({ grammar, start }, tokens) => {
  const rules = new Rules(defaultLimits, tokens)
  const root = gbnfRule(grammar, rules, { root: start })
  const compiled = rules.grammar(root, { key: () => grammar, title: "case" })
  if (compiled === null) throw new GrammarError("unsatisfiable", "", "no text satisfies the grammar")
  return compiled
}

testCases("gbnf", compileCase)
