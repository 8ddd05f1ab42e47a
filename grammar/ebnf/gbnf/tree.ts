/**
 * A GBNF text as a tree: plain objects with the offsets that messages need.
 *
 * A rule is a list of alternatives, an alternative a sequence of items. Strings and classes are decoded, and neighbouring
 * strings of a sequence are one. References, tokens and macros are names still: whether they exist is checked when all rules
 * have been read (`check.ts`).
 */
import type { CodePointRanges } from "../../regex/ranges.ts"

export type Alternatives = Item[][]

export type Item =
  | { kind: "text"; text: string }
  | { kind: "class"; ranges: CodePointRanges }
  | ({ kind: "rule" } & Reference)
  | { kind: "group"; alternatives: Alternatives }
  | { kind: "repeat"; item: Item; min: number; max: number }
  | { kind: "token"; token: TokenReference }
  | { kind: "macro"; macro: Macro }

export interface Reference {
  name: string
  offset: number
}

/** `<think>`, `<[1-3,9]>`, or with `!` any other token. */
export interface TokenReference {
  /** The spelling with its brackets, or ranges of ids: lo, hi, lo, hi …, inclusive. */
  which: string | readonly number[]
  isNegated: boolean
  offset: number
}

/** `Name(value, name=value)`. */
export interface Macro {
  name: string
  values: Value[]
  named: { name: string; value: Value; offset: number }[]
  offset: number
}

/** What may stand in a macro or in the attributes of a rule. */
export type Value = { offset: number } & (
  | { kind: "string"; text: string }
  | { kind: "number"; number: number }
  | { kind: "name"; name: string }
  | { kind: "tuple"; values: Value[] }
)

/** `[name, name=value]` behind the name of a rule. */
export interface Attribute {
  name: string
  value: Value | null
  offset: number
}

export interface GbnfRule {
  name: string
  offset: number
  attributes: Attribute[]
  alternatives: Alternatives
  /** Rules that are named in it, each place by itself. */
  references: Reference[]
}
