/**
 * A schema node, read: what its keywords say, where the compiler looks for it. `keywordreader.ts`
 * fills it in.
 */
import type { ExprId } from "../../lexeme/expr/expr.ts"
import type { NumberCell } from "../../lexeme/number/number.ts"
import { AllTypes, Infinite, Types, typeBit } from "../facts/conjunction.ts"
import type { SchemaNode } from "../refs/refs.ts"
import type { JsonNode } from "./reader.ts"

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

// Most schemas say little: what they do not say is shared.
const none: readonly never[] = []
const noProperties: ReadonlyMap<string, SchemaNode> = new Map()

export class Keywords {
  /** Bit set of the JSON types that are allowed. */
  types = AllTypes
  enum: readonly JsonNode[] | null = null
  /** In place: all of these hold, one of each list, exactly one of each list, none of these. */
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
  /** Whether there is a `properties`, if only an empty one. */
  declaresNames = false
  /**
   * Whether a keyword is about names that `properties` does not declare, whatever it says of them.
   */
  coversOthers = false
  patternProperties: readonly PatternProperty[] = none
  /** For names that neither of the two matches; null: anything. */
  additional: SchemaNode | null = null
  required: readonly string[] = none
  minProperties = 0
  maxProperties = Infinite
  propertyNames: SchemaNode | null = null
  dependentRequired: readonly (readonly [name: string, names: readonly string[]])[] = none
  dependentSchemas: readonly (readonly [name: string, node: SchemaNode])[] = none
  prefix: readonly SchemaNode[] = none
  /** For items after `prefix`; null: anything. */
  rest: SchemaNode | null = null
  minItems = 0
  maxItems = Infinite
  contains: Contains | null = null
  unique = false
  /** For members that nothing else evaluates (`coverage.ts`); null: anything. */
  unevaluatedProperties: SchemaNode | null = null
  unevaluatedItems: SchemaNode | null = null
  /** Whether some `unevaluated*` needs to know if the in-place schemas here hold. */
  isObserved = false
  /**
   * In-place schemas that may fail, and that `openObjects` needs to know of whether they hold
   * (`openobjects.ts`).
   */
  counted: readonly SchemaNode[] = none
  /** All schemas above that have a say, an `if` alone aside; may hold one twice. */
  below: readonly SchemaNode[] = none
  private readonly names: (node: SchemaNode) => ExprId
  private byType: Map<number, JsonNode[]> | null = null

  constructor(names: (node: SchemaNode) => ExprId) {
    this.names = names
  }

  /** Whether other schemas have a say about the value itself. */
  get isCombined(): boolean {
    return (
      this.all.length + this.any.length + this.one.length + this.not.length > 0 || this.conditional !== null
    )
  }

  /** Members of `enum` with this type bit. */
  enumOf(type: number): readonly JsonNode[] {
    if (this.byType === null) {
      const byType = new Map<number, JsonNode[]>()
      for (const bit of Object.values(Types)) byType.set(bit, [])
      for (const value of this.enum ?? []) byType.get(typeBit(value))?.push(value)
      this.byType = byType
    }
    return this.byType.get(type) as JsonNode[]
  }

  /** Language of the names that `node` accepts. */
  namesOf(node: SchemaNode): ExprId {
    return this.names(node)
  }
}
