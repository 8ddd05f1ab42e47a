/**
 * Atomic groups and possessive quantifiers, `(?>…)` and `a++`: only the first match that the group
 * finds counts.
 *
 * ECMAScript lacks them, but each of those that this file accepts has an equal spelling: `[ab]++`
 * is `[ab]+(?![ab])`, and `(?>a|ab)` is `a|(?!a)ab`. If a text can match a part in only one way (no
 * match is a prefix of another), the part is already as good as atomic. A choice takes an
 * alternative if none before it matches. A greedy repetition of such a part goes on as far as it
 * can. In a sequence each part is rewritten by itself if what follows it never makes it backtrack.
 * All other cases are refused. The tree is changed in place, so that the rest of the translation
 * meets only plain groups and lookaheads.
 */
import type { AST } from "@eslint-community/regexpp"
import { checkTime } from "../deadline.ts"
import { GrammarError } from "../errors.ts"
import { Empty, type ExprId, exprs } from "../lexeme/expr/expr.ts"
import { errorPath } from "./place.ts"
import { modified, type RegexFlags } from "./read.ts"

const { and, anyChar, anyText, concat, isNever, loop } = exprs

/** Facts about parts that the translation provides. */
export interface Parts {
  /** Returns the expression of a part without assertions; null if it has some. */
  plainOf(node: AST.Element, flags: RegexFlags): ExprId | null
  canBeEmpty(node: AST.Element): boolean
}

/**
 * Rewrites the atomic groups of `pattern` in place. Throws `unsupported` at one that has no such
 * spelling.
 */
export function settleAtomics(
  pattern: AST.Pattern,
  atomics: ReadonlySet<AST.Node>,
  flags: RegexFlags,
  parts: Parts,
  path: string,
): void {
  if (atomics.size > 0) new Settling(atomics, parts, path).inside(pattern.alternatives, flags)
}

class Settling {
  private readonly atomics: ReadonlySet<AST.Node>
  private readonly parts: Parts
  private readonly known = new Map<AST.Node, ExprId | null>()
  private readonly path: string
  /** Parts that were rewritten to match in only one way, which their expression does not show. */
  private readonly settled = new Set<AST.Node>()

  constructor(atomics: ReadonlySet<AST.Node>, parts: Parts, path: string) {
    this.atomics = atomics
    this.parts = parts
    this.path = path
  }

  /** Returns the expression of a part whose inside has been rewritten. */
  private plainOf(node: AST.Element, flags: RegexFlags): ExprId | null {
    let expr = this.known.get(node)
    if (expr === undefined) {
      expr = this.parts.plainOf(node, flags)
      this.known.set(node, expr)
    }
    return expr
  }

  /**
   * Rewrites the atomic groups inside. Goes from the end of each sequence, so that what follows a
   * part is already plain.
   */
  inside(alternatives: readonly AST.Alternative[], flags: RegexFlags): void {
    for (const alternative of alternatives) {
      const made: AST.Element[] = []
      let rest: ExprId | null = Empty
      for (const element of alternative.elements.toReversed()) {
        checkTime()
        this.within(element, flags)
        const isAtomic = this.atomics.has(element)
        const part = isAtomic ? this.atomic(element as AST.Group, rest, flags) : element
        made.push(part)
        rest = this.before(part, rest, flags)
      }
      alternative.elements = made.reverse()
    }
  }

  private within(element: AST.Element, flags: RegexFlags): void {
    if (element.type === "Group") this.inside(element.alternatives, modified(flags, element.modifiers))
    else if ("alternatives" in element) this.inside(element.alternatives, flags)
    else if (element.type === "Quantifier") {
      this.within(element.element, flags)
      if (!this.atomics.has(element.element)) return
      // Another iteration may follow.
      element.element = this.atomic(element.element as AST.Group, null, flags)
    }
  }

  /** `rest` is what follows in the sequence; null if it is unknown. */
  private atomic(node: AST.Group, rest: ExprId | null, flags: RegexFlags): AST.Group {
    const [only, other] = node.alternatives
    const isOne = other === undefined && only.elements.length === 1
    if (isOne && this.givesNothing(only.elements[0], rest, flags)) return node
    return this.choice(node, node, flags)
  }

  /**
   * Returns whether `loop` is a repetition whose iterations cannot match the beginning of what
   * follows.
   */
  private givesNothing(loop: AST.Element, rest: ExprId | null, flags: RegexFlags): boolean {
    if (rest === null || loop.type !== "Quantifier" || !loop.greedy) return false
    const body = this.plainOf(loop.element, flags)
    return body !== null && this.isSingle(loop.element, flags) && this.areApart(body, rest)
  }

  /** Returns the first alternative that matches, in the first way in which it does. */
  private choice(group: AST.Group, at: AST.Node, flags: RegexFlags): AST.Group {
    if (this.isSingle(group, flags)) return group
    const exprsOf = group.alternatives.map(({ elements }) => this.sequenceOf(elements, flags))
    const alternatives = group.alternatives.map((alternative, index) => {
      const elements = this.sequence(alternative.elements, at, flags)
      const before = group.alternatives.slice(0, index).filter((_, other) => {
        checkTime()
        const [mine, theirs] = [exprsOf[index], exprsOf[other]]
        return mine === null || theirs === null || !this.areApart(mine, theirs)
      })
      return {
        ...alternative,
        elements: before.length === 0 ? elements : [notAhead(before, at), ...elements],
      }
    })
    const made = { ...group, alternatives }
    this.settled.add(made)
    return made
  }

