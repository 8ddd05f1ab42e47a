/**
 * The parser of the Lark dialect: from the words of one bracket or statement to its tree.
 *
 * The content of brackets is parsed before the words around them, in which it is one word
 * (`read.ts`). So nothing here calls itself, and nesting costs no stack. Precedence, loosest first:
 * `|`, `&`, concatenation, repetition, prefix `~`.
 *
 * The functions that run for each item are members and not closures: a thousand items would make
 * thousands of closures.
 */
import { createToken, EmbeddedActionsParser, type IToken, type TokenType } from "../chevrotain.ts"
import {
  type Attribute,
  type Call,
  either,
  inRow,
  type Literal,
  type Node,
  type Repetition,
  type Statement,
  type Value,
  type Word,
} from "../notation/tree.ts"
import * as words from "./words.ts"

/** `(…)`; the payload is its node. */
export const Group = createToken({ name: "Group", pattern: /(?!)/, label: "a group" })
/** `[…]`; the payload is its node. */
export const Maybe = createToken({ name: "Maybe", pattern: /(?!)/, label: "a group" })
/** `{…}` after the name of a template; the payload is the list of its nodes. */
export const Values = createToken({ name: "Values", pattern: /(?!)/, label: "values" })
/** `{…}` after `%lark`; the payload is the list of its statements. */
export const Statements = createToken({ name: "Statements", pattern: /(?!)/, label: '"{"' })

/** Messages that name what was expected. The error itself says what was found. */
const expectations = {
  buildMismatchTokenMessage: ({ expected }: { expected: TokenType }) => expected.LABEL ?? expected.name,
  buildNotAllInputParsedMessage: () => "an item, or the end of the line",
  buildNoViableAltMessage: ({ customUserDescription }: { customUserDescription?: string }) =>
    customUserDescription ?? "an item",
  buildEarlyExitMessage: ({ customUserDescription }: { customUserDescription?: string }) =>
    customUserDescription ?? "an item",
}

/** The bounds of a repetition. */
type Times = Omit<Repetition, "kind" | "body" | "start">

/** The arguments of a name: the values of a template, or a number. */
type Given = { readonly kind: "values"; readonly values: readonly Node[]; readonly end: number } | Call

export class LarkParser extends EmbeddedActionsParser {
  constructor() {
    super([...words.allWords, Group, Maybe, Values, Statements], {
      errorMessageProvider: expectations,
      maxLookahead: 2,
    })
    this.performSelfAnalysis()
  }

  /** Releases the text that was read, because the parser outlives it. */
  forget(): void {
    this.input = []
    this.options = []
    for (const list of [this.items, this.signs, this.conditions, this.furtherParts]) clear(list)
  }

  readonly statement = this.RULE("statement", (): Statement => this.OR<Statement>(this.statements))

  private readonly statements = {
    DEF: [
      { ALT: () => this.SUBRULE(this.definition) },
      { ALT: () => this.SUBRULE(this.ignore) },
      { ALT: () => this.SUBRULE(this.importing) },
      {
        ALT: (): Statement => {
          const token = this.CONSUME(words.OptionsBlock)
          return { kind: "options", keyword: wordOf(token), json: token.payload }
        },
      },
    ],
    ERR_MSG: "a rule, a terminal or a statement",
  }

  /** Parses the values of a template. */
  readonly values = this.RULE("values", (): Node[] => {
    const values: Node[] = []
    values.push(this.SUBRULE(this.alternatives))
    this.MANY(() => {
      this.CONSUME(words.Comma)
      values.push(this.SUBRULE1(this.alternatives))
    })
    return values
  })

  readonly alternatives = this.RULE("alternatives", (): Node => {
    const options = [this.SUBRULE(this.alternative)]
    this.options = options
    this.MANY(this.nextOption)
    return either(options)
  })

  /** The alternatives that are being read. */
  private options: Node[] = []
  private readonly nextOption = () => {
    this.CONSUME(words.Bar)
    this.options.push(this.SUBRULE1(this.alternative))
  }

