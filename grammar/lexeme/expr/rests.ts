/**
 * A lower bound on how many bytes a begun text of an expression may still need: the maximum, over
 * all prefixes, of the shortest way to an end. A text that needs more than the limit cannot be
 * finished. So an expression with such a branch is refused before anything is read, even if other
 * texts of it are short.
 *
 * The bound comes from the form. It ignores what intersections, complements and assertions exclude:
 * their own shortest texts count, and those of the operands of an intersection.
 */
import { fixedBounds, limitError } from "../../errors.ts"
import { owned } from "../../tables.ts"
import { at, type ExprId, ExprMemo, Kind, kindOf, length } from "./nodes.ts"
import { rawTexts } from "./shortest.ts"

/**
 * Throws `limit` if a begun text of `expr` may need more bytes than any text may have. O(the
 * expression).
 */
export function checkRests(expr: ExprId): void {
  const bytes = mostNeeded(expr)
  if (bytes <= fixedBounds.shortestBytes) return
  throw limitError(fixedBounds, "shortestBytes.patternPart", bytes)
}

/** No text of an expression is that long. Larger needs become this one. */
const MaxNeed = 0x3fffffff

const known = owned("rests", { needs: new ExprMemo() }, { forget: () => (known.needs = new ExprMemo()) })

/**
 * Returns a lower bound on the bytes that are needed after some prefix; 0 if unknown. O(the
 * expression), once.
 */
export function mostNeeded(root: ExprId): number {
  // Walks in postorder with a stack of its own, because patterns may nest deeper than calls.
  const stack = [root]
  while (stack.length > 0) {
    const id = stack[stack.length - 1]
    const before = stack.length
    if (known.needs.get(id) < 0)
      for (const part of partsOf(id)) if (known.needs.get(part) < 0) stack.push(part)
    if (stack.length > before) continue
    if (known.needs.get(id) < 0) known.needs.set(id, Math.min(MaxNeed, needed(id)))
    stack.pop()
  }
  return known.needs.get(root)
}

function partsOf(id: ExprId): ExprId[] {
  switch (kindOf(id)) {
    case Kind.Concat:
      return [at(id, 1), at(id, 2)]
    case Kind.Or:
    case Kind.And: {
      const parts: ExprId[] = []
      for (let i = 1; i < length(id); i++) parts.push(at(id, i))
      return parts
    }
    case Kind.Loop:
    case Kind.Scope:
      return [at(id, 1)]
    default:
      return []
  }
}

function needed(id: ExprId): number {
  const of = (part: ExprId) => known.needs.get(part)
  switch (kindOf(id)) {
    case Kind.Concat:
      return Math.max(of(at(id, 1)) + rawTexts.least(at(id, 2)), of(at(id, 2)))
    case Kind.Or:
    case Kind.And: {
      let most = rawTexts.least(id)
      for (let i = 1; i < length(id); i++) most = Math.max(most, of(at(id, i)))
      return most
    }
    case Kind.Loop:
      return of(at(id, 1)) + rawTexts.least(at(id, 1)) * Math.max(0, at(id, 2) - 1)
    case Kind.Scope:
      return of(at(id, 1))
    default:
      return rawTexts.least(id)
  }
}
