/**
 * Intersections without the upper bounds that no text so short meets.
 *
 * Of `.{0,200}` and `(.{1,63}\.){1,127}[a-z]+` each byte that is read leaves other counts behind, so no two places in a host name
 * would be one state. Without its upper bounds an intersection is larger. A text so short that no count is used up is in both or in
 * neither; and whether it is the beginning of one is the same for both where every beginning can be ended before some count is used
 * up. That is looked for among the derivatives of the larger one, of which there are few once it counts nothing any more.
 */
import { and, loop } from "./build.ts"
import { derivativeRow } from "./derivative.ts"
import {
  AndKind,
  at,
  ConcatKind,
  DiffKind,
  type ExprId,
  ExprMemo,
  flags,
  Inherited,
  isNullable,
  kindOf,
  LoopKind,
  MachineKind,
  members,
  Never,
  OrKind,
  Unbounded,
} from "./nodes.ts"
import { Rebuilding } from "./rebuild.ts"

/** More derivatives are not looked at: a character of four bytes has a dozen of them. */
const MaxDerivatives = 1_024
/** Loops inside each other, or one after the other, that count so far together would have as many derivatives. */
const TooMany = 81
/** By expression, what `countOf` answers. */
const counts = new ExprMemo()
/** A token can end an escape, which stands for up to four bytes, the last of which it has. */
const EscapeBytes = 3

/** The bytes within which each beginning of a text can be ended; `Endless` where that is not known. */
const ends = new ExprMemo()
const Endless = 0x3fffffff

/**
 * `id`, an intersection, without the upper bounds of its loops that more than `iterations` times in a row exceed, where no text of
 * up to `bytes` bytes tells both apart; else `id`. The first call for what is left costs up to 1,024 rows of derivatives.
 */
export function loosened(id: ExprId, bytes: number, iterations: (loop: ExprId) => number): ExprId {
  if ((flags(id) & Inherited) !== 0) return id
  const loosening = new Loosening(iterations)
  const loose = loosening.of(id)
  const room = loosening.least - bytes - EscapeBytes
  return loose !== id && room >= 0 && farthestEnd(loose) <= room ? loose : id
}

class Loosening extends Rebuilding {
  /** The smallest bound that was dropped: a text of so many bytes is in both or in neither. */
  least = Unbounded
  private readonly iterations: (loop: ExprId) => number

  constructor(iterations: (loop: ExprId) => number) {
    super()
    this.iterations = iterations
  }

  protected ofPart(id: ExprId): ExprId {
    if (kindOf(id) === AndKind) return this.joined(id, and)
    if (kindOf(id) !== LoopKind) return id
    const [body, min, max] = [at(id, 1), at(id, 2), at(id, 3)]
    const inner = this.of(body)
    const isFar = max !== Unbounded && max > this.iterations(id)
    if (isFar) this.least = Math.min(this.least, max)
    return inner === body && !isFar ? id : loop(inner, min, isFar ? Unbounded : max)
  }
}

/** In how many bytes every beginning of a text of `id` can be ended, or a few more; `Endless`: it is not told. */
function farthestEnd(id: ExprId): number {
  if (ends.get(id) < 0) {
    if (countOf(id) >= TooMany) ends.set(id, Endless)
    else findFarthestEnd(id)
  }
  return ends.get(id)
}

/** How many counts the derivatives of `id` go through, about; no more than `TooMany`. Memoised: parts are shared. */
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
    case LoopKind: {
      const [min, max] = [at(id, 2), at(id, 3)]
      return Math.max(1, max === Unbounded ? min : max) * countOf(at(id, 1))
    }
    case ConcatKind: {
      let sum = 0
      let rest = id
      for (; kindOf(rest) === ConcatKind && sum < TooMany; rest = at(rest, 2)) sum += countOf(at(rest, 1))
      return sum < TooMany ? sum + countOf(rest) : sum
    }
    case OrKind:
      return members(id).reduce((sum, part) => sum + countOf(part), 0)
    case AndKind:
      return members(id).reduce((product, part) => product * countOf(part), 1)
    case DiffKind:
      return countOf(at(id, 2))
    case MachineKind:
      return TooMany
    default:
      return 1
  }
}

/** Notes for `root`, and for all that is left of it later, where its texts end. */
function findFarthestEnd(root: ExprId): void {
  const found = [root]
  const places = new Map([[root, 0]])
  /** By place: the places of those that lead there in one byte. */
  const before: number[][] = [[]]
  for (let i = 0; i < found.length; i++) {
    // What is left of it later has mostly as many, and is not looked at again.
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
  // Backwards from where a text may end. What is not met has no text: neither expression goes on there.
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