  private readonly definition = this.RULE("definition", (): Statement => {
    // Lark's marks for the shape of its trees. They have no effect here.
    this.MANY(() =>
      this.OR([{ ALT: () => this.CONSUME(words.Question) }, { ALT: () => this.CONSUME(words.Bang) }]),
    )
    const name = wordOf(this.CONSUME(words.Identifier))
    const parameters = this.OPTION(() => this.SUBRULE(this.parameters)) ?? null
    const priority = this.OPTION1(() => {
      this.CONSUME(words.Dot)
      return wordOf(this.CONSUME(words.Count))
    })
    const number = this.OPTION2(() => this.SUBRULE(this.numberSign))
    const attributes = this.OPTION3(() => this.SUBRULE(this.attributes)) ?? []
    this.CONSUME(words.Colon)
    const body = this.SUBRULE(this.alternatives)
    const isParametric = number !== undefined
    return {
      kind: "definition",
      name,
      parameters,
      priority: priority ?? null,
      attributes,
      isParametric,
      body,
    }
  })

  private readonly parameters = this.RULE("parameters", (): Word[] => {
    const names: Word[] = []
    this.CONSUME(words.OpenCurly)
    this.AT_LEAST_ONE_SEP({
      SEP: words.Comma,
      DEF: () => names.push(wordOf(this.CONSUME(words.Identifier))),
      ERR_MSG: "a name",
    })
    this.CONSUME(words.CloseCurly)
    return names
  })

  private readonly numberSign = this.RULE("numberSign", (): Word => {
    this.CONSUME(words.DoubleColon)
    return this.OR({
      DEF: [{ GATE: () => this.LA(1).image === "_", ALT: () => wordOf(this.CONSUME(words.Identifier)) }],
      ERR_MSG: '"_"',
    })
  })

  private readonly attributes = this.RULE("attributes", (): Attribute[] => {
    const attributes: Attribute[] = []
    this.CONSUME(words.OpenSquare)
    this.MANY_SEP({ SEP: words.Comma, DEF: () => attributes.push(this.SUBRULE(this.attribute)) })
    this.CONSUME(words.CloseSquare)
    return attributes
  })

  private readonly attribute = this.RULE("attribute", (): Attribute => {
    const name = wordOf(this.CONSUME(words.Identifier))
    const value = this.OPTION(() => {
      this.CONSUME(words.Equals)
      return this.OR<Value>({
        DEF: [
          { ALT: () => ({ kind: "literal", ...wordOf(this.CONSUME(words.Text)) }) },
          { ALT: () => ({ kind: "number", ...wordOf(this.CONSUME(words.Count)) }) },
          { ALT: () => ({ kind: "regex", ...wordOf(this.CONSUME(words.Regex)) }) },
          { ALT: () => ({ kind: "name", ...wordOf(this.CONSUME1(words.Identifier)) }) },
        ],
        ERR_MSG: "a number, a string, a regular expression or a terminal",
      })
    })
    return { name, value: value ?? null }
  })

  private readonly ignore = this.RULE("ignore", (): Statement => {
    this.CONSUME(words.IgnoreKeyword)
    return { kind: "ignore", body: this.SUBRULE(this.alternatives) }
  })

  private readonly importing = this.RULE("importing", (): Statement => {
    const start = wordOf(this.CONSUME(words.ImportKeyword))
    const path: Word[] = []
    this.OPTION(() => this.CONSUME(words.Dot))
    this.AT_LEAST_ONE_SEP({
      SEP: words.Dot,
      DEF: () => path.push(wordOf(this.CONSUME(words.Identifier))),
      ERR_MSG: "a library",
    })
    const list: Word[] = []
    const alias = this.OPTION1(() =>
      this.OR<Word | null>([
        {
          ALT: () => {
            this.CONSUME(words.Arrow)
            return wordOf(this.CONSUME1(words.Identifier))
          },
        },
        {
          ALT: () => {
            this.CONSUME(words.OpenRound)
            this.AT_LEAST_ONE_SEP1({
              SEP: words.Comma,
              DEF: () => list.push(wordOf(this.CONSUME2(words.Identifier))),
              ERR_MSG: "a name",
            })
            this.CONSUME(words.CloseRound)
            return null
          },
        },
      ]),
    )
    const place = { start: start.start, end: start.end }
    if (list.length > 0) {
      return { kind: "import", place, library: path, names: list.map((name) => ({ name, alias: name })) }
    }
    const name = path[path.length - 1]
    return { kind: "import", place, library: path.slice(0, -1), names: [{ name, alias: alias ?? name }] }
  })

  private readonly alternative = this.RULE("alternative", (): Node => {
    let node = this.conjunction()
    clear(this.conditions)
    this.MANY1(this.behind)
    for (const condition of this.conditions)
      node = { kind: "if", condition, body: node, start: node.start, end: condition.end }
    return node
  })

  /** The conditions after the alternative that is being read. */
  private readonly conditions: Call[] = []
  private readonly behind = () => this.OR(this.behindForms)

