/**
 * Decisions: answers chosen among given options, with exact probabilities.
 *
 * The probability of an option is that of writing its text and ending, over all tokenisations
 * (`spelled.ts`), divided by the sum over all options. Every forward is a row of the engine's next
 * step, beside those of other requests. Logits do not depend on what else runs, so neither do the
 * answers.
 */

import { checkOptions, type Fields } from "../../grammar/options.ts"
import type { Vocabulary } from "../../mask/vocabulary.ts"
import { ModelError, RequestError, wrong } from "../errors.ts"
import { latin1OfText } from "../latin1.ts"
import type { Message, TemplateOptions } from "../model/template.ts"
import { Gate } from "./gate.ts"
import { type DecisionInput, promptOf } from "./prompt.ts"
import { decisionBounds, optionsOf, type Question, readQuestions } from "./questions.ts"
import { logSum, spell } from "./spelled.ts"
import { spellingsOf } from "./spellings.ts"

/** The options of `engine.decide`. Every field is optional. */
export interface DecideOptions {
  signal?: AbortSignal | undefined
  /** Whether the forwards wait until no other request waits for a slot. Default false. */
  background?: boolean | null
  /** Documents and variables of the chat template. */
  templateOptions?: TemplateOptions
}

const decideFields = {
  ...{ signal: "any", background: "boolean", templateOptions: "object" },
} as const satisfies Fields<DecideOptions>

interface Answered {
  /** The question's name; null if it has none. */
  readonly name: string | null
  /**
   * The part of the model's probability that all options together have: near 0 if the model would
   * rather write something else.
   */
  readonly mass: number
}

/** The answer to one question. Probabilities of its options sum to 1 within 1e-12. */
export type Answer =
  | ({ readonly type: "predicate"; readonly probability: number } & Answered)
  | ({
      readonly type: "choice"
      /** The likeliest value, the first of equal ones. */
      readonly choice: string | boolean
      /** Its probability. */
      readonly confidence: number
      readonly probabilities: readonly { readonly value: string | boolean; readonly probability: number }[]
    } & Answered)
  | ({
      readonly type: "score"
      /** The mean of the levels' values, weighted by their probabilities. */
      readonly score: number
      /** The probability of the likeliest level. */
      readonly confidence: number
      /** `value`: index of the level, from 0. */
      readonly probabilities: readonly {
        readonly label: string
        readonly value: number
        readonly probability: number
      }[]
    } & Answered)

/** The answers of `engine.decide`, in the order of the questions, and their cost. */
export interface Decisions {
  readonly answers: readonly Answer[]
  readonly usage: {
    /** Tokens of the prompts of all questions. */
    readonly promptTokens: number
    /** Those of them that were not computed again. */
    readonly cachedTokens: number
    /** Number of token sequences after which the model was asked. */
    readonly forwards: number
  }
}

/** A prompt that is ready to be continued. */
export interface Prompted {
  readonly ids: readonly number[]
  /** Returns the logits after the prompt and the `written` tokens. Shape [V]. */
  look(written: readonly number[]): Promise<{ logits: Float32Array; reusedCount: number }>
}

/** The parts of an engine that decisions need. */
export interface DecideHost {
  readonly vocabulary: Vocabulary
  readonly contextLength: number
  readonly slotCount: number
  /** Tokenizes messages and checks that they fit. */
  prompt(messages: readonly Message[], options: DecideOptions): Promise<Prompted>
}

