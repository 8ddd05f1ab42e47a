/**
 * Parses one rule of GBNF with chevrotain: from its lexemes to a tree.
 *
 * Here, alternatives, sequences and groups are a flat list of lexemes, and `builder.ts` builds the
 * tree: a parser that called itself for each parenthesis would overflow the call stack at some 400
 * of them. Attributes and macros nest at most twice, so they are rules of the parser. The first
 * misplaced lexeme ends the reading of the rule. Mistakes inside strings, classes and repetitions
 * are reported, and reading goes on.
 */
import {
  EmbeddedActionsParser,
  EOF,
  type IParserErrorMessageProvider,
  type IToken,
  type TokenType,
} from "../chevrotain.ts"
import {
  type Attribute,
  inRow,
  type Macro,
  type Node,
  type Text,
  type TokenNode,
  type Value,
  type Word,
} from "../notation/tree.ts"
import { TreeBuilder } from "./builder.ts"
import { type Complain, decodeClass, decodeString } from "./escapes.ts"
import * as lexer from "./lexer.ts"
import { idRanges } from "./tokens.ts"

/**
 * The names that the parser needs and the reports that it makes while it reads one rule. Offsets
 * are those of its lexemes.
 */
export interface RuleReading {
  /** Names of all rules: they take precedence over macros of the same name. */
  readonly names: ReadonlySet<string>
  mistake(offset: number, message: string): void
  /** Checks one more group inside `depth - 1` others. May throw `limit`. */
  checkDepth(depth: number, offset: number): void
  /** Checks a bound of a repetition. May throw `limit`. */
  checkRepeat(count: number, offset: number): void
}

/** A tree, or the lexeme at which reading ended: null for the end of the rule. */
export type ReadRule<T> = { tree: T; failure: null } | { tree: null; failure: Failure }

export interface Failure {
  lexeme: IToken | null
  previous: IToken | null
  message: string
}

let parser: RuleParser | null = null

/** Parses the attributes of a head. */
export function parseHead(lexemes: IToken[], reading: RuleReading): ReadRule<Attribute[]> {
  parser ??= new RuleParser()
  return parser.read(lexemes, reading, (each) => each.head())
}

/** Parses the alternatives of a rule. */
export function parseBody(lexemes: IToken[], reading: RuleReading): ReadRule<Node> {
  parser ??= new RuleParser()
  return parser.read(lexemes, reading, (each) => each.body())
}

/** Returns the form of a lexeme in messages. */
export function shown(lexeme: IToken | null): string {
  if (lexeme === null) return "the end of the rule"
  const image = lexeme.image.length > 40 ? `${lexeme.image.slice(0, 39).toWellFormed()}…` : lexeme.image
  return image.startsWith('"') ? image : `"${image}"`
}

class RuleParser extends EmbeddedActionsParser {
  private reading!: RuleReading
  /** The builder of the rule that is being read. */
  private tree!: TreeBuilder

  constructor() {
    super(lexer.lexemeTypes, { maxLookahead: 1, errorMessageProvider: messages })
    this.performSelfAnalysis()
  }

  read<T>(lexemes: IToken[], reading: RuleReading, rule: (parser: RuleParser) => T): ReadRule<T> {
    this.reading = reading
    this.input = lexemes
    const tree = rule(this)
    const [error] = this.errors
    if (error === undefined) return { tree, failure: null }
    const lexeme = error.token.tokenType === EOF ? null : error.token
    const previous = lexemes[(lexeme === null ? lexemes.length : lexemes.indexOf(lexeme)) - 1] ?? null
    return { tree: null, failure: { lexeme, previous, message: error.message } }
  }

  readonly head = this.RULE("head", (): Attribute[] => {
    const attributes: Attribute[] = []
    this.CONSUME(lexer.Name)
    this.OPTION(() => {
      this.CONSUME(lexer.LeftSquare)
      this.MANY_SEP({ SEP: lexer.Comma, DEF: () => attributes.push(this.SUBRULE(this.attribute)) })
      this.CONSUME(lexer.RightSquare)
    })
    this.CONSUME(lexer.Assign)
    return attributes
  })

  private readonly attribute = this.RULE("attribute", (): Attribute => {
    const name = wordOf(this.CONSUME(lexer.Name))
    const value = this.OPTION(() => {
      this.CONSUME(lexer.Equals)
      return this.SUBRULE(this.value)
    })
    return { name, value: value ?? null }
  })

