/**
 * Translates ECMAScript patterns into expressions.
 *
 * Parts without assertions are translated bottom up. A sequence with assertions is built from its
 * end: each part gets what follows it (its rest), since `$`, `\b` and lookaheads depend on that.
 * Inside a repetition the rest is unknown, and the assertions stay nodes. Whether `^` holds is
 * usually known from the parts before it. A search is Σ* R Σ*, where `^` holds in front of a first
 * R and fails in front of a later one.
 */
import type { AST } from "@eslint-community/regexpp"
import { defaultLimits, GrammarError, type Limits, limitError, placed } from "../errors.ts"
import { Empty, type ExprId, exprs, Never } from "../lexeme/expr/expr.ts"
import { checkRests } from "../lexeme/expr/rests.ts"
import { settleAtomics } from "./atomic.ts"
import { charSetOf, wordRanges } from "./charset.ts"
import {
  type AtStart,
  endAnchor,
  lookahead,
  lookbehind,
  type Rest,
  startAnchor,
  wordBoundary,
} from "./lookaround.ts"
import { errorPath } from "./place.ts"
import { modified, type RegexFlags, readPattern } from "./read.ts"
import { foldClosure } from "./unicode.ts"

export interface RegexOptions {
  /** i, m, s, u and v have their effect; d, g and y do not change the language. */
  flags?: string
  /** Whether the pattern matches the whole text, or a part of it. */
  mode: "match" | "search"
  /**
   * What `.` does not match: all line terminators, as in ECMAScript (default), or only the line
   * feed, as in grammar notations.
   */
  dot?: "lineTerminators" | "lineFeed"
  /** For error messages. */
  path: string
  /**
   * Whether a pattern that matches no text throws `unsatisfiable`. By default only in `match` mode.
   */
  unsatisfiable?: "error" | "empty"
  limits?: Limits
}

/**
 * Returns the texts that `pattern` matches. Throws GrammarError for everything that cannot be
 * translated exactly.
 */
export function parseRegex(pattern: string, options: RegexOptions): ExprId {
  const limits = options.limits ?? defaultLimits
  const { pattern: root, flags, atomics } = readPattern(pattern, options.flags ?? "", options.path, limits)
  flags.lineFeedOnly = options.dot === "lineFeed"
  const translation = new Translation(options.path, limits)
  settleAtomics(root, atomics, flags, translation, options.path)
  translation.check(root, -1)
  const mustMatch = (options.unsatisfiable ?? (options.mode === "match" ? "error" : "empty")) === "error"
  let expr: ExprId
  let isNever: boolean
  try {
    expr = exprs.scope(
      options.mode === "search"
        ? translation.search(root.alternatives, exprs.anyText, flags)
        : translation.sequenceOf(root.alternatives, Empty, "always", flags),
    )
    // Without counts a text is about as long as its pattern.
    if (pattern.includes("{") && expr !== Never) checkRests(expr)
    isNever = mustMatch && exprs.isNever(expr)
  } catch (error) {
    throw placed(error, options.path)
  }
  if (isNever) {
    throw new GrammarError(
      "unsatisfiable",
      options.path,
      `no text matches ${JSON.stringify(pattern)}. Look for an empty class, or for anchors and boundaries that exclude each other`,
    )
  }
  return expr
}

/** Facts about a part of a pattern. */
interface Facts {
  /** Whether the part holds an assertion. */
  asserts: boolean
  /** Whether the part holds `^`. */
  hasStart: boolean
  /** Whether the part holds a negative lookaround or `\B`. */
  negates: boolean
  canBeEmpty: boolean
  mustBeEmpty: boolean
}

class Translation {
  private readonly path: string
  private readonly limits: Limits
  private readonly facts = new Map<AST.Node, Facts>()
  private lookaroundCount = 0

  constructor(path: string, limits: Limits) {
    this.path = path
    this.limits = limits
  }

  /**
   * Refuses parts that are not regular or too large, and collects the facts. `behindAt` is the
   * offset of the lookbehind around the node.
   */
  check(node: AST.Pattern | AST.Alternative | AST.Element, behindAt: number): Facts {
    const facts = this.factsOf(node, behindAt)
    this.facts.set(node, facts)
    return facts
  }

