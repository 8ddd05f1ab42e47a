/**
 * The key of an expression for a bounded number of bytes: expressions that no token can distinguish
 * share one.
 */
import { anyText, loop } from "./build.ts"
import { derivative } from "./derivative.ts"
import { loosened } from "./loosen.ts"
import { clampedMachine } from "./machine.ts"
import { at, Empty, type ExprId, isNullable, Kind, kindOf, members, Never, Unbounded } from "./nodes.ts"
import { Rebuilding } from "./rebuild.ts"
import { rawTexts } from "./shortest.ts"

const encoder = new TextEncoder()

/** How far the tokens of a vocabulary reach. */
export interface Reach {
  /** Largest count of bytes of a token. */
  readonly bytes: number
  /**
   * Loops of at most this many iterations are kept: looking at the vocabulary costs more than it
   * saves.
   */
  readonly fewIterations: number
  /**
   * Returns an upper bound of how many times in a row `body` can begin within one token, if it
   * begins with a character of `first` and ends with one of `last`.
   */
  iterations(body: ExprId, first: CharacterTest, last: CharacterTest): number
}

/** A set of characters. */
export interface CharacterTest {
  has(code: number): boolean
  /** Returns whether no member's UTF-8 form begins with the byte `first`. */
  hasNone(first: number): boolean
}

/**
 * Returns an expression that no token within `reach` can distinguish from `id`. A token begins only
 * so many iterations of a loop, so larger counts are clamped to one more, and larger upper bounds
 * are dropped. A complement becomes all texts if it excludes no text that short. Inside
 * intersections only upper bounds are dropped, and only if `loosened` shows that the possible
 * continuations do not depend on them. Nothing changes inside complements and assertions.
 */
export function clamped(id: ExprId, reach: Reach): ExprId {
  switch (kindOf(id)) {
    case Kind.Concat:
    case Kind.Or:
    case Kind.And:
    case Kind.Loop:
    case Kind.Machine:
      return new Clamping(reach).of(id)
    case Kind.Diff:
      return clampedComplement(id, reach)
    default:
      return id
  }
}

/**
 * Replaces a complement by all texts if no excluded text ends within reach. One token can end an
 * escape, which stands for up to four bytes.
 */
function clampedComplement(id: ExprId, reach: Reach): ExprId {
  const [all, excluded] = [at(id, 1), at(id, 2)]
  return all === anyText && rawTexts.least(excluded) > reach.bytes + 3 ? anyText : id
}

class Clamping extends Rebuilding {
  private readonly reach: Reach

  constructor(reach: Reach) {
    super()
    this.reach = reach
  }

  protected ofPart(id: ExprId): ExprId {
    const { reach } = this
    switch (kindOf(id)) {
      case Kind.Loop: {
        const [body, min, max] = [at(id, 1), at(id, 2), at(id, 3)]
        const inner = this.of(body)
        const bound = iterationsWithin(id, reach)
        const least = Math.min(min, bound + 1)
        const most = max > bound ? Unbounded : max
        return inner === body && least === min && most === max ? id : loop(inner, least, most)
      }
      case Kind.Machine:
        return clampedMachine(id, reach.bytes)
      case Kind.And:
        return loosened(id, reach.bytes, (loop) => iterationsWithin(loop, reach))
      default:
        return id
    }
  }
}

/** Returns the largest count of iterations of the loop `id` that begin within one token. */
function iterationsWithin(id: ExprId, reach: Reach): number {
  const [body, min, max] = [at(id, 1), at(id, 2), at(id, 3)]
  const most = max === Unbounded ? min : max
  // A single character can begin anywhere.
  if (most <= reach.fewIterations || kindOf(body) === Kind.Set) return reach.bytes
  const ends: ExprId[] = []
  addEnds(body, ends)
  const first: CharacterTest = {
    has: (code) => afterCharacter(body, code) !== Never,
    hasNone: (byte) => derivative(body, byte) === Never,
  }
  const last: CharacterTest = {
    has: (code) => ends.some((end) => kindOf(end) !== Kind.Set || afterCharacter(end, code) === Empty),
    hasNone: (byte) => ends.every((end) => kindOf(end) === Kind.Set && derivative(end, byte) === Never),
  }
  return Math.min(reach.bytes, reach.iterations(body, first, last))
}

function afterCharacter(id: ExprId, code: number): ExprId {
  let left = id
  for (const byte of encoder.encode(String.fromCodePoint(code))) left = derivative(left, byte)
  return left
}

/**
 * Adds the sets of characters with which texts of `id` end to `ends`. If it cannot tell, it adds an
 * expression that stands for all characters.
 */
function addEnds(id: ExprId, ends: ExprId[], seen = new Set<ExprId>()): void {
  if (seen.has(id)) return
  seen.add(id)
  switch (kindOf(id)) {
    case Kind.Never:
    case Kind.Empty:
      return
    case Kind.Concat: {
      let tail = id
      for (; kindOf(tail) === Kind.Concat; tail = at(tail, 2)) {
        if (isNullable(at(tail, 2))) addEnds(at(tail, 1), ends, seen)
      }
      addEnds(tail, ends, seen)
      return
    }
    case Kind.Or:
      for (const member of members(id)) addEnds(member, ends, seen)
      return
    case Kind.Loop:
      addEnds(at(id, 1), ends, seen)
      return
    default:
      ends.push(id)
  }
}
