/**
 * What the text of a grammar says, as plain objects: its statements, and the expressions in them.
 * GBNF and Lark share this tree; the kinds of nodes that only one of them writes are marked.
 *
 * The tree is the notation, not its meaning: `A | B` is an `or` whether it stands in a terminal or
 * in a rule. Every node has its place, an offset into the text, since whatever is found wrong later
 * is shown there.
 */
import type { CodePointRanges } from "../../regex/ranges.ts"

/** Half-open range in UTF-16 units of the text. */
export interface Place {
  readonly start: number
  readonly end: number
}

export interface Word extends Place {
  readonly text: string
}

export type Statement = Definition | Ignore | Import | Options

/**
 * `name{parameters}[attributes]: body`, or with a parameter `name::_ : body`. GBNF:
 * `name[attributes] ::= body`.
 */
export interface Definition {
  readonly kind: "definition"
  readonly name: Word
  /** Names that stand for what a use of the template gives; null: no template. */
  readonly parameters: readonly Word[] | null
  readonly priority: Word | null
  readonly attributes: readonly Attribute[]
  /** Whether the rule takes a number. */
  readonly isParametric: boolean
  readonly body: Node
}

export interface Attribute {
  readonly name: Word
  readonly value: Value | null
}

/** What may stand behind the `=` of an attribute, or in a macro. */
export type Value =
  | Literal
  | Text
  | Pattern
  | Name
  | (Word & { readonly kind: "number" })
  /** `(…)` in a macro of GBNF. */
  | (Place & { readonly kind: "tuple"; readonly values: readonly Value[] })

interface Ignore {
  readonly kind: "ignore"
  readonly body: Node
}

/** `%import library.name -> alias` has one name, `%import library (A, B)` has several. */
export interface Import {
  readonly kind: "import"
  readonly place: Place
  /** The words of the path, without the last one where that is the name. */
  readonly library: readonly Word[]
  readonly names: readonly { readonly name: Word; readonly alias: Word }[]
}

/** A JSON object of options. */
export interface Options {
  readonly kind: "options"
  readonly keyword: Word
  readonly json: Place
}

export type Node =
  | (Place & { readonly kind: "or"; readonly options: readonly Node[] })
  | (Place & { readonly kind: "and"; readonly parts: readonly Node[] })
  | (Place & { readonly kind: "sequence"; readonly items: readonly Node[] })
  | (Place & { readonly kind: "not"; readonly body: Node })
  | Repetition
  /** One of the options of a parametric rule, under a condition. */
  | (Place & { readonly kind: "if"; readonly condition: Call; readonly body: Node })
  | Literal
  | Text
  | (Place & { readonly kind: "range"; readonly first: Literal; readonly last: Literal })
  /** GBNF: `[…]`, or `.`. */
  | (Place & { readonly kind: "class"; readonly ranges: CodePointRanges })
  | Pattern
  | Name
  | (Place & { readonly kind: "template"; readonly name: Word; readonly values: readonly Node[] })
  /** A rule with its number: `name::value`. */
  | (Place & { readonly kind: "call"; readonly name: Word; readonly value: Call })
  | TokenNode
  /** A schema. */
  | (Place & { readonly kind: "json"; readonly json: Place })
  /** What `%regex` says. */
  | (Place & { readonly kind: "substring"; readonly json: Place })
  | (Place & { readonly kind: "nested"; readonly statements: readonly Statement[] })
  /** Another grammar, by the name behind the `@`. */
  | (Place & { readonly kind: "grammar"; readonly name: string })
  | Macro

export interface Repetition extends Place {
  readonly kind: "repeat"
  readonly body: Node
  readonly min: number
  /** May be Infinity. */
  readonly max: number
  /** The bounds as they are written where they must still be checked; none for `?`, `*` and `+`. */
  readonly counts: readonly Word[]
}

/** `<name>` or `<[ids]>`, brackets included; GBNF: with `!` in front for any other token. */
export type TokenNode = Word & { readonly kind: "token" }

/** A string with its quotes and its suffix `i`. */
export type Literal = Word & { readonly kind: "literal" }

/** A string that has been decoded, without its quotes. */
export type Text = Word & { readonly kind: "text" }

/** A regular expression with its slashes and flags. */
export type Pattern = Word & { readonly kind: "regex" }

type Name = Word & { readonly kind: "name" }

/** GBNF: `Name(value, name=value)`. */
export interface Macro extends Place {
  readonly kind: "macro"
  readonly name: string
  readonly values: readonly Value[]
  readonly named: readonly { readonly name: Word; readonly value: Value }[]
}

/** A number, a range of bits, `_`, or a function of these. */
export type Call =
  | (Word & { readonly kind: "number" })
  | (Place & { readonly kind: "bits"; readonly first: Word; readonly last: Word })
  | (Place & { readonly kind: "function"; readonly name: string; readonly values: readonly Call[] })

const none: readonly Node[] = []

/** The nodes directly inside of a node. */
export function nodesIn(node: Node): readonly Node[] {
  switch (node.kind) {
    case "or":
      return node.options
    case "and":
      return node.parts
    case "sequence":
      return node.items
    case "not":
    case "repeat":
    case "if":
      return [node.body]
    case "template":
      return node.values
    default:
      return none
  }
}

/** Any of `options`; the only one itself. */
export function either(options: readonly Node[]): Node {
  if (options.length === 1) return options[0]
  return { kind: "or", options, start: options[0].start, end: options[options.length - 1].end }
}

/** `items` in a row; the only one itself. An empty row stands at `at`. */
export function inRow(items: readonly Node[], at: number): Node {
  if (items.length === 1) return items[0]
  const [start, end] = items.length === 0 ? [at, at] : [items[0].start, items[items.length - 1].end]
  return { kind: "sequence", items, start, end }
}
