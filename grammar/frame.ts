/**
 * One level of the pushdown: an object with its seen names, an array with its count, a rule at a
 * position.
 *
 * A frame waits below the lexeme that is being read. When that lexeme ends, the frame returns what
 * may follow: each step is the next lexeme and the frames that replace this one. Frames are
 * immutable and interned by their front end: the same level in the same situation is the same
 * object, so stacks and states recur.
 */

/**
 * One way to continue: read `lexeme`, with `frames` (deepest first) in place of the frame that
 * returned this step.
 */
export interface Step {
  /** The state at which the next lexeme begins; `Dead` if the text is complete here. */
  readonly lexeme: number
  readonly frames: readonly Frame[]
}

/** The frames of a step after which nothing of this level follows. */
export const noFrames: readonly Frame[] = []

/**
 * Steps as a graph, for frames whose list of steps would multiply alternatives: with ten levels of
 * operators, each in three versions, 3^10 ways to begin an expression end in the same few lexemes.
 * A place is a point that some of the ways have in common. Place 0 is the frame that returns the
 * steps. The stacks at another place are those at each `place` that leads to it, with `frames` on
 * top. A step stands on its place.
 */
export interface SharedSteps {
  readonly places: readonly (readonly { readonly place: number; readonly frames: readonly Frame[] }[])[]
  readonly steps: readonly { readonly place: number; readonly step: Step }[]
}

/**
 * What a person may write next, for messages: `what` it is, an `example`, and the pointer to the
 * part of the schema that requires it.
 */
export interface Expectation {
  what: string
  example: string
  path: string
}

/**
 * Its fields are assigned in one constructor: defining the fields of a class one by one took a
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
   * the actual text.
   */
  declare readonly isSymbolic: boolean
  /**
   * Whether the unknown text of a symbolic frame decides only how the lexeme under it may end,
   * never how it may continue. Then only the tokens that end the lexeme are tried.
   */
  declare readonly isOpenEnded: boolean
  /**
   * Whether the text of `finish` depends on the tag so much that a longer lexeme may give a shorter
   * text in total. Then each tag is completed separately if tokens are counted.
   */
  declare readonly readsTag: boolean
  /** Lower bound on the bytes that `finish` returns. */
  declare readonly leastBytes: number
  /**
   * Whether this level above itself accepts what it accepts alone, as a loop does. A stack then
   * holds it once: x* x* = x*.
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
   * Returns what may follow what was read above this frame and ended with `tag`. `text` holds its
   * bytes if `needsText`. If `text` is null, returns the steps as far as they do not depend on it;
   * frames under which they do are symbolic.
   */
  abstract follow(tag: number, text: Uint8Array | null): readonly Step[]

  /** Like `follow` without a text, for steps that are too many to be listed; otherwise null. */
  followShared(_tag: number): SharedSteps | null {
    return null
  }

  /**
   * Returns bytes that finish this level after the lexeme ended with `tag`, up to where the frame
   * below takes over.
   */
  abstract finish(tag: number, text: Uint8Array): string | Uint8Array

  /**
   * Describes the lexeme under this frame for messages. `sample` is a shortest way to end it,
   * `lexeme` the state in which it is. Returns null if the frame knows no more than its state
   * tells.
   */
  expect(_sample: string, _lexeme: number): Expectation | null {
    return null
  }

  /**
   * Returns the pointer to what requires the text above this frame, for refusals. `beganAs` tells
   * of a lexeme whether the current text may have begun as it. Only containers need it: they know
   * several values that end alike.
   */
  pathOf(_beganAs: (lexeme: number) => boolean): string {
    return this.expect("", 0)?.path ?? ""
  }
}

let frameCount = 0

/** Describes a piece of JSON that begins like `sample`. */
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
    case ",":
    case ":":
      return `"${sample[0]}"`
    case '"':
      return sample.length === 1 ? "the closing quote" : "a string"
    default:
      if (sample.endsWith('"')) return "more of the string"
      return /^[-0-9]/.test(sample) ? "a number" : JSON.stringify(sample)
  }
}
