/**
 * What a caller may ask of one generation, and the check of all of it before the first token:
 * prompt against context, budget, stops, sampling parameters.
 */

import { needsLogits } from "../../sampler/cpu.ts"
import {
  type LogitsProcessor,
  resolveParams,
  type SamplingOptions,
  type SamplingParams,
} from "../../sampler/index.ts"
import { RequestError } from "../errors.ts"
import { promptTailLength, type WalkRequest } from "../guides/opening.ts"
import type { Message, TemplateOptions } from "../model/template.ts"
import type { Tokenizer } from "../model/tokenizer.ts"
import type { PromptEncoder, PromptTime } from "../prompt/encoder.ts"
import { showSchema } from "../prompt/shownschema.ts"
import { type Constraint, type ConstraintInput, type ConstraintOptions, readPolicies } from "../schema.ts"
import type { Verify } from "../speculation/draft.ts"
import { checkRepetition, type RepetitionOptions } from "../stops/repetition.ts"
import { StopStrings } from "../stops/stops.ts"
import { type StopWhenKind, stopWhenKinds } from "../stops/stopwhen.ts"
import type { TurnOptions } from "../turn/options.ts"
import type { ModelStyle } from "../turn/style.ts"
import { openTurn, type RequestTurn, templateOptionsOf } from "../turn/turn.ts"
import { type BeamSettings, readBeams, type SearchOptions } from "./beamoptions.ts"

/** A string is one user message (or, with `raw`, the very text); a list of numbers is token ids. */
export type Prompt = string | readonly Message[] | readonly number[]

/**
 * What a caller may ask of one request, beside the prompt: sampling, at most one constraint, ends
 * and budget. Every field is optional.
 */
export interface GenerateOptions extends SamplingOptions, SearchOptions, ConstraintOptions, TurnOptions {
  /** Most tokens of an answer. Default: the rest of the context. */
  maxTokens?: number | null
  /**
   * Whether a `maxTokens` that the context cannot hold behind the prompt is refused. False: the
   * answer gets what is left of the context, and a warning says so. Default true.
   */
  strictMaxTokens?: boolean | null
  stop?: string | readonly string[] | null
  /**
   * Regular expressions: the answer ends before the first match, of at most 256 units, in what has
   * been written.
   */
  stopRegex?: string | RegExp | readonly (string | RegExp)[] | null
  /**
   * Without a constraint: end with the first whole JSON object or array, XML element or JSON of a
   * tool call.
   */
  stopWhen?: StopWhenKind | null
  /** End when the last tokens are `count` times the same pattern of `min` to `max` tokens. */
  repetitionDetection?: RepetitionOptions | null
  /** Where events may end: anywhere (default), or at words. */
  streamGranularity?: "token" | "word" | null
  /**
   * When the budget ends inside a constrained answer: `truncate` (default) cuts it; `close` draws
   * only tokens after which the rest still fits, so that the answer is complete. A budget below the
   * shortest answer is refused.
   */
  onLength?: "truncate" | "close" | null
  /** Whether the answer keeps the stop string that ended it. */
  includeStopStrInOutput?: boolean
  /** Without a constraint: go on after an end of sequence. */
  ignoreEos?: boolean
  /** How many answers. */
  n?: number | null
  /**
   * Log-probabilities of the prompt's own tokens, with 0 to 20 alternatives each: the model's
   * prediction for each, given those before it, whatever the constraint. The prompt is computed
   * anew, and `maxTokens: 0` is allowed. Default: none.
   */
  promptLogprobs?: number | null
  /** For an engine with speculation: proposed tokens a step, 0 for none. Default: the engine's. */
  draftTokens?: number | null
  /**
   * How drafts are judged. `match` (default): the tokens are those of an engine without
   * speculation; `reject`: their law is.
   */
  verify?: "match" | "reject" | null
  /**
   * Text that the answer may repeat in parts: prompt lookup finds its drafts there first. It
   * changes no token.
   */
  prediction?: string | null
  /**
   * What happens if the constraint leaves one text: `canonical` (default) writes it in the
   * tokenizer's own tokens, without a run of the model for each; `none` lets the model choose the
   * tokens. Requests that ban or bias tokens always let the model choose.
   */
  forcing?: "canonical" | "none" | null
  /**
   * Token healing, for requests with a constraint: the model writes the last tokens of the prompt
   * again if a longer token could cover them and reach past the end of the prompt. The text of the
   * answer starts after the prompt; its tokens include those written again. Default false.
   */
  heal?: boolean | null
  /**
   * The prompt is the text itself, or its tokens, and the answer goes on with it: no template, no
   * turn.
   */
  raw?: boolean
  /** For a raw text: whether text that spells a control token is that token. Default true. */
  parseSpecial?: boolean | null
  /** For a raw text: whether the model's begin token is written before it. Default true. */
  addSpecialTokens?: boolean | null
  /**
   * Append the JSON Schema of the constraint to the system message; its tokens count as the
   * prompt's. Default false.
   */
  schemaInPrompt?: boolean | null
  /**
   * Report with each event the changes of the values of a JSON text: of the answer, and of the
   * arguments of calls.
   */
  fields?: boolean | null
  /**
   * Report with each closed value how sure the model was of it. Forced tokens are then run through
   * the model. Default false; true implies `fields`.
   */
  confidence?: boolean | null
  /**
   * Rules of the caller: each sees the logits of every token that is drawn, behind the constraint
   * and the penalties, and may change them or ban tokens by -Infinity; what the constraint denies
   * stays out. They run in this thread, one after the other; an error of theirs ends the answer.
   * Nothing is drafted, and a token that nothing else can stand for is taken without them.
   */
  processors?: readonly LogitsProcessor[] | null
  /** Make the report along with the compilation. Default: it is made when it is read. */
  report?: boolean | null
  signal?: AbortSignal | undefined
  /** Tools, documents and variables of the chat template. */
  templateOptions?: TemplateOptions
}

