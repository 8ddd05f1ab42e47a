/**
 * Terminals as expressions. A terminal that lists texts is kept as that list, since a rule may then read it as one trie.
 *
 * Each is made once, what it uses before itself, so a chain of a hundred thousand terminals needs no stack.
 */
import { type Limits, limitError } from "../../errors.ts"
import { Empty, type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { type Environment, emptyEnvironment, resolved } from "./environment.ts"
import { foldedText } from "./literals.ts"
import { isTerminalName, type Scope } from "./scope.ts"
import { type Definition, type Node, nodesIn, type Repetition } from "./tree.ts"

/** Texts that a terminal lists, those of other terminals included. */
export interface TextList {
  readonly count: number
  readonly own: readonly string[]
  readonly others: readonly TextList[]
}

/** What a terminal is; one of the two at least. */
interface Terminal {
  readonly texts: TextList | null
  expr: ExprId | null
}

export class Terminals {
  private readonly scope: Scope
  private readonly limits: Limits
  private readonly known = new Map<string, Terminal>()
  /** Templates inside each other that are being expanded. */
  private depth = 0

  constructor(scope: Scope, limits: Limits) {
    this.scope = scope
    this.limits = limits
  }

  /** The texts of a node that stands in a terminal. */
  exprOf(node: Node, environment: Environment): ExprId {
    const { facts } = this.scope
    switch (node.kind) {
      case "or":
        return exprs.or(node.options.map((option) => this.exprOf(option, environment)))
      case "and":
        return exprs.and(node.parts.map((part) => this.exprOf(part, environment)))
      case "not":
        return exprs.not(this.exprOf(node.body, environment))
      case "sequence": {
        let expr = Empty
        for (let i = node.items.length - 1; i >= 0; i--)
          expr = exprs.concat(this.exprOf(node.items[i], environment), expr)
        return expr
      }
      case "repeat": {
        const { min, max } = countsOf(node)
        return exprs.loop(this.exprOf(node.body, environment), min, max)
      }
      case "literal": {
        const fact = facts.get(node)
        if (fact?.kind !== "text") break
        return fact.ignoresCase ? foldedText(fact.value) : exprs.literal(fact.value)
      }
      case "range": {
        const [first, last] = [facts.get(node.first), facts.get(node.last)]
        if (first?.kind !== "text" || last?.kind !== "text") break
        return exprs.codePoints([first.value.codePointAt(0) as number, last.value.codePointAt(0) as number])
      }
      case "regex":
      case "substring": {
        const fact = facts.get(node)
        if (fact?.kind !== "expr") break
        return fact.expr
      }
      case "name": {
        const value = resolved({ node, environment })
        if (value.node !== node) return this.exprOf(value.node, value.environment)
        const definition = this.scope.definitions.get(node.text)
        if (definition === undefined || !isTerminalName(node.text)) break
        return this.named(node.text)
      }
      case "template":
        return this.expanded(node, environment)
    }
    throw this.scope.source.error("syntax", node.start, "this stands in a terminal, where only terminals do")
  }

  /** The list of texts that a node of a rule reads as one lexeme each; null: it is no such list. */
  textsOf(node: Node, environment: Environment): TextList | null {
    switch (node.kind) {
      case "literal": {
        const fact = this.scope.facts.get(node)
        if (fact?.kind !== "text" || fact.ignoresCase) return null
        return { count: 1, own: [fact.value], others: [] }
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
        // Terminals that double each other list more texts than there are.
        if (count > this.limits.choices) return null
        return { count, own: [], others }
      }
      case "sequence":
        return node.items.length === 0 ? { count: 1, own: [""], others: [] } : null
      case "name": {
        const value = resolved({ node, environment })
        if (value.node !== node) return this.textsOf(value.node, value.environment)
        if (!isTerminalName(node.text)) return null
        return this.terminal(node.text).texts
      }
      default:
        return null
    }
  }

  private named(name: string): ExprId {
    const terminal = this.terminal(name)
    terminal.expr ??= exprs.or(flatTexts(terminal.texts as TextList).map((text) => exprs.literal(text)))
    return terminal.expr
  }

  /** A terminal without parameters, made after all that it uses. */
  private terminal(name: string): Terminal {
    const open = [name]
    while (open.length > 0) {
      const next = open[open.length - 1]
      if (this.known.has(next)) {
        open.pop()
        continue
      }
      const definition = this.scope.definitions.get(next)
      if (definition === undefined) throw new Error(`internal: no terminal ${next}`)
      if (definition.kind === "imported") {
        this.known.set(next, { texts: null, expr: definition.expr })
        continue
      }
      const before = open.length
      for (const used of this.usesOf(definition)) if (!this.known.has(used)) open.push(used)
      if (open.length > before) continue
      this.known.set(next, this.made(definition))
      open.pop()
    }
    return this.known.get(name) as Terminal
  }

  private made({ body, parameters }: Definition): Terminal {
    // A template has no texts of its own: it is known so that what it uses is.
    if (parameters !== null) return { texts: null, expr: Empty }
    const texts = this.textsOf(body, emptyEnvironment)
    return { texts, expr: texts === null ? this.exprOf(body, emptyEnvironment) : null }
  }

  private usesOf({ body, parameters }: Definition): string[] {
    const names: string[] = []
    const open = [body]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const name = node.kind === "name" ? node.text : node.kind === "template" ? node.name.text : null
      const isParameter = parameters?.some(({ text }) => text === name) === true
      if (name !== null && !isParameter && this.scope.definitions.has(name)) names.push(name)
      open.push(...nodesIn(node))
    }
    return names
  }

  private expanded(node: Node & { kind: "template" }, environment: Environment): ExprId {
    const definition = this.scope.definitions.get(node.name.text)
    if (definition?.kind !== "definition" || !isTerminalName(node.name.text)) {
      throw this.scope.source.error(
        "syntax",
        node.start,
        "a rule stands in a terminal, where only terminals do",
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

/** The texts of a list, each as often as it stands there. */
export function flatTexts(list: TextList): string[] {
  const texts: string[] = []
  const open = [list]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const text of at.own) texts.push(text)
    for (const other of at.others) open.push(other)
  }
  return texts
}

/** How often what is repeated stands there. */
export function countsOf({ mark, min, max }: Repetition): { min: number; max: number } {
  switch (mark) {
    case "?":
      return { min: 0, max: 1 }
    case "*":
      return { min: 0, max: Number.POSITIVE_INFINITY }
    case "+":
      return { min: 1, max: Number.POSITIVE_INFINITY }
    default:
      return { min: Number(min?.text ?? 0), max: max === null ? Number.POSITIVE_INFINITY : Number(max.text) }
  }
}
