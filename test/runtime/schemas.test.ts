/**
 * Schemas of every library with the shipped model: values are parsed, transformed and refined;
 * calls of a turn run together.
 */
import { toJsonSchema, toStandardJsonSchema } from "@valibot/to-json-schema"
import { jsonSchema } from "ai"
import { type } from "arktype"
import { Type } from "typebox"
import * as v from "valibot"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { z as z3 } from "zod3"
import { type Engine, open, ValidationError } from "../../runtime/index.ts"
import { run } from "../../runtime/turn/run.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", isolation: "none", slots: 2, threads: 1 })
})
afterAll(() => engine.close())

/** An age as it is written: an object whose member is a text of two digits. */
const written = {
  type: "object",
  properties: { age: { type: "string", pattern: "^[1-9][0-9]$" } },
  required: ["age"],
  additionalProperties: false,
} as const
const digits = /^[1-9][0-9]$/
const above = (limit: number) => (value: number) => value > limit

/** By library: the schema that also makes a number of the age, and refuses those up to a limit. */
const schemas: Record<string, (limit: number) => unknown> = {
  "Zod 4": (limit) =>
    z.object({ age: z.string().regex(digits).transform(Number).refine(above(limit), "too young") }),
  "Zod 3, by a pair": (limit) => ({
    jsonSchema: written,
    validate: z3.object({ age: z3.string().transform(Number).refine(above(limit), "too young") }),
  }),
  Valibot: (limit) => {
    const age = v.pipe(v.string(), v.regex(digits), v.transform(Number), v.check(above(limit), "too young"))
    return toStandardJsonSchema(v.object({ age }))
  },
  "Valibot, by a pair": (limit) => {
    const age = v.pipe(v.string(), v.regex(digits), v.transform(Number), v.check(above(limit), "too young"))
    const schema = v.object({ age })
    return { jsonSchema: toJsonSchema(schema, { typeMode: "input" }), validate: schema }
  },
  ArkType: (limit) =>
    type({ age: "/^[1-9][0-9]$/" }).pipe(({ age }, ctx) =>
      Number(age) > limit ? { age: Number(age) } : ctx.reject({ message: "too young", path: ["age"] }),
    ),
  "the AI SDK": (limit) =>
    jsonSchema<{ age: number }>(
      { ...written, required: ["age"] },
      {
        validate: (value) => {
          const age = Number((value as { age: string }).age)
          const error = new Error("too young")
          return age > limit ? { success: true, value: { age } } : { success: false, error }
        },
      },
    ),
}

describe.each(Object.entries(schemas))("%s", (name, schemaOf) => {
  test("the value is parsed, transformed and refined", async () => {
    const { text, value } = await engine.generate("How old is Ann?", { schema: schemaOf(0), seed: 1 })
    expect(text).toMatch(/^\{\s*"age"\s*:\s*"[1-9]\d"\s*\}$/)
    expect(value).toEqual({ age: Number(JSON.parse(text).age) })
  })

  test("a refinement that fails is a ValidationError with the text, the value and the issues", async () => {
    const failed = await engine
      .generate("How old is Ann?", { schema: schemaOf(99), seed: 1 })
      .catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(ValidationError)
    const { text, value, issues, message } = failed as ValidationError
    expect(value).toEqual(JSON.parse(text))
    expect(message).toContain("too young")
    const place = name === "the AI SDK" ? {} : { path: ["age"] }
    expect(issues).toEqual([{ message: "too young", ...place }])
  })
})

test("raw and TypeBox schemas: the value is what is written", async () => {
  for (const schema of [
    written,
    JSON.stringify(written),
    Type.Object({ age: Type.Integer({ minimum: 1, maximum: 9 }) }),
  ]) {
    const { text, value } = await engine.generate("How old is Ann?", { schema, seed: 1 })
    expect(value).toEqual(JSON.parse(text))
  }
})

test("Zod 3 and Valibot alone are a TypeError that names their converter, in generate, stream and run", async () => {
  for (const [schema, converter] of [
    [z3.object({}), /zod-to-json-schema/],
    [v.object({}), /@valibot\/to-json-schema/],
  ] as const) {
    const asked = [
      () => engine.generate("?", { schema }),
      () => engine.stream("?", { schema }).next(),
      () => engine.run("?", { tools: { f: { schema, execute: () => 1 } } }),
    ]
    for (const ask of asked) {
      await expect(ask()).rejects.toBeInstanceOf(TypeError)
      await expect(ask()).rejects.toThrow(converter)
    }
  }
})

test("the calls of a turn run together, in any library, and a throw is the result of its call", async () => {
  const begun: string[] = []
  let release = () => {}
  const both = new Promise<void>((resolve) => {
    release = resolve
  })
  const execute = async ({ city }: { city: string }) => {
    begun.push(city)
    // Neither call ends before the other has begun.
    if (begun.length === 2) release()
    await both
    if (city === "Rome") throw new Error("no weather in Rome")
    return { city }
  }
  const schema = z.object({ city: z.enum(["Oslo", "Rome"]) })
  const calls = ["Oslo", "Rome"].map((city, index) => ({
    ...{ id: `call_${index}`, name: "weather", isCustom: false, isComplete: true },
    arguments: JSON.stringify({ city }),
  }))
  const { messages } = await run(
    {
      generate: async (prompt, options) => ({
        ...(await engine.generate(prompt, options)),
        toolCalls: calls,
      }),
    },
    "Where is it warm?",
    { tools: { weather: { schema, execute } }, maxSteps: 2, maxTokens: 30, seed: 1 },
  )
  expect(begun).toEqual(["Oslo", "Rome"])
  expect(messages.slice(2, 4)).toMatchObject([
    { role: "tool", tool_call_id: "call_0", content: '{"city":"Oslo"}' },
    { role: "tool", tool_call_id: "call_1", content: "error: no weather in Rome" },
  ])
})
