/**
 * Lowers the tree of a structural tag to rules.
 *
 * Every node becomes a function that makes its term later, after the terms of inner notations. The
 * ends of the tag around are passed down: a text that comes last in the tag must not contain them,
 * and is read with the end as one lexeme. Loops (text and tags, dispatches) are rules of their own;
 * all other nodes are part of the term around them.
 */
import type { RuleId, Rules } from "../ebnf/rules.ts"
import { anyToken } from "../ebnf/tokensets.ts"
import { GrammarError } from "../errors.ts"
import type { Grammar } from "../grammar.ts"
import { freeTextExpr } from "../lexeme/freetext.ts"
import {
  type Between,
  type Branch,
  endTerm,
  inOrder,
  type MakeTerm,
  textBetween,
  tokenRun,
  tokensBetween,
} from "./between.ts"
import { below, shown } from "./fields.ts"
import { canBeEmpty, type Format, type Mark, type Tag, type Text, type TokenRef } from "./format.ts"
import { type Piece, piecesChoice, piecesOf, piecesTerm, spelled } from "./literal.ts"
import { checkTokenEnds, endTexts, endTokens, markPieces } from "./marks.ts"
import type { SchemaStyle } from "./schemas.ts"
import { idOf, pieceOf } from "./tokenrefs.ts"
import { checkTokenBegins, checkTokenTriggers, checkTriggers, triggerOf } from "./triggers.ts"

/** Compiles the schemas and grammars inside a structural tag. */
export interface Embedded {
  /** Names of the styles in which the values of a schema can be written. */
  readonly styles: readonly string[]
  /**
   * Returns the grammar of a schema's values. The paths of its errors are pointers into the schema.
   */
  schema(schema: unknown, how: SchemaStyle): Grammar
  /** Returns the rule of a grammar in a notation; `outer` is its place. */
  notation(text: string, rules: Rules, outer: string): RuleId
}

type KindOf<K extends Format["kind"]> = Extract<Format, { kind: K }>
type Switching = KindOf<"triggered" | "dispatch" | "tokenTriggered" | "tokenDispatch">

/** The context of a part. */
interface Place {
  /** The ends of the tag around, if they may follow the part directly. */
  readonly ends: readonly Mark[]
  /** The beginning of the innermost tag, for messages. */
  readonly tag: string
  /** The rules that the rule of the part uses. */
  readonly uses: Set<RuleId>
}

/** The ways to end a tag, as pieces. */
type Ends = readonly (readonly Piece[])[]
const noEnd: Ends = [[]]

export class Lowering {
  private readonly rules: Rules
  private readonly embedded: Embedded

  constructor(rules: Rules, embedded: Embedded) {
    this.rules = rules
    this.embedded = embedded
  }

  /** Declares the rule of `format`. Throws GrammarError with the pointer to the mistake. */
  rule(format: Format): RuleId {
    const rule = this.rules.declare("structural tag")
    const uses = new Set<RuleId>()
    const make = this.part(format, { ends: [], tag: "", uses })
    this.rules.define(rule, [...uses], make)
    return rule
  }

  private part(format: Format, place: Place): MakeTerm {
    const { rules } = this
    const { terms, tokens } = rules
    switch (format.kind) {
      case "const":
        return () => piecesTerm(rules, piecesOf(format.text, tokens))
      case "regex":
        rules.patterns.push({ path: `${format.path}/pattern`, pattern: format.pattern })
        return () => terms.expr(format.expr)
      case "grammar": {
        const rule = this.embedded.notation(format.text, rules, `${format.path}/grammar`)
        place.uses.add(rule)
        return () => rules.use(rule)
      }
      case "schema": {
        this.checkStyle(format)
        const compile = () => this.embedded.schema(format.schema, format)
        const grammar = below(format.schemaPath, compile, place.tag)
        return () => terms.nested(grammar)
      }
      case "text": {
        const excludes = [...format.excludes, ...endTexts(place.ends, tokens)]
        const make = () => terms.expr(freeTextExpr(excludes, format.maxChars ?? undefined))
        return this.budgeted(make, format)
      }
      case "sequence":
        return this.sequence(format, place, null)
      case "or":
        return this.any(format.parts.map((part) => this.part(part, place)))
      case "repeat": {
        const make = this.part(format.content, place)
        return () => terms.repeat(make(), format.min, format.max)
      }
      case "tag": {
        const { begin, rest } = this.begun(format, place)
        return () => terms.concat(piecesTerm(rules, begin), rest())
      }
      case "separated":
        return this.separated(format, place)
      case "token":
        return () => piecesTerm(rules, [pieceOf(format.token, tokens)])
      case "otherToken":
        return this.otherToken(format, place)
      case "tokens":
        return this.budgeted(this.run(format, place), format)
      case "triggered":
      case "dispatch":
      case "tokenTriggered":
      case "tokenDispatch":
        return this.switching(format, place, noEnd)
      default:
        return format satisfies never
    }
  }

