/**
 * A conversation with a model: its messages, and the settings of the next answer.
 *
 * A question whose answer fails is forgotten, so that the conversation is always one that the
 * model's template accepts. An answer that was stopped stays, with what was written so far.
 */
import { onAbort } from "../../../runtime/aborts.ts"
import {
  AbortError,
  type CompileOptions,
  type Engine,
  type GenerateOptions,
  type GenerateResult,
  type GrammarInput,
  type Message,
  ModelError,
  type ToolCall,
} from "../../../runtime/index.ts"
import { assistantMessage } from "../../../runtime/turn/run.ts"

/** How the host of a conversation shows an answer. */
export interface Host {
  text(text: string): void
  reasoning(text: string): void
  /** Returns the result of a call; null to forget the question. */
  resultOf(call: ToolCall): Promise<string | null>
  /** Fires when the user stops the answer. */
  signal: AbortSignal
}

/** An answer, with the settings that it was made with. */
export interface Answer {
  readonly result: GenerateResult
  /** The messages that the model read. */
  readonly sent: readonly Message[]
  readonly constraint: GrammarInput | null
  readonly tools: readonly unknown[] | null
}

export interface Settings {
  readonly engine: Engine
  /** Sampling and length of all answers. */
  readonly sampling: GenerateOptions
  readonly policies: CompileOptions
  readonly compileMs: number
}

export class Conversation {
  readonly settings: Settings
  system: string | null = null
  tools: readonly unknown[] | null = null
  /** The seed of all answers; null: each draws its own. */
  seed: bigint | null = null
  /** The latest answer, null after a reset. */
  last: Answer | null = null
  private constraint: GrammarInput | null = null
  /** Without the system message. An answer that was stopped has `stopped: true`. */
  private readonly turns: Message[] = []

  constructor(settings: Settings) {
    this.settings = settings
  }

  get input(): GrammarInput | null {
    return this.constraint
  }

  /** Sets the constraint of the next answers. Throws GrammarError, and then keeps the old one. */
  constrain(input: GrammarInput | null): void {
    const { engine, policies, compileMs } = this.settings
    if (input !== null) engine.compile(input, { ...policies, limits: { compileMs } })
    this.constraint = input
  }

  /** All messages, with the system message. */
  messages(): Message[] {
    return this.system === null ? [...this.turns] : [{ role: "system", content: this.system }, ...this.turns]
  }

  /** Forgets the messages; the settings stay. */
  reset(): void {
    this.turns.length = 0
    this.last = null
  }

  /**
   * Asks a question, and after each answer with calls again with their results. Returns the last
   * answer, or null if nothing was written or `resultOf` gave up; then the question is forgotten.
   * Rejects as `Engine.start` does, and with the error that ended the answer.
   */
  async ask(question: string, host: Host): Promise<GenerateResult | null> {
    const before = this.turns.length
    let isKept = false
    try {
      this.turns.push({ role: "user", content: question })
      for (;;) {
        const result = await this.answer(host)
        if (result === null) return null
        const calls = result.toolCalls.filter(({ isComplete }) => isComplete)
        isKept = calls.length === 0
        if (isKept) return result
        if (!(await this.addResults(calls, host))) return null
      }
    } finally {
      if (!isKept) this.turns.length = before
    }
  }

  /** Writes one answer and adds it. Returns null if it was stopped before its first text. */
  private async answer(host: Host): Promise<GenerateResult | null> {
    const { engine, sampling, policies } = this.settings
    const { constraint, tools, seed } = this
    const sent = this.messages().map(({ stopped: _, ...message }) => message)
    const result = await this.stream(
      () =>
        engine.start(sent, {
          ...sampling,
          ...(seed !== null && { seed }),
          ...(constraint && { constraint, ...policies }),
          ...(tools && { tools }),
          // In a turn only the engine knows what was allowed.
          ...((tools || engine.model.thinks) && { trace: 1 }),
          signal: host.signal,
        }),
      host,
    )
    if (result === null) return null
    this.last = { result, sent, constraint, tools }
    const { text, toolCalls, finishReason, error, message } = result
    if (finishReason === "error") throw error ?? new ModelError(message ?? "the model failed")
    const isStopped = finishReason === "abort"
    if (isStopped && text === "") return null
    const calls = isStopped ? [] : toolCalls.filter(({ isComplete }) => isComplete)
    this.turns.push({ ...assistantMessage(text, calls), ...(isStopped && { stopped: true }) })
    return { ...result, toolCalls: calls }
  }

  private async stream(start: () => ReturnType<Engine["start"]>, host: Host): Promise<GenerateResult | null> {
    try {
      const generation = await start()
      for await (const event of generation) {
        if (event.type === "text") host.text(event.text)
        else if (event.type === "reasoning") host.reasoning(event.text)
      }
      return await generation.result
    } catch (error) {
      if (error instanceof AbortError && host.signal.aborted) return null
      throw error
    }
  }

  /** Adds the results of calls. Returns false if the host gives up. */
  private async addResults(calls: readonly ToolCall[], host: Host): Promise<boolean> {
    for (const call of calls) {
      const content = await host.resultOf(call)
      if (content === null) return false
      this.turns.push({ role: "tool", tool_call_id: call.id, name: call.name, content })
    }
    return true
  }
}

/** Returns a signal for one answer: `stop` fires it, and so does `outer`. */
export function stoppable(outer: AbortSignal): {
  signal: AbortSignal
  stop: () => void
  release: () => void
} {
  const own = new AbortController()
  const release = onAbort(outer, () => own.abort(outer.reason))
  return { signal: own.signal, stop: () => own.abort(), release }
}
