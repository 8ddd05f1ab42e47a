/** Reads a finished turn at once, however long the schemas of its tools take. */
import type { Turn } from "../../grammar/tags/styles/plan.ts"
import { gather, type ReadTurn } from "../../grammar/tags/styles/read/events.ts"
import { TurnReader } from "../../grammar/tags/styles/read/reader.ts"

/** A text to be read. */
export interface WholeText {
  readonly turn: Turn
  readonly text: string
  /** The control token that ended it, which may be a part of the last call or message. */
  readonly end: string | undefined
  /** Names of the tokens that end texts. */
  readonly endNames: readonly string[]
}

export function readWhole({ turn, text, end, endNames }: WholeText): ReadTurn {
  const reader = new TurnReader(turn, {}, endNames)
  const events = reader.feed(text)
  if (end !== undefined && reader.waitsFor(end)) events.push(...reader.feed(end))
  return gather([...events, ...reader.end()])
}
