/**
 * The reasoning section of one answer: whether the prompt has begun it, has closed it, or leaves it
 * to the model.
 *
 * Templates begin the section at the end of the prompt, or write an empty one if the model should
 * not think. The prompt decides, since it shows the request in every form: by effort, by variables
 * of the template, or in the text.
 */
import type { Reasoning } from "../../grammar/tags/styles/style.ts"

/** The options of a request for the section. */
export interface SectionOptions {
  /** Whether the model must not think: the output is the answer from its first token. */
  readonly isOff: boolean
  /** Maximum tokens of the section; null: no limit. */
  readonly maxTokens: number | null
}

/** Returns the section of an answer to a prompt that ends with `tail`; null if there is none. */
export function sectionBehind(
  reasoning: Reasoning,
  tail: string,
  { isOff, maxTokens }: SectionOptions,
): Reasoning | null {
  const { begin = "", end } = reasoning
  const bound = maxTokens === null ? {} : { max_tokens: maxTokens }
  const written = tail.trimEnd()
  if (begin !== "" && written.endsWith(begin.trim())) {
    const { begin: _, ...open } = reasoning
    return { ...open, ...bound }
  }
  if (isOff || written.endsWith(end.trim())) return null
  return { ...reasoning, ...bound, optional: begin !== "" }
}
