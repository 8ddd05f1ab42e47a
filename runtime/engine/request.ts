/**
 * The options of one generation, and their check before the first token: prompt against context,
 * budget, stops, sampling parameters.
 */

import { needsLogits } from "../../sampler/cpu.ts"
import {
  type LogitsProcessor,
  resolveParams,
  type SamplingOptions,
  type SamplingParams,
} from "../../sampler/index.ts"
import { RequestError, wrong } from "../errors.ts"
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
import type { TokenWatch } from "./sequence.ts"
import { readFirstTokens, readTrace } from "./trace.ts"

/**
 * A string is one user message (or, with `raw`, the text itself); a list of numbers is token ids.
 */
export type Prompt = string | readonly Message[] | readonly number[]

/**
 * The options of one request: sampling, at most one constraint, stops and budget. Every field is
 * optional.
 */
export interface GenerateOptions extends SamplingOptions, SearchOptions, ConstraintOptions, TurnOptions {
  /** Maximum tokens of an answer. Default: the rest of the context. */
  maxTokens?: number | null
  /**
   * Whether a `maxTokens` that does not fit into the context after the prompt is refused. If false,
   * the answer gets the rest of the context, and a warning says so. Default true.
   */
  strictMaxTokens?: boolean | null
  /**
   * Whether the answers give way: while a request without it waits, they get no slot. An answer
   * that has a slot keeps it. Default false.
   */
  background?: boolean | null
  stop?: string | readonly string[] | null
  /**
   * Regular expressions: the answer ends before the first match in the written text. A match has at
   * most 256 UTF-16 units.
   */
  stopRegex?: string | RegExp | readonly (string | RegExp)[] | null
  /**
   * Without a constraint: ends the answer after the first whole JSON object or array, XML element
   * or JSON of a tool call.
   */
  stopWhen?: StopWhenKind | null
  /**
   * Ends the answer when its last tokens are the same pattern of `min` to `max` tokens, `count`
   * times.
   */
  repetitionDetection?: RepetitionOptions | null
  /** Where events may end: at any token (default), or only between words. */
  streamGranularity?: "token" | "word" | null
  /**
   * What happens if the budget ends inside a constrained answer: `truncate` (default) cuts it;
   * `close` draws only tokens after which the rest still fits, so that the answer is complete. A
   * budget below the shortest answer is refused.
   */
  onLength?: "truncate" | "close" | null
  /** Whether the answer keeps the stop string that ended it. */
  includeStopStrInOutput?: boolean
  /** Without a constraint: continues after an end of sequence. */
  ignoreEos?: boolean
  /** Number of answers. */
  n?: number | null
  /**
   * Returns the log-probabilities of the prompt's own tokens, with 0 to 20 alternatives each: the
   * model's prediction for each token given those before it, regardless of the constraint. The
   * prompt is computed anew, and `maxTokens: 0` is allowed. Default: none.
   */
  promptLogprobs?: number | null
  /**
   * For an engine with speculation: number of proposed tokens per step, 0 for none. Default: the
   * engine's.
   */
  draftTokens?: number | null
  /**
   * How drafts are verified. `match` (default): the tokens are those of an engine without
   * speculation. `reject`: only the distribution of the tokens is the same.
   */
  verify?: "match" | "reject" | null
  /**
   * Text that parts of the answer may repeat: prompt lookup searches it first for drafts. It
   * changes no token.
   */
  prediction?: string | null
  /**
   * What happens if the constraint leaves only one text: `canonical` (default) writes it in the
   * tokenizer's own tokens, without running the model for each; `none` lets the model choose the
   * tokens. If a request bans or biases tokens, the model always chooses.
   */
  forcing?: "canonical" | "none" | null
  /**
   * Whether to heal the prompt's last tokens (token healing), for requests with a constraint: the
   * model writes the last tokens of the prompt again if a longer token could cover them and reach
   * past the end of the prompt. The text of the answer starts after the prompt; its tokens include
   * those written again. Default false.
   */
  heal?: boolean | null
  /**
   * Whether the prompt is the text itself, or its tokens, and the answer continues it: without a
   * template and without a turn.
   */
  raw?: boolean
  /** For a raw text: whether text that spells a control token becomes that token. Default true. */
  parseSpecial?: boolean | null
  /** For a raw text: whether the model's begin token is written before it. Default true. */
  addSpecialTokens?: boolean | null
  /**
   * Whether to append the JSON Schema of the constraint to the system message; its tokens count as
   * the prompt's. Default false.
   */
  schemaInPrompt?: boolean | null
  /**
   * Whether each event reports the changes of the values of a JSON text: of the answer, and of the
   * arguments of calls.
   */
  fields?: boolean | null
  /**
   * Whether each closed value reports how sure the model was of it. Forced tokens are then run
   * through the model. Default false; true implies `fields`.
   */
  confidence?: boolean | null
  /**
   * Whether to report how each token came about and what the constraint's mask did to the model's
   * distribution. A number, from 1 to 64, is the length of the lists of likely tokens; true is 5.
   * Default false. Each drawn token costs some passes over the logits.
   */
  trace?: boolean | number | null
  /**
   * Tokens with which every answer begins. They count as tokens of the answer, and each must be
   * allowed at its place: an answer that one of them does not fit ends with an error. Default none.
   */
  firstTokens?: readonly number[] | null
  /**
   * Functions of the caller that change logits: each gets the logits of every token that is drawn,
   * after the constraint and the penalties and before the temperature, and may change them or
   * forbid tokens; tokens that the constraint forbids stay forbidden. They run in this thread, one
   * after the other. If one throws, writes NaN or forbids every token, the answer ends with that
   * error, and no other answer does. There are no drafts, and no text is forced as with `forcing:
   * "none"`. Processors are not called for a token that has no alternative.
   */
  processors?: readonly LogitsProcessor[] | null
  /** Whether the report is made during the compilation. Default: it is made when it is read. */
  report?: boolean | null
  signal?: AbortSignal | undefined
  /** Tools, documents and variables of the chat template. */
  templateOptions?: TemplateOptions
}

