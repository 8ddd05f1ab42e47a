/**
 * A sequence's walk as the engine sees it: its questions and answers.
 *
 * The host decides who answers and when: this thread at once (`local.ts`), or another thread
 * (`threaded.ts`), whose late answers hold up no other sequence.
 */
import type { DraftedTokens } from "./draft.ts"
import type { Opening, WalkRequest } from "./opening.ts"
import type { Glimpse, Misfit, Outlook, Verdict } from "./walk.ts"

export class Guide {
  readonly host: GuideHost
  /** Answer to `accept`; reading it removes it. */
  verdict: Verdict | Misfit | undefined
  /** What may come next, until the token that is drawn from it is accepted. */
  outlook: Outlook | undefined
  /** Why there will be no more answers. */
  failure: Error | undefined
  /** Row of `outlook`'s mask. Shape [W]. */
  mask: Uint32Array | undefined

  constructor(host: GuideHost) {
    this.host = host
  }
}

export interface OpenedGuides {
  readonly opening: Opening
  readonly guides: readonly Guide[]
}

/** Answers of a guide that can be awaited. */
export type Awaited = "verdict" | "outlook"

export interface GuideHost {
  /** For the log. */
  readonly description: string
  /**
   * Compiles what the request asks for and opens `count` walks. Rejects with GrammarError,
   * RequestError and, when the signal fires, AbortError.
   */
  open(request: WalkRequest, count: number, signal?: AbortSignal): Promise<OpenedGuides>
  /**
   * The guide's sequence has got a slot: masks go into the row of that slot, and the first outlook
   * is requested.
   */
  begin(guide: Guide, slot: number): void
  /**
   * Moves on by a drawn token, as far as `Walk.accept` goes with `ahead`: a verdict comes, and an
   * outlook if the token fits. Sent by `flush`, or with the next `prepare` or `arrived`.
   */
  accept(guide: Guide, token: number, ahead: number): void
  /**
   * Asks for the outlook again: behind a run that was cut, or a mask that was narrowed. Sent by
   * `flush`.
   */
  look(guide: Guide): void
  flush(): void
  /** The outlooks of these guides are awaited next: finds them now, unless a thread does. */
  prepare(guides: readonly Guide[]): void
  /** Waits until all guides have answered, or `ms` milliseconds have passed. */
  arrived(guides: readonly Guide[], what: Awaited, ms: number): Promise<void>
  /** Undefined: not in time. */
  draft(guide: Guide, proposed: readonly number[], bound: number): Promise<DraftedTokens | undefined>
  glimpse(guide: Guide, tokens: readonly number[]): Promise<Glimpse | undefined>
  /** The guide's sequence has ended. */
  release(guide: Guide): void
  /** Whether requests are prepared or run: deferrable work is done while there are none. */
  isBusy(isBusy: boolean): void
  close(): Promise<void>
}

/** Whether the answer is there, or will never be. */
export function hasArrived(guide: Guide, what: Awaited): boolean {
  return guide.failure !== undefined || guide[what] !== undefined
}
