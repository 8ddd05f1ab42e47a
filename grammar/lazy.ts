/**
 * Grammars inside of another one that are compiled again when a text comes to them.
 *
 * Five hundred tools are compiled so that whatever must be refused is refused, and a text calls two of them. Compiled, each takes some
 * 50 kB in small objects, which the collector copies twice while the next ones are made: more than half of the time. So of all but
 * the first few it is kept how they begin, and the rest comes back at its first use, as it was: compiling is the same every time.
 */
import { weighed } from "./deadline.ts"
import { type Expectation, Frame, type Step } from "./frame.ts"
import { Grammar } from "./grammar.ts"

/** So many are kept whole: each more is copied with the others, compiling it again takes 0.05 ms of a token's time. */
const FewGrammars = 64
/**
 * What took more questions of `checkTime` is kept whole: the mask that comes to it would wait. Below it compiling again takes 1.9 ms at
 * most, 0.5 in 99 of 100 (MaskBench's development split and hard schemas, Node 20).
 */
const MaxWeight = 500

/** The grammars inside of one. */
export class LazyGrammars {
  private count = 0

  /**
   * What `compile` makes of `source`. It may be called again, told so, with what `keep` returns now: an equal source that nobody changes.
   * Where that is null the grammar is kept whole.
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
  const grammar = () => {
    made ??= make()
    return made
  }
  const steps = start.map(({ lexeme, frames }, i) => ({
    lexeme,
    frames: frames.map((frame, k) => new LazyFrame(frame, () => grammar().start[i].frames[k])),
  }))
  return new Grammar(steps, { key: () => grammar().key, title, limits })
}

/** A frame with which a grammar begins. */
class LazyFrame extends Frame {
  declare readonly needsText: boolean
  declare readonly isSymbolic: boolean
  declare readonly isOpenEnded: boolean
  declare readonly readsTag: boolean
  declare readonly leastBytes: number
  declare readonly isIdempotent: boolean
  declare private readonly frame: () => Frame

  /** `frame` finds the one that this one stands for, and `like` is like it. */
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

  expect(sample: string): Expectation {
    return this.frame().expect(sample)
  }

  override pathOf(beganAs: (lexeme: number) => boolean): string {
    return this.frame().pathOf(beganAs)
  }
}
