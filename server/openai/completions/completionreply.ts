/**
 * The reply of `POST /v1/completions`: the generations of its prompts, as a whole or as a stream.
 *
 * A chunk of a stream holds one choice: its prompt if that is echoed, then text, then its finish
 * reason. The joined chunks equal the whole reply. The best of several answers are known only at
 * their end.
 */
import type { Choice, Engine, Generation, GenerationEvent } from "../../../runtime/index.ts"
import { eventNotes, notesOf } from "../chat/answer.ts"
import { closedOf, refuseFailure, warningsOf } from "../reply/finish.ts"
import { LongReply } from "../reply/longreply.ts"
import { spellSeed } from "../reply/seed.ts"
import { TraceCursor } from "../reply/trace.ts"
import { counts, sumUsage, usageOf } from "../reply/usage.ts"
import { type CompletionRequest, words } from "./completionfields.ts"
import { type LegacyRow, legacyLogprobs, promptRows, RowWriter } from "./legacylogprobs.ts"
import { together } from "./together.ts"

/** A prompt whose answers are generated. */
export interface Prompted {
  ids: readonly number[]
  /** The text of the prompt, if it is echoed. */
  text: string
  generation: Generation
}

/** Renders the generations of a request as a whole reply or as a stream. */
export class CompletionReply {
  private readonly engine: Engine
  private readonly request: CompletionRequest
  private readonly prompted: readonly Prompted[]
  /** The seed and the report, for the reply or its first chunk. */
  private readonly extension: Record<string, unknown>
  private readonly head: Record<string, unknown>

  constructor(engine: Engine, request: CompletionRequest, prompted: readonly Prompted[], seed: bigint) {
    this.engine = engine
    this.request = request
    this.prompted = prompted
    this.extension = {
      seed: spellSeed(seed),
      ...(request.report && { report: prompted[0].generation.report }),
    }
    this.head = {
      id: `cmpl-${crypto.randomUUID().replaceAll("-", "")}`,
      object: "text_completion",
      created: Math.floor(Date.now() / 1000),
      model: request.model,
      system_fingerprint: `fp_${engine.vocabulary.hash.slice(0, 12)}`,
    }
  }

  async whole(headers: Record<string, string>): Promise<Response> {
    const { n, bestOf, topLogprobs } = this.request
    const long = new LongReply()
    const results = await Promise.all(this.generations.map(({ result }) => result))
    for (const choice of results.flatMap(({ choices }) => choices)) refuseFailure(choice)
    const told = results.map(({ choices }) => (bestOf > n ? best(choices, n) : choices))
    const choices = told.flatMap((answers, prompt) =>
      answers.map((choice, j) => {
        const { text } = this.prompted[prompt]
        const rows = () => [
          ...this.promptRows(prompt),
          ...new RowWriter(this.engine.vocabulary, text.length).write(choice.logprobs ?? []),
        ]
        return {
          index: prompt * n + j,
          text: text + choice.text,
          logprobs:
            topLogprobs === null ? null : legacyLogprobs(rows(), (some, make) => long.list(some, make)),
          finish_reason: choice.finishReason,
          stop_reason: choice.stopReason,
          ...notesOf(choice, this.engine.vocabulary, long),
        }
      }),
    )
    const whole = {
      ...this.head,
      choices,
      usage: await this.usage(),
      tokenrail: { ...this.extension, ...(await this.warnings()), ...closedOf(told.flat()) },
    }
    return long.response(whole, headers)
  }