export interface ReadRequest {
  /** Whether the answers wait behind those of other requests. */
  readonly isBackground: boolean
  readonly promptIds: readonly number[]
  /** Whether the answer continues the prompt's text. */
  readonly continues: boolean
  readonly params: SamplingParams
  readonly processors: readonly LogitsProcessor[]
  readonly stops: StopStrings
  /** Null if the text is the whole answer. */
  readonly turn: RequestTurn | null
  /** Null if there is neither a constraint nor a pattern. */
  readonly walk: WalkRequest | null
  /** Whether verdicts include the forced runs that follow their tokens. */
  readonly takesRuns: boolean
  readonly fields: boolean
  readonly confidence: boolean
  /** Number of tokens in each list of a trace; 0 for no trace. */
  readonly traceTokens: number
  readonly firstTokens: readonly number[]
  /** Only together with `confidence`. */
  readonly watch?: TokenWatch
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
  /** Null if the answers are drawn. */
  readonly beams: BeamSettings | null
  /**
   * Number of alternatives for each token of the prompt; null if no log-probabilities are
   * requested.
   */
  readonly promptLogprobs: number | null
  readonly draftTokens: number
  readonly verify: Verify
  readonly predictionIds: readonly number[]
}

/** The properties of an engine that a request is checked against. */
export interface RequestContext {
  readonly tokenizer: Tokenizer
  readonly prompts: PromptEncoder
  readonly contextLength: number
  /** The seed for a request without one. */
  readonly seed: bigint
  /** Maximum tokens of a draft; 0 if the engine makes none. */
  readonly maxDraftTokens: number
  /** The constraint of the answer. */
  readonly constraint?: Constraint | null
  readonly style: ModelStyle
}

