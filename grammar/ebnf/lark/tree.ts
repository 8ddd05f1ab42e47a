/**
 * What a Lark text says, as plain objects: its statements, and the expressions in them.
 *
 * The tree is the notation, not its meaning: `A | B` is an `or` whether it stands in a terminal or in a rule. Every node has
 * its place, an offset into the text, since whatever is found wrong later is shown there.
 */

/** Half-open range in UTF-16 units of the text. */
export interface Place {
  readonly start: number
  readonly end: number
}

export interface Word extends Place {
  readonly text: string
}

export type Statement = Definition | Ignore | Import | Options

/** `name{parameters}[attributes]: body`, or with a parameter `name::_ : body`. */
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
  readonly value: AttributeValue | null
}

/** What stands behind the `=` of an attribute. */
export type AttributeValue =
  | Literal
  | Pattern
  | Name
  | (Place & { readonly kind: "number"; readonly text: string })

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
  | (Place & { readonly kind: "range"; readonly first: Literal; readonly last: Literal })
  | Pattern
  | Name
  | (Place & { readonly kind: "template"; readonly name: Word; readonly values: readonly Node[] })
  /** A rule with its number: `name::value`. */
  | (Place & { readonly kind: "call"; readonly name: Word; readonly value: Call })
  /** `<name>` or `<[ids]>`, brackets included. */
  | (Place & { readonly kind: "token"; readonly text: string })
  | JsonElement
  | (Place & { readonly kind: "nested"; readonly statements: readonly Statement[] })
  /** Another grammar, by the name behind the `@`. */
  | (Place & { readonly kind: "grammar"; readonly name: string })

export interface Repetition extends Place {
  readonly kind: "repeat"
  readonly body: Node
  readonly min: Word | null
  /** The same word as `min` for exactly so many; null: no bound. */
  readonly max: Word | null
  /** `?`, `*` or `+`, which have no numbers. */
  readonly mark: string | null
}

/** A schema, or what `%regex` says: its JSON text. */
export interface JsonElement extends Place {
  readonly kind: "json" | "substring"
  readonly json: Place
}

/** A string with its quotes and its suffix `i`. */
export interface Literal extends Place {
  readonly kind: "literal"
  readonly text: string
}

/** A regular expression with its slashes and flags. */
export interface Pattern extends Place {
  readonly kind: "regex"
  readonly text: string
}

interface Name extends Place {
  readonly kind: "name"
  readonly text: string
}

/** A number, a range of bits, `_`, or a function of these. */
export type Call =
  | (Place & { readonly kind: "number"; readonly text: string })
  | (Place & { readonly kind: "bits"; readonly first: Word; readonly last: Word })
  | (Place & { readonly kind: "function"; readonly name: string; readonly values: readonly Call[] })

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
      return []
  }
}
