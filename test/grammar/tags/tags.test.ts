/** Structural tags by files of cases: every node, and every refusal with its place. */
import { testCases } from "../../support/cases.ts"
import { compileTag } from "../../support/tags.ts"

testCases("tags", ({ grammar }, tokens) => compileTag(JSON.parse(grammar), tokens))
