/**
 * Lowers a checked text to rules.
 *
 * A rule with its arguments (values of a template, a number) is a rule of its own, declared at its
 * first use. In rules every string, pattern and terminal is a lexeme (`lexemes.ts`). After each one
 * that is not empty the ignored text may follow once. So there is exactly one gap between two of
 * them, even if empty parts lie between.
 */
import { checkTime } from "../../deadline.ts"
import { foldTree } from "../../fold.ts"
import type { RuleId, Rules } from "../rules.ts"
import type { Term } from "../terms.ts"
import { MinChoice, MinUnfused } from "../texts.ts"
import type { TokenNames } from "../tokennames.ts"
import { anyToken, anyTokens } from "../tokensets.ts"
import { noAttributes } from "./dialect.ts"
import { dispatchRule } from "./dispatch.ts"
import {
  type Environment,
  Environments,
  emptyEnvironment,
  NodesByEnvironment,
  resolved,
} from "./environment.ts"
import { type AttributedRule, Lexemes } from "./lexemes.ts"
import { calledValue, holds } from "./parameters.ts"
import type { Scope } from "./scope.ts"
import { flatTexts } from "./terminals.ts"
import { type Definition, type Node, nodesIn, type Repetition } from "./tree.ts"

interface Instance {
  readonly definition: Definition
  readonly environment: Environment
  readonly rule: RuleId
}

/** The options of an `or`, grouped by how they are read. */
interface Options {
  /** Options that are lexemes of one text each. */
  readonly texts: readonly string[]
  /** Options that begin with a string, each with the items after it. */
  readonly led: readonly { readonly text: string; readonly items: readonly Node[] }[]
  readonly others: readonly Node[]
  /** Whether too many begin with strings for one expression. */
  readonly isMany: boolean
}

export class Lowering {
  private readonly scope: Scope
  private readonly rules: Rules
  private readonly lexemes: Lexemes
  private readonly hasCaptures: () => boolean
  private readonly environments: Environments
  private readonly instances = new Map<string, Instance>()
  /** Instances that are declared and not defined yet. */
  private readonly open: Instance[] = []
  /** Rules that stand for a node: an inner grammar, a dispatch, a run of tokens. */
  private readonly nodeRules = new Map<Node, RuleId | null>()
  /** The lowered terms of parameters' values. */
  private readonly values = new NodesByEnvironment<Term>()

  /**
   * `hasCaptures` returns whether anything is captured. It is called after all texts have been
   * checked.
   */
  constructor(scope: Scope, rules: Rules, hasCaptures: () => boolean) {
    this.scope = scope
    this.rules = rules
    this.hasCaptures = hasCaptures
    this.lexemes = new Lexemes(scope, rules, hasCaptures)
    this.environments = new Environments(scope.source, rules.limits)
  }

  /** Declares and defines everything that `name` needs. Returns the rule that begins there. */
  start(name: string): RuleId {
    // In a notation with terminals the name may be a terminal, and ignored text may come before it.
    const isRule = !this.scope.dialect.hasTerminals
    const rule = isRule ? this.instance(name, emptyEnvironment) : this.beginning(name)
    for (let next = this.open.pop(); next !== undefined; next = this.open.pop()) {
      checkTime()
      this.define(next)
    }
    return rule
  }

  /** Declares a rule that reads `name` after the text that may be ignored at the beginning. */
  private beginning(name: string): RuleId {
    const { rules, scope, lexemes } = this
    const rule = rules.declare(name)
    const node: Node = { kind: "name", text: name, start: 0, end: 0 }
    const uses = this.usesOf(node, emptyEnvironment)
    rules.define(rule, uses, () => {
      const before = scope.options.has("allow_initial_skip") ? lexemes.gap : rules.terms.empty
      return rules.terms.concat(before, this.term(node, emptyEnvironment))
    })
    return rule
  }

