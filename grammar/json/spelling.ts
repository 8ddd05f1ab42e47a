/**
 * The spelling of values: the policy, and the lexemes between the values with the white space that
 * it allows around them.
 *
 * Each gap belongs to exactly one lexeme: the space after `{ [ ,` and `:` to that mark, the space
 * before `} ]` to the closing one, so no text can be split in two ways.
 */
import { shortestCompletion } from "../lexeme/completion.ts"
import { Empty, type ExprId, exprs } from "../lexeme/expr/expr.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import type { Escapes } from "../lexeme/string/string.ts"
import { Dead, lexemes } from "../lexeme/table.ts"
import { owned } from "../tables.ts"
import { utf8 } from "../utf8.ts"

type Whitespace = "bounded" | "none" | "spaced" | "any"

/**
 * The spelling of values. It does not change which values are accepted, except that `order`
 * restricts the order of keys.
 */
export interface SurfacePolicy {
  readonly order: "schema" | "any"
  readonly whitespace: Whitespace
  readonly escapes: Escapes
  readonly numbers: "plain" | "json"
  /** The marks between values, if a constraint defines them itself. */
  readonly marks?: Marks
}

/** Marks as expressions. */
interface Marks {
  /** White space in every gap, but not at the ends of the text. */
  readonly gap?: ExprId
  /** The comma and the colon, without the gaps around them. Neither is empty. */
  readonly comma?: ExprId
  readonly colon?: ExprId
}

/** The marks as lexeme states. */
export interface Punctuation {
  readonly openObject: number
  readonly openArray: number
  /** Right after the opening mark. */
  readonly closeEmptyObject: number
  readonly closeEmptyArray: number
  /** After a member. */
  readonly closeObject: number
  readonly closeArray: number
  readonly comma: number
  readonly colon: number
  /** White space around the whole text, or null if there is none. */
  readonly outer: number | null
  /** Whether everything that is written is JSON. */
  readonly isJson: boolean
  /** Possible texts of a comma and a colon, if they cannot be written as such. */
  readonly written: { readonly comma: string; readonly colon: string } | null
}

/** By policy. Requests can choose policies, so the number is bounded. */
const known = owned("punctuation", { marks: new Map<string, Punctuation>() }, { entryBytes: 200 })
const MaxKnown = 256

/**
 * Returns the lexemes of a policy. All schemas share them: lexeme states last as long as the
 * process.
 */
export function punctuation({ whitespace, marks }: SurfacePolicy): Punctuation {
  const key = marks === undefined ? whitespace : `${whitespace} ${marks.gap} ${marks.comma} ${marks.colon}`
  let made = known.marks.get(key)
  if (made === undefined) {
    made = makePunctuation(whitespace, marks ?? {})
    if (known.marks.size >= MaxKnown) known.marks.clear()
    known.marks.set(key, made)
  }
  return made
}

/** Returns `policy` with at most `count` characters of white space in a gap. */
export function withMostWhitespace(policy: SurfacePolicy, count: number | null): SurfacePolicy {
  const { whitespace } = policy
  // These policies are narrower already, unless no white space is allowed.
  if (count === null || whitespace === "none" || (whitespace === "spaced" && count > 0)) return policy
  const space = exprs.codePoints([9, 10, 13, 13, 0x20, 0x20])
  return { ...policy, marks: { ...policy.marks, gap: exprs.loop(space, 0, count) } }
}

function makePunctuation(policy: Whitespace, marks: Marks): Punctuation {
  const { inside, beforeMark, afterComma, afterColon } =
    marks.gap === undefined ? gaps(policy) : all(marks.gap)
  const mark = (text: string) => exprs.literal(text)
  const lexeme = (...parts: ExprId[]) =>
    exprLexeme(parts.reduceRight((tail, head) => exprs.concat(head, tail), Empty))
  const comma = lexeme(beforeMark, marks.comma ?? mark(","), afterComma)
  const colon = lexeme(beforeMark, marks.colon ?? mark(":"), afterColon)
  const isSame = accepts(comma, ",") && accepts(colon, ":")
  return {
    openObject: lexeme(mark("{"), inside),
    openArray: lexeme(mark("["), inside),
    closeEmptyObject: lexeme(mark("}")),
    closeEmptyArray: lexeme(mark("]")),
    closeObject: lexeme(inside, mark("}")),
    closeArray: lexeme(inside, mark("]")),
    comma,
    colon,
    outer: policy === "any" && marks.gap === undefined ? exprLexeme(inside) : null,
    isJson: isMark(marks.comma, ",") && isMark(marks.colon, ":") && isSpace(marks.gap),
    written: isSame ? null : { comma: shortest(comma), colon: shortest(colon) },
  }
}

const spaces = exprs.loop(exprs.codePoints([9, 10, 13, 13, 0x20, 0x20]), 0, Number.POSITIVE_INFINITY)

function isSpace(expr: ExprId = Empty): boolean {
  return exprs.isNever(exprs.and([expr, exprs.not(spaces)]))
}

/** Whether all texts of `expr` are the mark, with white space around it. */
function isMark(expr: ExprId | undefined, mark: string): boolean {
  if (expr === undefined) return true
  const marks = exprs.concat(spaces, exprs.concat(exprs.literal(mark), spaces))
  return exprs.isNever(exprs.and([expr, exprs.not(marks)]))
}

/** Whether the lexeme accepts the mark alone. */
function accepts(lexeme: number, mark: string): boolean {
  const state = lexemes.run(lexeme, utf8(mark))
  return state !== Dead && lexemes.tags[state] !== 0
}

function shortest(lexeme: number): string {
  return new TextDecoder().decode(shortestCompletion(lexeme).bytes)
}

interface Gaps {
  readonly inside: ExprId
  readonly beforeMark: ExprId
  readonly afterComma: ExprId
  readonly afterColon: ExprId
}

function all(gap: ExprId): Gaps {
  return { inside: gap, beforeMark: gap, afterComma: gap, afterColon: gap }
}

function gaps(policy: Whitespace): Gaps {
  const space = exprs.loop(exprs.literal(" "), 0, 1)
  switch (policy) {
    case "none":
      return { inside: Empty, beforeMark: Empty, afterComma: Empty, afterColon: Empty }
    case "spaced":
      return { inside: Empty, beforeMark: Empty, afterComma: space, afterColon: space }
    case "bounded": {
      const indent = exprs.loop(exprs.or([exprs.literal(" "), exprs.literal("\t")]), 0, 32)
      const gap = exprs.or([space, exprs.concat(exprs.literal("\n"), indent)])
      return { inside: gap, beforeMark: Empty, afterComma: gap, afterColon: space }
    }
    case "any": {
      const gap = exprs.loop(
        exprs.or([" ", "\t", "\n", "\r"].map((text) => exprs.literal(text))),
        0,
        Number.POSITIVE_INFINITY,
      )
      return all(gap)
    }
    default:
      return policy satisfies never
  }
}
