/** Whether a vocabulary can keep the budgets of a grammar at all. */
import { Completions } from "../../grammar/completions.ts"
import { GrammarError } from "../../grammar/errors.ts"
import type { TokenFsm } from "../fsm.ts"
import { spell } from "../spelling.ts"

/**
 * Throws GrammarError `unsatisfiable` where a part of the grammar has a budget of fewer tokens than its shortest text takes in
 * this vocabulary. The machine's start is dead then.
 */
export function checkBudgets(machine: TokenFsm): void {
  const part = machine.budgets?.unkept
  if (!part) return
  const { states, locals } = machine
  const tokens = spell(locals.trie, new Completions(states).shortest(states.begin(part.begin())))
  const needed = tokens === null ? "cannot be written" : `takes ${tokens.length}`
  const name = part.name === "" ? "" : `rule ${part.name}: `
  throw new GrammarError(
    "unsatisfiable",
    "",
    `${name}max_tokens=${part.maxTokens} is too small: its shortest text ${needed} in the tokens of this vocabulary. Raise max_tokens or leave it out`,
  )
}