  private factsOf(node: AST.Pattern | AST.Alternative | AST.Element, behindAt: number): Facts {
    switch (node.type) {
      case "Pattern":
      case "Group":
      case "CapturingGroup":
        return anyOf(node.alternatives.map((part) => this.check(part, behindAt)))
      case "Alternative":
        return allOf(node.elements.map((part) => this.check(part, behindAt)))
      case "Quantifier": {
        const { min, max } = node
        const count = max === Number.POSITIVE_INFINITY ? min : max
        if (count > this.limits.maxRepeat) {
          const written = node.raw.slice(node.element.raw.length)
          const path = errorPath(this.path, node.start)
          throw limitError(this.limits, "maxRepeat.pattern", count, path, { written, at: node.start })
        }
        const facts = this.check(node.element, behindAt)
        return {
          ...facts,
          canBeEmpty: min === 0 || facts.canBeEmpty,
          mustBeEmpty: max === 0 || facts.mustBeEmpty,
        }
      }
      case "Assertion":
        return this.assertionFacts(node, behindAt)
      case "Backreference":
        return this.refuse(
          node.start,
          `backreference ${node.raw} at ${node.start} is not regular; list the alternatives or use a parametric Lark rule`,
        )
      default:
        // A class of the `v` mode may hold the empty string.
        return { ...none, canBeEmpty: node.type === "ExpressionCharacterClass" || isSetsClass(node) }
    }
  }

  private assertionFacts(node: AST.Assertion, behindAt: number): Facts {
    const facts = { ...none, asserts: true, canBeEmpty: true, mustBeEmpty: true }
    if (node.kind !== "start" && node.kind !== "lookbehind" && behindAt >= 0) {
      this.refuse(
        node.start,
        `lookahead ${node.raw} at ${node.start} inside the lookbehind at ${behindAt}: move it outside`,
      )
    }
    if (!("negate" in node)) return { ...facts, hasStart: node.kind === "start" }
    if (node.kind === "word") return { ...facts, negates: node.negate }
    if (++this.lookaroundCount > this.limits.lookarounds) {
      throw limitError(this.limits, "lookarounds", this.lookaroundCount, errorPath(this.path, node.start), {
        at: node.start,
      })
    }
    const inside = node.kind === "lookbehind" ? node.start : behindAt
    const parts = anyOf(node.alternatives.map((part) => this.check(part, inside)))
    return {
      ...facts,
      hasStart: parts.hasStart && node.kind === "lookahead",
      negates: node.negate || parts.negates,
    }
  }

  private refuse(offset: number, message: string): never {
    throw new GrammarError("unsupported", errorPath(this.path, offset), message)
  }

  /** Returns Σ* R rest, where rest is everything that follows. */
  search(alternatives: readonly AST.Alternative[], rest: ExprId, flags: RegexFlags): ExprId {
    const all = alternatives.map((part) => this.facts.get(part)!)
    if (!all.some(({ hasStart }) => hasStart)) {
      return exprs.concat(exprs.anyText, this.sequenceOf(alternatives, rest, "perhaps", flags))
    }
    const first = this.sequenceOf(alternatives, rest, "always", flags)
    const later = this.sequenceOf(alternatives, rest, "never", flags)
    if (later === Never) return first
    // Without negation a failed `^` only removes texts, so `later` may also stand at the start.
    const least = all.some(({ negates }) => negates) ? 1 : 0
    const skipped = exprs.loop(exprs.anyChar, least, Number.POSITIVE_INFINITY)
    return exprs.or([first, exprs.concat(skipped, later)])
  }

  /** Returns any of the alternatives, followed by `rest`. */
  sequenceOf(
    alternatives: readonly AST.Alternative[],
    rest: Rest,
    atStart: AtStart,
    flags: RegexFlags,
  ): ExprId {
    return exprs.or(alternatives.map((alternative) => this.sequence(alternative, rest, atStart, flags)))
  }

  private sequence(node: AST.Alternative, rest: Rest, atStart: AtStart, flags: RegexFlags): ExprId {
    const starts: AtStart[] = []
    let start = atStart
    for (const element of node.elements) {
      starts.push(start)
      const { canBeEmpty, mustBeEmpty } = this.facts.get(element)!
      if (!canBeEmpty) start = "never"
      else if (!mustBeEmpty && start === "always") start = "perhaps"
    }
    if (rest === null) {
      // The constructor keeps assertions at the head of what follows them.
      let made: ExprId = Empty
      for (let i = node.elements.length - 1; i >= 0; i--) {
        made = exprs.concat(this.element(node.elements[i], null, starts[i], flags), made)
      }
      return made
    }
    let made = rest
    for (let i = node.elements.length - 1; i >= 0; i--) {
      made = this.element(node.elements[i], made, starts[i], flags)
    }
    return made
  }

