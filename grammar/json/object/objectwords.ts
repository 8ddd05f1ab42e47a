/** The keys of an object in words, for messages. */

import { joined } from "../../wording.ts"
import { Infinite } from "../facts/conjunction.ts"
import { countWords, cut, isOnlyQuote, mayEndAs, type Reading } from "../words.ts"
import type { ObjectRules, Progress } from "./objectrules.ts"

/** Maximum number of keys that are listed. */
const MostNames = 8

/**
 * Describes the key that is being read. `progress` is that of the object before it.
 */
export function keyWords({ sample, lexeme }: Reading, rules: ObjectRules, progress: Progress): string {
  const { names } = rules.spec
  const mayEnd = sample === '"'
  if (mayEnd && isOnlyQuote(lexeme)) return "the closing quote of the key"
  const all = rules.available(progress).map((i) => names[i])
  const hasOthers = rules.availableClasses(progress).length > 0
  // A sample without the opening quote is the rest of a key that has begun.
  const isBegun = mayEnd || !sample.startsWith('"')
  const end = mayEnd ? ", or its closing quote" : ""
  if (isBegun && hasOthers) return `more of the key${end}`
  const fitting = isBegun ? all.filter(({ name }) => mayEndAs(lexeme, JSON.stringify(name))) : all
  const prefix = isBegun ? "more of " : ""
  if (fitting.length === 0) return `${prefix}a key${end}`
  const listed = namesInWords(fitting)
  if (hasOthers) return `a key such as ${listed}`
  const words = `${prefix}the key ${listed}${end}`
  const required = fitting.length < 2 ? [] : fitting.filter(({ isRequired }) => isRequired)
  if (required.length === 0) return words
  return `${words}; ${namesInWords(required, "and")} ${required.length === 1 ? "is" : "are"} required`
}

/** Returns why an object cannot end yet, in words; "" if no member that it lacks is known. */
export function neededWords(rules: ObjectRules, progress: Progress): string {
  const missing = rules.missing(progress)
  const { min, names } = rules.spec
  if (missing.length > 0) {
    const keys = missing.map((i) => names[i])
    return `, since the object still needs the key ${namesInWords(keys, "and")}`
  }
  return progress.count < min ? `, since the object needs ${countWords(min, Infinite, "member")}` : ""
}

function namesInWords(names: readonly { name: string }[], word?: "or" | "and"): string {
  const quoted = names.slice(0, MostNames).map(({ name }) => cut(JSON.stringify(name)))
  return names.length > MostNames ? `${quoted.join(", ")}, …` : joined(quoted, word)
}