export interface ReadRequest {
  readonly promptIds: readonly number[]
  /** The answer goes on with the prompt's text. */
  readonly continues: boolean
  readonly params: SamplingParams
  readonly processors: readonly LogitsProcessor[]
  readonly stops: StopStrings
  /** Null: the text is the answer. */
  readonly turn: RequestTurn | null
  /** Null: there is neither a constraint nor a pattern. */
  readonly walk: WalkRequest | null
  /** Verdicts include the forced runs behind their tokens. */
  readonly takesRuns: boolean
  readonly fields: boolean
  readonly confidence: boolean
  readonly hasPatterns: boolean
  readonly stopWhen: StopWhenKind | null
  readonly repetition: { min: number; max: number; count: number } | null
  readonly byWords: boolean
  readonly stopTokenIds: ReadonlySet<number>
  readonly closes: boolean
  readonly bansWords: boolean
  readonly includesStop: boolean
  readonly ignoresEnd: boolean
  readonly minTokens: number
  readonly maxTokens: number
  /** The parts of the request that were changed or left out. */
  readonly warnings: readonly string[]
  readonly count: number
  /** Null: the answers are drawn. */
  readonly beams: BeamSettings | null
  /** Alternatives of each token of the prompt; null: no log-probabilities of it. */
  readonly promptLogprobs: number | null
  readonly draftTokens: number
  readonly verify: Verify
  readonly predictionIds: readonly number[]
}

/** The parts of an engine that a request is checked against. */
export interface RequestContext {
  readonly tokenizer: Tokenizer
  readonly prompts: PromptEncoder
  readonly contextLength: number
  /** The seed of a request without one. */
  readonly seed: bigint
  /** 0: the engine drafts nothing. */
  readonly maxDraftTokens: number
  /** The constraint of the answer. */
  readonly constraint?: Constraint | null
  readonly style: ModelStyle
}

