/**
 * The reasoning section of one answer: whether the prompt has begun it, or closed it, or leaves it
 * to the model.
 *
 * Templates begin the section at the end of the prompt, or write an empty one where the model is
 * not to think. The prompt decides, since it shows the request in every form: by effort, by
 * variables of the template, or in the text.
 */
import type { Reasoning } from "../../grammar/tags/styles/style.ts"

/** A request's options of the section. */
export interface SectionOptions {
  /** The model must not think: the output is the answer from its first token. */
  readonly isOff: boolean
  /** Tokens that the section may take; null: no bound. */
  readonly maxTokens: number | null
}

/** The section of an answer behind a prompt that ends with `tail`; null: there is none. */
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
