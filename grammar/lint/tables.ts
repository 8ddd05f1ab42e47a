/** The tables of all targets. */
import type { LintTarget, Table } from "./rules.ts"
import { anthropic } from "./targets/anthropic.ts"
import { gemini } from "./targets/gemini.ts"
import { llamacpp } from "./targets/llamacpp.ts"
import { llguidance } from "./targets/llguidance.ts"
import { openai } from "./targets/openai.ts"
import { outlines } from "./targets/outlines.ts"
import { xgrammar } from "./targets/xgrammar.ts"

export const tables: Readonly<Record<LintTarget, Table>> = {
  ...{ openai, anthropic, gemini },
  ...{ llamacpp, xgrammar, llguidance, outlines },
}
