/**
 * Places in a turn: frames that read nothing themselves and only order other parts. A place is one
 * object wherever the same may follow.
 */
import { concatenate } from "../../bytes.ts"
import { type Expectation, Frame, type Step } from "../../frame.ts"
import { leastBytes, shortestCompletion } from "../../lexeme/completion.ts"
import { exprs } from "../../lexeme/expr/expr.ts"
import { exprLexeme } from "../../lexeme/raw.ts"
import { utf8 } from "../../utf8.ts"
import { describeText } from "../../wording.ts"

/** The step that reads nothing; what is below follows. */
export const done: Step = { lexeme: exprLexeme(exprs.literal("")), frames: [] }

const noText = new Uint8Array(0)

export type Follow = (tag: number, text: Uint8Array | null) => readonly Step[]
export type Finish = (tag: number, text: Uint8Array) => Uint8Array

interface Reads {
  readonly needsText: boolean
  readonly isSymbolic: boolean
}

const readsNothing: Reads = { needsText: false, isSymbolic: false }

/** The places of one language, by its own keys. */
export class Places {
  private readonly path: string
  private readonly frames = new Map<string, Frame>()

  /** `path` is where the language is requested, for messages. */
  constructor(path: string) {
    this.path = path
  }

  frame(key: string, follow: Follow, finish: Finish, reads: Reads = readsNothing): Frame {
    let frame = this.frames.get(key)
    if (frame === undefined) {
      frame = new PlaceFrame(this.path, follow, finish, reads)
      this.frames.set(key, frame)
    }
    return frame
  }

  /**
   * Returns a place after which the same steps follow, whatever was read. `ending` has those steps
   * that lead to an end, if others would lead back here.
   */
  place(key: string, steps: () => readonly Step[], ending = steps): Frame {
    return this.frame(key, steps, () => shortestOf(ending()))
  }
}

/** Returns `steps` with `frame` below, which determines what follows them. */
export function before(frame: Frame, steps: readonly Step[]): Step[] {
  return steps.map(({ lexeme, frames }) => ({ lexeme, frames: [frame, ...frames] }))
}

/**
 * Returns a short text that goes through one of `steps` to the end of everything that it pushes.
 */
export function shortestOf(steps: readonly Step[]): Uint8Array {
  let best: Uint8Array | null = null
  for (const step of [...steps].sort((a, b) => leastBytes(a.lexeme) - leastBytes(b.lexeme))) {
    if (best !== null && leastBytes(step.lexeme) >= best.length) break
    const text = completed(step)
    if (best === null || text.length < best.length) best = text
  }
  if (best === null) throw new Error("internal: nothing can follow")
  return best
}

function completed({ lexeme, frames }: Step): Uint8Array {
  const { bytes, tag } = shortestCompletion(lexeme)
  const parts = [bytes]
  for (const [i, frame] of frames.toReversed().entries()) {
    const rest = frame.finish(i === 0 ? tag : 1, frame.needsText ? bytes : noText)
    parts.push(typeof rest === "string" ? utf8(rest) : rest)
  }
  return concatenate(parts)
}

class PlaceFrame extends Frame {
  override readonly needsText: boolean
  override readonly isSymbolic: boolean
  private readonly path: string
  private readonly following: Follow
  private readonly finishing: Finish

  constructor(path: string, follow: Follow, finish: Finish, { needsText, isSymbolic }: Reads) {
    super()
    this.path = path
    this.following = follow
    this.finishing = finish
    this.needsText = needsText
    this.isSymbolic = isSymbolic
  }

  follow(tag: number, text: Uint8Array | null): readonly Step[] {
    return this.following(tag, text)
  }

  finish(tag: number, text: Uint8Array): Uint8Array {
    return this.finishing(tag, text)
  }

  override expect(sample: string, lexeme: number): Expectation {
    return { what: describeText(lexeme, sample), example: sample, path: this.path }
  }
}
