/**
 * Intersections without the upper bounds that no text so short meets.
 *
 * Of `.{0,200}` and `(.{1,63}\.){1,127}[a-z]+` each byte that is read leaves other counts behind, so no two places in a host name
 * would be one state. Without its upper bounds an intersection is larger. A text so short that no count is used up is in both or in
 * neither; and whether it is the beginning of one is the same for both where every beginning can be ended before some count is used
 * up. That is looked for among the derivatives of the larger one, of which there are few once it counts nothing any more.
 */
import { and, concat, loop, or } from "./build.ts"
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

/** More derivatives are not looked at: a character of four bytes has a dozen of them. */
const MaxDerivatives = 1_024
/** Loops inside each other, or one after the other, that count farther together would have as many derivatives. */
const MaxCounted = 80
/** A token can end an escape, which stands for up to four bytes, the last of which it has. */
const EscapeBytes = 3

/** The bytes within which each beginning of a text can be ended; `Endless` where that is not known. */
const ends = new ExprMemo()
const Endless = 0x3fffffff

/**
 * `id`, an intersection, without the upper bounds of its loops that more than `iterations` times in a row exceed, where no text of
 * up to `bytes` bytes tells both apart; else `id`. The first call for what is left costs up to 256 rows of derivatives.
 */
export function loosened(id: ExprId, bytes: number, iterations: (loop: ExprId) => number): ExprId {
  if ((flags(id) & Inherited) !== 0) return id
  const loosening = new Loosening(iterations)
  const loose = loosening.of(id)
  const room = loosening.least - bytes - EscapeBytes
  return loose !== id && room >= 0 && farthestEnd(loose) <= room ? loose : id
}

class Loosening {
  /** The smallest bound that was dropped: a text of so many bytes is in both or in neither. */
  least = Unbounded
  private readonly iterations: (loop: ExprId) => number
  private readonly known = new Map<ExprId, ExprId>()

  constructor(iterations: (loop: ExprId) => number) {
    this.iterations = iterations
  }

  of(id: ExprId): ExprId {
    let loose = this.known.get(id)
    if (loose === undefined) {
      loose = this.find(id)
      this.known.set(id, loose)
    }
    return loose
  }

  private find(id: ExprId): ExprId {
    switch (kindOf(id)) {
      case AndKind:
        return this.each(id, and)
      case OrKind:
        return this.each(id, or)
      case ConcatKind: {
        // Literals are chains: down the tails and back up without recursion.
        const chain: ExprId[] = []
        let last = id
        for (; kindOf(last) === ConcatKind; last = at(last, 2)) chain.push(last)
        let made = this.of(last)
        for (const link of chain.reverse()) {
          const head = this.of(at(link, 1))
          made = head === at(link, 1) && made === at(link, 2) ? link : concat(head, made)
        }
        return made
      }
      case LoopKind: {
        const [body, min, max] = [at(id, 1), at(id, 2), at(id, 3)]
        const inner = this.of(body)
        const isFar = max !== Unbounded && max > this.iterations(id)
        if (isFar) this.least = Math.min(this.least, max)
        return inner === body && !isFar ? id : loop(inner, min, isFar ? Unbounded : max)
      }
      default:
        return id
    }
  }

  private each(id: ExprId, join: (parts: readonly ExprId[]) => ExprId): ExprId {
    const parts = members(id)
    const loose = parts.map((part) => this.of(part))
    return loose.every((part, i) => part === parts[i]) ? id : join(loose)
  }
}

/** In how many bytes every beginning of a text of `id` can be ended, or a few more; `Endless`: it is not told. */
function farthestEnd(id: ExprId): number {
  if (ends.get(id) < 0) {
    if (countOf(id) > MaxCounted) ends.set(id, Endless)
    else findFarthestEnd(id)
  }
  return ends.get(id)
}

/** How many counts the derivatives of `id` go through, about. */
function countOf(id: ExprId): number {
  switch (kindOf(id)) {
    case LoopKind: {
      const [min, max] = [at(id, 2), at(id, 3)]
      return Math.min(Endless, Math.max(1, max === Unbounded ? min : max) * countOf(at(id, 1)))
    }
    case ConcatKind: {
      let sum = 0
      for (; kindOf(id) === ConcatKind && sum <= MaxCounted; id = at(id, 2)) sum += countOf(at(id, 1))
      return sum + countOf(id)
    }
    case OrKind:
      return members(id).reduce((sum, part) => sum + countOf(part), 0)
    case AndKind:
      return members(id).reduce((product, part) => Math.min(Endless, product * countOf(part)), 1)
    case DiffKind:
      return countOf(at(id, 2))
    case MachineKind:
      return Endless
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
    if (found.length > MaxDerivatives) {
      ends.set(root, Endless)
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
  for (const id of found) if (ends.get(id) < 0) ends.set(id, distance)
}
