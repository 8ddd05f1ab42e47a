/**
 * The Lark notation in the dialect of llguidance: from a text to its start rule.
 *
 * In reading order: `words.ts` and `read.ts` cut the text into statements, and `parser.ts` parses
 * them into trees. In `notation/`, `scope.ts` collects the names, `check.ts` finds all mistakes at
 * once, and `lower.ts` makes rules. The dialect differs from Lark's own in meaning: a text is
 * accepted if some division into lexemes parses, and no tree results.
 */
import { checkLimit } from "../../errors.ts"
import type { Grammar } from "../../grammar.ts"
import { Checker, type Surroundings } from "../notation/check.ts"
import type { Dialect } from "../notation/dialect.ts"
import { Lowering } from "../notation/lower.ts"
import { Scope } from "../notation/scope.ts"
import { Mistakes, Source } from "../notation/source.ts"
import type { RuleId, Rules } from "../rules.ts"
import { readAttributes } from "./attributes.ts"
import { readLark } from "./read.ts"
import { readTokens } from "./tokens.ts"

/**
 * A grammar that a text may refer to by name: a Lark text, a compiled one, or any other notation.
 */
type NamedGrammar = string | Grammar | ((rules: Rules) => RuleId)

export interface LarkOptions {
  /** Name of the start rule. Default `start`. */
  start?: string
  /** Grammars that `@name` refers to. */
  named?: Readonly<Record<string, NamedGrammar>>
  /** Place of the text inside another input, for messages. */
  outer?: string
  /** Compiles a schema in the text, given as it is spelled. */
  schema: (text: string) => Grammar
}

export interface LarkGrammar {
  /** The start rule. */
  readonly rule: RuleId
  /** Whether the text forbids forced tokens. */
  readonly noForcing: boolean
}

const [Underscore, CapitalA, CapitalZ] = [0x5f, 0x41, 0x5a]
const namePattern = /^_*(?:[a-z][a-z0-9_-]*|[A-Z][A-Z0-9_-]*)$/

const dialect: Dialect = {
  hasTerminals: true,
  isTerminalName,
  article: "the ",
  faultOfName: (name) =>
    namePattern.test(name)
      ? null
      : `the name "${name}": rules are written in lower case, terminals in upper case`,
  attributesOf: readAttributes,
  placeOf: ({ attributes }) => (attributes.length === 0 ? null : attributes[0].name.start),
  tokensOf: readTokens,
  macroOf: () => null,
}

/** Returns whether the first letter of `name` is a capital. */
function isTerminalName(name: string): boolean {
  let at = 0
  while (name.charCodeAt(at) === Underscore) at++
  const letter = name.charCodeAt(at)
  return letter >= CapitalA && letter <= CapitalZ
}

/** Reads `text` into `rules`. Throws GrammarError with all mistakes of the text. */
export function larkRule(text: string, rules: Rules, options: LarkOptions): LarkGrammar {
  return new LarkTexts(rules, options).read(text, options.start ?? "start", options.outer ?? "")
}

/** A text and the texts that it refers to. */
class LarkTexts {
  private readonly rules: Rules
  private readonly options: LarkOptions
  private readonly named = new Map<string, RuleId>()
  /** Names of the grammars that are being read, each inside the one before it. */
  private readonly chain: string[] = []
  /** Whether any of the texts captures something. */
  private captures = false

  constructor(rules: Rules, options: LarkOptions) {
    this.rules = rules
    this.options = options
  }

  /** Reads a text. `outer` is its place in another text; empty for the first. */
  read(text: string, start: string, outer: string): LarkGrammar {
    const { limits, tokens } = this.rules
    const source = new Source(text, limits, outer)
    const mistakes = new Mistakes(source)
    const read = readLark(source, limits, mistakes)
    const scope = new Scope({ source, dialect }, read.statements, mistakes, limits.schemaDepth)
    const around: Surroundings = {
      limits,
      tokens,
      patterns: this.rules.patterns,
      schema: this.options.schema,
      grammar: (name, at) => this.grammar(name, at),
    }
    new Checker(scope, mistakes, around, read.broken).check(start)
    mistakes.throwAny()
    if (scope.captures) this.captures = true
    const rule = new Lowering(scope, this.rules, () => this.captures).start(start)
    return { rule, noForcing: scope.options.has("no_forcing") }
  }

  /**
   * Returns the rule of a named grammar, or what is wrong with it. `at` is the place of the
   * reference.
   */
  private grammar(name: string, at: string): RuleId | string {
    const { rules, options } = this
    const known = this.named.get(name)
    if (known !== undefined) return known
    if (this.chain.includes(name)) {
      const chain = [...this.chain.slice(this.chain.indexOf(name)), name].map((each) => `@${each}`)
      return `the grammar @${name} contains itself: ${chain.join(" -> ")}`
    }
    const grammar = Object.hasOwn(options.named ?? {}, name) ? options.named?.[name] : undefined
    if (grammar === undefined) return `no grammar is named @${name}`
    let rule: RuleId
    if (typeof grammar === "string") {
      checkLimit(rules.limits, "grammarDepth.grammars", this.chain.length + 1, at)
      this.chain.push(name)
      rule = this.read(grammar, "start", at).rule
      this.chain.pop()
    } else if (typeof grammar === "function") rule = grammar(rules)
    else {
      rule = rules.declare(`@${name}`)
      rules.define(rule, [], () => rules.terms.nested(grammar))
    }
    this.named.set(name, rule)
    return rule
  }
}
