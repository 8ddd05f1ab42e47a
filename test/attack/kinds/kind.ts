/**
 * A kind of attack: one hostile request, or a few that belong together.
 *
 * It sends them to the port and returns the answers. What it does to others is measured by `../watch.ts`.
 */
import type { Answer } from "../requests.ts"

export type Kind = (port: number) => Promise<Answer[]>

export type Kinds = Record<string, Kind>

export const repeat = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

export const MiB = 1 << 20

/** An answer of what has no HTTP reply of its own. */
export function outcome(status: number | string, begin: number): Answer {
  const ms = performance.now() - begin
  return { status, headMs: ms, ms, headers: {}, text: "", diedOf: null }
}
