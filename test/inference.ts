/**
 * Types that follow from a schema, for each library of schemas and for JSON Schemas. The compiler
 * checks this file: `Same` is an error if the two types differ, and `@ts-expect-error` if the line
 * below it has none. types.test.ts checks it against the built package.
 */
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { jsonSchema } from "ai"
import { type } from "arktype"
import { type Static, Type } from "typebox"
import * as v from "valibot"
import { z } from "zod"
import { z as z3 } from "zod3"
import { type Engine, type FromSchema, foldFields, tool } from "../runtime/index.ts"

type Equal<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false
type Same<One, Other> = Equal<One, Other> extends true ? [] : [never]
/** Compiles if the argument has exactly this type. */
declare function is<Expected>(): <Actual>(value: Actual, ...same: Same<Expected, Actual>) => void
declare function of<const Schema>(schema: Schema): FromSchema<Schema>

export function literalSchemas(): void {
  is<string>()(of({ type: "string" }))
  is<number>()(of({ type: "integer" }))
  is<string | null>()(of({ type: ["string", "null"] }))
  is<1 | "a" | null>()(of({ enum: [1, "a", null] }))
  is<{ a: [1] }>()(of({ const: { a: [1] } }))
  is<unknown>()(of(true))
  is<never>()(of(false))
  is<unknown>()(of("{}"))
  is<unknown>()(of({ $ref: "#" }))
  is<unknown>()(of({ properties: { a: { type: "string" } } }))
  const open = {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "null" } },
    required: ["a"],
  } as const
  is<{ a: string; b?: null }>()(of(open))
  is<{ a?: string; b: unknown }>()(
    of({ type: "object", properties: { a: { type: "string" } }, required: ["b"] }),
  )
  is<Record<string, unknown>>()(of({ type: "object" }))
  is<Record<string, number>>()(of({ type: "object", additionalProperties: { type: "number" } }))
  is<Record<string, string>>()(
    of({ type: "object", patternProperties: { "^a": { type: "string" } }, additionalProperties: false }),
  )
  is<(string | boolean)[]>()(
    of({ type: "array", items: { anyOf: [{ type: "string" }, { type: "boolean" }] } }),
  )
  is<unknown[]>()(of({ type: "array" }))
  const heads = [{ type: "string" }, { type: "number" }] as const
  is<[string?, number?, ...unknown[]]>()(of({ type: "array", prefixItems: heads }))
  is<[string, number?, ...null[]]>()(
    of({ type: "array", prefixItems: heads, minItems: 1, items: { type: "null" } }),
  )
  is<[string, number]>()(of({ type: "array", prefixItems: heads, minItems: 2, items: false }))
  is<[string, number]>()(of({ type: "array", items: heads, minItems: 2, additionalItems: false }))
  const tagged = of({
    ...{ type: "object", properties: { id: { type: "number" } }, required: ["id"] },
    oneOf: [
      { type: "object", properties: { kind: { const: "a" } }, required: ["kind"] },
      {
        type: "object",
        properties: { kind: { const: "b" }, n: { type: "number" } },
        required: ["kind", "n"],
      },
    ],
  } as const)
  is<"a" | "b">()(tagged.kind)
  if (tagged.kind === "b") is<number>()(tagged.n)
  const wide = { type: "string" }
  is<unknown>()(of(wide))
  is<unknown>()(of(JSON.parse("{}")))
  type Nested<
    Count extends number,
    Levels extends 0[] = [],
    Schema = { type: "string" },
  > = Levels["length"] extends Count
    ? Schema
    : Nested<Count, [...Levels, 0], { type: "array"; items: { type: "object"; properties: { a: Schema } } }>
  const deep = of({} as Nested<20>)
  is<string | undefined>()(deep[0].a?.[0].a?.[0].a?.length === 0 ? "" : undefined)
  const box = Type.Object({
    name: Type.String(),
    age: Type.Optional(Type.Integer()),
    tags: Type.Array(Type.Union([Type.Literal("a"), Type.Literal(2), Type.Null()])),
    pair: Type.Tuple([Type.String(), Type.Number()]),
    word: Type.Enum(["x", "y"]),
  })
  is<Static<typeof box>>()(of(box))
}

