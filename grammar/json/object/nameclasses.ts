/**
 * Classes of names: the non-empty atoms of the Boolean algebra of some patterns.
 *
 * Each pattern in turn splits every class so far in two. Patterns with different literal prefixes
 * are disjoint at sight. For others a search decides emptiness, and all searches of one object
 * share a budget.
 */
import { type GrammarError, type Limits, limitError } from "../../errors.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { at, Empty, Kind, kindOf, length } from "../../lexeme/expr/nodes.ts"

export interface NameClass {
  readonly expr: ExprId
  /** The patterns that the names match; they match none of the others. */
  readonly matched: ReadonlySet<ExprId>
}

const none: ReadonlySet<ExprId> = new Set()
const anyName: readonly NameClass[] = [{ expr: exprs.anyText, matched: none }]

/**
 * Returns the classes of the names that are in all `languages`. Throws `limit` if there are too
 * many, or if their emptiness is too hard to decide.
 */
export function nameClasses(
  patterns: ReadonlySet<ExprId>,
  languages: readonly ExprId[],
  limits: Limits,
): readonly NameClass[] {
  if (patterns.size === 0 && languages.length === 0) return anyName
  const before = exprs.count
  const manyMade = (): GrammarError => limitError(limits, "nameStates", exprs.count - before)
  const isNever = (expr: ExprId) => {
    if (exprs.isNever(expr, limits.nameStates, manyMade)) return true
    if (exprs.count - before <= limits.nameStates) return false
    throw manyMade()
  }
  const inside = exprs.and([exprs.anyText, ...languages])
  let classes: { expr: ExprId; matched: ReadonlySet<ExprId>; prefix: readonly number[] }[] = []
  if (!isNever(inside)) classes.push({ expr: inside, matched: none, prefix: [] })
  for (const pattern of patterns) {
    const prefix = literalPrefix(pattern)
    const split: typeof classes = []
    for (const one of classes) {
      if (prefix.some((byte, i) => i < one.prefix.length && one.prefix[i] !== byte)) {
        split.push(one)
        continue
      }
      const inner = exprs.and([one.expr, pattern])
      if (isNever(inner)) {
        split.push(one)
        continue
      }
      const longer = prefix.length > one.prefix.length ? prefix : one.prefix
      split.push({ expr: inner, matched: new Set([...one.matched, pattern]), prefix: longer })
      const outer = exprs.and([one.expr, exprs.not(pattern)])
      if (!isNever(outer)) split.push({ ...one, expr: outer })
    }
    classes = split
    // Each class is a way to read a key. Real schemas have up to ten.
    if (classes.length > limits.nameClasses) {
      throw limitError(limits, "nameClasses", classes.length)
    }
  }
  return classes
}

/**
 * Returns the bytes with which every text of `expr` begins, as far as the form of `expr` shows
 * them.
 */
function literalPrefix(expr: ExprId): number[] {
  const bytes: number[] = []
  for (let rest = expr; ; rest = at(rest, 2)) {
    const head = kindOf(rest) === Kind.Concat ? at(rest, 1) : rest
    if (kindOf(head) !== Kind.Set || length(head) !== 3 || at(head, 2) !== Empty) return bytes
    const range = at(head, 1)
    if ((range & 0xff) !== range >>> 8) return bytes
    bytes.push(range & 0xff)
    if (head === rest) return bytes
  }
}