/** See `Engine.decide`. */
export async function decide(
  host: DecideHost,
  input: DecisionInput,
  given: readonly Question[],
  options: DecideOptions,
): Promise<Decisions> {
  checkOptions(options, decideFields)
  checkInput(input)
  const questions = readQuestions(given)
  const prompts: Prompted[] = []
  for (const [index, question] of questions.entries()) {
    const path = `questions[${index}]`
    const prompted = await host.prompt(promptOf(input, question), options).catch((error) => {
      throw placed(error, path)
    })
    checkRoom(prompted, question, { path, contextLength: host.contextLength })
    prompts.push(prompted)
  }
  const spellings = spellingsOf(host.vocabulary)
  const usage = { promptTokens: 0, cachedTokens: 0, forwards: 0 }
  const looks = new Gate(host.slotCount)
  const answer = async (index: number): Promise<Answer> => {
    const { ids, look } = prompts[index]
    usage.promptTokens += ids.length
    const texts = optionsOf(questions[index]).map(({ text }) => text)
    const { logprobs, nodes, isComplete } = await spell(texts, {
      spellings,
      endIds: host.vocabulary.endIds,
      maxNodes: decisionBounds.spellings,
      look: async (written) => {
        const { logits, reusedCount } = await looks.run(() => look(written))
        if (written.length === 0) usage.cachedTokens += reusedCount
        return logits
      },
    })
    usage.forwards += nodes
    if (!isComplete) throw tooMany(index, questions[index])
    return answerOf(questions[index], logprobs)
  }
  // The first question computes the tokens that all prompts share.
  const answers = [await answer(0)]
  const parallel = new Gate(host.slotCount)
  const rest = prompts.slice(1).map((_, index) => parallel.run(() => answer(index + 1)))
  return { answers: answers.concat(await Promise.all(rest)), usage }
}

/** Returns the answer that the options' log-probabilities give. */
function answerOf(question: Question, logprobs: readonly number[]): Answer {
  const logMass = logSum(logprobs)
  if (logMass === Number.NEGATIVE_INFINITY)
    throw new ModelError("model_output: the model gives every option the probability 0")
  const probabilities = logprobs.map((logprob) => Math.exp(logprob - logMass))
  const confidence = Math.max(...probabilities)
  const best = probabilities.indexOf(confidence)
  const common = { name: question.name ?? null, mass: Math.exp(logMass) }
  switch (question.type) {
    case "predicate":
      return { type: "predicate", ...common, probability: probabilities[0] }
    case "choice":
      return {
        ...{ type: "choice", ...common, choice: question.choices[best].value, confidence },
        probabilities: question.choices.map(({ value }, at) => ({ value, probability: probabilities[at] })),
      }
    case "score":
      return {
        ...{ type: "score", ...common },
        score: probabilities.reduce((sum, probability, value) => sum + value * probability, 0),
        confidence,
        probabilities: question.levels.map(({ label }, value) => ({
          ...{ label, value, probability: probabilities[value] },
        })),
      }
  }
}

function checkInput(input: unknown): void {
  if (typeof input === "string" || (Array.isArray(input) && input.length > 0)) return
  throw wrong("input", "it is not a text or a list of messages")
}

/** Throws RequestError if a spelling of an option in single bytes does not fit into the context. */
function checkRoom(
  { ids }: Prompted,
  question: Question,
  { path, contextLength }: { path: string; contextLength: number },
): void {
  const longest = Math.max(...optionsOf(question).map(({ text }) => latin1OfText(text).length))
  if (ids.length + longest < contextLength) return
  throw new RequestError(
    "context_length_exceeded",
    `${path}: ${ids.length} tokens of its prompt and up to ${longest} of an option are too many for the context of ${contextLength} tokens: shorten the input or the question`,
    path,
  )
}

/** Returns the error of a question's prompt with its place. */
function placed(error: unknown, path: string): unknown {
  if (!(error instanceof RequestError) || error.code === "queue_full") return error
  return new RequestError(error.code, `${path}: ${error.message.replace(/^prompt: /, "")}`, path)
}

function tooMany(index: number, question: Question): RequestError {
  const field = question.type === "score" ? "levels" : "choices"
  const path = `questions[${index}].${field}`
  return wrong(
    path,
    `their probabilities need more than the bound of ${decisionBounds.spellings} spellings: shorten them, and put long texts into descriptions`,
  )
}