/** Rejects with RequestError, SamplingError and AbortError. */
export async function readRequest(
  prompt: Prompt,
  options: GenerateOptions,
  context: RequestContext,
): Promise<ReadRequest> {
  const { prompts, contextLength, maxDraftTokens, constraint: asked = null } = context
  const params = readSampling(options, context)
  const count = readCount(options)
  const beams = readBeams(options)
  const stops = new StopStrings(listOf(options.stop))
  const promptIds = await encodePrompt(prompt, options, context, asked?.input ?? null)
  const turn = readTurn(prompt, options, promptIds, context)
  // A grammar constrains the whole turn, with the answer's constraint inside.
  const constraint = turn === null ? asked : turn.constraint
  const isConstrained = constraint !== null
  const heals = readHeal(options.heal, isConstrained)
  const promptLogprobs = readPromptLogprobs(options.promptLogprobs)
  const { maxTokens, warnings } = readBudget(options, promptIds.length, contextLength)
  if (maxTokens === 0 && count > 1) {
    const message = `n: ${count} answers of max_tokens 0 have nothing to differ in: ask for one`
    throw new RequestError("invalid_value", message, "n")
  }
  const processors = readProcessors(options.processors)
  const forces = oneOf("forcing", options.forcing, ["canonical", "none"]) === "canonical"
  const confidence = readConfidence(options)
  const minTokens = readLeast(options, maxTokens, { promptTokens: promptIds.length, contextLength })
  const onLength = options.onLength ?? (turn?.hasCalls ? "close" : null)
  const closes = oneOf("on_length", onLength, ["truncate", "close"]) === "close"
  const read = { promptIds, params, processors, stops, closes, maxTokens, confidence }
  const walk = walkOf(read, options, { ...context, constraint, heals, forces })
  return {
    ...read,
    continues: options.raw ?? false,
    turn,
    walk: isConstrained || walk.stopRegexes.length > 0 ? walk : null,
    takesRuns: isConstrained && walk.forces && walk.takesForced,
    fields: (options.fields ?? false) || confidence,
    hasPatterns: walk.stopRegexes.length > 0,
    stopWhen: readStopWhen(options.stopWhen, isConstrained),
    repetition: options.repetitionDetection ? checkRepetition(options.repetitionDetection) : null,
    byWords: oneOf("stream_granularity", options.streamGranularity, ["token", "word"]) === "word",
    stopTokenIds: new Set(options.stopTokenIds),
    bansWords: walk.badWords.length > 0,
    includesStop: options.includeStopStrInOutput ?? false,
    ignoresEnd: options.ignoreEos ?? false,
    minTokens,
    warnings,
    count,
    beams,
    promptLogprobs,
    // Processors may depend on how often they are called, so nothing is drafted beside them.
    draftTokens: processors.length > 0 ? 0 : readDraftTokens(options.draftTokens, maxDraftTokens),
    verify: oneOf("verify", options.verify, ["match", "reject"]),
    predictionIds:
      maxDraftTokens > 0 && options.prediction
        ? await prompts.encode({ kind: "part", text: options.prediction }, options.signal)
        : [],
  }
}

function readSampling(
  options: GenerateOptions,
  { tokenizer, prompts, seed }: RequestContext,
): SamplingParams {
  const { width, endIds } = tokenizer.vocabulary
  const encode = prompts.wordEncoder()
  const params = resolveParams(options, {
    width,
    endIds,
    seed,
    encodeBadWord: (text) => [encode(text), encode(` ${text}`)],
    encodeText: encode,
    encodeBreaker: (text) => [encode(text)],
  })
  if (!params.contrastive) return params
  throw new RequestError(
    "unsupported_parameter",
    "contrastive: it needs the logits of a second model, and this engine runs one: leave it out",
    "contrastive",
  )
}

/**
 * Returns null for a raw text, which is no turn of an assistant unless tools or reasoning are asked
 * for.
 */
function readTurn(
  prompt: Prompt,
  options: GenerateOptions,
  promptIds: readonly number[],
  { tokenizer, constraint = null, style }: RequestContext,
): RequestTurn | null {
  if (options.raw && !options.tools?.length && !options.reasonUntil) return null
  return openTurn(options, style, {
    promptIds,
    vocabulary: tokenizer.vocabulary,
    constraint,
    policies: readPolicies(options),
    closes: options.onLength === "close",
    callsBefore: callsIn(prompt),
  })
}

function walkOf(
  read: Pick<
    ReadRequest,
    "promptIds" | "params" | "processors" | "stops" | "closes" | "maxTokens" | "confidence"
  >,
  options: GenerateOptions,
  context: Pick<RequestContext, "tokenizer" | "contextLength"> & {
    constraint: Constraint | null
    heals: boolean
    forces: boolean
  },
): WalkRequest {
  const { promptIds, params, processors, stops, closes, maxTokens, confidence } = read
  const { tokenizer, contextLength, constraint, heals, forces } = context
  return {
    constraint: constraint && { input: constraint.input, policies: constraint.policies },
    promptTail: promptIds.slice(-promptTailLength(tokenizer.vocabulary)),
    // The first token of a prompt stays.
    maxHealed: heals ? promptIds.length - 1 : 0,
    forces: forces && !bans(params) && processors.length === 0,
    closes,
    maxTokens,
    contextLength,
    room: contextLength - promptIds.length,
    takesForced: !needsLogits(params) && !confidence,
    allowed: params.allowed,
    stopTokenIds: [...(options.stopTokenIds ?? [])],
    hasStops: stops.strings.length > 0,
    wantsReport: options.report ?? false,
    stopRegexes: listOf(options.stopRegex),
    badWords: constraint ? (options.badWords ?? []) : [],
  }
}

