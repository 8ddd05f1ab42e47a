/**
 * Reads a text into its statements: every bracket is parsed as soon as it closes, and every
 * statement by itself.
 *
 * A bracket becomes one word of what is around it, so nesting needs a list and no recursion. A
 * mistake ends only the statement that it is in.
 */
import type { Limits } from "../../errors.ts"
import type { IRecognitionException, IToken, TokenType } from "../chevrotain.ts"
import type { Mistakes, Source } from "../notation/source.ts"
import type { Statement } from "../notation/tree.ts"
import { Group, LarkParser, Maybe, Statements, Values } from "./parser.ts"
import * as words from "./words.ts"

export interface LarkText {
  readonly statements: readonly Statement[]
  /** Names at the beginning of statements that could not be read. */
  readonly broken: ReadonlySet<string>
}

/**
 * Reads a text and adds its errors to `mistakes`. Throws `limit` if brackets are nested too deep.
 */
export function readLark(source: Source, limits: Limits, mistakes: Mistakes): LarkText {
  const statements: Statement[] = []
  const broken = new Set<string>()
  try {
    for (const tokens of words.readStatements(source, limits, mistakes)) {
      const statement = new StatementReader(mistakes).read(tokens)
      if (statement !== null) statements.push(statement)
      else {
        for (const { tokenType, image } of tokens) if (tokenType === words.Identifier) broken.add(image)
      }
    }
  } finally {
    parser?.forget()
  }
  return { statements, broken }
}

/** An open bracket, or the statement around all brackets. */
interface Level {
  /**
   * The type of word that the bracket becomes when it closes; null if its words just join those of
   * the level around it.
   */
  readonly type: TokenType | null
  readonly open: IToken | null
  readonly close: TokenType | null
  /** The words being read: those of the bracket, or of the current statement in it. */
  tokens: IToken[]
  /** Whether the next words are the head of a statement, where brackets have another meaning. */
  isHead: boolean
  /** The statements of a `%lark {…}`. */
  readonly statements: Statement[]
}

const closes = new Map<TokenType, TokenType>([
  [words.OpenRound, words.CloseRound],
  [words.OpenSquare, words.CloseSquare],
  [words.OpenCurly, words.CloseCurly],
])
const closing = new Set(closes.values())

let parser: LarkParser | null = null

class StatementReader {
  private readonly mistakes: Mistakes
  private readonly levels: Level[] = []

  constructor(mistakes: Mistakes) {
    this.mistakes = mistakes
  }

