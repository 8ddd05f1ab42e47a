/**
 * The greatest number of bytes that complete a lexeme from any state that one token can reach. If
 * more tokens are left than that, no token needs to be tried.
 */
import { waysOn } from "../../grammar/lexeme/endings.ts"
import { lexemes } from "../../grammar/lexeme/table.ts"
import { tokenIds } from "../../grammar/lexeme/token.ts"
import type { Needs } from "./needs.ts"

/** Maximum number of lexeme states that one search visits. A larger search has no result. */
const MaxStates = 4_096

/** Maximum number of states with cached targets. All are evicted when it is reached. */
const MaxKept = 100_000

/** By tag: the most bytes of a completion that ends with it. Null if unknown. */
export type Radius = ReadonlyMap<number, number> | null

export class Radii {
  private readonly needs: Needs
  /** Length of the longest token in bytes. */
  private readonly maxBytes: number
  private readonly known = new Map<number, Radius>()
  /**
   * By state: the states after one byte. Cached because searches from neighbouring states visit the
   * same states if characters are counted.
   */
  private readonly targets = new Map<number, readonly number[]>()

  constructor(needs: Needs, maxBytes: number) {
    this.needs = needs
    this.maxBytes = maxBytes
  }

  /** Returns the radius over `lexemeState` and all states that a token can reach from it. */
  of(lexemeState: number): Radius {
    let radius = this.known.get(lexemeState)
    if (radius === undefined) {
      radius = this.find(lexemeState)
      this.known.set(lexemeState, radius)
    }
    return radius
  }

  private find(start: number): Radius {
    const longest = new Map<number, number>()
    const met = new Set<number>()
    const add = (state: number): boolean => {
      if (met.has(state) || !lexemes.canContinue(state)) return true
      met.add(state)
      const completion = this.needs.completion(state)
      if (completion === null || met.size > MaxStates) return false
      const { bytes, tag } = completion
      longest.set(tag, Math.max(longest.get(tag) ?? 0, bytes.length))
      return true
    }
    if (!add(start)) return null
    // Between two tokens, a lexeme that reads a token by its id is at its start.
    if (tokenIds(start) !== null) return longest
    let level = [start]
    for (let depth = 0; level.length > 0 && depth < this.maxBytes; depth++) {
      const next: number[] = []
      for (const state of level) {
        for (const target of this.targetsOf(state)) {
          const { size } = met
          if (!add(target)) return null
          if (met.size > size) next.push(target)
        }
      }
      level = next
    }
    // The search has visited all reachable states, so its result is a bound for each of them.
    if (level.length === 0)
      for (const state of met) if (!this.known.has(state)) this.known.set(state, longest)
    return longest
  }

  private targetsOf(state: number): readonly number[] {
    let targets = this.targets.get(state)
    if (targets === undefined) {
      if (this.targets.size > MaxKept) this.targets.clear()
      targets = Array.from(waysOn(state), ([, target]) => target)
      this.targets.set(state, targets)
    }
    return targets
  }
}
