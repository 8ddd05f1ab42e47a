/**
 * Sets the parts that the core of `mask/` runs with (`parts.ts`). Every entry that exports a class
 * of the core imports this file.
 */
import { Completions } from "../grammar/completions.ts"
import { explain, nextBytes } from "../grammar/explain.ts"
import { checkOptions, type Fields } from "../grammar/options.ts"
import { printState } from "../grammar/print.ts"
import type { States } from "../grammar/state.ts"
import { shortcuts } from "./fast/shortcuts.ts"
import type { FsmOptions } from "./fsm.ts"
import type { MatcherOptions } from "./matcher.ts"
import { type Endings, setParts } from "./parts.ts"

const fields = {
  fsm: {
    maskBytes: "number",
    transitionCount: "number",
    locals: "object",
    ignoresBudgets: "boolean",
  } satisfies Fields<FsmOptions>,
  matcher: { maskMs: "number", completionMs: "number" } satisfies Fields<MatcherOptions>,
} as const

function makeEndings(states: States): Endings {
  const completions = new Completions(states)
  return {
    least: (state) => completions.least(state),
    shortest: (state) => completions.shortest(state),
    nextBytes: (state, most) => nextBytes(states, state, most),
    explain: (state) => explain(states, state),
    print: (state) => printState(states, state),
  }
}

// package.json lists this file and `index.ts` as files with side effects, so that bundlers keep
// this call.
setParts({
  checkOptions: (of, options) => checkOptions(options, fields[of]),
  makeEndings,
  makeShortcuts: shortcuts(),
})