  read(tokens: readonly IToken[]): Statement | null {
    this.open(null, null, true)
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i]
      const level = this.levels[this.levels.length - 1]
      const { tokenType } = token
      if (closes.has(tokenType)) this.open(this.typeOf(token, tokens[i + 1], level), token, level.isHead)
      else if (level.open !== null && closing.has(tokenType)) {
        if (!this.close(token)) return null
      } else if (tokenType === words.Newline) {
        if (!this.endStatement(level)) return null
      } else {
        if (tokenType === words.Colon) level.isHead = false
        level.tokens.push(token)
        if (tokenType === words.IgnoreKeyword) level.isHead = false
      }
    }
    const last = this.levels[this.levels.length - 1]
    if (last.open !== null) {
      const end = tokens[tokens.length - 1]
      this.mistakes.add(
        "syntax",
        end.startOffset + end.image.length,
        `expected ${last.close?.LABEL}, found the end of the line`,
      )
      return null
    }
    return this.parse(last.tokens, (reader) => reader.statement())
  }

  private open(type: TokenType | null, open: IToken | null, isHead: boolean): void {
    const close = open === null ? null : (closes.get(open.tokenType) as TokenType)
    const tokens = type === null && open !== null ? [open] : []
    this.levels.push({
      type,
      open,
      close,
      tokens,
      isHead: type === Statements || (type === null && isHead),
      statements: [],
    })
  }

  /**
   * Returns the type of word that a bracket that opens here becomes. Brackets in heads and counts,
   * and around the arguments of functions, become none.
   */
  private typeOf(open: IToken, next: IToken | undefined, level: Level): TokenType | null {
    const before = level.tokens[level.tokens.length - 1]?.tokenType
    if (open.tokenType === words.OpenCurly) {
      if (before === words.NestedKeyword) return Statements
      const isCount = next?.tokenType === words.Count || next?.tokenType === words.Comma
      return level.isHead || before !== words.Identifier || isCount ? null : Values
    }
    if (level.isHead || (level.type === null && level.open !== null)) return null
    if (open.tokenType === words.OpenSquare) return Maybe
    const first = level.tokens[level.tokens.length - 2]?.tokenType
    const isCalled = before === words.Identifier && (first === words.DoubleColon || first === words.IfKeyword)
    return isCalled ? null : Group
  }

  /** Closes the innermost bracket. Returns false after a mistake. */
  private close(token: IToken): boolean {
    const level = this.levels.pop() as Level
    const outer = this.levels[this.levels.length - 1]
    const open = level.open as IToken
    if (token.tokenType !== level.close) {
      this.mistakes.add(
        "syntax",
        token.startOffset,
        `expected ${level.close?.LABEL}, found ${JSON.stringify(token.image)}`,
      )
      return false
    }
    if (level.type === null) {
      outer.tokens.push(...level.tokens, token)
      return true
    }
    let payload: unknown
    if (level.type === Statements) {
      if (!this.endStatement(level)) return false
      payload = level.statements
    } else {
      payload = this.parse(
        level.tokens,
        (reader) => (level.type === Values ? reader.values() : reader.alternatives()),
        token,
      )
      if (payload === null) return false
    }
    outer.tokens.push({
      image: open.image,
      startOffset: open.startOffset,
      endOffset: token.startOffset,
      tokenType: level.type,
      tokenTypeIdx: level.type.tokenTypeIdx as number,
      payload,
    })
    return true
  }

  /** Ends a statement inside `%lark {…}`. Returns false after a mistake. */
  private endStatement(level: Level): boolean {
    const { tokens } = level
    level.tokens = []
    level.isHead = true
    if (tokens.length === 0) return true
    const statement = this.parse(tokens, (reader) => reader.statement())
    if (statement !== null) level.statements.push(statement)
    return statement !== null
  }

  /**
   * Applies `rule` to all of `tokens` and returns its result; null after a mistake. `end` is the
   * word after them.
   */
  private parse<T>(tokens: IToken[], rule: (parser: LarkParser) => T, end?: IToken): T | null {
    parser ??= new LarkParser()
    parser.input = tokens
    const made = rule(parser)
    if (parser.errors.length === 0) return made
    this.addMistake(parser.errors[0], tokens, end)
    return null
  }

  private addMistake(error: IRecognitionException, tokens: readonly IToken[], end: IToken | undefined): void {
    const isEnd = !(error.token.startOffset >= 0)
    const at = isEnd ? end : error.token
    if (at?.tokenType === words.OtherKeyword) {
      const isKnown = ["%declare", "%override", "%extend"].includes(at.image)
      if (isKnown)
        this.mistakes.add("unsupported", at.startOffset, `${at.image}: define the names in this text`)
      else this.mistakes.add("syntax", at.startOffset, `unknown statement ${at.image}`)
      return
    }
    if (at !== undefined) {
      this.mistakes.add("syntax", at.startOffset, `expected ${error.message}, found ${shown(at.image)}`)
      return
    }
    const last = tokens[tokens.length - 1]
    const offset = (last.endOffset ?? last.startOffset + last.image.length - 1) + 1
    this.mistakes.add("syntax", offset, `expected ${error.message}, found the end of the line`)
  }
}

function shown(image: string): string {
  return JSON.stringify(image.length > 40 ? `${image.slice(0, 38)}…` : image)
}
