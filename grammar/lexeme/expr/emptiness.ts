/**
 * Whether an expression accepts any text at all.
 *
 * Without intersections, complements and assertions it is plain to see. With them it is a question about the automaton:
 * whether some sequence of derivatives ends in one that accepts the empty text. The verdicts are kept for good, for all
 * that a search has met: an expression is dead in every pattern or in none.
 */
import { checkTime } from "../../deadline.ts"
import { fixedBounds, type GrammarError, limitError } from "../../errors.ts"
import { derivativeRow } from "./derivative.ts"
import { distanceOf } from "./near.ts"
import {
  AndKind,
  type ExprId,
  ExprMemo,
  exprCount,
  exprWords,
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
// Why a search found out nothing: too many states were met, or too many expressions made.
const ManyStates = 0
const ManyMade = -1
const verdicts = new ExprMemo()
const MaxSearchedInPart = 2_000
const { emptinessStates, emptinessExprs } = fixedBounds

/**
 * Whether `id` is the empty language. At once without intersections, complements and assertions; else a search for an accepting
 * derivative (`Order`), memoised along the path and, when it fails, for all that was reached. Throws `limit`
 * when the search meets too many states, and what `manyMade` answers when it takes more than `maxMade` new expressions.
 */
export function isNever(id: ExprId, maxMade: number = emptinessExprs, manyMade = madeError): boolean {
  const known = verdictOf(id)
  if (known !== 0) return known === Dead
  // A factor that is empty by itself may be small where the whole intersection is not.
  if (kindOf(id) === AndKind && members(id).some((part) => search(part, MaxSearchedInPart) === Dead)) {
    verdicts.set(id, Dead)
    return true
  }
  const verdict = search(id, emptinessStates, maxMade)
  if (verdict === ManyMade) throw manyMade()
  if (verdict !== ManyStates) return verdict === Dead
  throw limitError(fixedBounds, "emptinessStates", emptinessStates + 1)
}

/** Looks where an end seems closest that are left, see `withFewClosest`. */
let closestLeft = Number.POSITIVE_INFINITY

/**
 * Runs what asks for many expressions, as the states of an automaton, whether they are empty: all its searches together look
 * `emptinessStates` times where an end seems closest, and after that breadth first alone. Each would find an end, at its cost; for
 * tens of thousands that would be minutes.
 */
export function withFewClosest<T>(run: () => T): T {
  const before = closestLeft
  closestLeft = Math.min(before, emptinessStates)
  try {
    return run()
  } finally {
    closestLeft = before
  }
}

/** Whether `id` is the empty language as a small search finds it; false where that is not told. */
export function isSmallNever(id: ExprId): boolean {
  return search(id, MaxSearchedInPart) === Dead
}

function madeError(): GrammarError {
  return limitError(fixedBounds, "emptinessExprs", emptinessExprs + 1)
}

/** Live, Dead, or why that is not known: more than `budget` expressions would be seen, or `maxMade` new ones made. */
function search(id: ExprId, budget: number, maxMade: number = emptinessExprs): number {
  const made = exprCount()
  const known = verdictOf(id)
  if (known !== 0) return known
  const found = [id]
  const parents = [-1]
  const places = new Map([[id, 0]])
  const order = new Order(found)
  for (let i = order.next(); i >= 0; i = order.next()) {
    checkTime()
    const before = exprWords()
    const row = derivativeRow(found[i])
    order.paid(exprWords() - before)
    for (let j = 1; j < row.length; j += 2) {
      const target = row[j]
      const place = places.get(target)
      if (place !== undefined) {
        order.meet(place)
        continue
      }
      // Judged when first seen: characters of several bytes fan out, and the end is often one byte away.
      const verdict = verdictOf(target)
      if (verdict === Live) {
        for (let at = i; at >= 0; at = parents[at]) verdicts.set(found[at], Live)
        return Live
      }
      if (verdict === Dead) continue
      places.set(target, found.length)
      order.meet(found.length)
      found.push(target)
      parents.push(i)
    }
    if (found.length > budget) return ManyStates
    if (exprCount() - made > maxMade) return ManyMade
  }
  for (const dead of found) verdicts.set(dead, Dead)
  return Dead
}

/** So many are looked at in the order in which they were found, before it is asked which are closer to an end. */
const FewFound = 64
/** Words that are made where an expression is small. */
const UsualWords = 64

/**
 * Which of the expressions found is looked at next, by two searches that share what they find: breadth first, or where an end seems
 * closest, each factor of an intersection counted. Twelve patterns that a text must contain are met one after the other by the
 * second, where the first looks at all sets of them. They take turns, but the second waits while it cost more; and the first follows
 * only what it found itself: where the second is misled, into expressions that grow with each byte, the first takes twice as long as
 * alone.
 */
class Order {
  private readonly found: readonly ExprId[]
  /** Places in `found`, breadth first. */
  private readonly queue = [0]
  private readonly isQueued = [true]
  private head = 0
  private readonly isTaken: boolean[] = []
  /** Places in `found` by how far their end is at least. */
  private readonly byDistance: number[][] = []
  private closest = 0
  /** Those before it stand in `byDistance`. */
  private sorted = 0
  /** Whether the last place is one that seemed closest. */
  private isClosest = false
  private breadthCost = 0
  private closestCost = 0

  constructor(found: readonly ExprId[]) {
    this.found = found
  }

  /** Its place, or -1: all have been looked at. */
  next(): number {
    const { queue } = this
    const isEmpty = this.head === queue.length
    const isTurn = !this.isClosest && this.closestCost <= this.breadthCost && closestLeft > 0
    this.isClosest = isEmpty || (isTurn && queue.length > FewFound)
    let place = this.isClosest ? this.takeClosest() : -1
    if (place < 0 && !isEmpty) {
      this.isClosest = false
      // Also what the other search has looked at: its row is known, and what it leads to has to be met.
      place = queue[this.head++]
    }
    if (this.isClosest) closestLeft--
    if (place >= 0) this.isTaken[place] = true
    return place
  }

  /** The last place leads to this one. */
  meet(place: number): void {
    if (this.isClosest || this.isQueued[place]) return
    this.isQueued[place] = true
    this.queue.push(place)
  }

  /** Counts the words that expressions made for the last place take: unions and intersections compare all their operands. */
  paid(words: number): void {
    const cost = 1 + words + Math.floor(words ** 2 / UsualWords)
    if (this.isClosest) this.closestCost += cost
    else this.breadthCost += cost
  }

  private takeClosest(): number {
    const { found, byDistance, isTaken } = this
    for (; this.sorted < found.length; this.sorted++) {
      if (isTaken[this.sorted]) continue
      const distance = distanceOf(found[this.sorted])
      byDistance[distance] ??= []
      byDistance[distance].push(this.sorted)
      this.closest = Math.min(this.closest, distance)
    }
    for (; this.closest < byDistance.length; this.closest++) {
      const places = byDistance[this.closest]
      for (let place = places?.pop(); place !== undefined; place = places.pop())
        if (!isTaken[place]) return place
    }
    return -1
  }
}

/** What is known of `id` without a search: Live, Dead, or 0. */
function verdictOf(id: ExprId): number {
  const facts = flags(id)
  if ((facts & Searched) === 0) return id === Never ? Dead : Live
  return facts & Nullable ? Live : Math.max(0, verdicts.get(id))
}
