/** Structural tags by files of cases: every node, and every refusal with its place. */
import { compile } from "../../../grammar/index.ts"
import { testCases } from "../../support/cases.ts"

testCases("tags", ({ grammar }, tokens) => {
  return compile({ kind: "tag", format: JSON.parse(grammar) }, { tokens }).grammar
})
