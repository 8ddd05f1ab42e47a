/**
 * Routes walks: constraints that are plain data go to separate threads; a constraint that the
 * caller has compiled stays in this thread.
 */
import type { DraftedTokens } from "./draft.ts"
import type { Awaited, Guide, GuideHost, OpenedGuides } from "./guide.ts"
import type { WalkRequest } from "./opening.ts"
import type { Glimpse } from "./walk.ts"

export class RoutedGuides implements GuideHost {
  private readonly threaded: GuideHost
  private readonly local: GuideHost

  constructor(threaded: GuideHost, local: GuideHost) {
    this.threaded = threaded
    this.local = local
  }

  get description(): string {
    return this.threaded.description
  }

  async open(request: WalkRequest, count: number, signal?: AbortSignal): Promise<OpenedGuides> {
    const { constraint } = request
    const isPlain = constraint === null || "kind" in constraint.input
    if (!isPlain) return this.local.open(request, count)
    try {
      return await this.threaded.open(request, count, signal)
    } catch (error) {
      // The request has a schema with functions, which cannot be sent in a message.
      if ((error as Error).name !== "DataCloneError") throw error
      return this.local.open(request, count)
    }
  }

  begin(guide: Guide, slot: number): void {
    guide.host.begin(guide, slot)
  }

  accept(guide: Guide, token: number, ahead: number): void {
    guide.host.accept(guide, token, ahead)
  }

  look(guide: Guide): void {
    guide.host.look(guide)
  }

  flush(): void {
    this.threaded.flush()
  }

  prepare(guides: readonly Guide[]): void {
    const own = guides.filter(({ host }) => host === this.local)
    if (own.length > 0) this.local.prepare(own)
    this.threaded.prepare([])
  }

  async arrived(guides: readonly Guide[], what: Awaited, ms: number): Promise<void> {
    const own = guides.filter(({ host }) => host === this.local)
    if (own.length > 0) await this.local.arrived(own, what, ms)
    const others = own.length > 0 ? guides.filter(({ host }) => host !== this.local) : guides
    if (others.length > 0) await this.threaded.arrived(others, what, ms)
  }

  draft(guide: Guide, proposed: readonly number[], bound: number): Promise<DraftedTokens | undefined> {
    return guide.host.draft(guide, proposed, bound)
  }

  glimpse(guide: Guide, tokens: readonly number[]): Promise<Glimpse | undefined> {
    return guide.host.glimpse(guide, tokens)
  }

  release(guide: Guide): void {
    guide.host.release(guide)
  }

  isBusy(isBusy: boolean): void {
    this.threaded.isBusy(isBusy)
  }

  async close(): Promise<void> {
    await Promise.all([this.threaded.close(), this.local.close()])
  }
}
