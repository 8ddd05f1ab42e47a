/**
 * Runs many prompts with the same options. Results come in the order of the prompts, and enough
 * prompts run at once to keep the slots busy.
 *
 * `for await (const result of engine.batch(prompts, options))` yields each result as soon as it and
 * all results before it are complete; `await engine.batch(prompts, options)` waits for all. The
 * first failure ends the batch with its error and cancels the rest.
 */

import type { GenerateOptions, Prompt } from "./request.ts"
import type { GenerateResult } from "./result.ts"

/** The part of an engine that answers one prompt. */
type Answer<Value> = (prompt: Prompt, signal: AbortSignal) => Promise<GenerateResult<Value>>

/**
 * The results of a batch: iterate over them, or await them all. Each iteration and each await runs
 * the batch again.
 */
export class Batch<Value = unknown> implements AsyncIterable<GenerateResult<Value>> {
  private readonly prompts: Iterable<Prompt>
  private readonly answer: Answer<Value>
  private readonly width: number
  private readonly signal: GenerateOptions["signal"]

  /** `width`: number of prompts that run at once. */
  constructor(
    prompts: Iterable<Prompt>,
    answer: Answer<Value>,
    width: number,
    signal: GenerateOptions["signal"],
  ) {
    this.prompts = prompts
    this.answer = answer
    this.width = width
    this.signal = signal
  }

  /** Leaving the loop early cancels the prompts that still run. */
  async *[Symbol.asyncIterator](): AsyncGenerator<GenerateResult<Value>, void, undefined> {
    const end = new AbortController()
    const signal = this.signal ? AbortSignal.any([this.signal, end.signal]) : end.signal
    const running: Promise<GenerateResult<Value>>[] = []
    try {
      for (const prompt of this.prompts) {
        const result = this.answer(prompt, signal)
        // Avoids an unhandled rejection: the loop throws the error when it reaches this result.
        result.catch(() => {})
        running.push(result)
        if (running.length >= this.width) yield await running.shift()!
      }
      while (running.length > 0) yield await running.shift()!
    } finally {
      end.abort()
    }
  }

  // biome-ignore lint/suspicious/noThenProperty: a batch may be awaited
  then<Done = GenerateResult<Value>[], Failed = never>(
    done?: ((results: GenerateResult<Value>[]) => Done | PromiseLike<Done>) | null,
    failed?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return this.all().then(done, failed)
  }

  private async all(): Promise<GenerateResult<Value>[]> {
    const results: GenerateResult<Value>[] = []
    for await (const result of this) results.push(result)
    return results
  }
}
