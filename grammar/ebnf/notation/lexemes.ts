/**
 * The parts of rules that are one lexeme each: strings, patterns, terminals, and rules that their
 * attributes make one lexeme. After each non-empty lexeme the ignored text may follow once: this is
 * the gap.
 */
import { GrammarError } from "../../errors.ts"
import { Empty, type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { HiddenName } from "../captures/reader.ts"
import type { Rules } from "../rules.ts"
import { lazyExpr, nonEmptyExpr, type Term } from "../terms.ts"
import { MinChoice } from "../texts.ts"
import { type Attributes, isOneLexeme } from "./dialect.ts"
import { type Environment, emptyEnvironment, resolved } from "./environment.ts"
import type { Scope } from "./scope.ts"
import { cutsOf } from "./suffix.ts"
import { flatTexts, Terminals } from "./terminals.ts"
import type { Definition, Node } from "./tree.ts"

/** A definition with its attributes, in an environment. */
export interface AttributedRule {
  readonly definition: Definition
  readonly attributes: Attributes
  readonly environment: Environment
}

export class Lexemes {
  /** The text that may follow a lexeme; the empty term if nothing is ignored. */
  readonly gap: Term
  /** Whether all lexemes are greedy. */
  readonly isGreedy: boolean
  readonly terminals: Terminals
  private readonly scope: Scope
  private readonly rules: Rules
  /** Returns whether anything is captured. Called after all texts have been checked. */
  private readonly hasCaptures: () => boolean
  /** By text: its lexeme with the gap after it. */
  private readonly textTerms = new Map<string, Term>()

  constructor(scope: Scope, rules: Rules, hasCaptures: () => boolean) {
    this.scope = scope
    this.rules = rules
    this.hasCaptures = hasCaptures
    this.isGreedy = scope.options.has("greedy")
    this.terminals = new Terminals(scope, rules.limits)
    this.gap = this.makeGap()
  }

  private makeGap(): Term {
    const { scope, rules } = this
    if (scope.ignored.length === 0) return rules.terms.empty
    const each = exprs.or(scope.ignored.map((node) => this.terminals.exprOf(node, emptyEnvironment)))
    const all = scope.options.has("ignore_once") ? each : exprs.loop(each, 1, Number.POSITIVE_INFINITY)
    return rules.terms.or([rules.terms.empty, this.termOf(nonEmptyExpr(all))])
  }

  /** Returns whether a node of a rule is one lexeme. The node must not be a parameter. */
  has(node: Node): boolean {
    switch (node.kind) {
      case "literal":
      case "text":
      case "range":
      case "class":
      case "regex":
      case "substring":
        return true
      case "macro":
        return this.scope.facts.get(node)?.kind === "expr"
      case "name":
        return this.scope.isTerminal(node.text)
      case "template":
        return this.scope.isTerminal(node.name.text)
      default:
        return false
    }
  }

  /** Returns the term of a node that is a lexeme. */
  lexeme(node: Node, environment: Environment): Term {
    const text = this.terminals.textOf(node)
    if (text !== null) return this.text(text)
    const texts = this.isGreedy ? null : this.terminals.textsOf(node, environment)
    if (texts !== null && (texts.count === 1 || texts.count >= MinChoice))
      return this.choice(flatTexts(texts))
    const expr = this.terminals.exprOf(node, environment)
    return this.beforeGap(expr, this.isGreedy, (each) => this.termOf(each))
  }

  private termOf(expr: ExprId): Term {
    const { terms } = this.rules
    return this.isGreedy ? terms.greedy(expr) : terms.expr(expr)
  }

  /** Returns the term of a text as a lexeme. */
  private text(text: string): Term {
    let term = this.textTerms.get(text)
    if (term === undefined) {
      const { terms } = this.rules
      term = text === "" ? terms.empty : terms.concat(terms.text(text), this.gap)
      this.textTerms.set(text, term)
    }
    return term
  }

  /** Returns the term of any of the texts, each as a lexeme. */
  choice(texts: readonly string[]): Term {
    const { terms } = this.rules
    if (texts.length >= MinChoice)
      return terms.choice(texts.map((text) => [text, text === "" ? terms.empty : this.gap] as const))
    const alternatives = texts.map((text) => this.text(text))
    return alternatives.length === 1 ? alternatives[0] : terms.or(alternatives)
  }

  /**
   * Returns the term of a rule that is one lexeme because of its attributes or its body, or null
   * for another rule. `bounded` adds the attributes that are not about lexemes.
   */
  attributed(rule: AttributedRule, bounded: (term: Term) => Term): Term | null {
    const { definition, attributes, environment } = rule
    const { ending, suffix, maxChars } = attributes
    const { hasTerminals } = this.scope.dialect
    const isOne = isOneLexeme(attributes) || (!hasTerminals && maxChars !== null)
    if (!isOne && !this.has(resolved({ node: definition.body, environment }).node)) return null
    const { terms } = this.rules
    const body = hasTerminals
      ? this.terminals.exprOf(definition.body, environment)
      : this.terminals.regularOf(definition.body, environment)
    if (body === null) {
      const what = `${ending === "any" ? "max_chars" : ending} on rule "${definition.name.text}"`
      const wayOut = "Take recursion, tokens and rules with attributes out of it"
      throw new GrammarError(
        "unsupported",
        "",
        `${what}, which is no regular expression as a whole. ${wayOut}`,
      )
    }
    const short = (expr: ExprId) =>
      maxChars === null ? expr : exprs.and([expr, exprs.loop(exprs.anyChar, 0, maxChars)])
    if (suffix !== null) {
      const mark = this.terminals.exprOf(suffix, environment)
      const whole = short(lazyExpr(exprs.concat(body, mark)))
      return terms.concat(this.suffixed(rule, { whole, body, mark }), this.gap)
    }
    const isGreedy = ending === "greedy" || (ending === "any" && this.isGreedy)
    return this.beforeGap(short(ending === "lazy" ? lazyExpr(body) : body), isGreedy, (expr) =>
      bounded(isGreedy ? terms.greedy(expr) : ending === "lazy" ? terms.whole(expr) : terms.expr(expr)),
    )
  }

  /** Returns the texts of `whole`. A capture of the rule holds only the part before the mark. */
  private suffixed(
    { definition, attributes }: AttributedRule,
    { whole, body, mark }: { whole: ExprId; body: ExprId; mark: ExprId },
  ): Term {
    const { terms, limits } = this.rules
    const { capture, suffixCapture, hidesSuffix, maxTokens } = attributes
    const isCut = capture !== null || suffixCapture !== null || (hidesSuffix && this.hasCaptures())
    const captured = (as: string | null, term: Term) => (as === null ? term : terms.capture(as, term))
    const term = isCut
      ? terms.or(
          cutsOf(whole, body, mark, limits).map((cut) => {
            const end = captured(suffixCapture, terms.expr(cut.mark))
            return terms.concat(
              captured(capture, terms.expr(cut.body)),
              hidesSuffix ? terms.capture(HiddenName, end) : end,
            )
          }),
        )
      : terms.whole(whole)
    return maxTokens === null ? term : terms.budget(term, maxTokens, definition.name.text)
  }

  /** Applies `lexeme` to `expr`, and adds the gap after its non-empty texts. */
  private beforeGap(expr: ExprId, isGreedy: boolean, lexeme: (expr: ExprId) => Term): Term {
    const { terms } = this.rules
    // A greedy lexeme is empty only if none of its texts could follow, so it cannot be split.
    if (this.gap === terms.empty || isGreedy || !exprs.nullable(expr))
      return terms.concat(lexeme(expr), this.gap)
    return terms.or([lexeme(Empty), terms.concat(lexeme(nonEmptyExpr(expr)), this.gap)])
  }
}
