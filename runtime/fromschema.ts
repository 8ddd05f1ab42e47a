/**
 * The type of the values that a JSON Schema accepts, for a schema that is a literal.
 *
 * Read are `type`, `const`, `enum`, `properties`, `required`, `additionalProperties`,
 * `patternProperties`, `items`, `prefixItems`, `minItems`, `anyOf` and `oneOf`. Any other keyword
 * only narrows values, so the type stays true without it. What the type cannot say is `unknown`: a
 * reference, a schema without `type`, and one whose parts are not literals.
 */

/**
 * The type of the values that a JSON Schema accepts. The schema's own type must be literal. A value
 * whose type does not follow from it is `unknown`.
 */
export type FromSchema<Schema> = unknown extends Schema
  ? unknown
  : Schema extends false
    ? never
    : Both<FromKeywords<Schema>, Both<FromBranches<Schema, "anyOf">, FromBranches<Schema, "oneOf">>>

/** Values that satisfy both types. An intersection with `unknown` would be shown as one. */
type Both<One, Other> = unknown extends One ? Other : unknown extends Other ? One : One & Other

type FromKeywords<Schema> = Schema extends { readonly const: infer Value }
  ? Writable<Value>
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Writable<Value>
    : Schema extends { readonly type: infer Type }
      ? FromType<Type extends readonly (infer Each)[] ? Each : Type, Schema>
      : unknown

type FromBranches<Schema, Keyword extends string> = Schema extends {
  readonly [Name in Keyword]: readonly (infer Branch)[]
}
  ? FromEach<Branch>
  : unknown

/** Distributes over the schemas of a union. `boolean` schemas of a list are `true` and `false`. */
type FromEach<Schema> = Schema extends unknown ? FromSchema<Schema> : never

type FromType<Type, Schema> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? FromArray<Schema>
          : Type extends "object"
            ? FromObject<Schema>
            : unknown

type FromArray<Schema> = Schema extends { readonly prefixItems: infer Heads extends readonly unknown[] }
  ? Tuple<Heads, Get<Schema, "items">, MinItems<Schema>>
  : Schema extends { readonly items: infer Items }
    ? Items extends readonly unknown[]
      ? Tuple<Items, Get<Schema, "additionalItems">, MinItems<Schema>>
      : FromSchema<Items>[]
    : unknown[]

/** The keyword's schema; `true` if it is missing. */
type Get<Schema, Keyword extends string> = Schema extends { readonly [Name in Keyword]: infer Value }
  ? Value
  : true

/** A wide `number` says nothing about a length. */
type MinItems<Schema> = Schema extends { readonly minItems: infer Min extends number }
  ? number extends Min
    ? 0
    : Min
  : 0

/**
 * The items of `prefixItems`, then those of the rest. Items from `minItems` on may be missing:
 * `prefixItems` alone requires none of them.
 */
type Tuple<
  Heads extends readonly unknown[],
  Rest,
  Min,
  Items extends unknown[] = [],
> = Items["length"] extends Min
  ? [...Items, ...{ -readonly [Index in keyof Heads]?: FromSchema<Heads[Index]> }, ...More<Rest>]
  : Heads extends readonly [infer Head, ...infer Tail]
    ? Tuple<Tail, Rest, Min, [...Items, FromSchema<Head>]>
    : [...Items, ...More<Rest>]

type More<Rest> = Rest extends false ? [] : FromSchema<Rest>[]

/** Members that a schema does not name are left out, as TypeScript's objects are open. */
type FromObject<Schema> = Schema extends { readonly properties: infer Members }
  ? keyof Members extends never
    ? FromNames<Schema>
    : Flat<
        {
          -readonly [Name in keyof Members as Name extends RequiredName<Schema> ? Name : never]: FromSchema<
            Members[Name]
          >
        } & {
          -readonly [Name in keyof Members as Name extends RequiredName<Schema> ? never : Name]?: FromSchema<
            Members[Name]
          >
        } & { [Name in Exclude<RequiredName<Schema>, keyof Members>]: OtherValue<Schema> }
      >
  : FromNames<Schema>

/** An object whose members are not named one by one. */
type FromNames<Schema> = [RequiredName<Schema>] extends [never]
  ? Record<string, OtherValue<Schema>>
  : Record<string, OtherValue<Schema>> & Record<RequiredName<Schema>, OtherValue<Schema>>

type RequiredName<Schema> = Schema extends { readonly required: readonly (infer Name extends string)[] }
  ? string extends Name
    ? never
    : Name
  : never

/** The value of a member that `properties` does not name. */
type OtherValue<Schema> = Schema extends { readonly additionalProperties: infer Others }
  ? FromSchema<Others> | PatternValue<Schema>
  : unknown

type PatternValue<Schema> = Schema extends { readonly patternProperties: infer Patterns }
  ? { [Pattern in keyof Patterns]: FromSchema<Patterns[Pattern]> }[keyof Patterns]
  : never

/** One object type instead of an intersection. */
type Flat<Value> = { [Name in keyof Value]: Value[Name] }

/** The type of a value that JSON.parse returns where a literal has this one. */
type Writable<Value> = Value extends object
  ? { -readonly [Name in keyof Value]: Writable<Value[Name]> }
  : Value
