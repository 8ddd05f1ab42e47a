/**
 * Inner grammars that are compiled again when a text reaches them.
 *
 * With five hundred tools, all are compiled once to refuse invalid schemas, but a text calls two of
 * them. Each compiled one takes some 50 kB in small objects, which the collector copies twice while
 * the next ones are made: more than half of the time. So all but the first few keep only their
 * beginnings. The rest is compiled again at its first use, with the same result.
 */
import { weighed } from "./deadline.ts"
import { type Expectation, Frame, type Step } from "./frame.ts"
import { Grammar } from "./grammar.ts"
import { currentWorld, inWorld } from "./tables.ts"

/**
 * Count of grammars that are kept completely. Each more is copied with the others; compiling one
 * again takes 0.05 ms of a token's time.
 */
const FewGrammars = 64
/**
 * Weight by `checkTime` above which a grammar is kept completely, since the mask that reaches it
 * would wait. Below it, compiling again takes at most 1.9 ms, and 0.5 in 99 of 100 (MaskBench's
 * development split and hard schemas, Node 20).
 */
const MaxWeight = 500

/** The grammars inside of one. */
export class LazyGrammars {
  private count = 0

  /**
   * Returns what `compile` makes of `source`. It may be called again, with `isAgain` and the value
   * that `keep` returns now: an equal source that never changes. If `keep` returns null, the
   * grammar is kept completely.
   */
  of<T>(
    source: T,
    compile: (source: T, isAgain: boolean) => Grammar,
    keep: (source: T) => T | null,
  ): Grammar {
    const { result: grammar, weight } = weighed(() => compile(source, false))
    if (++this.count <= FewGrammars || weight > MaxWeight) return grammar
    const kept = keep(source)
    return kept === null ? grammar : lazy(grammar, () => compile(kept, true))
  }
}

function lazy({ start, title, limits }: Grammar, make: () => Grammar): Grammar {
  let made: Grammar | null = null
  const world = currentWorld()
  const grammar = () => {
    made ??= inWorld(world, make)
    return made
  }
  const steps = start.map(({ lexeme, frames }, i) => ({
    lexeme,
    frames: frames.map((frame, k) => new LazyFrame(frame, () => grammar().start[i].frames[k])),
  }))
  return new Grammar(steps, { key: () => grammar().key, title, limits })
}

/** A frame at the beginning of a grammar. */
class LazyFrame extends Frame {
  declare readonly needsText: boolean
  declare readonly isSymbolic: boolean
  declare readonly isOpenEnded: boolean
  declare readonly readsTag: boolean
  declare readonly leastBytes: number
  declare readonly isIdempotent: boolean
  declare private readonly frame: () => Frame

  /** `frame` returns the frame that this one stands for. `like` is equal to it. */
  constructor(like: Frame, frame: () => Frame) {
    super()
    this.needsText = like.needsText
    this.isSymbolic = like.isSymbolic
    this.isOpenEnded = like.isOpenEnded
    this.readsTag = like.readsTag
    this.leastBytes = like.leastBytes
    this.isIdempotent = like.isIdempotent
    this.frame = frame
  }

  follow(tag: number, text: Uint8Array | null): readonly Step[] {
    return this.frame().follow(tag, text)
  }

  finish(tag: number, text: Uint8Array): string | Uint8Array {
    return this.frame().finish(tag, text)
  }

  override expect(sample: string, lexeme: number): Expectation | null {
    return this.frame().expect(sample, lexeme)
  }

  override pathOf(beganAs: (lexeme: number) => boolean): string {
    return this.frame().pathOf(beganAs)
  }
}
