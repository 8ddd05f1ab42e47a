/** The calls of a block one after the other, counted where their number or their limit is asked for. */
import type { Frame, Step } from "../../frame.ts"
import type { CallBlocks } from "./blocks.ts"
import { before, done, type Places } from "./place.ts"
import type { Plan } from "./plan.ts"

export class CallSequence {
  private readonly plan: Plan
  private readonly blocks: CallBlocks
  private readonly places: Places
  /** Whether calls outside of a section follow each other; else something else leads from one to the next. */
  private readonly areJoined: boolean
  /** Behind a block, when so many calls were made. */
  private readonly after: (count: number) => Frame

  constructor(
    plan: Plan,
    blocks: CallBlocks,
    places: Places,
    options: { areJoined: boolean; after: (count: number) => Frame },
  ) {
    this.plan = plan
    this.blocks = blocks
    this.places = places
    this.areJoined = options.areJoined
    this.after = options.after
  }

  /** The ways to begin a block when `count` calls were made; `hasLead`: with what may stand in front of it. */
  steps(count: number, hasLead: boolean): Step[] {
    if (!this.canCall(count)) return []
    return this.blocks.blocks.flatMap((_, at) => {
      const first = this.blocks.first(at, count, hasLead)
      return this.blocks.endsText(at) ? [...first] : before(this.behind(at, this.oneMore(count)), first)
    })
  }

  canCall(count: number): boolean {
    const { tools, max } = this.plan.calls
    return tools.length > 0 && count < max
  }

  /** Behind a call of block `at`. */
  private behind(at: number, count: number): Frame {
    const end = this.blocks.end(at)
    const ends = () => before(this.after(count), end ?? [done])
    return this.places.place(
      `call ${at} ${count}`,
      () => {
        const isMore = this.canCall(count) && (end !== null || this.areJoined)
        const more = isMore ? this.blocks.next(at, count) : []
        return [...before(this.behind(at, this.oneMore(count)), more), ...ends()]
      },
      ends,
    )
  }

  private oneMore(count: number): number {
    return this.blocks.areNumbered || this.plan.calls.max !== Number.POSITIVE_INFINITY ? count + 1 : 0
  }
}
