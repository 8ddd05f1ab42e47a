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
    expect(() => readConstraint({ schema: standard({ vendor: "valibot", jsonSchema: undefined }) })).toThrow(
      /valibot .* converter/,
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

  test("types follow the option", () => {
    expectTypeOf<ValueOf<{ schema: StandardSchema<{ a: number }> }>>().toEqualTypeOf<{ a: number }>()
    expectTypeOf<ValueOf<{ choice: readonly ("yes" | "no")[] }>>().toEqualTypeOf<"yes" | "no">()
    expectTypeOf<ValueOf<{ regex: RegExp }>>().toEqualTypeOf<string>()
    expectTypeOf<ValueOf<{ schema: { type: "object" } }>>().toEqualTypeOf<unknown>()
    expectTypeOf<ValueOf<{ temperature: number }>>().toEqualTypeOf<undefined>()
  })
})
