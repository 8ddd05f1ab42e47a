/**
 * One level of the pushdown: an object with its seen names, an array with its count, a rule at a
 * position.
 *
 * A frame waits below the lexeme that is being read. When that lexeme ends, the frame says what may
 * follow: each step is the next lexeme and the frames that take this one's place. Frames are
 * immutable and interned by their front end: the same level in the same situation is the same
 * object, so stacks and states recur.
 */

/**
 * One way to go on: read `lexeme`, with `frames` (deepest first) in place of the frame that gave
 * this step.
 */
export interface Step {
  readonly lexeme: number
  readonly frames: readonly Frame[]
}

/** Those of a step behind which nothing of its own is left. */
export const noFrames: readonly Frame[] = []

/**
 * Steps as a graph, where listing them would multiply alternatives: with ten levels of operators,
 * each in three versions, 3^10 ways to begin an expression end in the same few lexemes. A place is
 * a point that some of the ways have in common. Place 0 is the frame that gives the steps; what
 * lies at another place is what lies at each `place` that leads to it, with `frames` on top. A step
 * stands on its place.
 */
export interface SharedSteps {
  readonly places: readonly (readonly { readonly place: number; readonly frames: readonly Frame[] }[])[]
  readonly steps: readonly { readonly place: number; readonly step: Step }[]
}

/**
 * What a person may write next, for messages: `what` it is, an `example`, and the pointer that asks
 * for it.
 */
export interface Expectation {
  what: string
  example: string
  path: string
}

/**
 * Its fields are assigned in one constructor: fields of a class that are defined one by one took a
 * twentieth of a token's time.
 */
export abstract class Frame {
  /** Dense identity within the process. */
  declare readonly id: number
  /**
   * Whether `follow` needs the bytes that were read since this frame was pushed: a key, or an item
   * among unique ones.
   */
  declare readonly needsText: boolean
  /**
   * Whether what is read under this frame depends on a text that was not given, see `follow`. A
   * mask is made once for all texts; below a symbolic frame its tokens are tried one by one with
   * the text at hand.
   */
  declare readonly isSymbolic: boolean
  /**
   * Of a symbolic frame: whether the unknown text decides only how the lexeme under it may end,
   * never how it may go on. Then only the tokens that end the lexeme are tried.
   */
  declare readonly isOpenEnded: boolean
  /**
   * Whether what `finish` returns depends on the tag so much that a longer lexeme may make a
   * shorter text. Where tokens are counted, each tag is then completed by itself.
   */
  declare readonly readsTag: boolean
  /** At most as many bytes as `finish` returns. */
  declare readonly leastBytes: number
  /**
   * Whether this level above itself accepts what it accepts alone, as a loop does: a stack then
   * holds it once, x* x* = x*.
   */
  declare readonly isIdempotent: boolean

  constructor() {
    this.id = frameCount++
    this.needsText = false
    this.isSymbolic = false
    this.isOpenEnded = false
    this.readsTag = false
    this.leastBytes = 0
    this.isIdempotent = false
  }

  /**
   * What may follow what was read above this frame and ended with `tag`. `text` holds its bytes if
   * `needsText`; null asks for the steps as far as they do not depend on it: frames under which
   * they do are symbolic.
   */
  abstract follow(tag: number, text: Uint8Array | null): readonly Step[]

  /**
   * As `follow` without a text, where the steps are too many to be listed; null where they are not.
   */
  followShared(_tag: number): SharedSteps | null {
    return null
  }

  /**
   * Bytes that finish this level after the lexeme ended with `tag`: everything up to where the
   * frame below takes over.
   */
  abstract finish(tag: number, text: Uint8Array): string | Uint8Array

  /**
   * Describes the lexeme under this frame for messages; `sample` is a shortest way to end it. By
   * default it is described by what the sample looks like.
   */
  expect(sample: string): Expectation {
    return { what: describeSample(sample), example: sample, path: "" }
  }

  /**
   * The pointer that asks for what is read above this frame, for refusals. `beganAs` says of a
   * lexeme whether what is read may have begun as it: only containers know several values that end
   * alike.
   */
  pathOf(_beganAs: (lexeme: number) => boolean): string {
    return this.expect("").path
  }
}

let frameCount = 0

/** What a piece of JSON that begins like `sample` is. */
export function describeSample(sample: string): string {
  switch (sample[0]) {
    case undefined:
      return "the end of the text"
    case "{":
      return "an object"
    case "[":
      return "an array"
    case "}":
    case "]":
      return `"${sample[0]}"`
    case ",":
      return "a comma"
    case ":":
      return "a colon"
    case '"':
      return sample.length === 1 ? "the closing quote" : "a string"
    default:
      if (sample.endsWith('"')) return "more of the string"
      return /^[-0-9]/.test(sample) ? "a number" : JSON.stringify(sample)
  }
}
