import { describe, expect, expectTypeOf, test } from "vitest"
import { RequestError, ValidationError } from "../../runtime/errors.ts"
import { readConstraint, type StandardSchema, type ValueOf } from "../../runtime/schema.ts"

const standard = (part: object): StandardSchema<{ a: number }> => ({
  "~standard": { version: 1, vendor: "test", jsonSchema: { input: () => ({ type: "object" }) }, ...part },
})

describe("one constraint", () => {
  test("each spelling becomes a compile input", () => {
    const inputOf = (options: object) => readConstraint(options)?.input
    expect(inputOf({ schema: '{"const":1.0}' })).toEqual({ kind: "json", schema: '{"const":1.0}' })
    expect(inputOf({ schema: true })).toEqual({ kind: "json", schema: true })
    expect(inputOf({ schema: standard({}) })).toEqual({ kind: "json", schema: { type: "object" } })
    expect(inputOf({ regex: /a+/i })).toEqual({ kind: "regex", pattern: "a+", flags: "i" })
    expect(inputOf({ regex: "a+" })).toEqual({ kind: "regex", pattern: "a+" })
    expect(inputOf({ choice: ["a"] })).toEqual({ kind: "choice", options: ["a"] })
    expect(inputOf({ grammar: 'start: "a"' })).toEqual({ kind: "grammar", text: 'start: "a"' })
    expect(inputOf({ structuralTag: { type: "any_text" } })).toEqual({
      kind: "tag",
      format: { type: "any_text" },
    })
    expect(inputOf({ jsonObject: true })).toEqual({ kind: "json", schema: { type: "object" } })
    expect(inputOf({ jsonObject: false })).toBeUndefined()
    expect(readConstraint({})).toBeNull()
  })

  test("policies travel with it, and nothing else does", () => {
    const options = { choice: ["a"], whitespace: "compact" as const, order: "any" as const, temperature: 1 }
    expect(readConstraint(options)?.policies).toEqual({ whitespace: "none", order: "any" })
  })

  test("two are refused by both names", () => {
    expect(() => readConstraint({ schema: {}, jsonObject: true })).toThrow(RequestError)
    expect(() => readConstraint({ schema: {}, regex: "a" })).toThrow("schema and regex: at most one")
    expect(() => readConstraint({ grammar: "", structuralTag: {} })).toThrow(/^grammar and structuralTag: at/)
  })

  test("one that is named and not there is refused, and one of another type", () => {
    const names = ["schema", "regex", "choice", "grammar", "structuralTag", "jsonObject", "constraint"]
    for (const name of names) {
      for (const value of [undefined, null])
        expect(() => readConstraint({ [name]: value })).toThrow(`${name}: it is ${value}. Give a constraint`)
    }
    expect(() => readConstraint({ schema: undefined, regex: "a" })).toThrow("schema: it is undefined")
    expect(() => readConstraint({ regex: 5 as never })).toThrow("regex: it is neither a string nor a RegExp")
    expect(readConstraint({ schema: false })?.input).toEqual({ kind: "json", schema: false })
  })

  test("policies are read by the wire's words and by the older ones", () => {
    const policiesOf = (policies: object) => readConstraint({ choice: ["a"], ...policies })?.policies
    expect(policiesOf({ whitespace: "none" })).toEqual({ whitespace: "none" })
    expect(policiesOf({ whitespace: "tight", escapes: "all", numbers: "all" })).toEqual({
      ...{ whitespace: "spaced", escapes: "json", numbers: "json" },
    })
    expect(() => policiesOf({ whitespace: "nonee" })).toThrow('Did you mean "none"?')
    expect(() => policiesOf({ order: "random" })).toThrow('order: "random" is none of schema, any')
  })

  test("the input side of a Standard Schema is asked for, in draft 2020-12", () => {
    const asked: unknown[] = []
    const input = (options: unknown): object => {
      asked.push(options)
      return {}
    }
    readConstraint({ schema: standard({ jsonSchema: { input } }) })
    expect(asked).toEqual([{ target: "draft-2020-12" }])
  })

  test("a function with ~standard is a schema too; one without a converter is named", () => {
    const callable = Object.assign(() => {}, standard({}))
    expect(readConstraint({ schema: callable })?.input).toEqual({ kind: "json", schema: { type: "object" } })
    const refusals: [vendor: string, names: RegExp][] = [
      ["valibot", /^schema: the valibot schema .*toJsonSchema\(schema\) of @valibot\/to-json-schema/],
      ["zod", /^schema: the zod schema .*zod-to-json-schema, or import Zod 4/],
      ["other", /^schema: the other schema .*the library's converter/],
    ]
    for (const [vendor, names] of refusals)
      expect(() => readConstraint({ schema: standard({ vendor, jsonSchema: undefined }) })).toThrow(names)
  })

  test("a pair of a JSON Schema and a validator is a schema; JSON Schemas have other keywords", () => {
    const inputOf = (schema: unknown) => readConstraint({ schema })?.input
    const object = { type: "object" }
    const validate = (value: unknown) => ({ value })
    for (const pair of [
      { jsonSchema: object },
      { jsonSchema: object, validate },
      { jsonSchema: object, _type: 0 },
    ])
      expect(inputOf(pair)).toEqual({ kind: "json", schema: object })
    const plain = { type: "object", jsonSchema: true }
    expect(inputOf(plain)).toEqual({ kind: "json", schema: plain })
    expect(() => inputOf({ jsonSchema: Promise.resolve(object) })).toThrow(
      /^schema.jsonSchema: it is a promise/,
    )
  })
})

describe("values", () => {
  test("JSON is parsed, other text is itself", async () => {
    expect(readConstraint({ schema: {} })?.parse('{"a":[1]}')).toEqual({ a: [1] })
    expect(readConstraint({ regex: "a" })?.parse("12")).toBe("12")
    expect(readConstraint({ grammar: 'start: "12"' })?.parse("12")).toBe("12")
    expect(readConstraint({ structuralTag: "{}" })?.parse("12")).toBe("12")
    expect(await readConstraint({ choice: ["12"] })?.validate("12")).toBe("12")
  })

  test("the schema's validator has the last word, with its issues", async () => {
    const validate = (value: unknown) =>
      (value as { a: number }).a > 0
        ? { value: { a: (value as { a: number }).a * 2 } }
        : { issues: [{ message: "too small", path: ["a", { key: 0 }] }] }
    const constraint = readConstraint({ schema: standard({ validate }) })!
    expect(await constraint.validate('{"a":2}')).toEqual({ a: 4 })
    const refusal = await constraint.validate('{"a":0}').catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ValidationError)
    expect(refusal).toMatchObject({
      text: '{"a":0}',
      value: { a: 0 },
      issues: [{ message: "too small", path: ["a", 0] }],
    })
  })

  test("a pair's validator: a Standard Schema, a result of either form, or none", async () => {
    const values = (validate: unknown) =>
      readConstraint({ schema: { jsonSchema: {}, validate } })!.validate('{"a":1}')
    expect(await values(undefined)).toEqual({ a: 1 })
    expect(await values(async () => ({ value: 2 }))).toBe(2)
    expect(await values(() => ({ success: true, value: 3 }))).toBe(3)
    expect(await values(standard({ validate: () => ({ value: 4 }) }))).toBe(4)
    const issues = [{ message: "too small", path: ["a"] }]
    await expect(values(() => ({ issues }))).rejects.toMatchObject({ name: "ValidationError", issues })
    const failed = values(() => ({ success: false, error: new Error("too small") }))
    await expect(failed).rejects.toMatchObject({ name: "ValidationError", text: '{"a":1}', value: { a: 1 } })
    await expect(values(() => ({}))).rejects.toThrow(/^schema.validate: it returned neither/)
    await expect(values(() => 5)).rejects.toThrow(/^schema.validate: it returned neither/)
  })

  test("types follow the option", () => {
    expectTypeOf<ValueOf<{ schema: StandardSchema<{ a: number }> }>>().toEqualTypeOf<{ a: number }>()
    expectTypeOf<ValueOf<{ choice: readonly ("yes" | "no")[] }>>().toEqualTypeOf<"yes" | "no">()
    expectTypeOf<ValueOf<{ regex: RegExp }>>().toEqualTypeOf<string>()
    expectTypeOf<ValueOf<{ schema: { type: "object" } }>>().toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<ValueOf<{ temperature: number }>>().toEqualTypeOf<undefined>()
  })
})
