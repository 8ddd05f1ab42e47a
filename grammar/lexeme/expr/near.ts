/**
 * A lower bound on how many characters an expression still needs, and a text that is found by
 * following its descent.
 *
 * For an intersection the distances of all factors are added: if a text must contain twelve words,
 * one after the other is met. The sum may exceed the true need, since one character can serve
 * several factors. So the text that is found need not be shortest.
 */
import { checkTime } from "../../deadline.ts"
import { derivativeRow } from "./derivative.ts"
import { exprLengths } from "./lengths.ts"
import { type ExprId, isNullable, Kind, kindOf, members, Never } from "./nodes.ts"

/** Weight of a row of derivatives for `checkTime`. */
const RowWeight = 8

/** Longer distances count as this one. */
const FarthestEnd = 10_000

/**
 * Returns the sum of the least characters that each factor of an intersection needs by itself. For
 * a choice, the least of its operands.
 */
export function distanceOf(id: ExprId): number {
  if (kindOf(id) === Kind.Or)
    return members(id).reduce((least, part) => Math.min(least, distanceOf(part)), FarthestEnd)
  if (kindOf(id) !== Kind.And) return leastOf(id)
  return members(id).reduce((sum, part) => Math.min(sum + leastOf(part), FarthestEnd), 0)
}

/**
 * Returns the least count of characters that a factor needs. Some machines compute their lengths
 * slowly, so for machines only acceptance counts.
 */
function leastOf(id: ExprId): number {
  if (kindOf(id) === Kind.Machine) return isNullable(id) ? 0 : 1
  return Math.min(exprLengths(id).low, FarthestEnd)
}

/**
 * Returns a text of `root` that has one byte of each range, which `cheapest` picks; null if it
 * would look at more than `most` expressions.
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
