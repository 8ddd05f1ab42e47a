/**
 * Scores: the log-probabilities of given continuations of a prompt, token by token.
 *
 * A continuation is read in the tokenizer's own tokens; `decide.ts` sums over all tokenisations.
 * Each token costs one forward, after the tokens of the prompt, which are computed once.
 */
import { checkOptions, type Fields } from "../../grammar/options.ts"
import { ModelError, RequestError, wrong } from "../errors.ts"
import type { TemplateOptions } from "../model/template.ts"
import type { Prompted } from "./decide.ts"
import { Gate } from "./gate.ts"
import { decisionBounds } from "./questions.ts"
import { logSum } from "./spelled.ts"

/** The options of `engine.score`. Every field is optional. */
export interface ScoreOptions {
  /** Whether the prompt is the text itself, without a template. Default false. */
  raw?: boolean
  signal?: AbortSignal | undefined
  /** Whether the forwards wait until no other request waits for a slot. Default false. */
  background?: boolean | null
  /** Tools, documents and variables of the chat template. */
  templateOptions?: TemplateOptions
}

const scoreFields = {
  ...{ raw: "boolean", signal: "any", background: "boolean", templateOptions: "object" },
} as const satisfies Fields<ScoreOptions>

/** The log-probability of a continuation: natural logarithms. */
export interface Score {
  /** The sum over its tokens, without an end after them. */
  readonly logprob: number
  /** The log-probability of an end of sequence after its last token. */
  readonly endLogprob: number
  /** Its tokens, each given the prompt and the tokens before it. */
  readonly tokens: readonly { readonly token: number; readonly logprob: number }[]
}

/** The scores of `engine.score`, in the order of the texts, and their cost. */
export interface Scores {
  readonly scores: readonly Score[]
  readonly usage: {
    readonly promptTokens: number
    /** Those of them that were not computed again. */
    readonly cachedTokens: number
    /** Number of tokens of all texts. */
    readonly scoredTokens: number
  }
}

/** The parts of an engine that scores need. */
export interface ScoreHost {
  readonly contextLength: number
  readonly slotCount: number
  readonly endIds: readonly number[]
  prompt(): Promise<Prompted>
  encode(text: string): Promise<readonly number[]>
}

/** See `Engine.score`. */
export async function score(host: ScoreHost, texts: unknown, options: ScoreOptions): Promise<Scores> {
  checkOptions(options, scoreFields)
  const checked = readTexts(texts)
  const { ids, look } = await host.prompt()
  const spelled = await encodeAll(host, checked, ids.length)
  const looks = new Gate(host.slotCount)
  let cachedTokens = 0
  // The beginning of a text is copied at its turn: all of them together are quadratic in memory.
  const row = (tokens: readonly number[], end: number): Promise<Float32Array> =>
    looks.run(async () => {
      const { logits, reusedCount } = await look(tokens.slice(0, end))
      if (end === 0) cachedTokens = reusedCount
      return logits
    })
  // Computes the tokens of the prompt, which all texts share.
  const first = await row([], 0)
  const scores = await Promise.all(
    spelled.map(async (tokens) => {
      const rows = tokens.map(async (token, at) => ({
        token,
        logprob: logprobOf(at === 0 ? first : await row(tokens, at), [token]),
      }))
      const read = await Promise.all(rows)
      const endLogprob = logprobOf(await row(tokens, tokens.length), host.endIds)
      return { logprob: read.reduce((sum, { logprob }) => sum + logprob, 0), endLogprob, tokens: read }
    }),
  )
  const scoredTokens = spelled.reduce((sum, tokens) => sum + tokens.length, 0)
  return { scores, usage: { promptTokens: ids.length, cachedTokens, scoredTokens } }
}

function readTexts(given: unknown): readonly string[] {
  if (given === undefined || given === null)
    throw new RequestError("missing_required_parameter", "texts is missing", "texts")
  const { questions: most } = decisionBounds
  if (!Array.isArray(given) || given.length < 1 || given.length > most)
    throw wrong("texts", `it is not a list of 1 to ${most} texts`)
  for (const [index, text] of given.entries()) {
    if (typeof text !== "string" || text === "" || !text.isWellFormed())
      throw wrong(`texts[${index}]`, "it is not a text of at least one whole character")
  }
  return given
}

async function encodeAll(
  { encode, contextLength }: ScoreHost,
  texts: readonly string[],
  promptTokens: number,
): Promise<readonly (readonly number[])[]> {
  const spelled: (readonly number[])[] = []
  let count = 0
  for (const [index, text] of texts.entries()) {
    const path = `texts[${index}]`
    const tokens = await encode(text)
    count += tokens.length
    if (promptTokens + tokens.length >= contextLength) {
      const message = `${path}: ${promptTokens} tokens of the prompt and ${tokens.length} of the text are too many for the context of ${contextLength} tokens: shorten them`
      throw new RequestError("context_length_exceeded", message, path)
    }
    if (count > decisionBounds.scoredTokens)
      throw wrong(
        path,
        `the texts up to it have ${count} tokens, and the bound is ${decisionBounds.scoredTokens}: send fewer`,
      )
    spelled.push(tokens)
  }
  return spelled
}

function logprobOf(logits: Float32Array, ids: readonly number[]): number {
  const norm = logSum(logits)
  if (!Number.isFinite(norm)) throw new ModelError("model_output: the model's logits are not numbers")
  return logSum(ids.map((id) => logits[id])) - norm
}
