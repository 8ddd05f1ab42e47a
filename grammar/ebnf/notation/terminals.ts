/**
 * Expressions of terminals, and of regular rules in a notation without terminals. A terminal that
 * lists texts is kept as that list, since a rule may then read it as one trie.
 *
 * Each is made once, after those that it uses, so a chain of a hundred thousand terminals needs no
 * stack.
 */
import { type Limits, limitError } from "../../errors.ts"
import { fold, foldTree } from "../../fold.ts"
import { Empty, type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { foldedText } from "../lark/literals.ts"
import { type Environment, emptyEnvironment, resolved } from "./environment.ts"
import type { Scope } from "./scope.ts"
import { type Node, nodesIn } from "./tree.ts"

/** The texts that a terminal lists, those of other terminals included. */
export interface TextList {
  readonly count: number
  readonly own: readonly string[]
  readonly others: readonly TextList[]
}

/** The texts or the expression of a terminal. Both are null for a rule that is not regular. */
interface Terminal {
  readonly texts: TextList | null
  expr: ExprId | null
}

const notRegular: Terminal = { texts: null, expr: null }

export class Terminals {
  private readonly scope: Scope
  private readonly limits: Limits
  private readonly known = new Map<string, Terminal | undefined>()
  /** Depth of the nested templates that are being expanded. */
  private depth = 0
  /** The first node that was found to be irregular. */
  private obstacle: Node | null = null

  constructor(scope: Scope, limits: Limits) {
    this.scope = scope
    this.limits = limits
  }

  /** Returns the texts of a node in a terminal. */
  exprOf(node: Node, environment: Environment): ExprId {
    this.obstacle = null
    const expr = this.regularOf(node, environment)
    if (expr !== null) return expr
    const at = this.obstacle ?? node
    throw this.scope.source.error(
      "syntax",
      at.start,
      "this part is in a terminal, which may use only terminals",
    )
  }

  /**
   * Returns the texts of a node; null if it contains recursion, tokens, dispatches, or rules with
   * attributes.
   */
  regularOf(root: Node, environment: Environment): ExprId | null {
    return foldTree<Node, ExprId | null>(root, partsOf, (node, of) => {
      const isRegular = partsOf(node).every((part) => of(part) !== null)
      const expr = isRegular ? this.madeOf(node, environment, of as (part: Node) => ExprId) : null
      if (expr === null) this.obstacle ??= node
      return expr
    })
  }

  /** Returns the texts of a node. `of` returns those of the nodes inside. */
  private madeOf(node: Node, environment: Environment, of: (part: Node) => ExprId): ExprId | null {
    const { facts } = this.scope
    switch (node.kind) {
      case "or":
        return exprs.or(node.options.map(of))
      case "and":
        return exprs.and(node.parts.map(of))
      case "not":
        return exprs.not(of(node.body))
      case "sequence":
        return node.items.reduceRight((tail, item) => exprs.concat(of(item), tail), Empty)
      case "repeat":
        return exprs.loop(of(node.body), node.min, node.max)
      case "text":
        return exprs.literal(node.text)
      case "class":
        return exprs.codePoints(node.ranges)
      case "range": {
        const [first, last] = [facts.get(node.first), facts.get(node.last)]
        if (first?.kind !== "text" || last?.kind !== "text") return null
        return exprs.codePoints([first.value.codePointAt(0) as number, last.value.codePointAt(0) as number])
      }
      case "name": {
        const value = resolved({ node, environment })
        if (value.node !== node) return this.regularOf(value.node, value.environment)
        const { dialect, definitions } = this.scope
        const isRegular =
          definitions.has(node.text) && (this.scope.isTerminal(node.text) || !dialect.hasTerminals)
        return isRegular ? this.named(node.text) : null
      }
      case "template":
        return this.expanded(node, environment)
      case "token":
        return null
      default: {
        const fact = facts.get(node)
        if (fact?.kind === "text")
          return fact.ignoresCase ? foldedText(fact.value) : exprs.literal(fact.value)
        return fact?.kind === "expr" ? fact.expr : null
      }
    }
  }

  /**
   * Returns the list of texts that a node of a rule reads as one lexeme each; null if the node is
   * not such a list.
   */
  textsOf(node: Node, environment: Environment): TextList | null {
    switch (node.kind) {
      case "literal":
      case "text": {
        const text = this.textOf(node)
        return text === null ? null : { count: 1, own: [text], others: [] }
      }
      case "or": {
        const others: TextList[] = []
        let count = 0
        for (const option of node.options) {
          const texts = this.textsOf(option, environment)
          if (texts === null) return null
          others.push(texts)
          count += texts.count
        }
        // Terminals that repeat each other may list exponentially many texts.
        if (count > this.limits.choices) return null
        return { count, own: [], others }
      }
      case "sequence":
        return node.items.length === 0 ? { count: 1, own: [""], others: [] } : null
      case "name": {
        const value = resolved({ node, environment })
        if (value.node !== node) return this.textsOf(value.node, value.environment)
        return this.scope.isTerminal(node.text) ? this.terminal(node.text).texts : null
      }
      default:
        return null
    }
  }

  /** Returns the text of a node that is one fixed string; null for other nodes. */
  textOf(node: Node): string | null {
    if (node.kind === "text") return node.text
    const fact = node.kind === "literal" ? this.scope.facts.get(node) : undefined
    return fact?.kind === "text" && !fact.ignoresCase ? fact.value : null
  }

  private named(name: string): ExprId | null {
    const terminal = this.terminal(name)
    if (terminal.texts !== null)
      terminal.expr ??= exprs.or(flatTexts(terminal.texts).map((text) => exprs.literal(text)))
    return terminal.expr
  }

  /** Makes a definition after all those that it uses. */
  private terminal(name: string): Terminal {
    const usesOf = (used: string) => this.usesOf(used)
    // Recursive terminals have been refused, recursive rules have not.
    const recurs = (used: string) =>
      !this.scope.dialect.hasTerminals && usesOf(used).some((each) => this.known.get(each) === undefined)
    return fold(name, this.known, usesOf, (used) => (recurs(used) ? notRegular : this.made(used)))
  }

  private made(name: string): Terminal {
    const definition = this.scope.definitions.get(name)
    if (definition === undefined) throw new Error(`internal: no terminal ${name}`)
    if (definition.kind === "imported") return { texts: null, expr: definition.expr }
    const { body, parameters, attributes } = definition
    // A template has no texts of its own. It is made so that what it uses is made.
    if (parameters !== null) return { texts: null, expr: Empty }
    if (attributes.length > 0) return notRegular
    const texts = this.textsOf(body, emptyEnvironment)
    return { texts, expr: texts === null ? this.regularOf(body, emptyEnvironment) : null }
  }

  private usesOf(name: string): string[] {
    const definition = this.scope.definitions.get(name)
    const names: string[] = []
    if (definition?.kind !== "definition" || definition.attributes.length > 0) return names
    const open = [definition.body]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const used = node.kind === "name" ? node.text : node.kind === "template" ? node.name.text : null
      const isParameter = definition.parameters?.some(({ text }) => text === used) === true
      if (used !== null && !isParameter && this.scope.definitions.has(used)) names.push(used)
      for (const inner of nodesIn(node)) open.push(inner)
    }
    return names
  }

  private expanded(node: Node & { kind: "template" }, environment: Environment): ExprId | null {
    const definition = this.scope.definitions.get(node.name.text)
    if (definition?.kind !== "definition" || !this.scope.isTerminal(node.name.text)) {
      throw this.scope.source.error(
        "syntax",
        node.start,
        "this rule is in a terminal, which may use only terminals",
      )
    }
    if (++this.depth > this.limits.grammarDepth) {
      this.scope.source.nested(node.start, () => {
        throw limitError(this.limits, "grammarDepth.templates", this.depth)
      })
    }
    const values = new Map(
      (definition.parameters ?? []).map(({ text }, i) => [
        text,
        resolved({ node: node.values[i], environment }),
      ]),
    )
    const expr = this.exprOf(definition.body, { id: -1, values, number: null })
    this.depth--
    return expr
  }
}

/** Returns the nodes whose texts are needed for those of `node`. */
function partsOf(node: Node): readonly Node[] {
  return node.kind === "template" ? [] : nodesIn(node)
}

/** Returns the texts of a list, each as often as it occurs there. */
export function flatTexts(list: TextList): string[] {
  const texts: string[] = []
  const open = [list]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const text of at.own) texts.push(text)
    for (const other of at.others) open.push(other)
  }
  return texts
}