  private sequence(elements: readonly AST.Element[], at: AST.Node, flags: RegexFlags): AST.Element[] {
    const rests: (ExprId | null)[] = [Empty]
    for (const element of elements.toReversed()) rests.push(this.before(element, rests.at(-1) ?? null, flags))
    rests.reverse()
    const made: AST.Element[] = []
    for (const [index, element] of elements.entries()) {
      const rest = rests[index + 1]
      if (this.isSingle(element, flags) || this.givesNothing(element, rest, flags)) made.push(element)
      else if (rest !== null && exprs.nullable(rest)) made.push(this.alone(element, at, flags))
      else if (this.isSingleText(rests[index])) return [...made, ...elements.slice(index)]
      else return this.refuse(at)
    }
    return made
  }

  /** Returns `element` in the first way in which it matches. */
  private alone(element: AST.Element, at: AST.Node, flags: RegexFlags): AST.Element {
    if (element.type === "Group") return this.choice(element, at, modified(flags, element.modifiers))
    if (element.type === "CapturingGroup")
      return this.choice(asGroup(element, element.alternatives), at, flags)
    if (element.type !== "Quantifier") return this.refuse(at)
    const { min, max, greedy } = element
    let body = element.element
    if (!this.isSingle(body, flags)) {
      // Later iterations never make an earlier one match in another way, because the repetition may
      // end after each.
      if (min > 1) return this.refuse(at)
      body = this.alone(body, at, flags) as AST.QuantifiableElement
    }
    if (this.parts.canBeEmpty(body)) return this.refuse(at)
    const times = (least: number, most: number) => ({ ...element, element: body, min: least, max: most })
    if (!greedy || min === max) {
      const made = times(min, min)
      this.settled.add(made)
      return made
    }
    const end = notAhead([alternativeOf([body], at)], at)
    const enough = alternativeOf([times(min, max === Number.POSITIVE_INFINITY ? max : max - 1), end], at)
    const all = max === Number.POSITIVE_INFINITY ? [] : [alternativeOf([times(max, max)], at)]
    const made = asGroup(at, [...all, enough])
    this.settled.add(made)
    return made
  }

  private refuse(node: AST.Node): never {
    const wayOut =
      "ECMAScript has no such group: write it without, or tell apart what it may hold by a lookahead"
    const message = `${node.raw} at ${node.start} keeps one of several matches. ${wayOut}`
    throw new GrammarError("unsupported", errorPath(this.path, node.start), message)
  }

  /** Returns whether no match of `element` is a prefix of another one. */
  private isSingle(element: AST.Element, flags: RegexFlags): boolean {
    if (this.settled.has(element) || element.type === "Assertion") return true
    const expr = this.plainOf(element, flags)
    if (expr !== null) return this.isSingleText(expr)
    if (element.type === "Quantifier")
      return element.min === element.max && this.isSingle(element.element, flags)
    if (element.type !== "Group" && element.type !== "CapturingGroup") return false
    const inner = element.type === "Group" ? modified(flags, element.modifiers) : flags
    const [only, other] = element.alternatives
    return other === undefined && only.elements.every((part) => this.isSingle(part, inner))
  }

  private isSingleText(expr: ExprId | null): boolean {
    return expr !== null && isNever(and([expr, concat(expr, loop(anyChar, 1, Number.POSITIVE_INFINITY))]))
  }

  /** Returns whether no text has a prefix in both. */
  private areApart(a: ExprId, b: ExprId): boolean {
    return isNever(and([concat(a, anyText), concat(b, anyText)]))
  }

  /** Returns null if there are assertions. */
  private sequenceOf(elements: readonly AST.Element[], flags: RegexFlags): ExprId | null {
    let made: ExprId | null = Empty
    for (const element of elements.toReversed()) made = this.before(element, made, flags)
    return made
  }

  private before(element: AST.Element, rest: ExprId | null, flags: RegexFlags): ExprId | null {
    const head = rest === null ? null : this.plainOf(element, flags)
    return head === null || rest === null ? null : concat(head, rest)
  }
}

function notAhead(alternatives: readonly AST.Alternative[], at: AST.Node): AST.Element {
  const { start, end, raw } = at
  return {
    type: "Assertion",
    kind: "lookahead",
    negate: true,
    alternatives,
    start,
    end,
    raw,
  } as AST.LookaheadAssertion
}

function alternativeOf(elements: readonly AST.Element[], at: AST.Node): AST.Alternative {
  const { start, end, raw } = at
  return { type: "Alternative", elements, start, end, raw } as AST.Alternative
}

function asGroup(at: AST.Node, alternatives: AST.Alternative[]): AST.Group {
  const { start, end, raw } = at
  return { type: "Group", modifiers: null, alternatives, start, end, raw } as unknown as AST.Group
}
