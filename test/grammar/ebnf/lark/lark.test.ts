/** The notation by its cases, which are text files: one for each kind of behaviour. */
import { compile } from "../../../../grammar/compile.ts"
import { larkRule } from "../../../../grammar/ebnf/lark/lark.ts"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits, GrammarError } from "../../../../grammar/errors.ts"
import { type CaseCompiler, testCases } from "../../../support/cases.ts"

const compileCase: CaseCompiler = ({ grammar, start }, tokens) => {
  const rules = new Rules(defaultLimits, tokens)
  const schema = (text: string) => compile({ kind: "json", schema: text }).grammar
  const { rule } = larkRule(grammar, rules, { start, schema })
  const compiled = rules.grammar(rule, { key: () => grammar, title: "case" })
  if (compiled === null) throw new GrammarError("unsatisfiable", "", "no text satisfies the grammar")
  return compiled
}

testCases("lark", compileCase)
