/**
 * The verdicts on texts: whether a constraint accepts them, and if not, where they leave it and
 * what was expected there.
 *
 * Texts may use every spelling that JSON allows, but their properties must come in the order in
 * which an answer has them, unless the request says otherwise.
 */
import { type CompileOptions, compile, type GrammarInput } from "../../../runtime/index.ts"
import { byteMachine, TextChecker, type Verdict } from "../../suite/checker.ts"

/** Plain data, so that it can be sent to a thread. */
export interface CheckQuestion {
  input: GrammarInput
  policies: CompileOptions
  /** Milliseconds that the compilation may take. */
  compileMs: number
  texts: readonly string[]
}

/** `offset` counts bytes of UTF-8. */
export type CheckResult = Pick<Verdict, "accepted" | "prefix" | "offset" | "expected">

/** Returns a result for each text. Throws GrammarError. */
export function checkTexts({ input, policies, compileMs, texts }: CheckQuestion): CheckResult[] {
  const defaults = { surface: "conform", order: "schema" } as const
  const { grammar } = compile(input, { ...defaults, ...policies, limits: { compileMs } })
  const checker = new TextChecker(byteMachine(grammar))
  return texts.map((text) => {
    const { accepted, prefix, offset, expected } = checker.check(text)
    return { accepted, prefix, offset, expected }
  })
}