  /** Returns `format` followed by one of `ends`, which end the tag around it. */
  private until(format: Format, place: Place, ends: Ends): MakeTerm {
    switch (format.kind) {
      case "sequence":
        return this.sequence(format, place, ends)
      case "or":
        return this.any(format.parts.map((part) => this.until(part, place, ends)))
      case "triggered":
      case "dispatch":
      case "tokenTriggered":
      case "tokenDispatch":
        return this.switching(format, place, ends)
      default: {
        const make = this.part(format, place)
        return () => this.rules.terms.concat(make(), endTerm(this.rules, ends))
      }
    }
  }

  /**
   * Returns the parts in a row. A part that may come last must not contain the ends of the tag
   * around. If there are `ends`, it is read together with them.
   */
  private sequence({ parts }: KindOf<"sequence" | "or">, place: Place, ends: Ends | null): MakeTerm {
    const makes: MakeTerm[] = []
    let mayBeLast = true
    for (let i = parts.length - 1; i >= 0; i--) {
      const own = mayBeLast ? place : { ...place, ends: [] }
      const isLast = i === parts.length - 1 && ends !== null
      makes.unshift(isLast ? this.until(parts[i], own, ends) : this.part(parts[i], own))
      mayBeLast &&= canBeEmpty(parts[i])
    }
    return () => this.rules.terms.concat(...makes.map((make) => make()))
  }

  private any(makes: readonly MakeTerm[]): MakeTerm {
    return () => this.rules.terms.or(makes.map((make) => make()))
  }

  private budgeted(
    make: MakeTerm,
    { maxTokens, path }: { maxTokens: number | null; path: string },
  ): MakeTerm {
    if (maxTokens === null) return make
    return () => this.rules.terms.budget(make(), maxTokens, `the text at ${path === "" ? "the top" : path}`)
  }

  /** Returns the beginning of a tag, and its rest. */
  private begun(tag: Tag, place: Place): { begin: readonly Piece[]; rest: MakeTerm } {
    const { tokens } = this.rules
    const begin = markPieces(tag.begin, tokens)
    const ends = tag.ends.map((end) => markPieces(end, tokens))
    const own = tag.ends.filter((_, i) => ends[i].length > 0)
    // An empty end is followed directly by what comes after the tag.
    const outer = own.length < ends.length ? place.ends : []
    const name = spelled(begin)
    const inner = { ...place, ends: [...own, ...outer], tag: name === "" ? place.tag : name }
    const make = this.until(tag.content, inner, ends)
    // A tag that occurs twice in a loop is made only once.
    let rest: ReturnType<MakeTerm> | null = null
    return { begin, rest: () => (rest ??= make()) }
  }

  private separated(format: KindOf<"separated">, place: Place): MakeTerm {
    const { rules } = this
    const { terms } = rules
    const tags = format.tags.map((tag) => this.begun(tag, place))
    const separator = piecesOf(format.separator, rules.tokens)
    return () => {
      const options = tags.map(({ begin, rest }) => [begin, rest()] as const)
      const tag = piecesChoice(rules, options)
      const more = terms.star(terms.concat(piecesTerm(rules, separator), tag))
      const some = format.stopAfterFirst ? tag : terms.concat(tag, more)
      return format.atLeastOne ? some : terms.or([terms.empty, some])
    }
  }

