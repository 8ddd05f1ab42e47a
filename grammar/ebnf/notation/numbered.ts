/**
 * Finds rules that begin with themselves under another number.
 *
 * A left-recursive rule is solved with all the numbers that it passes through, which would be all
 * 2^64. Such a grammar can always be written right-recursively instead, so it is refused. The test
 * is on definitions, and assumes that every condition can hold.
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
  /** Whether the used rule has another number than the rule that uses it. */
  readonly changes: boolean
}

/** Refuses left recursion that changes the number. */
export function checkNumberedRecursion(scope: Scope, refuse: Refuse): void {
  const all = [...scope.definitions.values()].filter((each): each is Definition => each.kind === "definition")
  if (!all.some(({ isParametric }) => isParametric)) return
  const nullable = nullableNames(all, scope)
  const firsts = new Map(
    all.map(({ name, body }) => [
      name.text,
      [...firstUses(body, (node) => isNullable(node, nullable, scope))],
    ]),
  )
  for (const [from, uses] of firsts) {
    for (const { name, node, changes } of uses) {
      if (changes && reaches(firsts, name, from)) {
        const message = `the rule "${from}" begins with itself under another number. Let it end with itself instead`
        refuse("syntax", node.start, message)
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

/** Yields the uses with which texts of a node may begin. */
function* firstUses(node: Node, isEmpty: (node: Node) => boolean): Generator<FirstUse> {
  switch (node.kind) {
    case "or":
      for (const option of node.options) yield* firstUses(option, isEmpty)
      return
    case "sequence":
      for (const item of node.items) {
        yield* firstUses(item, isEmpty)
        if (!isEmpty(item)) return
      }
      return
    case "repeat":
    case "if":
      yield* firstUses(node.body, isEmpty)
      return
    case "name":
      yield { name: node.text, node, changes: false }
      return
    case "call":
      yield { name: node.name.text, node, changes: !keepsNumber(node.value) }
      return
    case "template":
      yield { name: node.name.text, node, changes: false }
      for (const value of node.values) yield* firstUses(value, isEmpty)
  }
}

/** Returns the definitions that may read nothing: a least fixpoint. */
function nullableNames(all: readonly Definition[], scope: Scope): ReadonlySet<string> {
  const names = new Set<string>()
  for (let count = -1; count < names.size; ) {
    count = names.size
    for (const { name, body } of all) if (isNullable(body, names, scope)) names.add(name.text)
  }
  return names
}

function isNullable(node: Node, names: ReadonlySet<string>, scope: Scope): boolean {
  switch (node.kind) {
    case "or":
      return node.options.some((option) => isNullable(option, names, scope))
    case "sequence":
      return node.items.every((item) => isNullable(item, names, scope))
    case "repeat":
      return node.min === 0 || isNullable(node.body, names, scope)
    case "if":
      return isNullable(node.body, names, scope)
    case "literal":
      return node.text === '""'
    case "regex": {
      const fact = scope.facts.get(node)
      return fact?.kind === "expr" && exprs.nullable(fact.expr)
    }
    case "name":
      return names.has(node.text)
    case "call":
    case "template":
      return names.has(node.name.text)
    case "substring":
      return true
    default:
      return false
  }
}
