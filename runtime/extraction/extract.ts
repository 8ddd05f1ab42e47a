/**
 * Extraction: a value of a schema from a text, with the place in the text of what was copied, and
 * how sure the model was.
 *
 * The answer is one generation. The constraint has the text as its source, so that copied strings
 * are substrings of it by grammar (`grammar/json/read/copied.ts`).
 */
import { checkOptions, type Fields } from "../../grammar/options.ts"
import type { Vocabulary } from "../../mask/vocabulary.ts"
import type { GenerateOptions } from "../engine/request.ts"
import type { GenerateResult, Usage } from "../engine/result.ts"
import type { TokenWatch } from "../engine/sequence.ts"
import { wrong } from "../errors.ts"
import type { ClosedField } from "../fields/answer.ts"
import type { Message } from "../model/template.ts"
import { type ConstraintInput, readConstraint, type ValueOf } from "../schema.ts"
import { NullWatch } from "./nulls.ts"

/** The options of `engine.extract`. Every field is optional. */
export interface ExtractOptions
  extends Pick<
    GenerateOptions,
    "maxTokens" | "seed" | "signal" | "background" | "templateOptions" | "limits"
  > {
  /** What to extract: it follows the text in the prompt. */
  instructions?: string
  /** The whole prompt, in place of the text with instructions. The schema is shown before it. */
  messages?: readonly Message[]
  /** Default 0: the likeliest token is written. */
  temperature?: number | null
}

const extractFields = {
  ...{ instructions: "text", messages: "list", maxTokens: "number", temperature: "number", seed: "any" },
  ...{ signal: "any", background: "boolean", templateOptions: "object", limits: "object" },
} as const satisfies Fields<ExtractOptions>

/** A string, number, boolean or null of an extracted value. */
export interface ExtractedField {
  readonly value: string | number | boolean | null
  /**
   * Where the string first occurs in the text, half-open, in UTF-16 units: `text.slice(...source)`
   * is the value. It is set for every copied string, and for another string if the text has it.
   * Null for all other values.
   */
  readonly source: readonly [start: number, end: number] | null
  /**
   * The product of the probabilities of the tokens that wrote the value, each among the tokens that
   * the constraint allowed.
   */
  readonly confidence: number
  /**
   * The product, over the same tokens, of the part of the model's probability that the allowed
   * tokens had.
   */
  readonly mass: number
  /** The probability of `null` among the values that could begin here. */
  readonly pNull: number
}

/** What `engine.extract` returns. */
export interface Extraction<Value = unknown> {
  /** The value, after the schema's own validator. */
  readonly value: Value
  /** Its JSON text. */
  readonly text: string
  /** By JSON pointer. */
  readonly fields: Readonly<Record<string, ExtractedField>>
  readonly usage: Usage
}

/** The parts of an engine that extraction needs. */
export interface ExtractHost {
  readonly vocabulary: Vocabulary
  /** Returns the tokens of messages, with the schema of the constraint before them. */
  tokenize(
    messages: readonly Message[],
    options: GenerateOptions,
    constraint: ConstraintInput,
  ): Promise<readonly number[]>
  /** Rejects unless the answer is complete. */
  answer(prompt: readonly number[], options: GenerateOptions, watch: TokenWatch): Promise<GenerateResult>
}

const defaultInstructions = "Extract the data of the text above. Copy every text as it is written there."

/** See `Engine.extract`. */
export async function extract<Schema>(
  host: ExtractHost,
  source: string,
  schema: Schema,
  options: ExtractOptions,
): Promise<Extraction<ValueOf<{ schema: Schema }>>> {
  checkOptions(options, extractFields)
  const messages = messagesOf(source, options)
  const constraint = readConstraint({ schema })!
  const input = { ...constraint.input, source } as ConstraintInput
  const { maxTokens, temperature, seed, signal, background, templateOptions, limits } = options
  const variables = { enable_thinking: false, ...templateOptions?.variables }
  const shown = {
    ...{ schemaInPrompt: true, signal, templateOptions: { ...templateOptions, variables } },
  }
  const prompt = await host.tokenize(messages, shown, input)
  const nulls = new NullWatch(host.vocabulary)
  const asked: GenerateOptions = {
    ...{ constraint: input, raw: true, confidence: true, temperature: temperature ?? 0 },
    ...{ maxTokens, seed, signal, background, limits },
  }
  const { text, fields, usage } = await host.answer(prompt, asked, nulls.see.bind(nulls))
  nulls.finish()
  const value = (await constraint.validate(text)) as ValueOf<{ schema: Schema }>
  return { value, text, usage, fields: fieldsOf(source, fields!, nulls.probabilities) }
}

function messagesOf(source: unknown, { instructions, messages }: ExtractOptions): readonly Message[] {
  if (typeof source !== "string") throw wrong("text", "it is not a text")
  if (!source.isWellFormed()) throw wrong("text", "it holds half a surrogate pair: remove or replace it")
  if (messages === undefined)
    return [{ role: "user", content: `${source}\n\n${instructions ?? defaultInstructions}` }]
  if (instructions !== undefined)
    throw wrong("instructions", "they are part of the prompt, and messages are the whole: leave one out")
  return messages
}

function fieldsOf(
  source: string,
  closed: readonly ClosedField[],
  nulls: ReadonlyMap<string, number>,
): Extraction["fields"] {
  const fields: Record<string, ExtractedField> = {}
  for (const { path, value, logprob, mass } of closed) {
    if (!isScalar(value)) continue
    fields[path] = {
      ...{ value, source: typeof value === "string" ? sourceOf(source, value) : null },
      ...{ confidence: Math.min(1, Math.exp(logprob!)), mass: mass!, pNull: nulls.get(path)! },
    }
  }
  return fields
}

function isScalar(value: unknown): value is ExtractedField["value"] {
  return value === null || typeof value !== "object"
}

function sourceOf(source: string, value: string): readonly [number, number] | null {
  const start = source.indexOf(value)
  return start < 0 ? null : [start, start + value.length]
}
