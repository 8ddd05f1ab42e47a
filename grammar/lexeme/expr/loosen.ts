/**
 * Intersections without the upper bounds that short texts cannot reach.
 *
 * In `.{0,200}` and `(.{1,63}\.){1,127}[a-z]+` each byte changes the counts, so no two positions in
 * a host name would share a state. Without its upper bounds an intersection is larger, but a text
 * so short that it uses up no count is in both or in neither. Whether it is a prefix is also the
 * same for both, if every prefix can be completed before some count is used up. That is tested on
 * the derivatives of the larger expression, which are few since it counts nothing any more.
 */

import { owned } from "../../tables.ts"
import { and, loop } from "./build.ts"
import { derivativeRow } from "./derivative.ts"
import {
  at,
  type ExprId,
  ExprMemo,
  flags,
  Inherited,
  isNullable,
  Kind,
  kindOf,
  members,
  Never,
  Unbounded,
} from "./nodes.ts"
import { Rebuilding } from "./rebuild.ts"

/**
 * Largest count of derivatives that are looked at. A character of four bytes has a dozen of them.
 */
const MaxDerivatives = 1_024
/** Loops, nested or in sequence, that together count this far would have more derivatives. */
const TooMany = 81
/** Results of `countOf`, by expression. */
const counts = owned("loosened", new ExprMemo())
/**
 * A token can end an escape, which stands for up to four bytes; the token itself writes the last
 * one.
 */
const EscapeBytes = 3

/**
 * The bytes within which each prefix of a text can be completed; `Endless` if that is not known.
 */
const ends = owned("loosened", new ExprMemo())
const Endless = 0x3fffffff

/**
 * Returns `id`, an intersection, without the upper bounds of loops that are larger than
 * `iterations`, if no text of up to `bytes` bytes distinguishes both; otherwise returns `id`. The
 * first call costs up to 1,024 rows of derivatives.
 */
export function loosened(id: ExprId, bytes: number, iterations: (loop: ExprId) => number): ExprId {
  if ((flags(id) & Inherited) !== 0) return id
  const loosening = new Loosening(iterations)
  const loose = loosening.of(id)
  const room = loosening.least - bytes - EscapeBytes
  return loose !== id && room >= 0 && farthestEnd(loose) <= room ? loose : id
}

class Loosening extends Rebuilding {
  /**
   * The smallest bound that was dropped: a text of at most this many bytes is in both or in
   * neither.
   */
  least = Unbounded
  private readonly iterations: (loop: ExprId) => number

  constructor(iterations: (loop: ExprId) => number) {
    super()
    this.iterations = iterations
  }

  protected ofPart(id: ExprId): ExprId {
    if (kindOf(id) === Kind.And) return this.joined(id, and)
    if (kindOf(id) !== Kind.Loop) return id
    const [body, min, max] = [at(id, 1), at(id, 2), at(id, 3)]
    const inner = this.of(body)
    const isFar = max !== Unbounded && max > this.iterations(id)
    if (isFar) this.least = Math.min(this.least, max)
    return inner === body && !isFar ? id : loop(inner, min, isFar ? Unbounded : max)
  }
}

/**
 * Returns a number of bytes within which every prefix of a text of `id` can be completed, perhaps a
 * few more than needed; `Endless` if that is not known.
 */
function farthestEnd(id: ExprId): number {
  if (ends.get(id) < 0) {
    if (countOf(id) >= TooMany) ends.set(id, Endless)
    else findFarthestEnd(id)
  }
  return ends.get(id)
}

/**
 * Returns about how many counts the derivatives of `id` go through, at most `TooMany`. Memoized,
 * since parts are shared.
 */
function countOf(id: ExprId): number {
  let count = counts.get(id)
  if (count < 0) {
    count = Math.min(TooMany, findCount(id))
    counts.set(id, count)
  }
  return count
}

function findCount(id: ExprId): number {
  switch (kindOf(id)) {
    case Kind.Loop: {
      const [min, max] = [at(id, 2), at(id, 3)]
      return Math.max(1, max === Unbounded ? min : max) * countOf(at(id, 1))
    }
    case Kind.Concat: {
      let sum = 0
      let rest = id
      for (; kindOf(rest) === Kind.Concat && sum < TooMany; rest = at(rest, 2)) sum += countOf(at(rest, 1))
      return sum < TooMany ? sum + countOf(rest) : sum
    }
    case Kind.Or:
      return members(id).reduce((sum, part) => sum + countOf(part), 0)
    case Kind.And:
      return members(id).reduce((product, part) => product * countOf(part), 1)
    case Kind.Diff:
      return countOf(at(id, 2))
    case Kind.Machine:
      return TooMany
    default:
      return 1
  }
}

/** Computes `ends` for `root` and for all its derivatives. */
function findFarthestEnd(root: ExprId): void {
  const found = [root]
  const places = new Map([[root, 0]])
  /** By index: the indices of the expressions that lead to it in one byte. */
  const before: number[][] = [[]]
  for (let i = 0; i < found.length; i++) {
    // Its derivatives mostly have too many of their own, so they are not tried again.
    if (found.length > MaxDerivatives) {
      note(found, Endless)
      return
    }
    const row = derivativeRow(found[i])
    for (let j = 1; j < row.length; j += 2) {
      if (row[j] === Never) continue
      let place = places.get(row[j])
      if (place === undefined) {
        place = found.length
        places.set(row[j], place)
        found.push(row[j])
        before.push([])
      }
      before[place].push(i)
    }
  }
  // Goes backwards from expressions where a text may end. One that is not met has no text, so
  // neither language continues there.
  const distances: number[] = found.map((id) => (isNullable(id) ? 0 : -1))
  let wave = [...distances.keys()].filter((place) => distances[place] === 0)
  let distance = 0
  while (wave.length > 0) {
    const next: number[] = []
    for (const place of wave) {
      for (const from of before[place]) {
        if (distances[from] >= 0) continue
        distances[from] = distance + 1
        next.push(from)
      }
    }
    if (next.length > 0) distance++
    wave = next
  }
  note(found, distance)
}

function note(found: readonly ExprId[], farthest: number): void {
  for (const id of found) if (ends.get(id) < 0) ends.set(id, farthest)
}