  async *chunks(): AsyncGenerator<unknown> {
    const { n, includeUsage, continuousUsage } = this.request
    const promptTokens = this.generations.reduce((sum, each) => sum + each.promptTokens, 0)
    let completionTokens = 0
    let unsaid: Record<string, unknown> = this.extension
    let unfinished = n * this.prompted.length
    const chunk = (index: number, text: string, more: object = {}, said: object = {}) => {
      const tokenrail = { ...unsaid, ...said }
      unsaid = {}
      const usage = continuousUsage ? counts(promptTokens, completionTokens) : null
      return {
        ...this.head,
        choices: [{ index, text, logprobs: null, finish_reason: null, ...more }],
        ...((includeUsage || continuousUsage) && { usage }),
        ...(Object.keys(tokenrail).length > 0 && { tokenrail }),
      }
    }
    const writers = new Map<number, RowWriter>()
    const traces = this.generations.map((each) => new TraceCursor(each, this.engine.vocabulary))
    try {
      for await (const [prompt, event] of this.events()) {
        const index = prompt * n + event.choice
        const { text } = this.prompted[prompt]
        if (event.type === "finish") refuseFailure(event)
        const writer = writers.get(index) ?? new RowWriter(this.engine.vocabulary, text.length)
        if (!writers.has(index)) {
          writers.set(index, writer)
          if (this.request.echo) yield chunk(index, text, this.logprobs(this.promptRows(prompt)))
        }
        if (event.type === "text") {
          completionTokens += event.tokens.length
          const rows = event.logprobs ?? []
          const notes = eventNotes(event, traces[prompt])
          if (event.text === "" && rows.length === 0 && !notes.tokenrail) continue
          yield chunk(index, event.text, { ...this.logprobs(writer.write(rows)), ...notes })
        } else if (event.type === "finish") {
          const { finishReason, stopReason } = event
          const said = { ...(--unfinished === 0 ? await this.warnings() : {}), ...closedOf([event]) }
          const end = {
            finish_reason: finishReason,
            stop_reason: stopReason,
            ...eventNotes(event, traces[prompt]),
          }
          yield chunk(index, "", end, said)
        }
      }
      if (includeUsage) yield { ...this.head, choices: [], usage: await this.usage() }
    } finally {
      cancelAll(this.generations)
    }
  }

  private get generations(): Generation[] {
    return this.prompted.map(({ generation }) => generation)
  }

  /**
   * Yields the events as they come. If log-probabilities of the prompt are requested, events of
   * other choices wait for the first one of choice 0, which tells that they are ready.
   */
  private async *events(): AsyncGenerator<readonly [prompt: number, event: GenerationEvent]> {
    const isJudged = this.request.options.promptLogprobs ?? null
    const held = new Map(
      isJudged === null ? [] : this.prompted.map((_, prompt) => [prompt, [] as GenerationEvent[]]),
    )
    for await (const [prompt, event] of together(this.generations)) {
      const waiting = held.get(prompt)
      if (waiting && event.choice > 0) {
        waiting.push(event)
        continue
      }
      yield [prompt, event]
      held.delete(prompt)
      for (const each of waiting ?? []) yield [prompt, each]
    }
  }

  private promptRows(prompt: number): LegacyRow[] {
    const { ids, text, generation } = this.prompted[prompt]
    const judged = this.request.echo ? generation.promptLogprobs : null
    return judged === null ? [] : promptRows(ids, judged, text, this.engine.vocabulary)
  }

  private logprobs(rows: readonly LegacyRow[]): object {
    return this.request.topLogprobs === null ? {} : { logprobs: legacyLogprobs(rows) }
  }

  private async usage(): Promise<object> {
    const results = await Promise.all(this.generations.map(({ result }) => result))
    return usageOf(sumUsage(results.map(({ usage }) => usage)), this.request)
  }

  /** Returns warnings about bans that the constraint overruled in any of the answers. */
  private async warnings(): Promise<object> {
    const results = await Promise.all(this.generations.map(({ result }) => result))
    const warnings = [...new Set(results.flatMap((result) => result.warnings))]
    return warningsOf({ warnings }, this.request, words)
  }
}

/**
 * Returns the `count` answers with the highest mean log-probability for each token, the best first.
 * An answer without tokens comes last.
 */
function best(choices: readonly Choice[], count: number): readonly Choice[] {
  const mean = ({ logprobs }: Choice): number =>
    logprobs?.length ? logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / logprobs.length : -Infinity
  return choices
    .map((choice) => ({ choice, mean: mean(choice) }))
    .sort((a, b) => (a.mean === b.mean ? a.choice.index - b.choice.index : b.mean - a.mean))
    .slice(0, count)
    .map(({ choice }) => choice)
}

/** Cancels the generations that are still running. */
export function cancelAll(generations: readonly Generation[]): void {
  for (const generation of generations) generation.cancel()
}
