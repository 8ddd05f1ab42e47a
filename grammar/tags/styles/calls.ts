/**
 * The calls of a block in a row. They are counted if their number or a limit of it matters.
 */
import type { Frame, Step } from "../../frame.ts"
import type { CallBlocks } from "./blocks.ts"
import { before, done, type Places } from "./place.ts"
import type { Plan } from "./plan.ts"

export class CallSequence {
  private readonly plan: Plan
  private readonly blocks: CallBlocks
  private readonly places: Places
  /**
   * Whether calls outside a section follow each other directly; if not, something else leads from
   * one to the next.
   */
  private readonly areJoined: boolean
  /** Returns what follows a block after `count` calls. */
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

  /**
   * Returns the ways to begin a block after `count` calls; with `hasLead` its lead may come first.
   */
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

  /** Returns what follows a call of block `at`. */
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