  private readonly behindForms = [
    {
      ALT: () => {
        this.CONSUME(words.Arrow)
        this.CONSUME(words.Identifier)
      },
    },
    {
      ALT: () => {
        this.CONSUME(words.IfKeyword)
        this.conditions.push(this.SUBRULE(this.call))
      },
    },
  ]

  /**
   * Parses a conjunction. It is part of `alternative`, as the methods below are part of `item`,
   * because a rule of its own costs as much as what it reads.
   */
  private conjunction(): Node {
    const first = this.SUBRULE(this.sequence)
    clear(this.furtherParts)
    this.MANY(this.nextPart)
    if (this.furtherParts.length === 0) return first
    const parts = [first, ...this.furtherParts]
    return { kind: "and", parts, start: first.start, end: parts[parts.length - 1].end }
  }

  /** The parts after the first one of the conjunction that is being read. */
  private readonly furtherParts: Node[] = []
  private readonly nextPart = () => {
    this.CONSUME(words.Ampersand)
    this.furtherParts.push(this.SUBRULE1(this.sequence))
  }

  private readonly sequence = this.RULE("sequence", (): Node => {
    const before = this.LA(0)
    this.itemCount = 0
    this.MANY(this.nextItem)
    if (this.itemCount === 1) return this.items[0]
    const at = before.startOffset >= 0 ? before.startOffset + before.image.length : 0
    return inRow(this.items.slice(0, this.itemCount), at)
  })

  /** Its first `itemCount` entries are the items of the sequence that is being read. */
  private readonly items: Node[] = []
  private itemCount = 0
  private readonly nextItem = () => {
    const item = this.SUBRULE(this.item)
    this.items[this.itemCount++] = item
  }

  private readonly item = this.RULE("item", (): Node => {
    clear(this.signs)
    this.MANY(this.nextSign)
    let node = this.OR<Node>(this.atoms)
    for (const { start } of this.signs.reverse()) node = { kind: "not", body: node, start, end: node.end }
    // A "~" without a count after it belongs to the next item. A gate of chevrotain would be a new
    // closure each time.
    const isNext = this.LA(1).tokenType === words.Tilde && this.LA(2).tokenType !== words.Count
    const times = isNext ? undefined : this.OPTION(this.timesOf)
    if (times === undefined) return node
    return { kind: "repeat", body: node, start: node.start, ...times }
  })

  /** The signs in front of the item that is being read. */
  private readonly signs: Word[] = []
  private readonly nextSign = () => this.signs.push(wordOf(this.CONSUME(words.Tilde)))

  private readonly timesOf = () => this.SUBRULE(this.times)

  private readonly times = this.RULE(
    "times",
    (): Times =>
      this.OR([
        { ALT: () => markOf(this.CONSUME(words.Question)) },
        { ALT: () => markOf(this.CONSUME(words.Star)) },
        { ALT: () => markOf(this.CONSUME(words.Plus)) },
        {
          ALT: () => {
            this.CONSUME(words.Tilde)
            const min = wordOf(this.CONSUME(words.Count))
            const max = this.OPTION(() => {
              this.CONSUME(words.DoubleDot)
              return wordOf(this.CONSUME1(words.Count))
            })
            return timesOf(min, max ?? min, max ?? min)
          },
        },
        {
          ALT: () => {
            this.CONSUME(words.OpenCurly)
            const min = this.OPTION1(() => wordOf(this.CONSUME2(words.Count))) ?? null
            const rest = this.OPTION2(() => {
              this.CONSUME(words.Comma)
              return { max: this.OPTION3(() => wordOf(this.CONSUME3(words.Count))) ?? null }
            })
            return timesOf(min, rest === undefined ? min : rest.max, wordOf(this.CONSUME(words.CloseCurly)))
          },
        },
      ]),
  )

