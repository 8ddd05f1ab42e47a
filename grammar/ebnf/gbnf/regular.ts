/**
 * The expression of a rule that is regular as a whole, straight from its tree. Terms fuse up to a size and make tries of many
 * texts; a lexeme that ends lazily, greedily or after so many characters needs its expression whatever its size.
 */
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import type { CheckedGrammar } from "./check.ts"
import type { Alternatives, GbnfRule, Item } from "./tree.ts"

export class RegularRules {
  private readonly rules: ReadonlyMap<string, GbnfRule>
  private readonly checked: CheckedGrammar
  /** Null for a rule that is not regular, or is being read: then it recurs. */
  private readonly known = new Map<string, ExprId | null>()

  constructor(rules: ReadonlyMap<string, GbnfRule>, checked: CheckedGrammar) {
    this.rules = rules
    this.checked = checked
  }

  /** Null where recursion, tokens, attributes or dispatches are in the way. */
  exprOf(alternatives: Alternatives): ExprId | null {
    const options: ExprId[] = []
    for (const items of alternatives) {
      const expr = this.sequence(items)
      if (expr === null) return null
      options.push(expr)
    }
    return exprs.or(options)
  }

  private sequence(items: readonly Item[]): ExprId | null {
    const parts: ExprId[] = []
    for (const item of items) {
      const expr = this.item(item)
      if (expr === null) return null
      parts.push(expr)
    }
    return parts.reduceRight((tail, head) => exprs.concat(head, tail), exprs.literal(""))
  }

  private item(item: Item): ExprId | null {
    switch (item.kind) {
      case "text":
        return exprs.literal(item.text)
      case "class":
        return exprs.codePoints(item.ranges)
      case "rule":
        return this.rule(item.name)
      case "group":
        return this.exprOf(item.alternatives)
      case "repeat": {
        const body = this.item(item.item)
        return body === null ? null : exprs.loop(body, item.min, item.max)
      }
      case "macro": {
        const macro = this.checked.macros.get(item.macro)
        return macro?.kind === "expr" ? macro.expr : null
      }
      case "token":
        return null
    }
  }

  private rule(name: string): ExprId | null {
    const known = this.known.get(name)
    if (known !== undefined) return known
    this.known.set(name, null)
    const rule = this.rules.get(name) as GbnfRule
    const expr = rule.attributes.length > 0 ? null : this.exprOf(rule.alternatives)
    this.known.set(name, expr)
    return expr
  }
}
