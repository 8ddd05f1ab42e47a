/**
 * The expression of a rule that is regular as a whole, straight from its tree. Terms fuse up to a size and make tries of many
 * texts; a lexeme that ends lazily, greedily or after so many characters needs its expression whatever its size.
 */
import { Empty, type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import type { CheckedGrammar } from "./check.ts"
import type { GbnfRule, Item } from "./tree.ts"

export class RegularRules {
  private readonly rules: ReadonlyMap<string, GbnfRule>
  private readonly checked: CheckedGrammar
  /** Null for a rule that is not regular, or whose callees are being read: then it recurs. */
  private readonly known = new Map<string, ExprId | null>()

  constructor(rules: ReadonlyMap<string, GbnfRule>, checked: CheckedGrammar) {
    this.rules = rules
    this.checked = checked
  }

  /** The texts of `rule`, its attributes aside. Null where recursion, tokens, attributes of others or dispatches are in the way. */
  exprOf(rule: GbnfRule): ExprId | null {
    // The rule itself may not occur in what it uses.
    this.known.set(rule.name, null)
    const open = this.missing(rule)
    for (let name = open.at(-1); name !== undefined; name = open.at(-1)) {
      const callee = this.rules.get(name) as GbnfRule
      const isEntered = this.known.has(name)
      if (!isEntered) this.known.set(name, null)
      const missing = isEntered || callee.attributes.length > 0 ? [] : this.missing(callee)
      if (missing.length > 0) open.push(...missing)
      else {
        open.pop()
        if (callee.attributes.length === 0) this.known.set(name, this.groupsOf(callee))
      }
    }
    return this.groupsOf(rule)
  }

  /** Callees that nobody has asked for yet. */
  private missing({ references }: GbnfRule): string[] {
    return references.map(({ name }) => name).filter((name) => !this.known.has(name))
  }

  private groupsOf({ groups }: GbnfRule): ExprId | null {
    const made: ExprId[] = []
    for (const group of groups) {
      const options: ExprId[] = []
      for (const sequence of group) {
        let tail: ExprId = Empty
        for (const item of sequence.toReversed()) {
          const head = this.item(item, made)
          if (head === null) return null
          tail = exprs.concat(head, tail)
        }
        options.push(tail)
      }
      made.push(exprs.or(options))
    }
    return made[made.length - 1]
  }

  /** `groups`: those inside, by their place. */
  private item(item: Item, groups: readonly ExprId[]): ExprId | null {
    switch (item.kind) {
      case "text":
        return exprs.literal(item.text)
      case "class":
        return exprs.codePoints(item.ranges)
      case "rule":
        return this.known.get(item.name) as ExprId | null
      case "group":
        return groups[item.group]
      case "repeat": {
        const body = this.item(item.item, groups)
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
}
