/**
 * The differences between the notations, as one object for each of them, and the meaning that a
 * checked part of a text has in all of them.
 */
import type { Limits } from "../../errors.ts"
import type { ExprId } from "../../lexeme/expr/expr.ts"
import type { PlacedPattern } from "../../regex/foreign.ts"
import type { TokenNames } from "../tokennames.ts"
import type { Mistakes, Refuse, Source } from "./source.ts"
import type { Definition, Macro, Node, TokenNode } from "./tree.ts"

export interface Dialect {
  /**
   * Whether some names are terminals. If not, a rule with a restricted end must be regular as a
   * whole.
   */
  readonly hasTerminals: boolean
  isTerminalName(name: string): boolean
  /** The article in front of "rule" or "terminal" in the message about an undefined name. */
  readonly article: string
  /** Returns what is wrong with the spelling of a defined name, or null. */
  faultOfName(name: string): string | null
  /** Returns the attributes of a definition. Refuses wrong ones and reads the others. */
  attributesOf(definition: Definition, refuse: Refuse): Attributes
  /** Returns the place for errors that the lowering of a rule throws, or null if they get none. */
  placeOf(definition: Definition): number | null
  /** Returns the meaning of a control token or a set of tokens, or null after a refusal. */
  tokensOf(node: TokenNode, tokens: TokenNames | null, refuse: Refuse): Meaning | null
  /** Returns the meaning of a macro, or null after a mistake. */
  macroOf(macro: Macro, around: Knowledge & { source: Source; mistakes: Mistakes }): Meaning | null
}

/** The knowledge that a reader may use besides the text itself. */
export interface Knowledge {
  readonly limits: Limits
  /** The vocabulary's tokens; null if there is no vocabulary. */
  readonly tokens: TokenNames | null
  /** The reader adds the regular expressions that it has read. */
  readonly patterns: PlacedPattern[]
}

/** The attributes of one rule. */
export interface Attributes {
  readonly ending: "any" | "lazy" | "greedy"
  /** The suffix that ends the lexeme; null if there is none. */
  readonly suffix: Node | null
  /** Whether the suffix is also removed from outer captures. */
  readonly hidesSuffix: boolean
  /** Names of captures; null for none. */
  readonly capture: string | null
  readonly suffixCapture: string | null
  readonly maxChars: number | null
  readonly maxTokens: number | null
}

/** The attributes of a rule that has none. */
export const noAttributes: Attributes = {
  ending: "any",
  suffix: null,
  hidesSuffix: false,
  capture: null,
  suffixCapture: null,
  maxChars: null,
  maxTokens: null,
}

/** Returns whether the rule is read as a terminal. */
export function isOneLexeme({ ending, suffix }: Attributes): boolean {
  return ending !== "any" || suffix !== null
}

/** The meaning of a node that has been checked. */
export type Meaning =
  | { readonly kind: "text"; readonly value: string; readonly ignoresCase: boolean }
  | { readonly kind: "expr"; readonly expr: ExprId }
  /** One token: one of `ids`, or, with `isComplement`, any other. */
  | { readonly kind: "tokens"; readonly ids: readonly number[]; readonly isComplement: boolean }
  | Dispatch

/**
 * Free text until a trigger is complete, then the trigger's rule; then free text again if it loops.
 */
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

/** A trigger and the name of the rule that follows it. */
interface Trigger<T> {
  readonly trigger: T
  readonly rule: string
}