/** Calls that the messages of a prompt hold. */
function callsIn(prompt: Prompt): number {
  if (typeof prompt === "string") return 0
  return (prompt as readonly (Message | number)[]).reduce<number>(
    (count, each) => count + (typeof each === "number" ? 0 : (each.tool_calls?.length ?? 0)),
    0,
  )
}

/** How many answers are asked for. Throws RequestError. */
export function readCount({ n }: GenerateOptions): number {
  return integer("n", n ?? 1, 1, 128)
}

/** Whether the request bans or biases single tokens: then no token is written without a draw. */
function bans({ allowed, badWords, biasIds, noRepeatNgramSize }: SamplingParams): boolean {
  return allowed !== null || badWords.length > 0 || biasIds.length > 0 || noRepeatNgramSize > 0
}

async function encodePrompt(
  prompt: Prompt,
  options: GenerateOptions,
  { tokenizer, prompts }: Pick<RequestContext, "tokenizer" | "prompts">,
  constraint: ConstraintInput | null,
): Promise<readonly number[]> {
  const ids = await promptIdsOf(prompt, options, prompts, constraint)
  if (ids.length === 0) {
    throw new RequestError(
      "invalid_value",
      "prompt: it has no token; the model needs one to begin from",
      "prompt",
    )
  }
  for (const id of ids) integer("prompt", id, 0, tokenizer.vocabulary.width - 1)
  return ids
}

/**
 * The tokens of a prompt, of which there may be none. Rejects with RequestError, AbortError and
 * ModelError.
 */
export async function promptIdsOf(
  prompt: Prompt,
  options: GenerateOptions,
  prompts: PromptEncoder,
  constraint: ConstraintInput | null = null,
  spent: PromptTime = { ms: 0 },
): Promise<readonly number[]> {
  const { signal } = options
  // An empty list counts as ids if messages are not allowed.
  const isIds =
    typeof prompt !== "string" && (prompt.length === 0 ? options.raw : typeof prompt[0] === "number")
  if (options.schemaInPrompt && (isIds || options.raw)) {
    throw new RequestError(
      "invalid_value",
      "schema_in_prompt: a prompt of raw text or token ids has no system message; send messages, or leave it out",
      "schema_in_prompt",
    )
  }
  if (isIds) return prompt as readonly number[]
  if (options.raw) {
    if (typeof prompt === "string") {
      const { parseSpecial, addSpecialTokens } = options
      const how = { parseSpecial: parseSpecial ?? true, addSpecialTokens: addSpecialTokens ?? true }
      return prompts.encode({ kind: "raw", text: prompt, ...how }, signal, spent)
    }
    throw new RequestError(
      "invalid_value",
      "raw: messages have no raw form; send text or token ids",
      "prompt",
    )
  }
  const messages =
    typeof prompt === "string" ? [{ role: "user", content: prompt }] : (prompt as readonly Message[])
  const shown = options.schemaInPrompt ? showSchema(messages, constraint, prompts.maxUnits) : messages
  const template = templateOptionsOf(options, options.templateOptions)
  return prompts.encode({ kind: "messages", messages: shown, options: template }, signal, spent)
}

/**
 * Returns the budget of an answer, and a warning if it is less than the requested one. Throws
 * RequestError if the context has no room for an answer, or for the whole budget of a strict
 * request.
 */
function readBudget(
  { maxTokens: asked, strictMaxTokens, promptLogprobs }: GenerateOptions,
  promptTokens: number,
  contextLength: number,
): { maxTokens: number; warnings: readonly string[] } {
  const isSaid = asked !== undefined && asked !== null
  const judgesPrompt = promptLogprobs !== undefined && promptLogprobs !== null
  const maxTokens = isSaid
    ? integer("max_tokens", asked, judgesPrompt ? 0 : 1, Number.MAX_SAFE_INTEGER)
    : contextLength - promptTokens
  const room = contextLength - promptTokens
  const least = isSaid ? Math.min(maxTokens, 1) : 1
  // If the prompt alone is too long, no budget is small enough.
  if (room < least) throw overflow(promptTokens, null, contextLength)
  if (maxTokens <= room) return { maxTokens, warnings: [] }
  if (strictMaxTokens ?? true) throw overflow(promptTokens, maxTokens, contextLength)
  const told = `max_tokens: ${maxTokens} are more than the ${room} that ${promptTokens} tokens of the prompt leave of the context of ${contextLength}: the answer may have ${room}`
  return { maxTokens: room, warnings: [told] }
}

