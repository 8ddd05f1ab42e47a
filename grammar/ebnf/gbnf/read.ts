/**
 * Reads a whole GBNF text: its rules as trees, and the mistakes that can be found without knowing
 * what names mean.
 *
 * Rules are read one by one, so a mistake in one does not affect the others, and all mistakes of a
 * text are reported together. A misplaced lexeme may hide definitions, so undefined names are
 * reported only for texts without misplaced lexemes.
 */
import { checkTime } from "../../deadline.ts"
import { checkLimit, type Limits } from "../../errors.ts"
import type { IToken } from "../chevrotain.ts"
import type { Mistakes, Source } from "../notation/source.ts"
import { type Definition, inRow } from "../notation/tree.ts"
import { lexemesOf, type RuleSpan, ruleSpans } from "./lexer.ts"
import { type Failure, parseBody, parseHead, type RuleReading, shown } from "./parser.ts"

/** Returns the rules of a text in order and adds its errors to `mistakes`. Throws `limit`. */
export function readGbnf(source: Source, limits: Limits, mistakes: Mistakes): Definition[] {
  return new Reader(source, limits, mistakes).read()
}

class Reader {
  private readonly source: Source
  private readonly limits: Limits
  private readonly mistakes: Mistakes

  constructor(source: Source, limits: Limits, mistakes: Mistakes) {
    this.source = source
    this.limits = limits
    this.mistakes = mistakes
  }

  read(): Definition[] {
    const { source, limits } = this
    const spans = ruleSpans(source.text)
    this.readPreface(spans[0]?.start ?? source.text.length)
    const reading = this.reading(new Set(spans.map(({ name }) => name)))
    const excess = spans[limits.rules]
    if (excess !== undefined) this.checkLimit("rules", spans.length, excess.start)
    return spans.map((span) => {
      checkTime()
      return this.readRule(span, reading)
    })
  }

  /** Checks that only comments precede the first rule. */
  private readPreface(end: number): void {
    const [first, second = null] = lexemesOf(this.source.text, 0, end, "body")
    if (first === undefined) return
    if (first.tokenType.name === "Name") {
      const offset = second?.startOffset ?? first.startOffset + first.image.length
      this.mistakes.add("syntax", offset, `expected "::=", found ${shown(second)}`)
    } else {
      this.mistakes.add("syntax", first.startOffset, `expected the name of a rule, found ${shown(first)}`)
    }
  }

  private readRule({ name, start, bodyStart, end }: RuleSpan, reading: RuleReading): Definition {
    const { text } = this.source
    const head = parseHead(lexemesOf(text, start, bodyStart, "head"), reading)
    if (head.failure !== null) this.report(head.failure, bodyStart)
    const body = parseBody(lexemesOf(text, bodyStart, end, "body"), reading)
    if (body.failure !== null) this.report(body.failure, end)
    return {
      kind: "definition",
      name: { text: name, start, end: start + name.length },
      parameters: null,
      priority: null,
      attributes: head.tree ?? [],
      isParametric: false,
      body: body.tree ?? inRow([], end),
    }
  }

  private reading(names: ReadonlySet<string>): RuleReading {
    return {
      names,
      mistake: (offset, message) => this.mistakes.add("syntax", offset, message),
      checkDepth: (depth, offset) => this.checkLimit("grammarDepth.groups", depth, offset),
      checkRepeat: (count, offset) => this.checkLimit("maxRepeat.gbnf", count, offset),
    }
  }

  private checkLimit(
    refusal: "rules" | "grammarDepth.groups" | "maxRepeat.gbnf",
    value: number,
    offset: number,
  ): void {
    this.source.nested(offset, () => checkLimit(this.limits, refusal, value))
  }

  /** Reports the most likely mistake for a lexeme that fits nowhere. */
  private report({ lexeme, previous, message }: Failure, end: number): void {
    const { mistakes } = this
    if (lexeme === null) {
      const offset = previous === null ? end : previous.startOffset + previous.image.length
      mistakes.add("syntax", offset, message)
    } else if (lexeme.image === "=" && previous?.image === "(") {
      mistakes.add(
        "unsupported",
        previous.startOffset,
        "lookahead (= …) is not supported. Drop it: what may follow is known from the rules that use this one",
      )
    } else if (
      previous?.tokenType.name === "Name" &&
      /[=:-]/.test(lexeme.image) &&
      this.isFirstOfLine(previous)
    ) {
      mistakes.add("syntax", lexeme.startOffset, `expected "::=", found ${shown(lexeme)}`)
    } else if (lexeme.image === "{") {
      mistakes.add("syntax", lexeme.startOffset, `${message}. A repetition is {m}, {m,} or {m,n}`)
    } else {
      mistakes.add("syntax", lexeme.startOffset, message)
    }
  }

  private isFirstOfLine({ startOffset }: IToken): boolean {
    return /(?:^|[\r\n])[^\S\r\n]*$/.test(this.source.text.slice(Math.max(0, startOffset - 200), startOffset))
  }
}
