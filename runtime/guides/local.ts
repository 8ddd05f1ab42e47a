/**
 * Walks in the engine's own thread. Each question is answered at once, but an outlook only when it
 * is awaited, so that the mask is filled while the model runs. Without
 * `limits` there is no time limit, since constraints come from a trusted caller. With them, work
 * that reads the clock ends by itself; nothing ends the rest.
 */
import { withinTime } from "../../grammar/deadline.ts"
import type { Encode, Vocabulary } from "../../mask/index.ts"
import type { DraftedTokens } from "./draft.ts"
import { type Awaited, Guide, type GuideHost, type OpenedGuides } from "./guide.ts"
import { type Bound, openWalks, type WalkRequest } from "./opening.ts"
import { timedWork, type WorkLimits } from "./protocol.ts"
import { type Glimpse, isMisfit, type Walk } from "./walk.ts"

export class LocalGuides implements GuideHost {
  readonly description = "masks in the engine's thread"
  private readonly parts: {
    vocabulary: Vocabulary
    encode: Encode
    bind: (request: WalkRequest) => Bound | null
    limits?: Readonly<WorkLimits> | undefined
  }
  private readonly walks = new Map<Guide, Walk>()

  /** `bind` returns the machine of a request's constraint, compiling it if needed. */
  constructor(parts: {
    vocabulary: Vocabulary
    encode: Encode
    bind: (request: WalkRequest) => Bound | null
    limits?: Readonly<WorkLimits> | undefined
  }) {
    this.parts = parts
  }

  async open(request: WalkRequest, count: number): Promise<OpenedGuides> {
    const bound = this.parts.bind(request)
    const closes = request.closes || request.badWords.length > 0
    const { opening, walks } = this.timed(closes, () => openWalks(request, count, bound, this.parts))
    const guides = walks.map((walk) => {
      const guide = new Guide(this)
      this.walks.set(guide, walk)
      return guide
    })
    return { opening, guides }
  }

  begin(guide: Guide): void {
    guide.mask = new Uint32Array(this.parts.vocabulary.words)
  }

  accept(guide: Guide, token: number, ahead: number): void {
    this.answer(guide, (walk) => {
      guide.verdict = walk.accept(token, ahead)
      if (!isMisfit(guide.verdict)) guide.outlook = undefined
    })
  }

  look(guide: Guide): void {
    guide.outlook = undefined
  }

  flush(): void {}

  async arrived(guides: readonly Guide[], what: Awaited): Promise<void> {
    if (what === "outlook") this.prepare(guides)
  }

  prepare(guides: readonly Guide[]): void {
    for (const guide of guides) {
      if (guide.outlook || guide.failure) continue
      this.answer(guide, (walk) => {
        guide.outlook = walk.look(guide.mask!)
      })
    }
  }

  async draft(guide: Guide, proposed: readonly number[], bound: number): Promise<DraftedTokens | undefined> {
    return this.answer(guide, (walk) => walk.draft(proposed, bound))
  }

  async glimpse(guide: Guide, tokens: readonly number[]): Promise<Glimpse | undefined> {
    return this.answer(guide, (walk) => walk.glimpse(tokens))
  }

  release(guide: Guide): void {
    this.walks.delete(guide)
  }

  isBusy(): void {}

  async close(): Promise<void> {
    this.walks.clear()
  }

  /** Asks a walk. An error fails only this guide. */
  private answer<T>(guide: Guide, ask: (walk: Walk) => T): T | undefined {
    const walk = this.walks.get(guide)
    if (!walk || guide.failure) return undefined
    try {
      return this.timed(walk.options.closing !== null, () => ask(walk))
    } catch (error) {
      guide.failure = error as Error
      return undefined
    }
  }

  private timed<T>(closes: boolean, run: () => T): T {
    const { limits } = this.parts
    if (!limits) return run()
    const kind = closes ? "completion" : "mask"
    return withinTime(limits[`${kind}Ms`], run, timedWork[kind])
  }
}
