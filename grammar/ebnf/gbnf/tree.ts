/**
 * A GBNF text as plain objects with the offsets that messages need.
 *
 * A group is a list of alternatives, an alternative a sequence of items. A rule lists its groups inner ones first, the rule's own
 * alternatives last, and an item names a group by its place in that list: so whoever goes through a rule needs a loop and no
 * recursion, however deep it nests. Strings and classes are decoded, and neighbouring strings of a sequence are one. References,
 * tokens and macros are names still: whether they exist is asked when all rules have been read (`check.ts`).
 */
import type { CodePointRanges } from "../../regex/ranges.ts"

export type Group = readonly (readonly Item[])[]

export type Item =
  | { kind: "text"; text: string }
  | { kind: "class"; ranges: CodePointRanges }
  | ({ kind: "rule" } & Reference)
  | { kind: "group"; group: number }
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
  /** Inner ones first; the last one is the rule's own alternatives. */
  groups: readonly Group[]
  /** Rules that are named in it, each place by itself. */
  references: readonly Reference[]
}

/** Visits the items of a rule, what is repeated by itself too. */
export function visitItems({ groups }: GbnfRule, visit: (item: Item) => void): void {
  for (const group of groups) {
    for (const sequence of group) {
      for (const item of sequence) {
        visit(item)
        if (item.kind === "repeat") visit(item.item)
      }
    }
  }
}
