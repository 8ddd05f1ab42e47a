/**
 * How values are spelled: the policy, and the lexemes between the values with the white space that it allows around them.
 *
 * Each gap belongs to exactly one lexeme: the space after `{ [ ,` and `:` to that mark, the space before `} ]` to the
 * closing one, so no text can be split in two ways.
 */
import { Empty, type ExprId, exprs } from "../lexeme/expr/expr.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import type { Escapes } from "../lexeme/string/string.ts"

export type Whitespace = "bounded" | "none" | "spaced" | "any"

/** How values are spelled; none of it changes which values are accepted, only `order` which key orders. */
export interface SurfacePolicy {
  readonly order: "schema" | "any"
  readonly whitespace: Whitespace
  readonly escapes: Escapes
  readonly numbers: "plain" | "json"
}

/** Lexeme states. */
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
  /** White space around the whole text; null: none. */
  readonly outer: number | null
}

const known = new Map<Whitespace, Punctuation>()

/** The same for all schemas: lexeme states last as long as the process. */
export function punctuation(policy: Whitespace): Punctuation {
  let marks = known.get(policy)
  if (marks === undefined) {
    marks = makePunctuation(policy)
    known.set(policy, marks)
  }
  return marks
}

function makePunctuation(policy: Whitespace): Punctuation {
  const { inside, beforeMark, afterComma, afterColon } = gaps(policy)
  const mark = (text: string) => exprs.literal(text)
  const lexeme = (...parts: ExprId[]) =>
    exprLexeme(parts.reduceRight((tail, head) => exprs.concat(head, tail), Empty))
  return {
    openObject: lexeme(mark("{"), inside),
    openArray: lexeme(mark("["), inside),
    closeEmptyObject: lexeme(mark("}")),
    closeEmptyArray: lexeme(mark("]")),
    closeObject: lexeme(inside, mark("}")),
    closeArray: lexeme(inside, mark("]")),
    comma: lexeme(beforeMark, mark(","), afterComma),
    colon: lexeme(beforeMark, mark(":"), afterColon),
    outer: policy === "any" ? exprLexeme(inside) : null,
  }
}

function gaps(policy: Whitespace): {
  inside: ExprId
  beforeMark: ExprId
  afterComma: ExprId
  afterColon: ExprId
} {
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
      return { inside: gap, beforeMark: gap, afterComma: gap, afterColon: gap }
    }
    default:
      return policy satisfies never
  }
}
