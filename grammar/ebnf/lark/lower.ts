/**
 * From a checked Lark text to rules.
 *
 * A rule with what it is given (values of a template, a number) is a rule of its own, declared when something uses it first. In
 * rules every string, pattern and terminal is a lexeme, and behind each that reads something may stand what is ignored, once: so
 * between two of them there is one gap, whatever reads nothing in between.
 */
import { checkTime } from "../../deadline.ts"
import type { GrammarError, GrammarErrorKind } from "../../errors.ts"
import { Empty, type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { HiddenName } from "../captures/reader.ts"
import type { RuleId, Rules } from "../rules.ts"
import { lazyExpr, type Term } from "../terms.ts"
import { MinChoice, MinUnfused } from "../texts.ts"
import { type Attributes, isOneLexeme } from "./attributes.ts"
import {
  type Environment,
  Environments,
  emptyEnvironment,
  NodesByEnvironment,
  resolved,
} from "./environment.ts"
import { calledValue, holds } from "./parameters.ts"
import { isTerminalName, type Scope } from "./scope.ts"
import { cutsOf } from "./suffix.ts"
import { countsOf, flatTexts, Terminals } from "./terminals.ts"
import { tokensRule, tokenTerm } from "./tokens.ts"
import { type Definition, type Node, nodesIn } from "./tree.ts"

interface Instance {
  readonly definition: Definition
  readonly environment: Environment
  readonly rule: RuleId
}

export class Lowering {
  private readonly scope: Scope
  private readonly rules: Rules
  private readonly terminals: Terminals
  private readonly environments: Environments
  private readonly instances = new Map<string, Instance>()
  /** Declared, not defined yet. */
  private readonly open: Instance[] = []
  /** Rules that stand for a node: a grammar inside, a run of tokens. */
  private readonly nodeRules = new Map<Node, RuleId | null>()
  /** What parameters stand for, once it was lowered. */
  private readonly values = new NodesByEnvironment<Term>()
  /** Texts as lexemes, each with the gap behind it. */
  private readonly textTerms = new Map<string, Term>()
  /** What may stand behind a lexeme; the empty text alone where nothing is ignored. */
  private readonly gap: Term

  /** Whether anything is captured; asked for once all texts are checked. */
  private readonly hasCaptures: () => boolean

  constructor(scope: Scope, rules: Rules, hasCaptures: () => boolean) {
    this.scope = scope
    this.rules = rules
    this.hasCaptures = hasCaptures
    this.terminals = new Terminals(scope, rules.limits)
    this.environments = new Environments(scope.source, rules.limits)
    this.gap = this.makeGap()
  }

  /** Declares and defines all that `name` needs; what begins there. */
  start(name: string): RuleId {
    const rule = this.rules.declare(name)
    const node: Node = { kind: "name", text: name, start: 0, end: 0 }
    const uses = this.usesOf(node, emptyEnvironment)
    this.rules.define(rule, uses, () => {
      const before = this.scope.options.has("allow_initial_skip") ? this.gap : this.rules.terms.empty
      return this.rules.terms.concat(before, this.term(node, emptyEnvironment))
    })
    for (let next = this.open.pop(); next !== undefined; next = this.open.pop()) {
      checkTime()
      this.define(next)
    }
    return rule
  }

  private makeGap(): Term {
    const { scope, rules } = this
    if (scope.ignored.length === 0) return rules.terms.empty
    const each = exprs.or(scope.ignored.map((node) => this.terminals.exprOf(node, emptyEnvironment)))
    const all = scope.options.has("ignore_once") ? each : exprs.loop(each, 1, Number.POSITIVE_INFINITY)
    const expr = nonEmpty(all)
    return rules.terms.or([
      rules.terms.empty,
      this.isGreedy ? rules.terms.greedy(expr) : rules.terms.expr(expr),
    ])
  }

  private define({ definition, environment, rule }: Instance): void {
    const attributes = this.scope.attributes.get(definition) as Attributes
    const { body } = definition
    const uses = isOneLexeme(attributes) ? [] : this.usesOf(body, environment)
    const place = (definition.attributes[0] ?? definition).name.start
    const lower = () =>
      this.scope.source.nested(place, () => this.attributed(definition, attributes, environment))
    this.rules.define(
      rule,
      uses,
      definition.attributes.length === 0 ? () => this.term(body, environment) : lower,
    )
  }

  /** The rule of a definition with what it is given. */
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

  /** The rule that a node refers to; null for a node that is none. */
  private ruleOf(node: Node, environment: Environment): RuleId | null {
    switch (node.kind) {
      case "name":
        return isTerminalName(node.text) ? null : this.instance(node.text, emptyEnvironment)
      case "template": {
        if (isTerminalName(node.name.text)) return null
        const template = this.scope.definitions.get(node.name.text) as Definition
        return this.instance(
          node.name.text,
          this.environments.ofTemplate(template, node.values, environment, null),
        )
      }
      case "call": {
        const number = calledValue(node.value, environment.number ?? 0n)
        return this.instance(node.name.text, this.environments.ofNumber(number, node.start))
      }
      case "nested":
      case "grammar":
      case "repeat": {
        let rule = this.nodeRules.get(node)
        if (rule === undefined) {
          rule = this.ruleOfNode(node)
          this.nodeRules.set(node, rule)
        }
        return rule
      }
      default:
        return null
    }
  }

  private ruleOfNode(node: Node): RuleId | null {
    if (node.kind === "repeat") {
      const isRun = node.body.kind === "token" && (node.mark === "*" || node.mark === "+")
      return isRun && node.body.kind === "token" ? tokensRule(node.body, this.rules) : null
    }
    const fact = this.scope.facts.get(node)
    if (fact?.kind === "rule") return fact.rule
    return fact?.kind === "scope"
      ? new Lowering(fact.scope, this.rules, this.hasCaptures).start("start")
      : null
  }

  /** The rules that a node of a rule refers to. Without recursion: values of templates may hold each other thousands deep. */
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
      for (const inner of nodesIn(node)) if (inner.kind !== "literal") open.push({ node: inner, environment })
    }
    return [...uses]
  }

  /** What a rule reads, with its attributes. */
  private attributed(definition: Definition, attributes: Attributes, environment: Environment): Term {
    const { terms } = this.rules
    const { body } = definition
    const bounded = (term: Term): Term => {
      const { maxTokens, capture } = attributes
      const budget = maxTokens === null ? term : terms.budget(term, maxTokens, definition.name.text)
      return capture === null ? budget : terms.capture(capture, budget)
    }
    if (isOneLexeme(attributes) || this.isLexeme(body, environment)) {
      return this.attributedLexeme(definition, attributes, environment, bounded)
    }
    const { maxChars } = attributes
    const term = this.term(body, environment)
    return bounded(maxChars === null ? term : terms.maxChars(term, maxChars))
  }

  /** A lexeme that ends as its rule says, and the gap behind it, which is no part of what is captured or counted. */
  private attributedLexeme(
    definition: Definition,
    attributes: Attributes,
    environment: Environment,
    bounded: (term: Term) => Term,
  ): Term {
    const { terms } = this.rules
    const { ending, suffix, maxChars } = attributes
    const body = this.terminals.exprOf(definition.body, environment)
    const short = (expr: ExprId) =>
      maxChars === null ? expr : exprs.and([expr, exprs.loop(exprs.anyChar, 0, maxChars)])
    if (suffix !== null) {
      const mark = this.terminals.exprOf(suffix, environment)
      const whole = short(lazyExpr(exprs.concat(body, mark)))
      return terms.concat(this.suffixed(whole, body, mark, attributes, definition.name.text), this.gap)
    }
    const isGreedy = ending === "greedy" || (ending === "any" && this.isGreedy)
    return this.beforeGap(short(ending === "lazy" ? lazyExpr(body) : body), isGreedy, (expr) =>
      bounded(isGreedy ? terms.greedy(expr) : ending === "lazy" ? terms.whole(expr) : terms.expr(expr)),
    )
  }

  /** The texts of `whole`, of which a capture of the rule holds only what stands before the mark. */
  private suffixed(
    whole: ExprId,
    body: ExprId,
    mark: ExprId,
    { capture, suffixCapture, hidesSuffix, maxTokens }: Attributes,
    name: string,
  ): Term {
    const { terms } = this.rules
    const isCut = capture !== null || suffixCapture !== null || (hidesSuffix && this.hasCaptures())
    const captured = (as: string | null, term: Term) => (as === null ? term : terms.capture(as, term))
    const term = isCut
      ? terms.or(
          cutsOf(whole, body, mark, this.rules.limits).map((cut) => {
            const end = captured(suffixCapture, terms.expr(cut.mark))
            return terms.concat(
              captured(capture, terms.expr(cut.body)),
              hidesSuffix ? terms.capture(HiddenName, end) : end,
            )
          }),
        )
      : terms.whole(whole)
    return maxTokens === null ? term : terms.budget(term, maxTokens, name)
  }

  /** What `lexeme` makes of the texts of `expr`, each with the gap behind it unless it is empty. */
  private beforeGap(expr: ExprId, isGreedy: boolean, lexeme: (expr: ExprId) => Term): Term {
    const { terms } = this.rules
    // A greedy lexeme is empty only where nothing of it could follow: it cannot be taken apart.
    if (this.gap === terms.empty || isGreedy || !exprs.nullable(expr))
      return terms.concat(lexeme(expr), this.gap)
    return terms.or([lexeme(Empty), terms.concat(lexeme(nonEmpty(expr)), this.gap)])
  }

  /** Whether a node of a rule is one lexeme, whatever the rules say. */
  private isLexeme(root: Node, around: Environment): boolean {
    const { node } = resolved({ node: root, environment: around })
    switch (node.kind) {
      case "literal":
      case "range":
      case "regex":
      case "substring":
        return true
      case "name":
        return isTerminalName(node.text)
      case "template":
        return isTerminalName(node.name.text)
      default:
        return false
    }
  }

  /** What a node of a rule reads, gaps included. */
  private term(root: Node, around: Environment): Term {
    const { node, environment } = resolved({ node: root, environment: around })
    if (node === root) return this.termOf(node, environment)
    const known = this.values.get(node, environment)
    if (known !== undefined) return known
    checkTime()
    const term = this.termOf(node, environment)
    this.values.set(node, environment, term)
    return term
  }

  private termOf(node: Node, environment: Environment): Term {
    const { rules } = this
    const { terms } = rules
    if (this.isLexeme(node, environment)) return this.lexeme(node, environment)
    switch (node.kind) {
      case "or":
        return this.anyOf(node.options, environment)
      case "sequence":
        return this.inRow(node.items, environment)
      case "repeat": {
        const { min, max } = countsOf(node)
        const run = this.ruleOf(node, environment)
        if (run === null) return terms.repeat(this.term(node.body, environment), min, max)
        const some = terms.concat(terms.rule(run, true), this.gap)
        return min === 0 ? terms.or([terms.empty, some]) : some
      }
      case "if":
        return holds(node.condition, environment.number ?? 0n)
          ? this.term(node.body, environment)
          : terms.never
      case "name":
      case "template":
      case "call":
        return rules.use(this.ruleOf(node, environment) as RuleId)
      case "token":
        return terms.concat(tokenTerm(node, rules), this.gap)
      case "json": {
        const fact = this.scope.facts.get(node)
        if (fact?.kind !== "grammar") break
        return terms.concat(terms.nested(fact.grammar), this.gap)
      }
      case "nested":
      case "grammar":
        return this.inner(this.ruleOf(node, environment) as RuleId)
    }
    throw this.refusal("syntax", node.start, "this stands in a rule, where only terminals know it")
  }

  /** Another grammar, which may read nothing: then no gap follows. */
  private inner(rule: RuleId): Term {
    const { terms } = this.rules
    const whole = this.rules.use(rule)
    if (this.gap === terms.empty) return whole
    return terms.or([whole, terms.concat(terms.rule(rule, true), this.gap)])
  }

  private lexeme(node: Node, environment: Environment): Term {
    const { terms } = this.rules
    const text = this.textOf(node)
    if (text !== null) return this.textTerm(text)
    const texts = this.isGreedy ? null : this.terminals.textsOf(node, environment)
    if (texts !== null && (texts.count === 1 || texts.count >= MinChoice))
      return this.choice(flatTexts(texts))
    return this.beforeGap(this.terminals.exprOf(node, environment), this.isGreedy, (expr) =>
      this.isGreedy ? terms.greedy(expr) : terms.expr(expr),
    )
  }

  /** A text as a lexeme. */
  private textTerm(text: string): Term {
    let term = this.textTerms.get(text)
    if (term === undefined) {
      const { terms } = this.rules
      term = text === "" ? terms.empty : terms.concat(terms.text(text), this.gap)
      this.textTerms.set(text, term)
    }
    return term
  }

  /** Any of the texts, each a lexeme. */
  private choice(texts: readonly string[]): Term {
    const { terms } = this.rules
    if (texts.length >= MinChoice)
      return terms.choice(texts.map((text) => [text, text === "" ? terms.empty : this.gap] as const))
    const alternatives = texts.map((text) => this.textTerm(text))
    return alternatives.length === 1 ? alternatives[0] : terms.or(alternatives)
  }

  /** Any of the alternatives. Many that begin with strings are read as one trie. */
  private anyOf(options: readonly Node[], environment: Environment): Term {
    const { terms } = this.rules
    const lexemes: string[] = []
    const others: Term[] = []
    const texts: (readonly [text: string, rest: Term])[] = []
    const firsts = options.length < MinChoice ? null : options.map((option) => this.firstText(option))
    const isMany = firsts !== null && firsts.filter((first) => first !== null).length >= MinUnfused
    for (let i = 0; i < options.length; i++) {
      const option = options[i]
      const text = this.textOf(option)
      const first = firsts === null ? null : firsts[i]
      const list = text === null && !this.isGreedy ? this.terminals.textsOf(option, environment) : null
      if (text !== null) lexemes.push(text)
      else if (list !== null) for (const each of flatTexts(list)) lexemes.push(each)
      else if (first === null || option.kind !== "sequence") others.push(this.term(option, environment))
      else {
        const rest = terms.concat(this.gap, this.inRow(option.items.slice(1), environment))
        if (!isMany && terms.exprOf(rest) !== null) others.push(terms.concat(terms.text(first), rest))
        else texts.push([first, rest])
      }
    }
    if (texts.length >= MinChoice) others.push(terms.choice(texts))
    else for (const [text, rest] of texts) others.push(terms.concat(terms.text(text), rest))
    if (lexemes.length > 0) others.push(this.choice(lexemes))
    return terms.or(others)
  }

  /** The string that a sequence begins with; null: it begins otherwise. */
  private firstText(node: Node): string | null {
    if (node.kind !== "sequence" || node.items.length === 0) return null
    const text = this.textOf(node.items[0])
    return text === "" ? null : text
  }

  /** The text of a string that stands for itself alone; null for other nodes. */
  private textOf(node: Node): string | null {
    const fact = node.kind === "literal" ? this.scope.facts.get(node) : undefined
    return fact?.kind === "text" && !fact.ignoresCase ? fact.value : null
  }

  private inRow(items: readonly Node[], environment: Environment): Term {
    const { terms } = this.rules
    let tail = terms.empty
    for (let i = items.length - 1; i >= 0; i--) {
      const text = this.gap === terms.empty ? this.textOf(items[i]) : null
      if (text === null) {
        tail = terms.concat(this.term(items[i], environment), tail)
        continue
      }
      // Strings side by side are one: thousands of them would be as many terms.
      const texts = [text]
      for (; i > 0; i--) {
        const before = this.textOf(items[i - 1])
        if (before === null) break
        texts.push(before)
      }
      tail = terms.concat(terms.text(texts.reverse().join("")), tail)
    }
    return tail
  }

  private get isGreedy(): boolean {
    return this.scope.options.has("greedy")
  }

  private refusal(kind: GrammarErrorKind, at: number, message: string): GrammarError {
    return this.scope.source.error(kind, at, message)
  }
}

/** The texts of `expr` but the empty one. */
function nonEmpty(expr: ExprId): ExprId {
  return exprs.nullable(expr) ? exprs.and([expr, exprs.not(Empty)]) : expr
}
