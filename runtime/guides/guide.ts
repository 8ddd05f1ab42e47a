/**
 * A sequence's walk as the engine sees it: its questions and answers.
 *
 * The host decides who answers and when: this thread at once (`local.ts`), or another thread
 * (`threaded.ts`). A late answer of another thread does not delay other sequences.
 */
import type { DraftedTokens } from "./draft.ts"
import type { Opening, WalkRequest } from "./opening.ts"
import type { Glimpse, Misfit, Outlook, Verdict } from "./walk.ts"

export class Guide {
  readonly host: GuideHost
  /** Answer to `accept`; the reader of the answer sets it to undefined. */
  verdict: Verdict | Misfit | undefined
  /** The tokens that may come next, until the token that is drawn from it is accepted. */
  outlook: Outlook | undefined
  /** The error after which there will be no more answers. */
  failure: Error | undefined
  /** The row with the mask of `outlook`. Shape [W]. */
  mask: Uint32Array | undefined

  constructor(host: GuideHost) {
    this.host = host
  }
}

export interface OpenedGuides {
  readonly opening: Opening
  readonly guides: readonly Guide[]
}

/** The answers of a guide that can be awaited. */
export type Awaited = "verdict" | "outlook"

export interface GuideHost {
  /** A description of the host, for the log. */
  readonly description: string
  /**
   * Compiles the constraint and patterns of the request and opens `count` walks. Rejects with
   * GrammarError, RequestError and, if the signal fires, AbortError.
   */
  open(request: WalkRequest, count: number, signal?: AbortSignal): Promise<OpenedGuides>
  /**
   * Records that the guide's sequence has got a slot: masks go into the row of that slot, and the
   * first outlook is requested.
   */
  begin(guide: Guide, slot: number): void
  /**
   * Moves the walk by a drawn token, and further as `Walk.accept` does with `ahead`. The answers
   * are a verdict, and an outlook if the token fits. The request is sent by `flush`, or with the
   * next `prepare` or `arrived`.
   */
  accept(guide: Guide, token: number, ahead: number): void
  /**
   * Requests the outlook again: after a run that was cut, or a mask that was narrowed. Sent by
   * `flush`.
   */
  look(guide: Guide): void
  flush(): void
  /**
   * Announces that the outlooks of these guides are awaited next. Finds them now, unless another
   * thread does.
   */
  prepare(guides: readonly Guide[]): void
  /** Waits until all guides have answered, or `ms` milliseconds have passed. */
  arrived(guides: readonly Guide[], what: Awaited, ms: number): Promise<void>
  /** Returns a draft along the proposed tokens; undefined if it was not found in time. */
  draft(guide: Guide, proposed: readonly number[], bound: number): Promise<DraftedTokens | undefined>
  glimpse(guide: Guide, tokens: readonly number[]): Promise<Glimpse | undefined>
  /** Releases a guide after its sequence has ended. */
  release(guide: Guide): void
  /**
   * Tells the host whether requests are being prepared or run: deferrable work is done while there
   * are none.
   */
  isBusy(isBusy: boolean): void
  close(): Promise<void>
}

/** Returns whether the answer has arrived, or will never come. */
export function hasArrived(guide: Guide, what: Awaited): boolean {
  return guide.failure !== undefined || guide[what] !== undefined
}
