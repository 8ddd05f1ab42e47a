/**
 * `options` of Ollama's requests: sampling, stops and budget, from its names to the shared fields.
 *
 * An option that this server does not know has no effect, as in Ollama: most of them load the model
 * (`num_ctx`, `num_gpu`), which is done at the start of the server. The reply names them in a
 * header. Only a name that resembles a constraint is refused.
 */
import { z } from "zod"
import { invalid } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import { quote } from "../http/quote.ts"
import { checkBound, wholeBounds } from "../openai/request/bounds.ts"
import { generationFields, type ReadFields, readFields } from "../openai/request/fields.ts"
import { refuseConstraint } from "../openai/request/keys.ts"
import { halfPair } from "../openai/request/surrogates.ts"
import { isFields } from "../openai/request/wire.ts"

const { temperature, top_k, top_p, min_p, typical_p, stop, seed, presence_penalty, frequency_penalty } =
  generationFields
const { mirostat, mirostat_tau, mirostat_eta, repetition_penalty, penalty_window } = generationFields

/** The options that have an effect. */
export const optionFields = z.object({
  ...{ temperature, top_k, top_p, min_p, typical_p, stop, seed, presence_penalty, frequency_penalty },
  ...{ mirostat, mirostat_tau, mirostat_eta },
  num_predict: z.int().nullish(),
  // The names to which Ollama's `repeat_penalty` and `repeat_last_n` are changed.
  ...{ repetition_penalty, penalty_window },
})

const known: ReadonlySet<string> = new Set([
  ...["temperature", "top_k", "top_p", "min_p", "typical_p", "stop", "seed", "presence_penalty"],
  ...["frequency_penalty", "mirostat", "mirostat_tau", "mirostat_eta", "num_predict"],
  ...["repeat_penalty", "repeat_last_n"],
])

type ReadOptions = ReadFields<z.infer<typeof optionFields>> & {
  /** Null: as many tokens as the context holds. */
  maxTokens: number | null
}

/** Returns the checked options, and those without effect. Throws `Refusal`. */
export function readOptions(body: RequestBody): ReadOptions {
  const options = body.value.options ?? {}
  if (!isFields(options)) throw invalid("options", `: ${quote(options)} is not an object`)
  const entries = Object.entries(options)
  const ignored = entries.map(([name]) => name).filter((name) => !known.has(name))
  checkBound(wholeBounds.unknownKeys, ignored.length, "options")
  for (const name of ignored) {
    checkBound(wholeBounds.keyUnits, name.length, quote(name))
    if (!name.isWellFormed()) throw halfPair(`the option ${quote(name)}`)
    refuseConstraint(name)
  }
  const view = {
    value: Object.fromEntries(entries.filter(([name]) => known.has(name))),
    text: (path: readonly (string | number)[]) => body.text(["options", ...path]),
  }
  const read = readFields(view, optionFields)
  const { num_predict: budget } = read.fields
  return {
    ...read,
    // Ollama draws a seed for -1.
    seed: read.seed === -1n ? null : read.seed,
    ignored: ignored.map((name) => `options.${name}`),
    maxTokens: budget !== undefined && budget !== null && budget > 0 ? budget : null,
  }
}
