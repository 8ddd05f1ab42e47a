/**
 * An engine as `LanguageModel` of the Prompt API, which browsers have for their own models
 * (https://webmachinelearning.github.io/prompt-api). A program that is written for the one runs on
 * the other.
 */
import { inOwnWords } from "../../engine/fieldnames.ts"
import type { GenerateOptions } from "../../engine/request.ts"
import type { Message } from "../../model/template.ts"
import { exception, exceptionOf, quotaExceeded } from "./errors.ts"
import { type PromptMessage, readInput } from "./messages.ts"
import { type PromptSession, Session, type SessionEngine } from "./session.ts"

/** The kinds of inputs or outputs that a session expects. Languages have no effect. */
export interface ExpectedContent {
  readonly type: string
  readonly languages?: readonly string[]
}

/** Options that decide whether a session is possible. */
export interface AvailabilityOptions {
  /** 0 for the likeliest token; values above 2 count as 2. Default 1. */
  readonly temperature?: number
  /** The number of likeliest tokens that may be drawn. Default: that of `defaults`, or all. */
  readonly topK?: number
  readonly expectedInputs?: readonly ExpectedContent[]
  readonly expectedOutputs?: readonly ExpectedContent[]
  /** Not supported: `engine.run` calls tools. */
  readonly tools?: readonly unknown[]
}

/** The progress of a download; an engine that is open has nothing to download. */
export interface DownloadMonitor {
  addEventListener(
    type: string,
    listener: (event: { readonly loaded: number; readonly total: number }) => void,
  ): void
}

/** Options of a session. */
export interface SessionOptions extends AvailabilityOptions {
  /** Messages that the session begins with, and never forgets. */
  readonly initialPrompts?: readonly PromptMessage[]
  /** Ends the creation, and later the session. */
  readonly signal?: AbortSignal | undefined
  readonly monitor?: (monitor: DownloadMonitor) => void
}

/** The static methods of `LanguageModel`. */
export interface PromptModel {
  /** Returns `available`, or `unavailable` for contents that the model cannot read or write. */
  availability(options?: AvailabilityOptions): Promise<"available" | "unavailable">
  /** Returns a new session. Rejects with the exceptions of the specification. */
  create(options?: SessionOptions): Promise<PromptSession>
  /** Returns the defaults and the bounds of `topK` and `temperature`. */
  params(): Promise<{
    defaultTopK: number
    maxTopK: number
    defaultTemperature: number
    maxTemperature: number
  }>
}

const maxTemperature = 2

/**
 * Returns the engine as a `LanguageModel`. `defaults`: options of `engine.generate` for all
 * prompts, such as `maxTokens` and `seed`. The engine stays the caller's to close.
 */
export function languageModel(engine: SessionEngine, defaults: GenerateOptions = {}): PromptModel {
  const { width } = engine.model
  // The engine takes a topK of 0 or less for all tokens.
  const ownTopK = defaults.topK ?? 0
  const defaultTopK = ownTopK <= 0 ? width : Math.min(ownTopK, width)
  return {
    availability: async (options = {}) => (unsupported(options) === null ? "available" : "unavailable"),
    params: async () => ({
      ...{ defaultTopK, maxTopK: width },
      ...{ defaultTemperature: defaults.temperature ?? 1, maxTemperature },
    }),
    async create(options = {}) {
      const { signal, monitor, initialPrompts = [] } = options
      signal?.throwIfAborted()
      const fault = unsupported(options)
      if (fault !== null) throw exception("NotSupportedError", fault)
      const asked = options.temperature ?? defaults.temperature ?? 1
      const temperature = Math.min(atLeast("temperature", asked, 0), maxTemperature)
      const topK = Math.min(Math.floor(atLeast("topK", options.topK ?? defaultTopK, 1)), width)
      if (monitor) tellProgress(monitor)
      const begun = await beginningOf(engine, initialPrompts, defaults, signal)
      signal?.throwIfAborted()
      const session = new Session(engine, {
        ...{ ...begun, turns: [], temperature, topK },
        options: { ...defaults, temperature, topK },
      })
      if (signal) session.destroyOn(signal)
      return session
    },
  }
}

/** Returns the messages that a session begins with, and their tokens. */
async function beginningOf(
  engine: SessionEngine,
  prompts: readonly PromptMessage[],
  { tools, templateOptions }: GenerateOptions,
  signal: AbortSignal | undefined,
): Promise<{ initial: readonly Message[]; contextUsage: number }> {
  if (prompts.length === 0) return { initial: [], contextUsage: 0 }
  const { messages, prefix } = readInput(prompts, true)
  if (prefix !== null) throw exception("SyntaxError", "initialPrompts: a prefix belongs to a prompt")
  const own = signal ?? new AbortController().signal
  const template = { ...templateOptions, addGenerationPrompt: false }
  const options = { ...(tools && { tools }), templateOptions: template, signal: own }
  const ids = await engine.tokenize(messages, options).catch((error: unknown) => {
    throw exceptionOf(inOwnWords(error), own)
  })
  const { contextLength } = engine.model
  if (ids.length >= contextLength) throw quotaExceeded(ids.length, contextLength)
  return { initial: messages, contextUsage: ids.length }
}

/** Returns what the model cannot do of the options; null if it can do all of it. */
function unsupported({
  expectedInputs = [],
  expectedOutputs = [],
  tools = [],
}: AvailabilityOptions): string | null {
  const other = [...expectedInputs, ...expectedOutputs].find(({ type }) => type !== "text")
  if (other !== undefined) return `this model reads and writes text, and no ${other.type}`
  return tools.length > 0 ? "tools: a session calls none. Use engine.run, or leave them out" : null
}

function atLeast(name: string, value: number, least: number): number {
  if (value >= least) return value
  throw new RangeError(`${name}: ${value} is less than ${least}`)
}

/** Reports a download that has ended, as the specification says for a model that is there. */
function tellProgress(monitor: (monitor: DownloadMonitor) => void): void {
  const listeners: ((event: { loaded: number; total: number }) => void)[] = []
  monitor({
    addEventListener: (type, listener) => {
      if (type === "downloadprogress") listeners.push(listener)
    },
  })
  for (const loaded of [0, 1]) for (const listener of listeners) listener({ loaded, total: 1 })
}
