/**
 * Reads a finished turn at once, however long the schemas of its tools take: in the engine's
 * thread, or where the engine's parts say (`slowreading.ts`: in another thread).
 */
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

/** A place where finished turns are read. */
export interface ApartReading {
  /** Rejects with the error of the reading. */
  read(text: WholeText): Promise<ReadTurn>
  close(): Promise<void>
}

/** Reads turns in this thread. */
export const readingHere: ApartReading = {
  read: async (text) => readWhole(text),
  close: async () => {},
}

export function readWhole({ turn, text, end, endNames }: WholeText): ReadTurn {
  const reader = new TurnReader(turn, {}, endNames)
  const events = reader.feed(text)
  if (end !== undefined && reader.waitsFor(end)) events.push(...reader.feed(end))
  return gather([...events, ...reader.end()])
}
