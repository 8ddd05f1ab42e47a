/**
 * The top-level keys of a request that have no effect.
 *
 * A key may be accepted because no effect is promised (`inert`). A known key without support is
 * refused with a hint (`refused`), unless its value is the default, which asks for no effect. An
 * unknown key is refused if its name resembles a constraint, because this server must never ignore
 * a constraint. Any other unknown key is ignored, and a header reports it.
 */
import { editDistance } from "../../../runtime/options.ts"
import { Refusal, unsupported } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import { checkBound, wholeBounds } from "./bounds.ts"
import { constraintKeys } from "./constraint.ts"
import { halfPair } from "./surrogates.ts"

/** Keys that are accepted without effect, because no server promises one. */
const inert = new Set([
  ...["metadata", "store", "user", "safety_identifier", "service_tier", "verbosity", "prompt_cache_key"],
  ...["prompt_cache_retention", "prompt_cache_options", "priority", "request_id", "cache_salt"],
  ...["moderation", "obfuscation", "context_management"],
  // Read together with the seed.
  ...["random_seed"],
])

/**
 * Known fields without support: [values that ask for no effect, hint]. null never asks for an
 * effect.
 */
export type RefusedKeys = Readonly<Record<string, readonly [defaults: readonly unknown[], hint: string]>>

const refused: RefusedKeys = {
  functions: [[[]], "Send them as tools"],
  function_call: [["none"], "Send the functions as tools, and tool_choice"],
  audio: [[], "This server writes text only: leave it out"],
  web_search_options: [[], "This server has no web search: leave it out"],
  modalities: [[["text"]], 'Only ["text"] is supported'],
  contrastive: [[], "It needs a second model: leave it out"],
  best_of: [[1], "Use n and choose among the answers"],
  prompt_logprobs: [[], "Leave it out"],
  return_token_ids: [[false], "Leave it out"],
  return_tokens_as_token_ids: [[false], "Leave it out"],
  skip_special_tokens: [[true], "Leave it out: special tokens are never part of the text"],
  spaces_between_special_tokens: [[true], "Leave it out"],
  add_generation_prompt: [[true], "Leave it out"],
  continue_final_message: [[false], "Send the text so far in a user message"],
  add_special_tokens: [[false], "Leave it out: the chat template writes them"],
  echo: [[false], "Leave it out"],
  chat_template: [[], "The server renders with the model's own template: leave it out"],
  documents: [[[]], "Put the documents into a message"],
  truncate_prompt_tokens: [[], "Shorten the messages"],
}

const constraintPrefix =
  /^(guided|structured|grammar|json_schema|response_schema|output_(schema|format|config)|regex|ebnf|lark|choice|constrain|format)/i

/**
 * Throws `Refusal` for keys that are known and not supported; `own` lists those of this endpoint.
 * Returns the unknown keys that may be ignored.
 */
export function checkKeys(
  body: Readonly<Record<string, unknown>>,
  honoured: Readonly<Record<string, unknown>>,
  own: RefusedKeys = {},
): string[] {
  const ignored: string[] = []
  const all = { ...refused, ...own }
  for (const [key, given] of Object.entries(body)) {
    if (Object.hasOwn(honoured, key)) continue
    if (Object.hasOwn(all, key)) {
      const [defaults, hint] = all[key]
      if (given === null || defaults.some((one) => isSame(one, given))) continue
      throw unsupported(key, "is not supported here", hint)
    }
    if (inert.has(key) || constraintKeys.has(key)) continue
    ignored.push(key)
    checkBound(wholeBounds.unknownKeys, ignored.length)
    checkBound(wholeBounds.keyUnits, key.length, quote(key))
    if (!key.isWellFormed()) throw halfPair(`the key ${quote(key)}`)
  }
  for (const key of ignored) refuseConstraint(key)
  return ignored
}

/** Throws `Refusal` for a name that resembles a constraint's. */
export function refuseConstraint(key: string): void {
  const meant = [...constraintKeys].find((known) => editDistance(key.toLowerCase(), known, 2) <= 2)
  if (meant === undefined && !constraintPrefix.test(key)) return
  throw new Refusal("unsupported_parameter", `unknown field ${quote(key)} looks like a constraint`, {
    param: key,
    hint: meant ? `Did you mean ${meant}?` : "Use response_format or structured_outputs",
  })
}

/** Returns the header that lists the keys without effect. */
export function ignoredHeaders(ignored: readonly string[]): Record<string, string> {
  return ignored.length > 0 ? { "x-tokenrail-ignored": ignoredHeader(ignored) } : {}
}

export const maxNamed = 20
export const maxHeaderUnits = 1_000

/**
 * Returns the value of `x-tokenrail-ignored`: some names, and the number of further ones. At most 1
 * kB.
 */
export function ignoredHeader(ignored: readonly string[]): string {
  const names: string[] = []
  let units = 0
  for (const key of ignored.slice(0, maxNamed)) {
    const name = encodeURIComponent(key)
    units += name.length + 2
    if (units > maxHeaderUnits) break
    names.push(name)
  }
  const more = ignored.length - names.length
  return more === 0 ? names.join(", ") : [...names, `and ${more} more`].join(", ")
}

/**
 * Returns whether a value equals a default: a scalar, a list of scalars, or an object without
 * members.
 */
function isSame(known: unknown, given: unknown): boolean {
  if (typeof known !== "object" || known === null) return known === given
  if (!Array.isArray(known)) {
    return typeof given === "object" && given !== null && Object.keys(given).length === 0
  }
  return Array.isArray(given) && given.length === known.length && known.every((each, i) => each === given[i])
}
