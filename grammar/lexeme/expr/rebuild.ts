/** Rebuilds expressions with some parts replaced. */
import { concat, or } from "./build.ts"
import { at, type ExprId, Kind, kindOf, members } from "./nodes.ts"

/**
 * One rebuilding. It memoizes each part: otherwise nested alternatives with shared parts would take
 * twice as long per level.
 */
export abstract class Rebuilding {
  private readonly known = new Map<ExprId, ExprId>()

  /** Returns what replaces `id`; `id` itself if none of its parts changes. */
  of(id: ExprId): ExprId {
    let made = this.known.get(id)
    if (made === undefined) {
      made = this.make(id)
      this.known.set(id, made)
    }
    return made
  }

  /** Returns what replaces an expression that is neither a concatenation nor a choice. */
  protected abstract ofPart(id: ExprId): ExprId

  /** Returns `id` with its operands replaced and joined by `join`. */
  protected joined(id: ExprId, join: (parts: readonly ExprId[]) => ExprId): ExprId {
    const parts = members(id)
    const made = parts.map((part) => this.of(part))
    return made.every((part, i) => part === parts[i]) ? id : join(made)
  }

  private make(id: ExprId): ExprId {
    if (kindOf(id) === Kind.Or) return this.joined(id, or)
    if (kindOf(id) !== Kind.Concat) return this.ofPart(id)
    // Long literals are long chains, so this goes down the tails and back up without recursion.
    const chain: ExprId[] = []
    let last = id
    for (; kindOf(last) === Kind.Concat; last = at(last, 2)) chain.push(last)
    let made = this.of(last)
    for (const link of chain.reverse()) {
      const head = this.of(at(link, 1))
      made = head === at(link, 1) && made === at(link, 2) ? link : concat(head, made)
    }
    return made
  }
}
