/**
 * The small parts of a SQL text: key words, gaps, literals.
 *
 * Key words are in upper or lower case, and all words of a phrase are in the same case. All parts
 * are made once, with the first SQL grammar.
 */
import { defaultLimits } from "../errors.ts"
import { dateExpr } from "../format/timestamp.ts"
import { type ExprId, exprs } from "../lexeme/expr/expr.ts"
import { parseRegex } from "../regex/parse.ts"
import { owned } from "../tables.ts"
import type { Kind } from "./database.ts"
import { keywordList } from "./names.ts"

export class SqlWords {
  /** Between two words: a space, or a line break followed by at most eight spaces. */
  readonly gap = regex("(?: |\\n {0,8})")
  /** Between the members of a list. */
  readonly comma = regex(",(?: |\\n {0,8})?")
  /** A number with few enough digits for a comparison with every numeric type. */
  readonly number = regex("-?(?:0|[1-9][0-9]{0,8})(?:\\.[0-9]{1,6})?")
  /** A number that is never zero. */
  readonly divisor = regex("[1-9][0-9]{0,8}")
  readonly rowCount = regex("0|[1-9][0-9]{0,8}")
  /**
   * A text in single quotes, which are doubled inside; without U+0000, which ends a statement in
   * SQLite and is not allowed in PostgreSQL's texts.
   */
  readonly text = regex("'(?:[^'\\u0000]|''){0,256}'")
  /** The pattern of LIKE, without backslashes: one at its end would escape nothing. */
  readonly pattern = regex("'(?:[^'\\\\\\u0000]|''){0,256}'")
  /** The name of a column of the result: in quotes, or in lower case and not a key word. */
  readonly alias = exprs.or([
    regex('"(?:[^"\\u0000]|""){1,15}"'),
    exprs.and([
      regex("[a-z_][a-z0-9_]{0,62}"),
      exprs.not(exprs.or(keywordList().map((word) => exprs.literal(word)))),
    ]),
  ])
  private readonly phrases = new Map<string, ExprId>()
  /** Literals whose type PostgreSQL infers from the other side of a comparison. */
  private readonly quoted: Partial<Record<Kind, ExprId>>

  constructor() {
    // PostgreSQL has no year 0000.
    const date = exprs.and([dateExpr(), exprs.not(regex("0000.*"))])
    const time = regex(" (?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]{1,6})?)?")
    const zone = regex("(?:Z|[+-]0[0-9]:00)?")
    const inQuotes = (...parts: ExprId[]) => inOrder([exprs.literal("'"), ...parts, exprs.literal("'")])
    const optional = (expr: ExprId) => exprs.loop(expr, 0, 1)
    this.quoted = {
      date: inQuotes(date),
      timestamp: inQuotes(date, optional(time)),
      timestamptz: inQuotes(date, optional(inOrder([time, zone]))),
      uuid: inQuotes(regex("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")),
    }
  }

  /**
   * Returns `words`, in upper or in lower case. Each space is a gap, also at the beginning and at
   * the end.
   */
  phrase(words: string): ExprId {
    let expr = this.phrases.get(words)
    if (expr === undefined) {
      const written = (text: string) => {
        const parts = text.split(/( )/).filter((part) => part !== "")
        return inOrder(parts.map((part) => (part === " " ? this.gap : exprs.literal(part))))
      }
      expr = exprs.or(bothCases(words).map(written))
      this.phrases.set(words, expr)
    }
    return expr
  }

  /** Returns the literals of a kind that have its type without any context. */
  typed(kind: Kind): readonly ExprId[] {
    switch (kind) {
      case "any":
        return [this.number, this.text]
      case "number":
        return [this.number]
      case "text":
        return [this.text]
      case "boolean":
        return [this.phrase("true"), this.phrase("false")]
      case "date":
      case "timestamp":
      case "timestamptz":
        return [exprs.concat(this.phrase(`${kind} `), this.quoted[kind] as ExprId)]
      default:
        return []
    }
  }

  /**
   * Returns the literals that may be compared with a value of the kind, and have its type only
   * there.
   */
  compared(kind: Kind): readonly ExprId[] {
    const literal = this.quoted[kind]
    return literal === undefined ? [] : [literal]
  }
}

const known = owned("SQL words", { all: null as SqlWords | null })

export function sqlWords(): SqlWords {
  known.all ??= new SqlWords()
  return known.all
}

/** Returns a word in upper and in lower case. */
export function bothCases(word: string): string[] {
  return [...new Set([word.toUpperCase(), word.toLowerCase()])]
}

function regex(pattern: string): ExprId {
  return parseRegex(pattern, { mode: "match", path: "", limits: defaultLimits })
}

function inOrder(parts: readonly ExprId[]): ExprId {
  return parts.reduceRight((tail, head) => exprs.concat(head, tail))
}
