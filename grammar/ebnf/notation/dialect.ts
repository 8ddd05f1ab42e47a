/** What each notation says in its own way, and what its parts mean once they have been checked. */
import type { Limits } from "../../errors.ts"
import type { ExprId } from "../../lexeme/expr/expr.ts"
import type { PlacedPattern } from "../../regex/foreign.ts"
import type { TokenNames } from "../tokennames.ts"
import type { Mistakes, Refuse, Source } from "./source.ts"
import type { Definition, Macro, Node, TokenNode } from "./tree.ts"

export interface Dialect {
  /** Whether some names are those of terminals. If not, a rule whose end is restricted must be regular as a whole. */
  readonly hasTerminals: boolean
  isTerminalName(name: string): boolean
  /** What stands in front of the kind of an undefined name in its message. */
  readonly article: string
  /** What is wrong with the spelling of a name that is defined; null: nothing. */
  faultOfName(name: string): string | null
  /** What the attributes of a definition say. What is wrong is refused, and the rest read. */
  attributesOf(definition: Definition, refuse: Refuse): Attributes
  /** The place of errors that the lowering of a rule throws; null: none. */
  placeOf(definition: Definition): number | null
  /** What a control token or a set of tokens means; null after a refusal. */
  tokensOf(node: TokenNode, tokens: TokenNames | null, refuse: Refuse): Meaning | null
  /** What a macro means; null after a mistake. */
  macroOf(macro: Macro, around: Knowledge & { source: Source; mistakes: Mistakes }): Meaning | null
}

/** What is known beyond a text. */
export interface Knowledge {
  readonly limits: Limits
  /** Null: nothing is known of a vocabulary. */
  readonly tokens: TokenNames | null
  /** Regular expressions that were read are added here. */
  readonly patterns: PlacedPattern[]
}

/** What the attributes of one rule say. */
export interface Attributes {
  readonly ending: "any" | "lazy" | "greedy"
  /** What ends the lexeme; null: nothing of its own. */
  readonly suffix: Node | null
  /** The suffix is no part of outer captures either. */
  readonly hidesSuffix: boolean
  /** Names of captures; null: none. */
  readonly capture: string | null
  readonly suffixCapture: string | null
  readonly maxChars: number | null
  readonly maxTokens: number | null
}

/** Those of a rule that has none. */
export const noAttributes: Attributes = {
  ending: "any",
  suffix: null,
  hidesSuffix: false,
  capture: null,
  suffixCapture: null,
  maxChars: null,
  maxTokens: null,
}

/** Whether the rule is read as a terminal. */
export function isOneLexeme({ ending, suffix }: Attributes): boolean {
  return ending !== "any" || suffix !== null
}

/** What a node of one text means once it has been checked. */
export type Meaning =
  | { readonly kind: "text"; readonly value: string; readonly ignoresCase: boolean }
  | { readonly kind: "expr"; readonly expr: ExprId }
  /** One token: one of `ids`, or any but these. */
  | { readonly kind: "tokens"; readonly ids: readonly number[]; readonly isComplement: boolean }
  | Dispatch

/** Free text until a trigger is complete, then the trigger's rule, then free text again if it loops. */
export type Dispatch = { readonly kind: "dispatch"; readonly loops: boolean } & (
  | {
      readonly by: "text"
      readonly triggers: readonly Trigger<string>[]
      readonly excludes: readonly string[]
    }
  | {
      readonly by: "token"
      readonly triggers: readonly Trigger<number>[]
      readonly excludes: readonly number[]
    }
)

/** What switches, and the name of the rule to which it does. */
interface Trigger<T> {
  readonly trigger: T
  readonly rule: string
}
