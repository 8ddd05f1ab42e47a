/**
 * Parts that the core of `mask/` uses and does not import: the check of options, the ways to the
 * end of a text, and the shortcuts. `handed.ts` hands them in. So the core is small, and a test can
 * run it without shortcuts.
 */
import type { States } from "../grammar/state.ts"
import type { TokenMachine } from "./machine.ts"
import type { MakeShortcuts } from "./shortcuts.ts"

/**
 * How a text may go on to its end, and its state as text. As in `TokenMachine`. No mask needs these
 * functions.
 */
export type Endings = Pick<TokenMachine, "least" | "shortest" | "nextBytes" | "explain" | "print">

export interface Parts {
  /** Throws OptionError for options that a class does not have. */
  checkOptions(of: "fsm" | "matcher", options: object): void
  makeEndings(states: States): Endings
  /** Null: the walk alone finds all masks. */
  readonly makeShortcuts: MakeShortcuts | null
}

let handed: Parts | null = null

/** Sets the parts of all machines and matchers that are made from now on. */
export function setParts(parts: Parts): void {
  handed = parts
}

/** Returns the parts. Throws if there are none, since masks without shortcuts are silently slow. */
export function parts(): Parts {
  if (handed === null) throw new Error("internal: setParts has not been called")
  return handed
}