  /**
   * Returns one part of a sequence followed by `rest`; without `rest` (inside a repetition) the
   * part alone.
   */
  private element(node: AST.Element, rest: Rest, atStart: AtStart, flags: RegexFlags): ExprId {
    if (!this.facts.get(node)!.asserts) return exprs.concat(this.plain(node, flags), rest ?? Empty)
    switch (node.type) {
      case "Group":
        return this.sequenceOf(node.alternatives, rest, atStart, modified(flags, node.modifiers))
      case "CapturingGroup":
        return this.sequenceOf(node.alternatives, rest, atStart, flags)
      case "Quantifier": {
        const { min, max } = node
        if (rest !== null && max <= 1) {
          const once = max === 0 ? rest : this.element(node.element, rest, atStart, flags)
          return min === 1 ? once : exprs.or([rest, once])
        }
        const body = this.element(node.element, null, atStart === "always" ? "perhaps" : atStart, flags)
        return exprs.concat(exprs.loop(body, min, max), rest ?? Empty)
      }
      case "Assertion":
        return this.assertion(node, rest, atStart, flags)
      default:
        throw new Error(`internal: ${node.type} is no assertion`)
    }
  }

  private assertion(node: AST.Assertion, rest: Rest, atStart: AtStart, flags: RegexFlags): ExprId {
    switch (node.kind) {
      case "start":
        return startAnchor(flags.multiline, atStart, rest)
      case "end":
        return endAnchor(flags.multiline, rest)
      case "word":
        return wordBoundary(node.negate, wordRanges(flags), atStart, rest)
      case "lookahead": {
        const ahead = this.sequenceOf(node.alternatives, exprs.anyText, atStart, flags)
        return lookahead(ahead, node.negate, rest)
      }
      case "lookbehind":
        return lookbehind(this.search(node.alternatives, Empty, flags), node.negate, rest)
    }
  }

  /**
   * Returns the expression of a part of the pattern; null if it has assertions. For use before
   * `check` of the whole.
   */
  plainOf(node: AST.Element, flags: RegexFlags): ExprId | null {
    return this.factsAlone(node).asserts ? null : this.plain(node, flags)
  }

  canBeEmpty(node: AST.Element): boolean {
    return this.factsAlone(node).canBeEmpty
  }

  private factsAlone(node: AST.Element): Facts {
    const facts = this.check(node, -1)
    this.lookaroundCount = 0
    return facts
  }

  /** Returns the expression of a part without assertions. */
  private plain(node: AST.Element, flags: RegexFlags): ExprId {
    switch (node.type) {
      case "Group":
        return this.plainChoice(node.alternatives, modified(flags, node.modifiers))
      case "CapturingGroup":
        return this.plainChoice(node.alternatives, flags)
      case "Quantifier":
        return exprs.loop(this.plain(node.element, flags), node.min, node.max)
      case "Character":
      case "CharacterSet":
      case "CharacterClass":
      case "ExpressionCharacterClass": {
        const { ranges, strings } = charSetOf(node, flags, this.path)
        const set = exprs.codePoints(ranges)
        return strings.length === 0 ? set : exprs.or([set, ...strings.map((text) => spelled(text, flags))])
      }
      default:
        throw new Error(`internal: ${node.type} is an assertion`)
    }
  }

  private plainChoice(alternatives: readonly AST.Alternative[], flags: RegexFlags): ExprId {
    return exprs.or(
      alternatives.map(({ elements }) => {
        let made: ExprId = Empty
        for (let i = elements.length - 1; i >= 0; i--)
          made = exprs.concat(this.plain(elements[i], flags), made)
        return made
      }),
    )
  }
}

function isSetsClass(node: AST.Element): boolean {
  return node.type === "CharacterClass" && node.unicodeSets
}

/**
 * Returns the expression of exactly these characters, or under `i` of those that are equal after
 * case folding.
 */
function spelled(text: string, flags: RegexFlags): ExprId {
  if (!flags.ignoreCase) return exprs.literal(text)
  const points = [...text].map((character) => character.codePointAt(0)!)
  return points.reduceRight(
    (rest, point) => exprs.concat(exprs.codePoints(foldClosure([point, point])), rest),
    Empty,
  )
}

const none: Facts = { asserts: false, hasStart: false, negates: false, canBeEmpty: false, mustBeEmpty: false }

function anyOf(parts: readonly Facts[]): Facts {
  return {
    asserts: parts.some(({ asserts }) => asserts),
    hasStart: parts.some(({ hasStart }) => hasStart),
    negates: parts.some(({ negates }) => negates),
    canBeEmpty: parts.some(({ canBeEmpty }) => canBeEmpty),
    mustBeEmpty: parts.every(({ mustBeEmpty }) => mustBeEmpty),
  }
}

function allOf(parts: readonly Facts[]): Facts {
  return {
    ...anyOf(parts),
    canBeEmpty: parts.every(({ canBeEmpty }) => canBeEmpty),
    mustBeEmpty: parts.every(({ mustBeEmpty }) => mustBeEmpty),
  }
}
