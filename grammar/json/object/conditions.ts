/**
 * Conditions on the obligations that are met when an object ends: exactly one schema of a list
 * holds, or some, or all, where a schema holds as long as its obligation is not met.
 *
 * They are the verdicts of schemas (`facts/verdicts.ts`) after obligations have been numbered.
 */
import type { Obligation } from "../facts/obligations.ts"
import type { Quantity, Verdict } from "../facts/verdicts.ts"

/**
 * Holds if one, some or all (`kind`) hold among `parts` and the schemas whose obligations are in
 * the bit set `unmet`. `isNegated` inverts it.
 */
export interface Condition {
  readonly kind: Quantity
  readonly isNegated: boolean
  readonly unmet: bigint
  readonly parts: readonly Condition[]
}

/**
 * Returns the conditions of `verdicts`. Appends their obligations to `obligations`; the number of
 * an obligation is its index there.
 */
export function conditionsOf(verdicts: readonly Verdict[], obligations: Obligation[]): Condition[] {
  const bits = new Map<Obligation, bigint>()
  const bitOf = (obligation: Obligation): bigint => {
    let bit = bits.get(obligation)
    if (bit === undefined) {
      bit = 1n << BigInt(obligations.push(obligation) - 1)
      bits.set(obligation, bit)
    }
    return bit
  }
  const conditionOf = (verdict: Verdict): Condition => {
    if (verdict.kind === "unmet")
      return { kind: "all", isNegated: false, unmet: bitOf(verdict.obligation), parts: [] }
    let unmet = 0n
    const parts: Condition[] = []
    for (const part of verdict.parts) {
      const bit = part.kind === "unmet" ? bitOf(part.obligation) : 0n
      // A schema that is listed twice counts twice.
      if (bit === 0n || (unmet & bit) !== 0n) parts.push(conditionOf(part))
      else unmet |= bit
    }
    return { kind: verdict.kind, isNegated: verdict.isNegated, unmet, parts }
  }
  return verdicts.map(conditionOf)
}

/** Returns the obligations that a condition depends on. */
export function countedBy({ unmet, parts }: Condition): bigint {
  return parts.reduce((bits, part) => bits | countedBy(part), unmet)
}

/**
 * Whether a condition holds if, among the obligations in `known`, those in `unmet` are not met.
 * Null if the other obligations decide.
 */
export function judge(condition: Condition, unmet: bigint, known: bigint): boolean | null {
  const { kind, isNegated, parts } = condition
  const sure = condition.unmet & known & unmet
  const isOpen = (condition.unmet & ~known) !== 0n
  let verdict: boolean | null
  switch (kind) {
    case "all": {
      verdict = (condition.unmet & known & ~unmet) !== 0n ? false : isOpen ? null : true
      for (const part of parts) {
        if (verdict === false) break
        const holds = judge(part, unmet, known)
        if (holds !== true) verdict = holds
      }
      break
    }
    case "some": {
      verdict = sure !== 0n ? true : isOpen ? null : false
      for (const part of parts) {
        if (verdict === true) break
        const holds = judge(part, unmet, known)
        if (holds !== false) verdict = holds
      }
      break
    }
    default: {
      let count = sure === 0n ? 0 : (sure & (sure - 1n)) === 0n ? 1 : 2
      let open = isOpen ? 1 : 0
      for (const part of parts) {
        if (count > 1) break
        const holds = judge(part, unmet, known)
        if (holds === true) count++
        else if (holds === null) open++
      }
      verdict = count > 1 ? false : open > 0 ? null : count === 1
    }
  }
  return verdict === null ? null : verdict !== isNegated
}
