/**
 * Checks that each trigger can be completed, and that it leads to the right branch.
 */
import type { TokenNames } from "../ebnf/tokennames.ts"
import { GrammarError } from "../errors.ts"
import type { Branch } from "./between.ts"
import { shown } from "./fields.ts"
import type { Text, TokenRef } from "./format.ts"
import { spelled } from "./literal.ts"
import { idOf } from "./tokenrefs.ts"

/** Most triggers that a message lists. */
const MaxListed = 8

/**
 * Refuses triggers that contain another trigger, or a text that the free text must not contain:
 * excludes, and the ends of the tag around.
 */
export function checkTriggers(
  triggers: readonly Text[],
  excludes: readonly string[],
  ends: readonly string[],
): void {
  for (const { text, path } of triggers) {
    const other = triggers.find((each) => each.text !== text && text.includes(each.text))
    if (other !== undefined) throw neverComplete(text, path, `${shown(other.text)}, another trigger`)
    const exclude = excludes.find((each) => text.includes(each))
    if (exclude !== undefined) throw neverComplete(text, path, `${shown(exclude)}, which is excluded`)
    const end = ends.find((each) => text.includes(each))
    if (end !== undefined) throw neverComplete(text, path, `${shown(end)}, which ends the tag around it`)
  }
}

function neverComplete(text: string, path: string, held: string): GrammarError {
  return new GrammarError(
    "syntax",
    path,
    `the trigger ${shown(text)} could never be complete: it holds ${held}. Leave one of them out`,
  )
}

/** Refuses triggers that the run of any tokens excludes for another reason, too. */
export function checkTokenTriggers(
  triggers: readonly TokenRef[],
  tokens: TokenNames,
  excludes: ReadonlySet<number>,
  ends: readonly number[],
): void {
  for (const trigger of triggers) {
    const id = idOf(trigger, tokens)
    if (!excludes.has(id) && !ends.includes(id)) continue
    const what = excludes.has(id) ? "is excluded" : "ends the tag around it"
    throw new GrammarError(
      "syntax",
      trigger.path,
      `the token ${shown(trigger.token)} is a trigger and ${what}. Leave one of them out`,
    )
  }
}

/** Refuses branches that do not begin with a token of `triggers`. */
export function checkTokenBegins(branches: readonly Branch[], triggers: ReadonlySet<number>): void {
  for (const { begin, path } of branches) {
    const token = begin[0]?.token ?? null
    if (token !== null && triggers.has(token)) continue
    const found = begin.length === 0 ? "nothing" : shown(spelled(begin))
    throw new GrammarError(
      "syntax",
      path,
      `begins with ${found}, not with one of trigger_tokens. Add it there`,
    )
  }
}

/**
 * Returns the trigger with which a branch begins. No trigger contains another, so there is at most
 * one.
 */
export function triggerOf({ begin, path }: Branch, triggers: readonly Text[]): string {
  const text = spelled(begin)
  const trigger = triggers.find((each) => text.startsWith(each.text))
  if (trigger !== undefined) return trigger.text
  const known = triggers.slice(0, MaxListed).map((each) => shown(each.text))
  if (triggers.length > MaxListed) known.push(`${triggers.length - MaxListed} more`)
  throw new GrammarError(
    "syntax",
    path,
    `${shown(text)} begins with no trigger. The triggers are ${known.join(", ")}`,
  )
}
