/**
 * A schema node after reading: its keywords, where the compiler looks for them. `keywordreader.ts`
 * fills them in.
 */
import type { ExprId } from "../../lexeme/expr/expr.ts"
import type { NumberCell } from "../../lexeme/number/number.ts"
import { AllTypes, Infinite, Types, typeBit } from "../facts/conjunction.ts"
import type { SchemaNode } from "../refs/refs.ts"
import type { JsonNode } from "./reader.ts"

/** The key at the root of a schema that says how its values are spelt (`guidance.ts`). */
export const GuidanceKey = "x-guidance"

/** `min` to `max` items satisfy `node`. */
export interface Contains {
  readonly node: SchemaNode
  readonly min: number
  readonly max: number
}

export interface Conditional {
  readonly test: SchemaNode
  readonly yes: SchemaNode | null
  readonly no: SchemaNode | null
}

export interface PatternProperty {
  readonly expr: ExprId
  readonly node: SchemaNode
}

// Most schemas have few keywords; they share the empty values of the others.
const none: readonly never[] = []
const noProperties: ReadonlyMap<string, SchemaNode> = new Map()

export class Keywords {
  /** Bit set of the JSON types that are allowed. */
  types = AllTypes
  enum: readonly JsonNode[] | null = null
  /**
   * In-place schemas: all of `all` hold, at least one of each list in `any`, exactly one of each
   * list in `one`, none of `not`.
   */
  all: readonly SchemaNode[] = none
  any: readonly (readonly SchemaNode[])[] = none
  one: readonly (readonly SchemaNode[])[] = none
  not: readonly SchemaNode[] = none
  conditional: Conditional | null = null
  minLength = 0
  maxLength = Infinite
  /** Languages of the decoded text: `pattern` and `format`. */
  patterns: readonly ExprId[] = none
  number: NumberCell | null = null
  properties = noProperties
  /** Whether there is a `properties`, even an empty one. */
  declaresNames = false
  /**
   * Whether a keyword is about names that `properties` does not declare, whatever it requires of
   * them.
   */
  coversOthers = false
  patternProperties: readonly PatternProperty[] = none
  /** For names in neither of the two. Null if they may have any value. */
  additional: SchemaNode | null = null
  required: readonly string[] = none
  minProperties = 0
  maxProperties = Infinite
  propertyNames: SchemaNode | null = null
  dependentRequired: readonly (readonly [name: string, names: readonly string[]])[] = none
  dependentSchemas: readonly (readonly [name: string, node: SchemaNode])[] = none
  prefix: readonly SchemaNode[] = none
  /** For items after `prefix`. Null if they may have any value. */
  rest: SchemaNode | null = null
  minItems = 0
  maxItems = Infinite
  contains: Contains | null = null
  unique = false
  /**
   * For members that no other keyword evaluates (`coverage.ts`). Null if they may have any value.
   */
  unevaluatedProperties: SchemaNode | null = null
  unevaluatedItems: SchemaNode | null = null
  /** Whether some `unevaluated*` needs to know whether the in-place schemas here hold. */
  isObserved = false
  /**
   * In-place schemas that may fail, and for which `openObjects` needs to know whether they hold
   * (`openobjects.ts`).
   */
  counted: readonly SchemaNode[] = none
  /** All schemas of the fields above, except an `if` alone. May contain a schema twice. */
  below: readonly SchemaNode[] = none
  private readonly names: (node: SchemaNode) => ExprId
  private byType: Map<number, JsonNode[]> | null = null

  constructor(names: (node: SchemaNode) => ExprId) {
    this.names = names
  }

  /** Whether in-place schemas constrain the value itself. */
  get isCombined(): boolean {
    return (
      this.all.length + this.any.length + this.one.length + this.not.length > 0 || this.conditional !== null
    )
  }

  /** Returns the members of `enum` with this type bit. */
  enumOf(type: number): readonly JsonNode[] {
    if (this.byType === null) {
      const byType = new Map<number, JsonNode[]>()
      for (const bit of Object.values(Types)) byType.set(bit, [])
      for (const value of this.enum ?? []) byType.get(typeBit(value))?.push(value)
      this.byType = byType
    }
    return this.byType.get(type) as JsonNode[]
  }

  /** Returns the language of the names that `node` accepts. */
  namesOf(node: SchemaNode): ExprId {
    return this.names(node)
  }
}