/** Checks a request and returns it. Rejects with RequestError, SamplingError and AbortError. */
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
  // In a turn, one grammar constrains the whole turn and contains the answer's constraint.
  const constraint = turn === null ? asked : turn.constraint
  const isConstrained = constraint !== null
  const heals = readHeal(options.heal, isConstrained)
  const promptLogprobs = readPromptLogprobs(options.promptLogprobs)
  const { maxTokens, warnings } = readBudget(options, promptIds.length, contextLength)
  if (maxTokens === 0 && count > 1) {
    throw wrong("n", `${count} answers with max_tokens 0 would all be the same: ask for one`)
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
    isBackground: options.background ?? false,
    continues: options.raw ?? false,
    turn,
    walk: isConstrained || walk.stopRegexes.length > 0 ? walk : null,
    takesRuns: isConstrained && walk.forces && walk.takesForced,
    fields: (options.fields ?? false) || confidence,
    traceTokens: readTrace(options.trace, beams !== null),
    firstTokens: readFirstTokens(options.firstTokens, {
      ...{ maxTokens, params, width: context.tokenizer.vocabulary.width, isSearch: beams !== null },
    }),
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
    // Processors may depend on how often they are called, so there are no drafts with them.
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
 * Returns null for a raw text: it is not a turn of an assistant unless tools or reasoning are
 * requested.
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
    // The first token of a prompt is never healed.
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

/** Returns the number of calls in the messages of a prompt. */
function callsIn(prompt: Prompt): number {
  if (typeof prompt === "string") return 0
  return (prompt as readonly (Message | number)[]).reduce<number>(
    (count, each) => count + (typeof each === "number" ? 0 : (each.tool_calls?.length ?? 0)),
    0,
  )
}

/** Returns the number of requested answers. Throws RequestError. */
export function readCount({ n }: GenerateOptions): number {
  return integer("n", n ?? 1, 1, 128)
}

/**
 * Returns whether the request bans or biases single tokens: then every token is drawn, even if it
 * is forced.
 */
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
  if (ids.length === 0) throw wrong("prompt", "it has no token; the model needs one to begin from")
  for (const id of ids) integer("prompt", id, 0, tokenizer.vocabulary.width - 1)
  return ids
}

/**
 * Returns the tokens of a prompt, possibly none. Rejects with RequestError, AbortError and
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
  // If messages are not allowed, an empty list counts as token ids.
  const isIds =
    typeof prompt !== "string" && (prompt.length === 0 ? options.raw : typeof prompt[0] === "number")
  if (options.schemaInPrompt && (isIds || options.raw)) {
    throw wrong(
      "schema_in_prompt",
      "a prompt of raw text or token ids has no system message; send messages, or leave it out",
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
    throw wrong(
      "min_tokens",
      `${minTokens} is more than max_tokens, ${maxTokens}: lower it or raise max_tokens`,
    )
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
  throw wrong(param, `${value} is not an integer ${bound}`)
}

function listOf<Item>(value: Item | readonly Item[] | null | undefined): readonly Item[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value as Item]
}

function readStopWhen(value: unknown, isConstrained: boolean): StopWhenKind | null {
  if (value === undefined || value === null) return null
  const kind = oneOf("stop_when", value, stopWhenKinds)
  if (!isConstrained) return kind
  throw wrong(
    "stop_when",
    `${kind} ends text without a constraint, and a constraint ends by itself: leave one out`,
  )
}

function readConfidence({ confidence, fields }: GenerateOptions): boolean {
  if (!confidence || fields !== false) return confidence ?? false
  throw wrong("confidence", "it is reported with closed values, and fields is false: leave one out")
}

function readPromptLogprobs(value: number | null | undefined): number | null {
  return value === undefined || value === null ? null : integer("prompt_logprobs", value, 0, 20)
}

function readProcessors(processors: GenerateOptions["processors"]): readonly LogitsProcessor[] {
  if (processors === undefined || processors === null) return []
  if (Array.isArray(processors) && processors.every((each) => typeof each === "function")) return processors
  throw wrong("processors", "it is not a list of functions (logits, row) => void")
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
  throw wrong(
    "heal",
    "true rewrites the end of a prompt so that it fits the constraint, and there is no constraint; add one (a regex of the expected text), or leave it out",
  )
}

/** Returns the value, or the first choice if it is missing. */
function oneOf<Choice extends string>(param: string, value: unknown, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === (value ?? choices[0]))
  if (found !== undefined) return found
  throw wrong(param, `${JSON.stringify(value)} is not ${choices.join(" or ")}`)
}
