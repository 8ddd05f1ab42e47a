/**
 * The environment of a definition: the values of a template's parameters, and the number of a rule.
 *
 * A value of a template is a node and the environment in which it was written. Equal environments
 * are one object, so that a template which passes on its own parameters terminates: rules are
 * memoized by definition and environment.
 */
import { checkLimit, type Limits } from "../../errors.ts"
import type { Source } from "./source.ts"
import { type Definition, type Node, nodesIn } from "./tree.ts"

export interface Environment {
  readonly id: number
  /** By parameter. */
  readonly values: ReadonlyMap<string, Value>
  /** The number of the rule; null if it has none. */
  readonly number: bigint | null
}

export interface Value {
  readonly node: Node
  readonly environment: Environment
}

/** The environment of definitions that have neither parameters nor a number. */
export const emptyEnvironment: Environment = { id: 0, values: new Map(), number: null }

export class Environments {
  private readonly source: Source
  private readonly limits: Limits
  private readonly known = new Map<string, Environment>([["", emptyEnvironment]])
  private readonly keys = new Map<string, number>()

  constructor(source: Source, limits: Limits) {
    this.source = source
    this.limits = limits
  }

  /**
   * Returns the environment of a template with these values, which are written in `around`. Throws
   * `limit` if there are too many.
   */
  ofTemplate(
    template: Definition,
    nodes: readonly Node[],
    around: Environment,
    number: bigint | null,
  ): Environment {
    const values = new Map<string, Value>()
    const keys: number[] = []
    for (const [i, { text }] of (template.parameters ?? []).entries()) {
      const value = resolved({ node: nodes[i], environment: around })
      values.set(text, value)
      keys.push(this.keyOf(value))
    }
    return this.intern(`${keys.join(" ")}::${number ?? ""}`, values, number, nodes[0]?.start ?? 0)
  }

  /** Returns the environment of a rule with the number `number`. */
  ofNumber(number: bigint, at: number): Environment {
    return this.intern(`::${number}`, emptyEnvironment.values, number, at)
  }

  private intern(key: string, values: Environment["values"], number: bigint | null, at: number): Environment {
    let made = this.known.get(key)
    if (made === undefined) {
      if (values.size > 0) {
        const path = this.source.path(at)
        checkLimit(this.limits, "templates", this.known.size, path)
      }
      made = { id: this.known.size, values, number }
      this.known.set(key, made)
    }
    return made
  }

  /**
   * Returns a number for a value: for its spelling, and for its environment if it depends on that.
   */
  private keyOf({ node, environment }: Value): number {
    const depends = environment.id !== 0 && dependsOn(node, environment)
    const key = `${depends ? environment.id : 0} ${this.source.text.slice(node.start, node.end)}`
    let known = this.keys.get(key)
    if (known === undefined) {
      known = this.keys.size
      this.keys.set(key, known)
    }
    return known
  }
}

/** Replaces a parameter by the value that it stands for. */
export function resolved(value: Value): Value {
  let { node, environment } = value
  if (node.kind !== "name" || environment.values.size === 0) return value
  while (node.kind === "name") {
    const next = environment.values.get(node.text)
    if (next === undefined) break
    node = next.node
    environment = next.environment
  }
  return { node, environment }
}

/** Returns whether a node uses a parameter of `environment`, or its number. */
function dependsOn(root: Node, { values, number }: Environment): boolean {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "name" && values.has(node.text)) return true
    if (number !== null && (node.kind === "call" || node.kind === "if")) return true
    open.push(...nodesIn(node))
  }
  return false
}

/**
 * A map by node and environment. A value may occur many times in the value of a parameter, and so
 * on at each level, so results must be memoized.
 */
export class NodesByEnvironment<T> {
  private readonly known = new Map<Node, Map<number, T>>()

  get(node: Node, environment: Environment): T | undefined {
    return this.known.get(node)?.get(environment.id)
  }

  set(node: Node, environment: Environment, value: T): void {
    const byEnvironment = this.known.get(node)
    if (byEnvironment === undefined) this.known.set(node, new Map([[environment.id, value]]))
    else byEnvironment.set(environment.id, value)
  }
}
