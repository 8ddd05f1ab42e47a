/** Requests that a page and Node answer, each by its seed. */
import type { GenerateOptions } from "../../../runtime/index.ts"

export interface AskedAnswer {
  readonly prompt: string
  readonly options: GenerateOptions
}

const subjects = [
  "a user",
  "a town",
  "a book",
  "an order",
  "a ship",
  "a bird",
  "a song",
  "a lamp",
  "a team",
  "a meal",
]

const person = {
  type: "object",
  properties: { name: { type: "string", maxLength: 12 }, age: { type: "integer", minimum: 0, maximum: 120 } },
  required: ["name", "age"],
  additionalProperties: false,
}
const tags = { type: "array", items: { enum: ["red", "green", "blue", "grey"] }, minItems: 1, maxItems: 4 }

/** The kinds of constraints, in turn. */
const constraints: readonly GenerateOptions[] = [
  { schema: person },
  { schema: tags },
  { regex: "[A-Z][a-z]{2,8} [0-9]{2}" },
  { choice: ["yes", "no", "perhaps", "never"] },
  { grammar: 'root ::= word (" " word){1,3}\nword ::= [a-z]{2,6}' },
]

/** A hundred short answers. */
export function manyAnswers(): AskedAnswer[] {
  return Array.from({ length: 100 }, (_, seed) => ({
    prompt: `Describe ${subjects[seed % subjects.length]}.`,
    options: {
      ...constraints[seed % constraints.length],
      seed,
      maxTokens: 32,
      temperature: seed % 3 === 0 ? 0 : 1,
    },
  }))
}
