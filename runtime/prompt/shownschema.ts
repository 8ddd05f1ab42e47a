/**
 * Puts the schema into the prompt, which shows the model the constraint of its answer.
 *
 * The schema's text is appended to the system message after a blank line; without a system message
 * it becomes one. The text is compact and keeps the order of keys and the spelling of numbers, so a
 * model sees the same text in whatever white space a schema was sent.
 */

import { RequestError, wrong } from "../errors.ts"
import type { Message } from "../model/template.ts"
import type { ConstraintInput } from "../schema.ts"

/** The text before the schema. The embedded model was trained with it. */
const lead = "JSON schema: "

/** Maximum length of a schema's text relative to what fits: the rest may be white space. */
const maxSpacing = 8

/**
 * Returns the messages with the constraint's schema in the system message. Throws RequestError if
 * the constraint has no schema, or one much longer than the `maxUnits` of a prompt.
 */
export function showSchema(
  messages: readonly Message[],
  constraint: ConstraintInput | null,
  maxUnits = Number.POSITIVE_INFINITY,
): readonly Message[] {
  if (constraint === null || !("kind" in constraint) || constraint.kind !== "json") {
    const given = constraint === null ? "there is no constraint" : "the constraint is not a JSON Schema"
    throw wrong("schema_in_prompt", `${given}: send one, or leave schema_in_prompt out`)
  }
  const { schema } = constraint
  if (typeof schema === "string" && schema.length > maxSpacing * maxUnits) {
    throw new RequestError(
      "context_length_exceeded",
      `schema_in_prompt: the schema has ${schema.length} characters, and ${maxSpacing * maxUnits} are more than the context can hold: leave schema_in_prompt out`,
      "schema_in_prompt",
    )
  }
  const shown = lead + (typeof schema === "string" ? compactJson(schema) : JSON.stringify(schema))
  const [first, ...rest] = messages
  if (first?.role !== "system" && first?.role !== "developer") {
    return [{ role: "system", content: shown }, ...messages]
  }
  const { content } = first
  if (!content?.length) return [{ ...first, content: shown }, ...rest]
  if (typeof content === "string") return [{ ...first, content: `${content}\n\n${shown}` }, ...rest]
  return [{ ...first, content: [...content, { type: "text", text: `\n\n${shown}` }] }, ...rest]
}

/** Returns a JSON text without the white space between its lexemes. Linear for every text. */
export function compactJson(text: string): string {
  const kept: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]
    if (unit === '"') at = endOfString(text, at)
    else if (unit === " " || unit === "\n" || unit === "\t" || unit === "\r") {
      if (at > start) kept.push(text.slice(start, at))
      start = at + 1
    }
  }
  kept.push(text.slice(start))
  return kept.join("")
}

/** Returns the index of the closing quote of the string that begins at `at`. */
function endOfString(text: string, at: number): number {
  let end = at + 1
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1
  return end
}
