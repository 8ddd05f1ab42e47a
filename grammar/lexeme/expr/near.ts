/**
 * How far an expression is from a text at least, and a text that is found by going where that falls.
 *
 * Of an intersection the distances of all factors are added: where a text must hold twelve words, one after the other is met. The sum
 * may be more than there is to go, since one character can serve several, so what is found need not be shortest.
 */
import { checkTime } from "../../deadline.ts"
import { derivativeRow } from "./derivative.ts"
import { exprLengths } from "./lengths.ts"
import { AndKind, type ExprId, isNullable, kindOf, MachineKind, members, Never, OrKind } from "./nodes.ts"

/** For `checkTime`: a row of derivatives. */
const RowWeight = 8

/** Farther than this is as far as that. */
const FarthestEnd = 10_000

/** Characters that the factors of an intersection need at least, each by itself; of a choice its best operand. */
export function distanceOf(id: ExprId): number {
  if (kindOf(id) === OrKind)
    return members(id).reduce((least, part) => Math.min(least, distanceOf(part)), FarthestEnd)
  if (kindOf(id) !== AndKind) return leastOf(id)
  return members(id).reduce((sum, part) => Math.min(sum + leastOf(part), FarthestEnd), 0)
}

/** Characters that a factor needs at least. Some machines find their own lengths slowly: of those it is only asked whether they are done. */
function leastOf(id: ExprId): number {
  if (kindOf(id) === MachineKind) return isNullable(id) ? 0 : 1
  return Math.min(exprLengths(id).low, FarthestEnd)
}

/**
 * A text of `root`, of each range of bytes that one that `cheapest` picks; null where more than `most` expressions would be
 * looked at.
 */
export function nearText(root: ExprId, cheapest: (range: number) => number, most: number): number[] | null {
  const from = new Map<ExprId, { before: ExprId; byte: number }>([[root, { before: Never, byte: 0 }]])
  const open: ExprId[][] = []
  let closest = 0
  const add = (id: ExprId) => {
    const distance = distanceOf(id)
    open[distance] ??= []
    open[distance].push(id)
    closest = Math.min(closest, distance)
  }
  add(root)
  for (let searched = 0; closest < open.length; ) {
    const id = open[closest]?.pop()
    if (id === undefined) {
      closest++
      continue
    }
    if (isNullable(id)) {
      const path: number[] = []
      for (let at = id; at !== root; ) {
        const { before, byte } = from.get(at) as { before: ExprId; byte: number }
        path.push(byte)
        at = before
      }
      return path.reverse()
    }
    checkTime(RowWeight)
    if (++searched > most) return null
    const row = Array.from(derivativeRow(id))
    for (let i = 0; i < row.length; i += 2) {
      if (from.has(row[i + 1])) continue
      from.set(row[i + 1], { before: id, byte: cheapest(row[i]) })
      add(row[i + 1])
    }
  }
  return null
}
