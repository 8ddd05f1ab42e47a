/**
 * Joins hundreds of alternatives that begin with different texts into one lexeme: a trie of the
 * texts, with the continuation of each.
 *
 * Five hundred tools begin with `{"name":"…`: as alternatives, they would be five hundred readings
 * of this prefix, each with its own thread. As one lexeme they are one thread until the text says
 * which of them it is.
 */
import { EmptyLexeme } from "../budget.ts"
import { concatenate } from "../bytes.ts"
import { Frame, type Step } from "../frame.ts"
import { PlainTag } from "../lexeme/table.ts"
import { utf8 } from "../utf8.ts"
import { compareBytes, FirstTag, MinChoice, textsLexeme } from "./texts.ts"

const noText = new Uint8Array(0)

/** Frames that take the place of one frame, deepest first. */
type Frames = readonly Frame[]

/**
 * Returns `steps` with all whose lexemes are single texts joined into one, if they are many.
 * `texts` maps such a lexeme to its text.
 */
export function factored(steps: Step[], texts: ReadonlyMap<number, Uint8Array>): readonly Step[] {
  if (steps.length < MinChoice) return steps
  const behind = new Map<number, Frames[]>()
  for (const { lexeme, frames } of steps) {
    if (!texts.has(lexeme)) continue
    const known = behind.get(lexeme)
    if (known === undefined) behind.set(lexeme, [frames])
    else known.push(frames)
  }
  if (behind.size < MinChoice) return steps
  const tags = new Map<string, number>()
  const rests = new Map<number, readonly Frames[]>()
  const entries = [...behind].map(([lexeme, rest]) => {
    const key = rest.map((frames) => frames.map(({ id }) => id).join(",")).join("|")
    let tag = tags.get(key)
    if (tag === undefined) {
      tag = FirstTag + tags.size
      tags.set(key, tag)
      rests.set(tag, rest)
    }
    return { bytes: texts.get(lexeme) as Uint8Array, tag }
  })
  entries.sort((a, b) => compareBytes(a.bytes, b.bytes))
  const others = steps.filter(({ lexeme }) => !texts.has(lexeme))
  return [...others, { lexeme: textsLexeme(entries), frames: [new TextsFrame(rests)] }]
}

/** The frame below a lexeme of many texts. The tag selects the frames that take its place. */
class TextsFrame extends Frame {
  override readonly readsTag = true
  private readonly rests: ReadonlyMap<number, readonly Frames[]>

  constructor(rests: ReadonlyMap<number, readonly Frames[]>) {
    super()
    this.rests = rests
  }

  follow(tag: number): readonly Step[] {
    const steps: Step[] = []
    for (const frames of this.rests.get(tag) ?? []) {
      const top = frames.at(-1)
      if (top === undefined) steps.push({ lexeme: EmptyLexeme, frames })
      else {
        const below = frames.slice(0, -1)
        for (const step of top.follow(PlainTag, null))
          steps.push({ lexeme: step.lexeme, frames: [...below, ...step.frames] })
      }
    }
    return steps
  }

  finish(tag: number): Uint8Array {
    const texts = (this.rests.get(tag) as readonly Frames[]).map((frames) =>
      concatenate(frames.toReversed().map((frame) => textBytes(frame.finish(PlainTag, noText)))),
    )
    return texts.reduce((best, text) => (text.length < best.length ? text : best))
  }
}

function textBytes(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? utf8(text) : text
}
