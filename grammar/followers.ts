/**
 * What follows when a lexeme ends: the steps of the frame on top, as lexemes over stacks.
 *
 * It depends only on the stack and the lexeme's tag, so it is computed once for each such pair.
 * Followers that read the same are one over the union of their stacks (`readings.ts`).
 */
import { type Frame, noFrames, type SharedSteps, type Step } from "./frame.ts"
import { PairMap } from "./intern.ts"
import { PlainTag } from "./lexeme/table.ts"
import type { Limits } from "./limits.ts"
import type { Readings } from "./readings.ts"
import { limitError } from "./refusal.ts"
import type { StackTable } from "./stack.ts"
import { NoText } from "./texts.ts"

/** Lexeme state and stack after a lexeme has ended, pairwise. */
export type Followers = readonly number[]

export class FollowerTable {
  private readonly stacks: StackTable
  private readonly limits: Limits
  /** Scratch for the followers of one call. */
  private readonly readings: Readings
  /** The stack after each of the frames that were pushed last. */
  private readonly prefix: number[] = []
  /** (stack, tag) → index in `lists`. */
  private readonly ids = new PairMap()
  private readonly lists: Followers[] = []
  /** (frame, lexeme) → result of `followsItself`. */
  private readonly repeats = new PairMap()

  constructor(stacks: StackTable, limits: Limits, readings: Readings) {
    this.stacks = stacks
    this.limits = limits
    this.readings = readings
  }

  /**
   * Returns what follows under `stack` when its lexeme ends with `tag`: lexeme states and stacks,
   * pairwise. If that depends on the lexeme's text, the frames that need it are symbolic.
   */
  after(stack: number, tag: number): Followers {
    const known = this.ids.get(stack, tag)
    if (known >= 0) return this.lists[known]
    const followers = this.stacks.isUnion(stack)
      ? this.joinedFollowers(stack, tag)
      : this.followersOf(this.stacks.top[stack], tag, this.stacks.pop(stack))
    this.ids.set(stack, tag, this.lists.push(followers) - 1)
    return followers
  }

  /**
   * Returns whether `lexeme`, which ends with the plain tag, may follow itself under `stack` with
   * the same stack. The top frame decides. Memoized.
   */
  followsItself(lexeme: number, stack: number): boolean {
    const frameId = this.stacks.frameId(stack)
    if (frameId < 0) return false
    let answer = this.repeats.get(frameId, lexeme)
    if (answer < 0) {
      const frame = this.stacks.top[stack]
      const isSame = ({ lexeme: next, frames }: Step) =>
        next === lexeme && frames.length === 1 && frames[0] === frame
      // Steps that are too many to be listed are not searched.
      answer = frame.followShared(PlainTag) === null && frame.follow(PlainTag, null).some(isSame) ? 1 : 0
      this.repeats.set(frameId, lexeme, answer)
    }
    return answer === 1
  }

  /** Returns the first lexemes of `steps`, each with the stack of its frames above `below`. */
  expand(steps: readonly Step[], below: number): Followers {
    this.readings.clear()
    let last = noFrames
    for (const { lexeme, frames } of steps) {
      this.add(lexeme, this.pushNext(below, frames, last))
      last = frames
    }
    return this.collected()
  }

  /**
   * Returns the stack of `frames` above `below`. `last` was pushed above `below` just before:
   * neighbouring steps begin with the same frames, whose stacks are known.
   */
  private pushNext(below: number, frames: readonly Frame[], last: readonly Frame[]): number {
    const { prefix } = this
    let shared = 0
    while (shared < frames.length && shared < last.length && frames[shared] === last[shared]) shared++
    let stack = shared === 0 ? below : prefix[shared - 1]
    for (let i = shared; i < frames.length; i++) {
      stack = this.stacks.push(stack, frames[i])
      prefix[i] = stack
    }
    this.checkDepth(stack)
    return stack
  }

  /** Adds a follower to `readings`. */
  private add(lexeme: number, stack: number): void {
    if (!this.stacks.isUnion(stack)) this.readings.add(lexeme, stack, NoText)
    else for (const member of this.stacks.members(stack)) this.readings.add(lexeme, member, NoText)
  }

  /** Returns the followers in `readings`. */
  private collected(): Followers {
    const { threads, used } = this.readings
    const followers: number[] = []
    for (let i = 0; i < used; i += 3) followers.push(threads[i], threads[i + 1])
    return followers
  }

  private followersOf(frame: Frame, tag: number, below: number): Followers {
    const shared = frame.followShared(tag)
    return shared === null ? this.expand(frame.follow(tag, null), below) : this.expandShared(shared, below)
  }

  /** Returns the followers under all members of a union, joined in turn. */
  private joinedFollowers(stack: number, tag: number): Followers {
    const lists = this.stacks.members(stack).map((member) => this.after(member, tag))
    this.readings.clear()
    for (const followers of lists)
      for (let i = 0; i < followers.length; i += 2) this.add(followers[i], followers[i + 1])
    this.readings.join(this.limits)
    return this.collected()
  }

  /** Like `expand`. The stack of a place is the union of all stacks that lead there. */
  private expandShared({ places, steps }: SharedSteps, below: number): Followers {
    const { stacks } = this
    const at = [below]
    for (let place = 1; place < places.length; place++) {
      const all = places[place].map(({ place, frames }) => this.pushAll(at[place], frames))
      at[place] = all.length === 1 ? all[0] : stacks.uniteAll(all.flatMap((stack) => stacks.members(stack)))
    }
    this.readings.clear()
    for (const { place, step } of steps) this.add(step.lexeme, this.pushAll(at[place], step.frames))
    return this.collected()
  }

  private pushAll(stack: number, frames: readonly Frame[]): number {
    let top = stack
    for (const frame of frames) top = this.stacks.push(top, frame)
    this.checkDepth(top)
    return top
  }

  private checkDepth(stack: number): void {
    const depth = this.stacks.depth(stack)
    const { limits } = this
    if (depth <= limits.stackDepth) return
    throw limitError(limits, "stackDepth.text", depth)
  }
}
