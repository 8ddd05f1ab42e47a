/**
 * Checks that a model, its files and the options of an engine fit together, wherever the files are.
 */

import { styles } from "../grammar/tags/styles/all.ts"
import { parseVocabulary } from "../mask/tokenizers/tokenizerjson.ts"
import type { Vocabulary } from "../mask/vocabulary.ts"
import { ModelError } from "./errors.ts"
import type { ModelDirectory } from "./model/directory.ts"
import type { Model } from "./model/model.ts"
import { type ModelStyle, readReasoning, styleOfTemplate } from "./turn/style.ts"

/** Reads the vocabulary for the columns of the model's logits. Throws ModelError. */
export function readVocabulary(directory: ModelDirectory, model: Pick<Model, "width">): Vocabulary {
  const { tokenizerJson, tokenizerConfig, endIds } = directory
  try {
    return parseVocabulary(tokenizerJson, tokenizerConfig, { width: model.width, endIds })
  } catch (cause) {
    throw new ModelError(`${directory.path}/tokenizer.json: ${(cause as Error).message}`, { cause })
  }
}

/** Chooses the style of a chat template's model. Throws RangeError for an unknown one. */
export function chooseStyle(
  template: string,
  { toolStyle, reasoning = "auto" }: { toolStyle?: string; reasoning?: string },
): ModelStyle {
  const told = styleOfTemplate(template)
  if (toolStyle !== undefined && !styles.some(({ name }) => name === toolStyle)) {
    const names = styles.map(({ name }) => name).join(", ")
    throw new RangeError(`toolStyle: no style is named ${JSON.stringify(toolStyle)}. There are: ${names}`)
  }
  return { style: toolStyle ?? told.style, reasoning: readReasoning(reasoning, told) }
}

/**
 * Returns the number of an engine's positions: `wanted`, or else the model's. Throws ModelError if
 * neither is given, and RangeError if `wanted` is outside its bounds.
 */
export function chooseContext(directory: ModelDirectory, wanted: number | undefined): number {
  const { contextLength } = directory
  if (wanted === undefined) {
    if (contextLength !== undefined) return contextLength
    throw new ModelError(
      `${directory.path}/config.json: max_position_embeddings is missing; add it, or pass \`context\``,
    )
  }
  atLeast("context", wanted, 2)
  if (contextLength !== undefined && wanted > contextLength) {
    throw new RangeError(`context: ${wanted} is above the ${contextLength} positions of the model`)
  }
  return wanted
}

/** Returns `value`, a count from `min` on or infinity. Throws RangeError with the option's name. */
export function atLeast(name: string, value: number, min: number): number {
  if ((Number.isInteger(value) || value === Number.POSITIVE_INFINITY) && value >= min) return value
  throw new RangeError(`${name}: ${value} is not an integer ≥ ${min}`)
}

/** Returns the given time limits, in milliseconds. Throws RangeError. */
export function readLimits<Name extends string>(
  limits: { readonly [name in Name]?: number } | undefined,
): { [name in Name]?: number } {
  const given: { [name in Name]?: number } = {}
  for (const [name, ms] of Object.entries<number | null | undefined>(limits ?? {})) {
    if (ms === undefined || ms === null) continue
    if (!(ms >= 0)) throw new RangeError(`limits.${name}: ${ms} is not a number of milliseconds`)
    given[name as Name] = ms
  }
  return given
}
