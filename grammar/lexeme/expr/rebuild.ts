/** Expressions made anew from other parts. */
import { concat, or } from "./build.ts"
import { at, ConcatKind, type ExprId, kindOf, members, OrKind } from "./nodes.ts"

/** One walk: parts are shared, so each is made once, or nested alternatives would take twice as long with each level. */
export abstract class Rebuilding {
  private readonly known = new Map<ExprId, ExprId>()

  /** What `id` becomes; itself where no part of it changes. */
  of(id: ExprId): ExprId {
    let made = this.known.get(id)
    if (made === undefined) {
      made = this.make(id)
      this.known.set(id, made)
    }
    return made
  }

  /** What an expression becomes that is no concatenation and no choice. */
  protected abstract ofPart(id: ExprId): ExprId

  /** `id` with what its operands become, joined by `join`. */
  protected joined(id: ExprId, join: (parts: readonly ExprId[]) => ExprId): ExprId {
    const parts = members(id)
    const made = parts.map((part) => this.of(part))
    return made.every((part, i) => part === parts[i]) ? id : join(made)
  }

  private make(id: ExprId): ExprId {
    if (kindOf(id) === OrKind) return this.joined(id, or)
    if (kindOf(id) !== ConcatKind) return this.ofPart(id)
    // Long literals are long chains: down the tails and back up without recursion.
    const chain: ExprId[] = []
    let last = id
    for (; kindOf(last) === ConcatKind; last = at(last, 2)) chain.push(last)
    let made = this.of(last)
    for (const link of chain.reverse()) {
      const head = this.of(at(link, 1))
      made = head === at(link, 1) && made === at(link, 2) ? link : concat(head, made)
    }
    return made
  }
}