  readonly body = this.RULE("body", (): Node => {
    const tree = this.ACTION(() => this.builder())
    this.tree = tree
    this.MANY(this.nextPart)
    return this.ACTION(() => (this.LA(1).tokenType === EOF ? tree.finish() : nothing))
  })

  private readonly nextPart = () => this.OR(this.parts)

  // The functions that run for each part are members and not closures: a thousand parts would make
  // thousands of closures.
  private readonly parts = [
    {
      ALT: () => {
        const item = this.SUBRULE(this.item)
        this.ACTION(() => this.tree.add(item))
      },
    },
    {
      ALT: () => {
        const operator = this.SUBRULE(this.operator)
        this.ACTION(() => this.repeat(operator, this.tree))
      },
    },
    {
      ALT: () => {
        const { startOffset } = this.CONSUME(lexer.Pipe)
        this.ACTION(() => this.tree.nextAlternative(startOffset))
      },
    },
    {
      ALT: () => {
        const { startOffset } = this.CONSUME(lexer.LeftParen)
        this.ACTION(() => this.tree.openGroup(startOffset))
      },
    },
    {
      ALT: () => {
        const { startOffset } = this.CONSUME(lexer.RightParen)
        this.ACTION(() => this.tree.closeGroup(startOffset))
      },
    },
  ]

  private readonly item = this.RULE("item", (): Node => this.OR<Node>(this.items))

  private readonly items = [
    { ALT: (): Node => this.textOf(this.CONSUME(lexer.Text)) },
    { ALT: (): Node => this.classOf(this.CONSUME(lexer.Class)) },
    {
      ALT: (): Node => {
        const { start, end } = wordOf(this.CONSUME(lexer.Dot))
        return { kind: "class", ranges: anyCharacter, start, end }
      },
    },
    { ALT: (): Node => this.SUBRULE(this.token) },
    { GATE: () => !this.reading.names.has(this.LA(1).image), ALT: (): Node => this.SUBRULE(this.macro) },
    {
      ALT: (): Node => {
        const { text, start, end } = wordOf(this.CONSUME(lexer.Name))
        return { kind: "name", text, start, end }
      },
    },
  ]

  private readonly operator = this.RULE("operator", (): IToken => this.OR(this.operators))

  private readonly operators = [
    { ALT: () => this.CONSUME(lexer.Star) },
    { ALT: () => this.CONSUME(lexer.Plus) },
    { ALT: () => this.CONSUME(lexer.Question) },
    { ALT: () => this.CONSUME(lexer.Bounds) },
  ]

  private readonly token = this.RULE("token", (): TokenNode => {
    const bang = this.OPTION(() => this.CONSUME(lexer.Bang))
    const named = this.OR([
      { ALT: () => this.CONSUME(lexer.TokenIds) },
      { ALT: () => this.CONSUME(lexer.TokenName) },
    ])
    return this.ACTION(() => {
      if (named.tokenType === lexer.TokenIds) this.checkIds(named)
      const { text, start, end } = wordOf(named)
      return bang === undefined
        ? { kind: "token", text, start, end }
        : { kind: "token", text: `!${text}`, start: bang.startOffset, end }
    })
  })

  private readonly macro = this.RULE("macro", (): Macro => {
    const { text: name, start } = wordOf(this.CONSUME(lexer.MacroName))
    const values: Value[] = []
    const named: { name: Word; value: Value }[] = []
    this.CONSUME(lexer.LeftParen)
    this.MANY_SEP({
      SEP: lexer.Comma,
      DEF: () => {
        const first = this.SUBRULE(this.value)
        const value = this.OPTION(() => {
          this.CONSUME(lexer.Equals)
          return this.SUBRULE1(this.value)
        })
        this.ACTION(() => {
          if (value === undefined) values.push(first)
          else if (first.kind === "name") named.push({ name: first, value })
          else this.reading.mistake(first.start, 'expected a name in front of "="')
        })
      },
    })
    const { end } = wordOf(this.CONSUME(lexer.RightParen))
    return { kind: "macro", name, values, named, start, end }
  })

  private readonly value = this.RULE(
    "value",
    (): Value =>
      this.OR<Value>([{ ALT: () => this.SUBRULE(this.scalar) }, { ALT: () => this.SUBRULE(this.tuple) }]),
  )

  private readonly scalar = this.RULE(
    "scalar",
    (): Value =>
      this.OR<Value>([
        { ALT: () => this.textOf(this.CONSUME(lexer.Text)) },
        { ALT: () => ({ kind: "number", ...wordOf(this.CONSUME(lexer.NumberText)) }) },
        { ALT: () => ({ kind: "name", ...wordOf(this.CONSUME(lexer.Name)) }) },
      ]),
  )

