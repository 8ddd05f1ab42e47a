/**
 * Values whose commas and colons are written in another way. The lexemes come from `spelling.ts`.
 * The texts that frames finish with are translated, since frames write them as JSON.
 */
import { type Expectation, Frame, type Step } from "../frame.ts"

interface Written {
  readonly comma: string
  readonly colon: string
}

/** Returns the same steps, whose frames finish a text with these marks. */
export function separatedSteps(steps: readonly Step[], written: Written): Step[] {
  return new Separators(written).steps(steps)
}

class Separators {
  private readonly written: Written
  /** Equal frames are one object, so stacks recur. */
  private readonly known = new WeakMap<Frame, SeparatedFrame>()

  constructor(written: Written) {
    this.written = written
  }

  steps(steps: readonly Step[]): Step[] {
    return steps.map(({ lexeme, frames }) => ({ lexeme, frames: frames.map((frame) => this.frame(frame)) }))
  }

  private frame(frame: Frame): SeparatedFrame {
    let made = this.known.get(frame)
    if (made === undefined) {
      made = new SeparatedFrame(frame, this)
      this.known.set(frame, made)
    }
    return made
  }

  /** Returns a JSON text with the marks in place of commas and colons. */
  write(json: string): string {
    return json.replace(/"(?:[^"\\]|\\.)*"?|[,:]/gs, (part) => {
      if (part === ",") return this.written.comma
      return part === ":" ? this.written.colon : part
    })
  }
}

const decoder = new TextDecoder()

class SeparatedFrame extends Frame {
  override readonly needsText: boolean
  override readonly isSymbolic: boolean
  override readonly isOpenEnded: boolean
  override readonly readsTag: boolean
  override readonly isIdempotent: boolean
  private readonly inner: Frame
  private readonly separators: Separators

  constructor(inner: Frame, separators: Separators) {
    super()
    this.inner = inner
    this.separators = separators
    this.needsText = inner.needsText
    this.isSymbolic = inner.isSymbolic
    this.isOpenEnded = inner.isOpenEnded
    this.readsTag = inner.readsTag
    this.isIdempotent = inner.isIdempotent
  }

  follow(tag: number, text: Uint8Array | null): readonly Step[] {
    return this.separators.steps(this.inner.follow(tag, text))
  }

  finish(tag: number, text: Uint8Array): string {
    const rest = this.inner.finish(tag, text)
    return this.separators.write(typeof rest === "string" ? rest : decoder.decode(rest))
  }

  override expect(sample: string, lexeme: number): Expectation | null {
    return this.inner.expect(sample, lexeme)
  }

  override pathOf(beganAs: (lexeme: number) => boolean): string {
    return this.inner.pathOf(beganAs)
  }
}
