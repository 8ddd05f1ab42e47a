/**
 * Grammars in another spelling: every lexeme is respelled, and every frame gets the meaning of the
 * text (`lexeme/respelled.ts`).
 */
import { type Expectation, Frame, type Step } from "./frame.ts"
import { Grammar } from "./grammar.ts"
import { meantBy, respelled, type Spelling } from "./lexeme/respelled.ts"
import { owned } from "./tables.ts"
import { utf8 } from "./utf8.ts"

const known = owned("respelled frames", { frames: [] as WeakMap<Frame, RespelledFrame>[] })

/** Returns the texts of `grammar` as `spelling` writes them. It must not read tokens. */
export function respelledGrammar(grammar: Grammar, spelling: Spelling): Grammar {
  if (grammar.readsTokens) throw new Error("internal: a token has one spelling")
  const { limits, title } = grammar
  const key = () => `${spelling.id} ${grammar.key}`
  return new Grammar(respelledSteps(grammar.start, spelling), { key, title, limits })
}

export function respelledSteps(steps: readonly Step[], spelling: Spelling): Step[] {
  return steps.map(({ lexeme, frames }) => ({
    lexeme: respelled(lexeme, spelling),
    frames: frames.map((frame) => respelledFrame(frame, spelling)),
  }))
}

/** Equal frames are one object, so stacks recur as they do below. */
function respelledFrame(frame: Frame, spelling: Spelling): RespelledFrame {
  known.frames[spelling.id] ??= new WeakMap()
  let made = known.frames[spelling.id].get(frame)
  if (made === undefined) {
    made = new RespelledFrame(frame, spelling)
    known.frames[spelling.id].set(frame, made)
  }
  return made
}

class RespelledFrame extends Frame {
  override readonly needsText: boolean
  override readonly isSymbolic: boolean
  override readonly isOpenEnded: boolean
  override readonly isIdempotent: boolean
  private readonly frame: Frame
  private readonly spelling: Spelling

  constructor(frame: Frame, spelling: Spelling) {
    super()
    this.frame = frame
    this.spelling = spelling
    this.needsText = frame.needsText
    this.isSymbolic = frame.isSymbolic
    this.isOpenEnded = frame.isOpenEnded
    this.isIdempotent = frame.isIdempotent
  }

  follow(tag: number, text: Uint8Array | null): readonly Step[] {
    const meant = text === null ? null : meantBy(this.spelling, text)
    return respelledSteps(this.frame.follow(tag, meant), this.spelling)
  }

  finish(tag: number, text: Uint8Array): Uint8Array {
    const rest = this.frame.finish(tag, meantBy(this.spelling, text))
    return this.spelling.write(typeof rest === "string" ? utf8(rest) : rest)
  }

  override expect(sample: string, lexeme: number): Expectation | null {
    return this.frame.expect(sample, lexeme)
  }

  override pathOf(beganAs: (lexeme: number) => boolean): string {
    return this.frame.pathOf(beganAs)
  }
}