  private readonly tuple = this.RULE("tuple", (): Value => {
    const { startOffset: start } = this.CONSUME(lexer.LeftParen)
    const values: Value[] = []
    // A comma may also follow the last value.
    let mayFollow = true
    this.MANY({
      GATE: () => mayFollow,
      DEF: () => {
        values.push(this.SUBRULE(this.scalar))
        mayFollow = false
        this.OPTION(() => {
          this.CONSUME(lexer.Comma)
          mayFollow = true
        })
      },
    })
    const { end } = wordOf(this.CONSUME(lexer.RightParen))
    return { kind: "tuple", values, start, end }
  })

  private builder(): TreeBuilder {
    return new TreeBuilder({
      expectedItem: (offset, found) => this.reading.mistake(offset, `expected an item, found "${found}"`),
      unclosedGroup: (offset) => this.reading.mistake(offset, 'this "(" is not closed'),
      openedGroup: (depth, offset) => this.reading.checkDepth(depth, offset),
    })
  }

  private repeat({ image, startOffset, tokenType }: IToken, tree: TreeBuilder): void {
    let [min, max] = [
      tokenType === lexer.Plus ? 1 : 0,
      tokenType === lexer.Question ? 1 : Number.POSITIVE_INFINITY,
    ]
    if (tokenType === lexer.Bounds) {
      const [low, high] = image.slice(1, -1).split(",")
      min = Number(low)
      if (high === undefined) max = min
      // XGrammar prints -1 for a missing bound.
      else if (high.trim() !== "" && high.trim() !== "-1") max = Number(high)
      if (max < min)
        this.reading.mistake(startOffset, `the upper bound ${max} is below the lower bound ${min}`)
      this.reading.checkRepeat(Math.max(min, Number.isFinite(max) ? max : 0), startOffset)
    }
    tree.repeat({ min, max: Math.max(min, max) }, startOffset, image)
  }

  private textOf(lexeme: IToken): Text {
    const text = this.decoded(lexeme, '"', "unterminated string", decodeString) ?? ""
    return { kind: "text", text, start: lexeme.startOffset, end: endOf(lexeme) }
  }

  private classOf(lexeme: IToken): Node {
    const ranges = this.decoded(lexeme, "]", "unterminated class", decodeClass) ?? anyCharacter
    return { kind: "class", ranges, start: lexeme.startOffset, end: endOf(lexeme) }
  }

  /** Returns the decoded content between the quotes or brackets; null if `close` is missing. */
  private decoded<T>(
    { image, startOffset }: IToken,
    close: '"' | "]",
    unterminated: string,
    decode: (body: string, complain: Complain) => T,
  ): T | null {
    return this.ACTION(() => {
      if (lexer.isClosed(image, close)) {
        return decode(image.slice(1, -1), (at, message) =>
          this.reading.mistake(startOffset + 1 + at, message),
        )
      }
      this.reading.mistake(startOffset, unterminated)
      return null
    })
  }

  private checkIds(lexeme: IToken): void {
    const message = `expected ids of tokens as in <[1-3,9]>, found ${shown(lexeme)}`
    if (idRanges(lexeme.image) === null) this.reading.mistake(lexeme.startOffset, message)
  }
}

function wordOf(lexeme: IToken): Word {
  return { text: lexeme.image, start: lexeme.startOffset, end: endOf(lexeme) }
}

function endOf({ startOffset, image }: IToken): number {
  return startOffset + image.length
}

const nothing: Node = inRow([], 0)
const anyCharacter: readonly number[] = [0, 0x10ffff]

const messages: IParserErrorMessageProvider = {
  buildMismatchTokenMessage: ({ expected, actual }) =>
    `expected ${labelOf(expected)}, found ${foundIn(actual)}`,
  buildNotAllInputParsedMessage: ({ firstRedundant }) => `expected an item, found ${foundIn(firstRedundant)}`,
  buildNoViableAltMessage: ({ actual, ruleName }) =>
    `expected ${ruleName === "item" || ruleName === "token" ? "an item" : "a value"}, found ${foundIn(actual[0])}`,
  buildEarlyExitMessage: ({ actual }) => `expected more than ${foundIn(actual[0])}`,
}

function labelOf({ LABEL, name }: TokenType): string {
  return LABEL ?? name
}

function foundIn(lexeme: IToken): string {
  return shown(lexeme.tokenType === EOF ? null : lexeme)
}
