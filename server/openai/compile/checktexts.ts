/**
 * The verdicts on texts: whether a constraint accepts them, and if not, where they leave it and
 * what was expected there.
 *
 * Texts may use every spelling that JSON allows, but their properties must come in the order in
 * which an answer has them, unless the request says otherwise.
 */
import { type CompileOptions, compile, GrammarError, type GrammarInput } from "../../../runtime/index.ts"
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

/**
 * Returns a result for each text. Tokens that the constraint names are read as their spelling.
 * Throws GrammarError, also for tokens that it names by id.
 */
export function checkTexts({ input, policies, compileMs, texts }: CheckQuestion): CheckResult[] {
  const defaults = { surface: "conform", order: "schema" } as const
  const { grammar } = compile(input, { ...defaults, ...policies, limits: { compileMs } })
  if (grammar.readsTokens) {
    const message =
      "check reads texts as bytes, and the constraint names tokens by id. Name them by their spelling, or leave check out"
    throw new GrammarError("unsupported", "", message)
  }
  const checker = new TextChecker(byteMachine(grammar))
  return texts.map((text) => {
    const { accepted, prefix, offset, expected } = checker.check(text)
    return { accepted, prefix, offset, expected }
  })
}
