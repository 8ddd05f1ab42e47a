/**
 * The syntax tree of a grammar's text: its statements, and the expressions in them. GBNF and Lark
 * share this tree. The kinds of nodes that only one of them has are marked.
 *
 * The tree represents the notation, not its meaning: `A | B` is an `or` both in a terminal and in a
 * rule. Every node has its place, a range of the text, so that later errors can show it.
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
 * A definition: `name{parameters}[attributes]: body`, or with a parameter `name::_ : body`. In
 * GBNF: `name[attributes] ::= body`.
 */
export interface Definition {
  readonly kind: "definition"
  readonly name: Word
  /** Names of a template's parameters; null if this is not a template. */
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

/** A value of an attribute or in a macro. */
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
  /** The words of the path, without the last one if that is the name. */
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
  /** GBNF: `[…]` or `.`. */
  | (Place & { readonly kind: "class"; readonly ranges: CodePointRanges })
  | Pattern
  | Name
  | (Place & { readonly kind: "template"; readonly name: Word; readonly values: readonly Node[] })
  /** A rule with its number: `name::value`. */
  | (Place & { readonly kind: "call"; readonly name: Word; readonly value: Call })
  | TokenNode
  /** `%json` with a schema. */
  | (Place & { readonly kind: "json"; readonly json: Place })
  /** The JSON value of `%regex`. */
  | (Place & { readonly kind: "substring"; readonly json: Place })
  | (Place & { readonly kind: "nested"; readonly statements: readonly Statement[] })
  /** Another grammar, by the name after the `@`. */
  | (Place & { readonly kind: "grammar"; readonly name: string })
  | Macro

export interface Repetition extends Place {
  readonly kind: "repeat"
  readonly body: Node
  readonly min: number
  /** May be Infinity. */
  readonly max: number
  /** The bounds as written, if they must still be checked; none for `?`, `*` and `+`. */
  readonly counts: readonly Word[]
}

/** `<name>` or `<[ids]>`, brackets included. GBNF: a `!` in front means any other token. */
export type TokenNode = Word & { readonly kind: "token" }

/** A string with its quotes and its suffix `i`, if any. */
export type Literal = Word & { readonly kind: "literal" }

/** A decoded string, without its quotes. */
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

/** Returns the nodes directly inside a node. */
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

/** Returns a node for any of `options`; the option itself if there is only one. */
export function either(options: readonly Node[]): Node {
  if (options.length === 1) return options[0]
  return { kind: "or", options, start: options[0].start, end: options[options.length - 1].end }
}

/**
 * Returns a node for `items` in a row; the item itself if there is only one. An empty sequence gets
 * the place `at`.
 */
export function inRow(items: readonly Node[], at: number): Node {
  if (items.length === 1) return items[0]
  const [start, end] = items.length === 0 ? [at, at] : [items[0].start, items[items.length - 1].end]
  return { kind: "sequence", items, start, end }
}
