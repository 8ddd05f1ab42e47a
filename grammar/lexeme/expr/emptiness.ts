/**
 * Whether an expression accepts any text at all.
 *
 * Without intersections, complements and assertions the form tells. With them it is a question
 * about the automaton: whether some sequence of derivatives ends in one that accepts the empty
 * text. The verdicts of all expressions that a search has met are kept for good, since they do not
 * depend on the pattern around an expression.
 */
import { checkTime } from "../../deadline.ts"
import { fixedBounds, type GrammarError, limitError } from "../../errors.ts"
import { owned } from "../../tables.ts"
import { derivativeRow } from "./derivative.ts"
import { distanceOf } from "./near.ts"
import {
  type ExprId,
  ExprMemo,
  exprCount,
  exprWords,
  flags,
  Kind,
  kindOf,
  members,
  Never,
  Nullable,
  Searched,
} from "./nodes.ts"

// Verdicts about an expression.
const Live = 1
const Dead = 2
// Reasons why a search found no verdict: it met too many states, or made too many expressions.
const ManyStates = 0
const ManyMade = -1
const verdicts = owned("emptiness", new ExprMemo())
const MaxSearchedInPart = 2_000
const { emptinessStates, emptinessExprs } = fixedBounds

/**
 * Returns whether `id` is the empty language. It is known at once without intersections,
 * complements and assertions. Otherwise it searches for an accepting derivative (`Order`) and
 * memoizes the verdict of the path, or of all that it met if it finds none. Throws `limit` if the
 * search meets too many states, and the error of `manyMade` if it takes more than `maxMade` new
 * expressions.
 */
export function isNever(id: ExprId, maxMade: number = emptinessExprs, manyMade = madeError): boolean {
  const known = verdictOf(id)
  if (known !== 0) return known === Dead
  // A factor that is empty by itself may be small even if the whole intersection is not.
  if (kindOf(id) === Kind.And && members(id).some((part) => search(part, MaxSearchedInPart) === Dead)) {
    verdicts.set(id, Dead)
    return true
  }
  const verdict = search(id, emptinessStates, maxMade)
  if (verdict === ManyMade) throw manyMade()
  if (verdict !== ManyStates) return verdict === Dead
  throw limitError(fixedBounds, "emptinessStates", emptinessStates + 1)
}

/** How many more times searches may look where an end seems closest, see `withFewClosest`. */
let closestLeft = Number.POSITIVE_INFINITY

/**
 * Runs `run`, which tests many expressions for emptiness, such as the states of an automaton. All
 * its searches together look at most `emptinessStates` times where an end seems closest, and after
 * that breadth first only. Each search finds an end either way, but looking where one seems closest
 * has its cost: minutes for tens of thousands of searches.
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

/** Returns true if a small search shows that `id` is the empty language; otherwise false. */
export function isSmallNever(id: ExprId): boolean {
  return search(id, MaxSearchedInPart) === Dead
}

function madeError(): GrammarError {
  return limitError(fixedBounds, "emptinessExprs", emptinessExprs + 1)
}

/**
 * Returns Live, Dead, or why neither is known: it would meet more than `budget` expressions, or
 * make more than `maxMade` new ones.
 */
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
      // Targets are judged when they are first met: characters of several bytes fan out, and the
      // end is often one byte away.
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

/**
 * This many expressions are taken in the order in which they were found, before any that seem
 * closest.
 */
const FewFound = 64
/** Count of words that a step usually makes if its expression is small. */
const UsualWords = 64

/**
 * Chooses the expression that is looked at next, by two searches that share what they find. One
 * goes breadth first; the other goes where an end seems closest, adding up the distances of the
 * factors of an intersection. If a text must contain twelve patterns, the second meets one after
 * the other, and the first looks at all sets of them. They take turns, but the second pauses while
 * it has cost more than the first. The first follows only what it found itself. So if the second is
 * misled into expressions that grow with each byte, the first takes twice as long as alone.
 */
class Order {
  private readonly found: readonly ExprId[]
  /** Indices in `found`, breadth first. */
  private readonly queue = [0]
  private readonly isQueued = [true]
  private head = 0
  private readonly isTaken: boolean[] = []
  /** Indices in `found`, by a lower bound on the distance to an end. */
  private readonly byDistance: number[][] = []
  private closest = 0
  /** The expressions before this index are listed in `byDistance`. */
  private sorted = 0
  /** Whether the last index was chosen as one that seemed closest. */
  private isClosest = false
  private breadthCost = 0
  private closestCost = 0

  constructor(found: readonly ExprId[]) {
    this.found = found
  }

  /** Returns the index of the next expression, or -1 if all have been looked at. */
  next(): number {
    const { queue } = this
    const isEmpty = this.head === queue.length
    const isTurn = !this.isClosest && this.closestCost <= this.breadthCost && closestLeft > 0
    this.isClosest = isEmpty || (isTurn && queue.length > FewFound)
    let place = this.isClosest ? this.takeClosest() : -1
    if (place < 0 && !isEmpty) {
      this.isClosest = false
      // The other search may have looked at it already: its row is known then, but its targets must
      // be met here.
      place = queue[this.head++]
    }
    if (this.isClosest) closestLeft--
    if (place >= 0) this.isTaken[place] = true
    return place
  }

  /** Adds an expression to which the last one leads. */
  meet(place: number): void {
    if (this.isClosest || this.isQueued[place]) return
    this.isQueued[place] = true
    this.queue.push(place)
  }

  /**
   * Adds the cost of the words that the last expression made. It is quadratic, since unions and
   * intersections compare all their operands.
   */
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

/** Returns what is known of `id` without a search: Live, Dead, or 0. */
function verdictOf(id: ExprId): number {
  const facts = flags(id)
  if ((facts & Searched) === 0) return id === Never ? Dead : Live
  return facts & Nullable ? Live : Math.max(0, verdicts.get(id))
}