  private define({ definition, environment, rule }: Instance): void {
    const attributes = this.scope.attributes.get(definition) ?? noAttributes
    const uses = this.usesOf(definition.body, environment)
    const lower = () => this.attributed({ definition, attributes, environment })
    const place = this.scope.dialect.placeOf(definition)
    this.rules.define(rule, uses, place === null ? lower : () => this.scope.source.nested(place, lower))
  }

  /** Returns what a rule reads, with its attributes. */
  private attributed(attributed: AttributedRule): Term {
    const { definition, attributes, environment } = attributed
    const { body } = definition
    if (definition.attributes.length === 0) return this.term(body, environment)
    const { terms } = this.rules
    const { maxTokens, maxChars, capture } = attributes
    const bounded = (term: Term): Term => {
      const budget = maxTokens === null ? term : terms.budget(term, maxTokens, definition.name.text)
      return capture === null ? budget : terms.capture(capture, budget)
    }
    const lexeme = this.lexemes.attributed(attributed, bounded)
    if (lexeme !== null) return lexeme
    const term = this.term(body, environment)
    return bounded(maxChars === null ? term : terms.maxChars(term, maxChars))
  }

  /** Returns the rule of a definition with its arguments. */
  private instance(name: string, environment: Environment): RuleId {
    const key = environment === emptyEnvironment ? name : `${environment.id} ${name}`
    let instance = this.instances.get(key)
    if (instance === undefined) {
      const definition = this.scope.definitions.get(name)
      if (definition?.kind !== "definition") throw new Error(`internal: no rule ${name}`)
      instance = { definition, environment, rule: this.rules.declare(name) }
      this.instances.set(key, instance)
      this.open.push(instance)
    }
    return instance.rule
  }

  /** Returns the rule that a node refers to; null for other nodes. */
  private ruleOf(node: Node, environment: Environment): RuleId | null {
    const { scope, environments } = this
    switch (node.kind) {
      case "name":
        return scope.isTerminal(node.text) ? null : this.instance(node.text, emptyEnvironment)
      case "template": {
        const { text } = node.name
        if (scope.isTerminal(text)) return null
        const template = scope.definitions.get(text) as Definition
        return this.instance(text, environments.ofTemplate(template, node.values, environment, null))
      }
      case "call": {
        const number = calledValue(node.value, environment.number ?? 0n)
        return this.instance(node.name.text, environments.ofNumber(number, node.start))
      }
      case "nested":
      case "grammar":
      case "macro":
      case "repeat": {
        let rule = this.nodeRules.get(node)
        if (rule === undefined) {
          rule = node.kind === "repeat" ? this.runOf(node) : this.ruleOfFact(node)
          this.nodeRules.set(node, rule)
        }
        return rule
      }
      default:
        return null
    }
  }

  /**
   * Returns the rule for any number of tokens of a set by complement, which together are whole
   * characters; null for other repetitions.
   */
  private runOf({ body, min, max, counts }: Repetition): RuleId | null {
    const isRun = min <= 1 && max === Number.POSITIVE_INFINITY && counts.length === 0
    const fact = isRun ? this.scope.facts.get(body) : undefined
    if (fact?.kind !== "tokens" || !fact.isComplement) return null
    return anyTokens(this.rules, this.rules.tokens as TokenNames, new Set(fact.ids))
  }

  private ruleOfFact(node: Node): RuleId | null {
    const { rules } = this
    const fact = this.scope.facts.get(node)
    switch (fact?.kind) {
      case "rule":
        return fact.rule
      case "scope":
        return new Lowering(fact.scope, rules, this.hasCaptures).start("start")
      case "dispatch":
        return dispatchRule(fact, rules, (name) => this.instance(name, emptyEnvironment))
      default:
        return null
    }
  }