/**
 * Returns the least number of tokens of an answer. Throws RequestError if it is above the maximum.
 */
function readLeast(
  options: GenerateOptions,
  maxTokens: number,
  { promptTokens, contextLength }: { promptTokens: number; contextLength: number },
): number {
  const minTokens = integer("min_tokens", options.minTokens ?? 0, 0, Number.MAX_SAFE_INTEGER)
  if (minTokens <= maxTokens) return minTokens
  const room = contextLength - promptTokens
  if (minTokens <= room) {
    const message = `min_tokens: ${minTokens} is more than max_tokens, ${maxTokens}: lower it or raise max_tokens`
    throw new RequestError("invalid_value", message, "min_tokens")
  }
  throw new RequestError(
    "context_length_exceeded",
    `min_tokens: ${minTokens} is more than the ${room} tokens that ${promptTokens} tokens of the prompt leave of the context of ${contextLength}: shorten the prompt or lower min_tokens`,
    "min_tokens",
  )
}

function overflow(promptTokens: number, maxTokens: number | null, contextLength: number): RequestError {
  const sum = maxTokens === null ? "" : ` and max_tokens ${maxTokens}`
  const why = maxTokens === null ? ", which needs room for an answer: shorten the prompt" : ""
  const way = maxTokens === null ? "" : ": shorten the prompt or lower max_tokens"
  return new RequestError(
    "context_length_exceeded",
    `${promptTokens} prompt tokens${sum} are too many for the context of ${contextLength} tokens${why}${way}`,
    maxTokens === null ? "prompt" : "max_tokens",
    { contextLength, promptTokens, isCounted: true, maxTokens },
  )
}

function integer(param: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  const bound = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`
  throw new RequestError("invalid_value", `${param}: ${value} is not an integer ${bound}`, param)
}

function listOf<Item>(value: Item | readonly Item[] | null | undefined): readonly Item[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value as Item]
}

function readStopWhen(value: unknown, isConstrained: boolean): StopWhenKind | null {
  if (value === undefined || value === null) return null
  const kind = oneOf("stop_when", value, stopWhenKinds)
  if (!isConstrained) return kind
  const message = `stop_when: ${kind} ends text without a constraint, and a constraint ends by itself: leave one out`
  throw new RequestError("invalid_value", message, "stop_when")
}

function readConfidence({ confidence, fields }: GenerateOptions): boolean {
  if (!confidence || fields !== false) return confidence ?? false
  const message = "confidence: it is told with the values that close, and fields is false: leave one out"
  throw new RequestError("invalid_value", message, "confidence")
}

function readPromptLogprobs(value: number | null | undefined): number | null {
  return value === undefined || value === null ? null : integer("prompt_logprobs", value, 0, 20)
}

function readProcessors(processors: GenerateOptions["processors"]): readonly LogitsProcessor[] {
  if (processors === undefined || processors === null) return []
  if (Array.isArray(processors) && processors.every((each) => typeof each === "function")) return processors
  const message = "processors: it is not a list of functions (logits, row) => void"
  throw new RequestError("invalid_value", message, "processors")
}

function readDraftTokens(value: number | null | undefined, max: number): number {
  if (value === undefined || value === null) return max
  if (max > 0 || value === 0) return integer("draft_tokens", value, 0, max)
  throw new RequestError(
    "unsupported_parameter",
    `draft_tokens: ${value} asks for drafts, and this engine makes none: open it with speculation, or leave it out`,
    "draft_tokens",
  )
}

function readHeal(heal: boolean | null | undefined, isConstrained: boolean): boolean {
  if (!heal || isConstrained) return heal ?? false
  const message =
    "heal: true rewrites the end of a prompt by what the constraint lets follow, and there is none; add one, a regex of all you expect, or leave it out"
  throw new RequestError("invalid_value", message, "heal")
}

/** Returns the value, or the first choice if it is missing. */
function oneOf<Choice extends string>(param: string, value: unknown, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === (value ?? choices[0]))
  if (found !== undefined) return found
  const message = `${param}: ${JSON.stringify(value)} is not ${choices.join(" or ")}`
  throw new RequestError("invalid_value", message, param)
}
