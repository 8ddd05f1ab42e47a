/**
 * A sequence's walk as the engine sees it: what was asked of it, and what has been answered.
 *
 * Who answers, and when, is the host's business: in this thread at once (`local.ts`), or in one of
 * its own (`threaded.ts`), where an answer may be late and never holds up anybody else.
 */
import type { DraftedTokens } from "./draft.ts"
import type { Opening, WalkRequest } from "./opening.ts"
import type { Glimpse, Misfit, Outlook, Verdict } from "./walk.ts"

export class Guide {
  readonly host: GuideHost
  /** Answer to `accept`; taken by who reads it. */
  verdict: Verdict | Misfit | undefined
  /** What may come next, until the token that is drawn from it is accepted. */
  outlook: Outlook | undefined
  /** Nothing more will be answered, and why. */
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

/** What a guide can be waited for. */
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
   * The guide's sequence has come into a slot: masks go into the row of that slot, and the first
   * outlook is asked for.
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
  /**
   * The outlooks of these guides are waited for next: time to find them, where nobody else does.
   */
  prepare(guides: readonly Guide[]): void
  /** Until all guides have been answered, or `ms` milliseconds have passed. */
  arrived(guides: readonly Guide[], what: Awaited, ms: number): Promise<void>
  /** Undefined: not in time. */
  draft(guide: Guide, proposed: readonly number[], bound: number): Promise<DraftedTokens | undefined>
  glimpse(guide: Guide, tokens: readonly number[]): Promise<Glimpse | undefined>
  /** The guide's sequence has ended. */
  release(guide: Guide): void
  /** Whether requests are prepared or run: what can wait is done while there are none. */
  isBusy(isBusy: boolean): void
  close(): Promise<void>
}

/** Whether the answer is there, or will never be. */
export function hasArrived(guide: Guide, what: Awaited): boolean {
  return guide.failure !== undefined || guide[what] !== undefined
}
