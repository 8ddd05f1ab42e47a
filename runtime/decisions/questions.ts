/**
 * The questions of a decision: their shapes, their check, and the texts that answer them.
 *
 * Every question becomes a list of options, each with a text. The model's answer is one of these
 * texts and nothing else.
 */
import { RequestError, wrong } from "../errors.ts"

/** A question whose answer is the probability that the instructions are true. */
export interface PredicateQuestion {
  readonly type: "predicate"
  readonly name?: string | null
  readonly instructions: string
}

/** A question whose answer is one of 2 to 255 values. */
export interface ChoiceQuestion {
  readonly type: "choice"
  readonly name?: string | null
  readonly instructions: string
  readonly choices: readonly { readonly value: string | boolean; readonly description?: string | null }[]
}

/** A question whose answer is a place on a scale of 2 to 255 levels, the lowest first. */
export interface ScoreQuestion {
  readonly type: "score"
  readonly name?: string | null
  readonly instructions: string
  readonly levels: readonly { readonly label: string; readonly description?: string | null }[]
}

/** A question of `engine.decide`. */
export type Question = PredicateQuestion | ChoiceQuestion | ScoreQuestion

/** An answer that a question allows. */
export interface Option {
  /** The exact text by which the model gives this answer. Never empty. */
  readonly text: string
  readonly description: string | null
}

/** Bounds of a decision, which docs/limits.md repeats. */
export const decisionBounds = {
  /** Questions of one request. */
  questions: 400,
  /** Options of one question. */
  options: 255,
  /** UTF-16 units of the text of one option. */
  optionUnits: 256,
  /** Token sequences of one question whose probabilities are computed. */
  spellings: 4_096,
  /** Tokens of all texts that one request scores. */
  scoredTokens: 16_384,
} as const

/** Returns the options of a checked question. */
export function optionsOf(question: Question): readonly Option[] {
  switch (question.type) {
    case "predicate":
      return [true, false].map((value) => ({ text: String(value), description: null }))
    case "choice":
      return question.choices.map(({ value, description = null }) => ({ text: String(value), description }))
    case "score":
      return question.levels.map(({ label, description = null }) => ({ text: label, description }))
  }
}

const fieldsOf = {
  predicate: ["type", "name", "instructions"],
  choice: ["type", "name", "instructions", "choices"],
  score: ["type", "name", "instructions", "levels"],
} as const

/**
 * Returns the questions of a request. Throws RequestError with the path of what is wrong, such as
 * `questions[3].choices`. O(texts).
 */
export function readQuestions(given: unknown): readonly Question[] {
  if (given === undefined || given === null)
    throw new RequestError("missing_required_parameter", "questions is missing", "questions")
  const questions = listAt("questions", given, 1, decisionBounds.questions)
  for (const [index, question] of questions.entries()) checkQuestion(`questions[${index}]`, question)
  return questions as Question[]
}

function checkQuestion(path: string, given: unknown): void {
  const question = objectAt(path, given)
  const { type } = question
  if (typeof type !== "string" || !Object.hasOwn(fieldsOf, type))
    throw wrong(`${path}.type`, `${shown(type)} is not predicate, choice or score`)
  onlyFields(path, question, fieldsOf[type as Question["type"]])
  if (question.name !== undefined && question.name !== null) textAt(`${path}.name`, question.name)
  if (textAt(`${path}.instructions`, question.instructions).trim() === "")
    throw wrong(`${path}.instructions`, "it is empty: say what to decide")
  if (type === "choice") checkOptions(`${path}.choices`, question.choices, "value")
  if (type === "score") checkOptions(`${path}.levels`, question.levels, "label")
}

/** Checks the options of a question, whose texts are in the field `key`. */
function checkOptions(path: string, given: unknown, key: "value" | "label"): void {
  const options = listAt(path, given, 2, decisionBounds.options)
  const texts = new Map<string, number>()
  for (const [index, each] of options.entries()) {
    const place = `${path}[${index}]`
    const option = objectAt(place, each)
    onlyFields(place, option, [key, "description"])
    const value = option[key]
    const isFlag = key === "value" && typeof value === "boolean"
    const text = isFlag ? String(value) : textAt(`${place}.${key}`, value)
    if (text === "") throw wrong(`${place}.${key}`, "it is empty: the model must write some text")
    if (text.length > decisionBounds.optionUnits) {
      const what = `${text.length} units are more than the bound of ${decisionBounds.optionUnits}`
      throw wrong(`${place}.${key}`, `${what}: put the long text into the description`)
    }
    const first = texts.get(text)
    if (first !== undefined)
      throw wrong(`${place}.${key}`, `${shown(text)} is ${path}[${first}] too: leave one out`)
    texts.set(text, index)
    const { description } = option
    if (description !== undefined && description !== null) textAt(`${place}.description`, description)
  }
}

function listAt(path: string, given: unknown, min: number, max: number): readonly unknown[] {
  if (Array.isArray(given) && given.length >= min && given.length <= max) return given
  const what = Array.isArray(given) ? `${given.length} members` : `${shown(given)} is not a list`
  throw wrong(path, `${what}: send ${min} to ${max}`)
}

function objectAt(path: string, given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given as never
  throw wrong(path, `${shown(given)} is not an object`)
}

function textAt(path: string, given: unknown): string {
  if (typeof given !== "string") throw wrong(path, `${shown(given)} is not a string`)
  if (!given.isWellFormed()) throw wrong(path, "it has half of a surrogate pair: send whole characters")
  return given
}

function onlyFields(path: string, given: object, fields: readonly string[]): void {
  const other = Object.keys(given).find((name) => !fields.includes(name))
  if (other !== undefined)
    throw wrong(`${path}.${other.slice(0, 80)}`, `there is no such field: use ${fields.join(", ")}`)
}

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : (JSON.stringify(value) ?? typeof value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
