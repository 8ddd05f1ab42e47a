/**
 * The prompt of a question: the input, then the question with its options.
 *
 * The question comes last, so that all questions of a request share the tokens of the input, which
 * are computed once. It is part of the last message of the user, because many chat templates refuse
 * two of them in a row. The prompt has no system message of its own.
 */
import type { Message } from "../model/template.ts"
import { optionsOf, type Question } from "./questions.ts"

/** What is judged: a text, or the messages of a conversation. */
export type DecisionInput = string | readonly Message[]

/** Returns the messages that ask a question about the input. */
export function promptOf(input: DecisionInput, question: Question): readonly Message[] {
  const asked = questionText(question)
  if (typeof input === "string") return [{ role: "user", content: `${input}\n\n${asked}` }]
  const last = input.at(-1)
  if (last?.role !== "user") return [...input, { role: "user", content: asked }]
  const { content } = last
  const joined = Array.isArray(content)
    ? [...content, { type: "text", text: `\n\n${asked}` }]
    : `${content ?? ""}\n\n${asked}`
  return [...input.slice(0, -1), { ...last, content: joined }]
}

function questionText(question: Question): string {
  const options = optionsOf(question).map(({ text, description }) =>
    description === null ? `- ${text}` : `- ${text}: ${description}`,
  )
  const lead = question.type === "predicate" ? "Is this statement true or false?" : "Question:"
  return [
    `${lead} ${question.instructions}`,
    question.type === "score" ? "Levels, the lowest first:" : "Options:",
    ...options,
    "Reply with exactly one of them, as it is written here, and with nothing else.",
  ].join("\n")
}
