/**
 * What can go wrong before the first token, and the bounds that keep it from going wrong later.
 *
 * A constraint is honoured exactly or refused. Every refusal is a `GrammarError` that says what is
 * wrong, where, the value, the bound and the way out. `limits.ts` has every bound and its text;
 * only `limitError` makes refusals by a bound. Time is not a count, so its refusal has its own
 * class (`deadline.ts`).
 */
import { defaultLimits, refusals } from "./limits.ts"
import { setWording, type Words } from "./refusal.ts"

export { defaultLimits, fixedBounds, type Limits } from "./limits.ts"
export { checkLimit, GrammarError, type GrammarErrorKind, limitError, placed } from "./refusal.ts"

/** Returns the text of `limits.ts` with the option that raises the bound. */
function worded(refusal: keyof typeof refusals, name: string, words: Words): string {
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, word) => `${words[word]}`)
  const [excess, wayOut = ""] = refusals[refusal].split(". ").map(fill)
  const option = name in defaultLimits ? `Raise limits.${name}` : ""
  const ways = option === "" || wayOut === "" ? option + wayOut : `${option} or ${uncapitalized(wayOut)}`
  return `${excess}. ${ways}`
}

// package.json lists this file as one with side effects, so that bundlers keep this call.
setWording(worded, Object.fromEntries(Object.keys(refusals).map((name) => [name, name.split(".")[0]])))

function uncapitalized(text: string): string {
  return text[0].toLowerCase() + text.slice(1)
}
