/**
 * What follows when a lexeme ends: the steps of the frame on top, as lexemes over stacks.
 *
 * It depends only on the stack and the lexeme's tag, so it is computed once for each such pair. If
 * a grammar may read a text in many ways, followers that read the same lexeme under the same frame
 * become one over the union of their stacks.
 */
import { limitError } from "./errors.ts"
import { type Frame, noFrames, type SharedSteps, type Step } from "./frame.ts"
import type { Grammar } from "./grammar.ts"
import { PairMap, TripleMap } from "./intern.ts"
import { PlainTag } from "./lexeme/table.ts"
import type { Limits } from "./limits.ts"
import { joinReadings, uniteReadings } from "./readings.ts"
import type { StackTable } from "./stack.ts"
import { NoText } from "./texts.ts"

/** Lexeme state and stack after a lexeme has ended, pairwise. */
export type Followers = readonly number[]

/** (lexeme state, frame, 0) → index of a follower's stack, while followers are united. */
const places = new TripleMap()

export class FollowerTable {
  private readonly stacks: StackTable
  private readonly limits: Limits
  private readonly unites: boolean
  /** (stack, tag) → index in `lists`. */
  private readonly ids = new PairMap()
  private readonly lists: Followers[] = []
  /** (frame, lexeme) → result of `followsItself`. */
  private readonly repeats = new PairMap()
  /** Scratch for the followers of one call: arrays that grow leave as much garbage as they hold. */
  private readonly found: number[] = []
  /** The stacks after each frame of the step that is expanded. */
  private readonly prefix: number[] = []

  constructor(stacks: StackTable, { limits, unites }: Grammar) {
    this.stacks = stacks
    this.limits = limits
    this.unites = unites
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
    const { found } = this
    let count = 0
    // Neighbouring steps share their first frames.
    const { prefix } = this
    let last: readonly Frame[] = noFrames
    for (let i = 0; i < steps.length; i++) {
      const { lexeme, frames } = steps[i]
      let k = 0
      while (k < frames.length && k < last.length && frames[k] === last[k]) k++
      let stack = k === 0 ? below : prefix[k - 1]
      for (; k < frames.length; k++) {
        stack = this.stacks.push(stack, frames[k])
        prefix[k] = stack
      }
      last = frames
      this.checkDepth(stack)
      if (this.stacks.isUnion(stack)) {
        for (const member of this.stacks.members(stack)) {
          found[count++] = lexeme
          found[count++] = member
        }
      } else {
        found[count++] = lexeme
        found[count++] = stack
      }
    }
    const followers = found.slice(0, count)
    return this.unites && count > 2 ? this.unitedFollowers(followers) : followers
  }

  private followersOf(frame: Frame, tag: number, below: number): Followers {
    const shared = this.unites && this.stacks.canUnite(below) ? frame.followShared(tag) : null
    return shared === null ? this.expand(frame.follow(tag, null), below) : this.expandShared(shared, below)
  }

  /** Returns the followers under all members of a union, joined in turn. */
  private joinedFollowers(stack: number, tag: number): Followers {
    const { stacks } = this
    const threads: number[] = []
    for (const member of stacks.members(stack)) {
      const followers = this.after(member, tag)
      for (let i = 0; i < followers.length; i += 2) threads.push(followers[i], followers[i + 1], NoText)
    }
    const joined = Int32Array.from(threads)
    const used = joinReadings(stacks, joined, uniteReadings(stacks, joined, joined.length), this.limits)
    const followers: number[] = []
    for (let i = 0; i < used; i += 3) followers.push(joined[i], joined[i + 1])
    return followers
  }

  /** Like `expand`. The stack of a place is the union of all stacks that lead there. */
  private expandShared({ places, steps }: SharedSteps, below: number): Followers {
    const { stacks } = this
    const at = [below]
    for (let place = 1; place < places.length; place++) {
      const all = places[place].map(({ place, frames }) => this.pushAll(at[place], frames))
      at[place] = all.length === 1 ? all[0] : stacks.uniteAll(all.flatMap((stack) => stacks.members(stack)))
    }
    const followers: number[] = []
    for (const { place, step } of steps)
      for (const member of stacks.members(this.pushAll(at[place], step.frames)))
        followers.push(step.lexeme, member)
    return this.unitedFollowers(followers)
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

  /** Returns the followers, with those that read the same lexeme under the same frame as one. */
  private unitedFollowers(followers: Followers): Followers {
    const { stacks } = this
    const united: number[] = []
    places.clear()
    for (let i = 0; i < followers.length; i += 2) {
      const lexeme = followers[i]
      const stack = followers[i + 1]
      const frameId = stacks.frameId(stack)
      const place = places.get(lexeme, frameId, 0)
      if (place < 0 || !stacks.canUnite(stack) || !stacks.canUnite(united[place])) {
        places.set(lexeme, frameId, 0, united.length + 1)
        united.push(lexeme, stack)
      } else if (frameId >= 0) united[place] = stacks.unite(united[place], stack)
    }
    return united
  }
}