export async function values(engine: Engine): Promise<void> {
  const generated = async () => ({
    zod: (await engine.generate("", { schema: z.object({ n: z.string().transform(Number) }) })).value,
    valibot: (await engine.generate("", { schema: toStandardJsonSchema(v.object({ n: v.number() })) })).value,
    arktype: (await engine.generate("", { schema: type({ n: "number", "s?": "string" }) })).value,
    typebox: (await engine.generate("", { schema: Type.Object({ n: Type.Number() }) })).value,
    raw: (await engine.generate("", { schema: { type: "array", items: { enum: ["a", 1] } }, seed: 1 })).value,
    zod3: (await engine.generate("", { schema: { jsonSchema: {}, validate: z3.object({ n: z3.number() }) } }))
      .value,
    ai: (await engine.generate("", { schema: jsonSchema<{ n: number }>({ type: "object" }) })).value,
    choice: (await engine.generate("", { choice: ["yes", "no"] })).value,
    regex: (await engine.generate("", { regex: /a/ })).value,
    grammar: (await engine.generate("", { grammar: "root ::= [a]", temperature: 0 })).value,
    object: (await engine.generate("", { jsonObject: true })).value,
    none: (await engine.generate("", { temperature: 0 })).value,
    alone: (await engine.generate("")).value,
  })
  is<{
    zod: { n: number }
    valibot: { n: number }
    arktype: { n: number; s?: string }
    typebox: { n: number }
    raw: ("a" | 1)[]
    zod3: { n: number }
    ai: { n: number }
    choice: "yes" | "no"
    regex: string
    grammar: string
    object: Record<string, unknown>
    none: undefined
    alone: undefined
  }>()(await generated())
  const words: readonly string[] = []
  is<string>()((await engine.generate("", { choice: words })).value)
  for await (const { value } of engine.batch(["a"], { choice: ["x", "y"] })) is<"x" | "y">()(value)
  const { value } = await engine.run("", { tools: {}, schema: z.object({ n: z.number() }) })
  is<{ n: number }>()(value)
  // @ts-expect-error: the member has another name
  void (await engine.generate("", { schema: z.object({ n: z.number() }) })).value.m
}

export async function streams(engine: Engine): Promise<void> {
  for await (const event of engine.stream("", { schema: z.object({ n: z.string().transform(Number) }) })) {
    // What is written is what the schema reads.
    if (event.type === "close" && event.call === undefined && event.path === "")
      is<{ n: string }>()(event.value)
    else if (event.type === "close") is<unknown>()(event.value)
  }
  for await (const event of engine.stream("", {
    schema: { type: "object", properties: { n: { type: "null" } } },
  }))
    if (event.type === "close" && event.call === undefined && event.path === "")
      is<{ n?: null }>()(event.value)
  is<{ a?: { b?: string }[] } | undefined>()(foldFields<{ a: { b: string }[] }>([]))
  // @ts-expect-error: an option of another name
  for await (const _ of engine.stream("", { schmea: {} }));
}

export async function tools(engine: Engine): Promise<void> {
  const weather = tool({
    schema: z.object({ city: z.string() }),
    execute: (args) => is<{ city: string }>()(args),
  })
  await engine.run("", {
    maxSteps: 2,
    tools: {
      weather,
      zod: {
        schema: z.object({ n: z.string().transform(Number) }),
        execute: (args) => is<{ n: number }>()(args),
      },
      valibot: {
        description: "Typed in a method too.",
        schema: toStandardJsonSchema(v.object({ n: v.number() })),
        async execute(args) {
          is<{ n: number }>()(args)
        },
      },
      arktype: { schema: type({ "n?": "number" }), execute: (args) => is<{ n?: number }>()(args) },
      typebox: { schema: Type.Object({ n: Type.Number() }), execute: (args) => is<{ n: number }>()(args) },
      raw: {
        schema: { type: "object", properties: { a: { enum: ["x", "y"] } }, required: ["a"] },
        execute: (args) => is<{ a: "x" | "y" }>()(args),
      },
      zod3: {
        schema: { jsonSchema: {}, validate: z3.object({ n: z3.number() }) },
        execute: (args) => is<{ n: number }>()(args),
      },
      none: { execute: () => 1 },
    },
  })
  tool({
    schema: { type: "object", properties: { a: { type: "null" } } },
    execute: (args) => is<{ a?: null }>()(args),
  })
  const wrong = z.object({ city: z.string() })
  // @ts-expect-error: the argument is a string
  void engine.run("", { tools: { f: { schema: wrong, execute: (args: { city: number }) => args } } })
  // @ts-expect-error: the member has another name
  void engine.run("", { tools: { f: { schema: wrong, execute: (args) => args.town } } })
  // @ts-expect-error: there is no function
  void engine.run("", { tools: { f: { schema: wrong } } })
  // @ts-expect-error: without a schema there are no arguments
  tool({ execute: (args) => args.city.length })
}
