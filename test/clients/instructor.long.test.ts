/** The unmodified instructor, which asks again where an answer is not of its schema, in all modes: it never has to. */
import Instructor from "@instructor-ai/instructor"
import OpenAI from "openai"
import { describe, expect, test } from "vitest"
// It reads schemas of Zod 3.
import { z } from "zod/v3"
import { serveWays, ways } from "../support/ways.ts"

// Without a bound on its strings an object is completed by the budget.
const served = serveWays({ onLength: "close" })

const Person = z.object({
  name: z.string().max(12),
  age: z.number().int().min(0).max(120),
  hobbies: z.array(z.enum(["chess", "rowing", "opera"])).max(2),
})
const base = {
  model: "any",
  messages: [{ role: "user" as const, content: "Invent a person." }],
  max_tokens: 300,
  seed: 1,
}

describe.each(ways)("instructor, %s", (way) => {
  const open = (mode: "TOOLS" | "JSON_SCHEMA" | "JSON" | "MD_JSON") => {
    const options = served.client(way)
    let count = 0
    const counted: typeof fetch = (input, init) => {
      count++
      return options.fetch(input, init)
    }
    const client = Instructor({ client: new OpenAI({ ...options, fetch: counted, maxRetries: 0 }), mode })
    return { client, requests: () => count }
  }

  test.each(["TOOLS", "JSON_SCHEMA"] as const)("%s: a person, by one request", async (mode) => {
    const { client, requests } = open(mode)
    const person = await client.chat.completions.create({
      ...base,
      response_model: { schema: Person, name: "Person" },
      max_retries: 2,
    })
    const { _meta, ...fields } = person as typeof person & { _meta?: unknown }
    expect(Person.parse(fields)).toEqual(fields)
    expect(requests()).toBe(1)
  })

  test.each(["TOOLS", "JSON_SCHEMA"] as const)("%s, streamed: a person that grows", async (mode) => {
    const { client } = open(mode)
    const stream = await client.chat.completions.create({
      ...base,
      response_model: { schema: Person, name: "Person" },
      stream: true,
    })
    let last: object = {}
    let count = 0
    for await (const partial of stream) {
      last = partial
      count++
    }
    const { _meta, ...fields } = last as { _meta?: unknown }
    expect(Person.parse(fields)).toEqual(fields)
    expect(count).toBeGreaterThan(1)
  })

  // These modes send no schema that holds: the answer is some object, or some text.
  test.each(["JSON", "MD_JSON"] as const)("%s: what its own request asks for", async (mode) => {
    const { client, requests } = open(mode)
    const answer = client.chat.completions.create({
      ...base,
      response_model: { schema: z.object({}).passthrough(), name: "Any" },
      max_retries: 0,
    })
    if (mode === "JSON") expect(typeof (await answer)).toBe("object")
    else await answer.catch((error) => expect(String(error)).toMatch(/JSON|Unexpected/))
    expect(requests()).toBe(1)
  })
})