  /**
   * Returns the rules that a node of a rule refers to. Without recursion, because values of
   * templates may be nested thousands deep.
   */
  private usesOf(root: Node, around: Environment): RuleId[] {
    const uses = new Set<RuleId>()
    const open = [{ node: root, environment: around }]
    const seen = new NodesByEnvironment<true>()
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, environment } = resolved(next)
      if (node !== next.node) {
        if (seen.get(node, environment)) continue
        seen.set(node, environment, true)
        checkTime()
      }
      if (node.kind === "if" && !holds(node.condition, environment.number ?? 0n)) continue
      const rule = this.ruleOf(node, environment)
      if (rule !== null) uses.add(rule)
      if (node.kind === "template") continue
      for (const inner of nodesIn(node)) {
        const { kind } = inner
        if (kind !== "literal" && kind !== "text" && kind !== "class") open.push({ node: inner, environment })
      }
    }
    return [...uses]
  }

  /** Returns what a node of a rule reads, gaps included. */
  private term(root: Node, around: Environment): Term {
    if (root.kind !== "name" || around.values.size === 0) return this.made(root, around)
    const { node, environment } = resolved({ node: root, environment: around })
    if (node === root) return this.made(node, environment)
    let term = this.values.get(node, environment)
    if (term === undefined) {
      checkTime()
      term = this.made(node, environment)
      this.values.set(node, environment, term)
    }
    return term
  }

  private made(root: Node, environment: Environment): Term {
    if (!isCompound(root)) return this.part(root, environment)
    const options = new Map<Node, Options>()
    const partsOf = (node: Node): readonly Node[] => {
      if (node.kind === "if" && !holds(node.condition, environment.number ?? 0n)) return []
      if (node.kind !== "or") return nodesIn(node).filter(isCompound)
      const all = this.optionsOf(node.options, environment)
      options.set(node, all)
      const parts = all.others.filter(isCompound)
      for (const { items } of all.led) for (const item of items) if (isCompound(item)) parts.push(item)
      return parts
    }
    return foldTree<Node, Term>(root, partsOf, (node, made) => {
      const of = (part: Node) => (isCompound(part) ? made(part) : this.term(part, environment))
      if (node.kind === "or") return this.anyOf(options.get(node) as Options, of)
      return this.compound(node, environment, of)
    })
  }

  /** Returns the term of a node that is not an `or`. `of` returns the terms of the nodes inside. */
  private compound(node: Node, environment: Environment, of: (node: Node) => Term): Term {
    const { rules, lexemes } = this
    const { terms } = rules
    switch (node.kind) {
      case "sequence":
        return this.inRow(node.items, of)
      case "repeat": {
        const run = this.ruleOf(node, environment)
        if (run === null) return terms.repeat(of(node.body), node.min, node.max)
        const some = terms.concat(terms.rule(run, true), lexemes.gap)
        return node.min === 0 ? terms.or([terms.empty, some]) : some
      }
      case "if":
        return holds(node.condition, environment.number ?? 0n) ? of(node.body) : terms.never
      default:
        throw new Error(`internal: ${node.kind} is not made of nodes`)
    }
  }

  private part(node: Node, environment: Environment): Term {
    const { rules, lexemes, scope } = this
    const { terms } = rules
    if (lexemes.has(node)) return lexemes.lexeme(node, environment)
    const rule = this.ruleOf(node, environment)
    if (rule !== null)
      return node.kind === "nested" || node.kind === "grammar" ? this.inner(rule) : rules.use(rule)
    const fact = scope.facts.get(node)
    switch (fact?.kind) {
      case "text":
        return terms.concat(terms.text(fact.value), lexemes.gap)
      case "tokens": {
        const { ids, isComplement } = fact
        const vocabulary = rules.tokens as TokenNames
        const token = isComplement ? anyToken(rules, vocabulary, new Set(ids)) : terms.token(ids)
        return terms.concat(token, lexemes.gap)
      }
      case "grammar":
        return terms.concat(terms.nested(fact.grammar), lexemes.gap)
      default: {
        const message = "this part is in a rule, and is allowed only in terminals"
        throw scope.source.error("syntax", node.start, message)
      }
    }
  }

  /** Returns the term of another grammar. If it reads nothing, no gap follows it. */
  private inner(rule: RuleId): Term {
    const { terms } = this.rules
    const { gap } = this.lexemes
    const whole = this.rules.use(rule)
    if (gap === terms.empty) return whole
    return terms.or([whole, terms.concat(terms.rule(rule, true), gap)])
  }

  private optionsOf(nodes: readonly Node[], environment: Environment): Options {
    const { lexemes } = this
    const texts: string[] = []
    const others: Node[] = []
    const led: { text: string; items: readonly Node[] }[] = []
    const firsts = nodes.length < MinChoice ? null : nodes.map((node) => this.leading(node))
    for (const [i, node] of nodes.entries()) {
      const text = lexemes.terminals.textOf(node)
      const list = text === null && !lexemes.isGreedy ? lexemes.terminals.textsOf(node, environment) : null
      const first = firsts === null ? null : firsts[i]
      if (text !== null) texts.push(text)
      else if (list !== null) for (const each of flatTexts(list)) texts.push(each)
      else if (first === null) others.push(node)
      else led.push(first)
    }
    const isMany = firsts !== null && firsts.filter((first) => first !== null).length >= MinUnfused
    return { texts, led, others, isMany }
  }

  /**
   * Returns the strings at the beginning of a sequence as one, and the items after them; null if it
   * begins with something else.
   */
  private leading(node: Node): { text: string; items: readonly Node[] } | null {
    if (node.kind !== "sequence") return null
    const { gap, terminals } = this.lexemes
    const most = gap === this.rules.terms.empty ? node.items.length : Math.min(1, node.items.length)
    const texts: string[] = []
    for (let text: string | null; texts.length < most; texts.push(text)) {
      text = terminals.textOf(node.items[texts.length])
      if (text === null) break
    }
    const text = texts.join("")
    return text === "" ? null : { text, items: node.items.slice(texts.length) }
  }

  /** Returns any of the alternatives. If many begin with strings, these are read as one trie. */
  private anyOf({ texts, led, others, isMany }: Options, of: (node: Node) => Term): Term {
    const { terms } = this.rules
    const { gap } = this.lexemes
    const ways = others.map(of)
    const choice: (readonly [text: string, rest: Term])[] = []
    for (const { text, items } of led) {
      const rest = terms.concat(gap, this.inRow(items, of))
      if (!isMany && terms.exprOf(rest) !== null) ways.push(terms.concat(terms.text(text), rest))
      else choice.push([text, rest])
    }
    if (choice.length >= MinChoice) ways.push(terms.choice(choice))
    else for (const [text, rest] of choice) ways.push(terms.concat(terms.text(text), rest))
    if (texts.length > 0) ways.push(this.lexemes.choice(texts))
    return terms.or(ways)
  }

  private inRow(items: readonly Node[], of: (node: Node) => Term): Term {
    const { terms } = this.rules
    const { gap, terminals } = this.lexemes
    let tail = terms.empty
    for (let i = items.length - 1; i >= 0; i--) {
      const text = gap === terms.empty ? terminals.textOf(items[i]) : null
      if (text === null) {
        tail = terms.concat(of(items[i]), tail)
        continue
      }
      // Adjacent strings are one term: thousands of them would be as many terms.
      const texts = [text]
      for (; i > 0; i--) {
        const before = terminals.textOf(items[i - 1])
        if (before === null) break
        texts.push(before)
      }
      tail = terms.concat(terms.text(texts.reverse().join("")), tail)
    }
    return tail
  }
}

/** Returns whether the term of a node is made from the terms of the nodes inside. */
function isCompound({ kind }: Node): boolean {
  return kind === "or" || kind === "sequence" || kind === "repeat" || kind === "if"
}
