/**
 * Rules that begin with themselves under another number.
 *
 * A left-recursive rule is solved with all the numbers that it passes through, which would be every number that there is. Such a
 * grammar is always one that can be written the other way round, so it is refused. The test is on definitions: it takes every
 * condition to hold somewhere.
 */
import { exprs } from "../../lexeme/expr/expr.ts"
import { keepsNumber } from "./parameters.ts"
import type { Scope } from "./scope.ts"
import type { Refuse } from "./source.ts"
import type { Definition, Node } from "./tree.ts"

/** A use at the beginning of a definition. */
interface FirstUse {
  readonly name: string
  readonly node: Node
  /** Whether the used rule has another number than the one that uses it. */
  readonly changes: boolean
}

/** Refuses left recursion that changes the number. */
export function checkNumberedRecursion(scope: Scope, refuse: Refuse): void {
  const all = [...scope.definitions.values()].filter((each): each is Definition => each.kind === "definition")
  if (!all.some(({ isParametric }) => isParametric)) return
  const empty = new NullableNames(scope, all)
  const firsts = new Map(all.map((each) => [each.name.text, empty.firstUses(each)]))
  for (const [from, uses] of firsts) {
    for (const { name, node, changes } of uses) {
      if (changes && reaches(firsts, name, from)) {
        refuse(
          "syntax",
          node.start,
          `the rule "${from}" begins with itself under another number. Let it end with itself instead`,
        )
      }
    }
  }
}

function reaches(firsts: ReadonlyMap<string, readonly FirstUse[]>, from: string, to: string): boolean {
  const seen = new Set([from])
  for (const name of seen) {
    if (name === to) return true
    for (const use of firsts.get(name) ?? []) seen.add(use.name)
  }
  return false
}

/** Which definitions may read nothing. */
class NullableNames {
  private readonly scope: Scope
  private readonly names = new Set<string>()

  constructor(scope: Scope, all: readonly Definition[]) {
    this.scope = scope
    for (let count = -1; count < this.names.size; ) {
      count = this.names.size
      for (const { name, body } of all) if (this.isNullable(body)) this.names.add(name.text)
    }
  }

  firstUses(definition: Definition): FirstUse[] {
    const uses: FirstUse[] = []
    this.addFirstUses(definition.body, uses)
    return uses
  }

  private addFirstUses(node: Node, uses: FirstUse[]): void {
    switch (node.kind) {
      case "or":
        for (const option of node.options) this.addFirstUses(option, uses)
        return
      case "sequence":
        for (const item of node.items) {
          this.addFirstUses(item, uses)
          if (!this.isNullable(item)) return
        }
        return
      case "repeat":
      case "if":
        this.addFirstUses(node.body, uses)
        return
      case "name":
        uses.push({ name: node.text, node, changes: false })
        return
      case "call":
        uses.push({ name: node.name.text, node, changes: !keepsNumber(node.value) })
        return
      case "template":
        uses.push({ name: node.name.text, node, changes: false })
        for (const value of node.values) this.addFirstUses(value, uses)
    }
  }

  private isNullable(node: Node): boolean {
    switch (node.kind) {
      case "or":
        return node.options.some((option) => this.isNullable(option))
      case "sequence":
        return node.items.every((item) => this.isNullable(item))
      case "repeat":
        return node.min === 0 || this.isNullable(node.body)
      case "if":
        return this.isNullable(node.body)
      case "literal":
        return node.text === '""'
      case "regex": {
        const fact = this.scope.facts.get(node)
        return fact?.kind === "expr" && exprs.nullable(fact.expr)
      }
      case "name":
        return this.names.has(node.text)
      case "call":
      case "template":
        return this.names.has(node.name.text)
      case "substring":
        return true
      default:
        return false
    }
  }
}
