/**
 * Whether an expression accepts any text at all.
 *
 * Without intersections, complements and assertions it is plain to see. With them it is a question about the automaton:
 * whether some sequence of derivatives ends in one that accepts the empty text. The verdicts are kept for good, for all
 * that a search has met: an expression is dead in every pattern or in none.
 */
import { checkTime } from "../../deadline.ts"
import { GrammarError } from "../../errors.ts"
import { derivativeRow } from "./derivative.ts"
import {
  AndKind,
  type ExprId,
  ExprMemo,
  exprCount,
  flags,
  kindOf,
  members,
  Never,
  Nullable,
  Searched,
} from "./nodes.ts"

// What is known of an expression.
const Live = 1
const Dead = 2
const verdicts = new ExprMemo()
const MaxSearched = 40_000
const MaxSearchedInPart = 2_000
/** New expressions, most of them parts of states. */
const MaxMade = 400_000

/**
 * Whether `id` is the empty language. At once without intersections, complements and assertions; else a breadth-first
 * search for an accepting derivative, memoised along the path and, when it fails, for all that was reached. Throws `limit`
 * when the search takes more than `maxMade` new expressions.
 */
export function isNever(id: ExprId, maxMade = MaxMade): boolean {
  const known = verdictOf(id)
  if (known !== 0) return known === Dead
  // A factor that is empty by itself may be small where the whole intersection is not.
  if (kindOf(id) === AndKind && members(id).some((part) => search(part, MaxSearchedInPart) === Dead)) {
    verdicts.set(id, Dead)
    return true
  }
  const verdict = search(id, MaxSearched, maxMade)
  if (verdict !== 0) return verdict === Dead
  throw new GrammarError(
    "limit",
    "",
    `the search for a text that a pattern accepts visited more than ${MaxSearched} automaton states. Use smaller repeat counts or fewer lookarounds`,
  )
}

/** Live, Dead, or 0 when more than `budget` expressions would have to be seen, or `maxMade` new ones made. */
function search(id: ExprId, budget: number, maxMade = MaxMade): number {
  const made = exprCount()
  const known = verdictOf(id)
  if (known !== 0) return known
  const found = [id]
  const parents = [-1]
  const seen = new Set(found)
  for (let i = 0; i < found.length; i++) {
    checkTime()
    const row = derivativeRow(found[i])
    for (let j = 1; j < row.length; j += 2) {
      const target = row[j]
      if (seen.has(target)) continue
      // Judged when first seen: characters of several bytes fan out, and the end is often one byte away.
      const verdict = verdictOf(target)
      if (verdict === Live) {
        for (let at = i; at >= 0; at = parents[at]) verdicts.set(found[at], Live)
        return Live
      }
      if (verdict === Dead) continue
      seen.add(target)
      found.push(target)
      parents.push(i)
    }
    if (found.length > budget || exprCount() - made > maxMade) return 0
  }
  for (const dead of found) verdicts.set(dead, Dead)
  return Dead
}

/** What is known of `id` without a search: Live, Dead, or 0. */
function verdictOf(id: ExprId): number {
  const facts = flags(id)
  if ((facts & Searched) === 0) return id === Never ? Dead : Live
  return facts & Nullable ? Live : Math.max(0, verdicts.get(id))
}