  /** Returns text, or any tokens, with their branches, up to one of `ends`. */
  private switching(format: Switching, place: Place, ends: Ends): MakeTerm {
    // The loop uses these rules, too.
    const uses = new Set<RuleId>()
    const inner = { ...place, uses }
    const between = this.between(format, this.branches(format, inner), inner, ends)
    const order =
      "tags" in format ? format : { atLeastOne: false, stopAfterFirst: !format.loops, leadingText: true }
    const make = inOrder(this.rules, order, between, uses)
    for (const rule of uses) place.uses.add(rule)
    return make
  }

  private branches(format: Switching, place: Place): Branch[] {
    const { tokens } = this.rules
    if ("tags" in format)
      return format.tags.map((tag) => ({ ...this.begun(tag, place), path: tag.begin.path }))
    return format.rules.map(({ trigger, format: target }) => ({
      begin: "text" in trigger ? piecesOf(trigger.text, tokens) : [pieceOf(trigger, tokens)],
      rest: this.part(target, place),
      path: trigger.path,
    }))
  }

  private between(
    format: Switching,
    branches: readonly Branch[],
    { ends: around, uses }: Place,
    ends: Ends,
  ): Between {
    const { rules } = this
    const { tokens } = rules
    const triggers = "tags" in format ? format.triggers : format.rules.map(({ trigger }) => trigger)
    const isOfTokens = format.kind === "tokenTriggered" || format.kind === "tokenDispatch"
    if (isOfTokens && tokens !== null) {
      const ids = new Set((triggers as readonly TokenRef[]).map((trigger) => idOf(trigger, tokens)))
      const excluded = new Set(format.excludes.map((exclude) => idOf(exclude as TokenRef, tokens)))
      const endIds = endTokens(around, tokens, format.path)
      checkTokenTriggers(triggers as readonly TokenRef[], tokens, excluded, endIds)
      checkTokenBegins(branches, ids)
      const run = tokenRun(rules, tokens, new Set([...ids, ...excluded, ...endIds]), uses)
      return tokensBetween(rules, run, branches, ends)
    }
    if (isOfTokens) checkTokenEnds(around, format.path)
    const texts = triggers.map((trigger) => textOf(trigger))
    const excludes = format.excludes.map((exclude) => textOf(exclude).text)
    const endings = endTexts(around, tokens)
    checkTriggers(texts, excludes, endings)
    const free = {
      triggers: texts.map(({ text }) => text),
      excludes: [...excludes, ...endings],
      ends,
    }
    const switches = branches.map((branch) => ({ ...branch, trigger: triggerOf(branch, texts) }))
    return textBetween(rules, free, switches)
  }

  private checkStyle({ style, path }: KindOf<"schema">): void {
    const { styles } = this.embedded
    if (styles.includes(style)) return
    throw new GrammarError(
      "syntax",
      `${path}/style`,
      `no style of values is named ${shown(style)}. There are ${styles.join(", ")}`,
    )
  }

  private otherToken({ excludes, path }: KindOf<"otherToken">, { ends }: Place): MakeTerm {
    const { rules } = this
    const { tokens } = rules
    if (tokens === null) {
      throw new GrammarError(
        "unsupported",
        path,
        "exclude_token is one token, and without a vocabulary nothing tells where one ends. Compile for a vocabulary",
      )
    }
    const excluded = new Set(excludes.map((exclude) => idOf(exclude, tokens)))
    for (const end of ends) {
      const [first] = markPieces(end, tokens)
      if (first.token !== null) excluded.add(first.token)
    }
    return () => anyToken(rules, tokens, excluded)
  }

  /** Returns any number of tokens. Without a vocabulary they are text. */
  private run({ excludes, path }: KindOf<"tokens">, { ends, uses }: Place): MakeTerm {
    const { rules } = this
    const { tokens, terms } = rules
    if (tokens !== null) {
      const excluded = [...excludes.map((exclude) => idOf(exclude, tokens)), ...endTokens(ends, tokens, path)]
      return tokenRun(rules, tokens, new Set(excluded), uses)
    }
    checkTokenEnds(ends, path)
    const texts = [...excludes.map((exclude) => pieceOf(exclude, tokens).text), ...endTexts(ends, tokens)]
    return () => terms.expr(freeTextExpr(texts))
  }
}

/** Returns a string; for a token without a vocabulary, its spelling. */
function textOf(given: Text | TokenRef): Text {
  return "text" in given ? given : { text: pieceOf(given, null).text, path: given.path }
}