  private readonly atoms = {
    DEF: [
      { ALT: () => this.text() },
      { ALT: (): Node => ({ kind: "regex", ...wordOf(this.CONSUME(words.Regex)) }) },
      { ALT: () => this.named() },
      { ALT: (): Node => ({ kind: "token", ...wordOf(this.CONSUME(words.Special)) }) },
      {
        ALT: (): Node => {
          const { text, start, end } = wordOf(this.CONSUME(words.Reference))
          return { kind: "grammar", name: text.slice(1), start, end }
        },
      },
      { ALT: () => jsonOf("json", this.CONSUME(words.JsonBlock)) },
      { ALT: () => jsonOf("substring", this.CONSUME(words.RegexBlock)) },
      { ALT: () => this.CONSUME(Group).payload as Node },
      {
        ALT: (): Node => {
          const token = this.CONSUME(Maybe)
          const { start, end } = wordOf(token)
          return { kind: "repeat", body: token.payload, min: 0, max: 1, counts: [], start, end }
        },
      },
      {
        ALT: (): Node => {
          const { start } = wordOf(this.CONSUME(words.NestedKeyword))
          const token = this.CONSUME(Statements)
          return { kind: "nested", statements: token.payload, start, end: wordOf(token).end }
        },
      },
    ],
    ERR_MSG: "an item",
  }

  private text(): Node {
    const first = literalOf(this.CONSUME(words.Text))
    const last = this.OPTION1(this.rangeEnd)
    return last === undefined ? first : { kind: "range", first, last, start: first.start, end: last.end }
  }

  private readonly rangeEnd = (): Literal => {
    this.CONSUME(words.DoubleDot)
    return literalOf(this.CONSUME1(words.Text))
  }

  /** Parses a rule or terminal, a template with its values, or a rule with its number. */
  private named(): Node {
    const name = wordOf(this.CONSUME(words.Identifier))
    const { text, start, end } = name
    const given = this.OPTION2(this.given)
    if (given === undefined) return { kind: "name", text, start, end }
    return given.kind === "values"
      ? { kind: "template", name, values: given.values, start, end: given.end }
      : { kind: "call", name, value: given, start, end: given.end }
  }

  private readonly given = () => this.OR1<Given>(this.givenForms)

  private readonly givenForms = [
    {
      ALT: () => {
        const token = this.CONSUME(Values)
        return { kind: "values", values: token.payload, end: wordOf(token).end } as const
      },
    },
    {
      ALT: () => {
        this.CONSUME(words.DoubleColon)
        return this.SUBRULE(this.call)
      },
    },
  ]

  private readonly call = this.RULE(
    "call",
    (): Call =>
      this.OR<Call>({
        DEF: [
          { ALT: () => ({ kind: "number", ...wordOf(this.CONSUME(words.Count)) }) },
          {
            ALT: () => {
              const { start } = wordOf(this.CONSUME(words.OpenSquare))
              const first = wordOf(this.CONSUME1(words.Count))
              this.CONSUME(words.Colon)
              const last = wordOf(this.CONSUME2(words.Count))
              return { kind: "bits", first, last, start, end: wordOf(this.CONSUME(words.CloseSquare)).end }
            },
          },
          {
            ALT: () => {
              const { text: name, start, end } = wordOf(this.CONSUME(words.Identifier))
              const values: Call[] = []
              const closing = this.OPTION(() => {
                this.CONSUME(words.OpenRound)
                this.MANY_SEP({ SEP: words.Comma, DEF: () => values.push(this.SUBRULE(this.call)) })
                return wordOf(this.CONSUME(words.CloseRound))
              })
              return { kind: "function", name, values, start, end: closing?.end ?? end }
            },
          },
        ],
        ERR_MSG: 'a number, "_" or a function',
      }),
  )
}

/** Empties a list. The test avoids a call into the engine, which is rarely needed. */
function clear(list: unknown[]): void {
  if (list.length > 0) list.length = 0
}

function wordOf(token: IToken): Word {
  // The image of a group is only its first character.
  const end = (token.endOffset ?? token.startOffset + token.image.length - 1) + 1
  return { text: token.image, start: token.startOffset, end }
}

function literalOf(token: IToken): Literal {
  const { text, start, end } = wordOf(token)
  return { kind: "literal", text, start, end }
}

function markOf(token: IToken): Times {
  const { text, end } = wordOf(token)
  return { min: text === "+" ? 1 : 0, max: text === "?" ? 1 : Number.POSITIVE_INFINITY, counts: [], end }
}

/**
 * Returns the bounds of a repetition. Null means no bound; the same word twice means exactly that
 * many.
 */
function timesOf(min: Word | null, max: Word | null, { end }: Word): Times {
  const counts = [...new Set([min, max])].filter((word) => word !== null)
  return {
    min: Number(min?.text ?? 0),
    max: Number(max?.text ?? Number.POSITIVE_INFINITY),
    counts,
    end,
  }
}

function jsonOf(kind: "json" | "substring", token: IToken): Node {
  const { start, end } = wordOf(token)
  return { kind, json: token.payload, start, end }
}
