/**
 * The suite for servers against this server, which honours or rightly refuses every case; and
 * against the same server behind a proxy that drops one keyword of each schema, which the suite has
 * to notice.
 */
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../../../../server/index.ts"
import type { ApiCase } from "../../../../server/suite/api/case.ts"
import { apiCases } from "../../../../server/suite/api/cases/all.ts"
import { type ApiResult, runCases } from "../../../../server/suite/api/run.ts"

let engine: Engine
let own: RunningServer
let model: string
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 2048 })
  own = await serve(createApp(engine), { port: 0 })
  model = (await (await fetch(`${own.url}/v1/models`)).json()).data[0].id
})
afterAll(async () => {
  await own.close()
  await engine.close()
})

const run = (url: string, cases: readonly ApiCase[], samples: number) =>
  runCases(cases, {
    ...{ model, samples, parallel: 8 },
    target: {
      ...{ url: `${url}/v1`, timeoutMs: 120_000, deadline: performance.now() + 280_000 },
      signal: new AbortController().signal,
    },
  })

/** What this server refuses, with what its error says. */
const refusals: Record<string, RegExp> = {
  // The embedded model's context holds 2,048 tokens.
  "tools/a hundred tools, required": /context/,
}

/** The schema of a request and the JSON that answered it, or null. */
function answered({
  request,
  answer,
}: ApiResult): { schema: Record<string, unknown>; value: unknown } | null {
  try {
    const { json_schema } = JSON.parse(request).response_format
    const { message, finish_reason } = JSON.parse(answer).choices[0]
    return finish_reason === "stop"
      ? { schema: json_schema.schema, value: JSON.parse(message.content) }
      : null
  } catch {
    return null
  }
}

test("every case is honoured, or refused for a reason; ajv agrees", async () => {
  const results = await run(own.url, apiCases(), 1)
  const bad = results.filter(({ id, verdict, why }) =>
    verdict === "refused" ? !refusals[id]?.test(why) : verdict !== "honoured",
  )
  expect(bad.map(({ id, verdict, why }) => `${verdict}: ${id}: ${why}`)).toEqual([])
  expect(results.filter(({ truncated }) => truncated).length).toBeLessThan(12)
  let judged = 0
  const options = { strict: false, validateFormats: false } as const
  for (const result of results.filter(({ area }) => area.startsWith("json_schema:"))) {
    const got = answered(result)
    // ajv knows this draft only, and reads numbers as doubles.
    if (got === null || "$schema" in got.schema || /2\^53|large/.test(result.id)) continue
    const ajv = new Ajv2020(options)
    expect(ajv.validate(got.schema, got.value), `${result.id}: ${JSON.stringify(got.value)}`).toBe(true)
    judged++
  }
  expect(judged).toBeGreaterThan(130)
})

/** Keywords that say what the keyword of a row says. */
const families: Record<string, string[]> = {
  minimum: ["minimum", "exclusiveMinimum"],
  maximum: ["maximum", "exclusiveMaximum"],
  contains: ["contains", "minContains", "maxContains"],
  minProperties: ["minProperties", "maxProperties"],
  dependentRequired: ["dependentRequired", "dependentSchemas", "dependencies"],
  unevaluatedProperties: ["unevaluatedProperties", "unevaluatedItems"],
  if: ["if", "then", "else"],
  prefixItems: ["prefixItems", "items"],
  const: ["const"],
}

function without(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, names))
  if (typeof value !== "object" || value === null) return value
  const kept = Object.entries(value).filter(([name]) => !names.includes(name))
  return Object.fromEntries(kept.map(([name, each]) => [name, without(each, names)]))
}

test("a server that drops a keyword is found out", async () => {
  const keywordOf = ({ area }: ApiCase) => area.slice("json_schema: ".length)
  const cases = apiCases({ maxTokens: 64 }).filter(
    ({ area }) => area.startsWith("json_schema: ") && !/root|order|type$/.test(area),
  )
  const dropping = cases.map((each): ApiCase => {
    const names = families[keywordOf(each)] ?? [keywordOf(each)]
    const [{ path, body }] = each.requests
    const fields = body as { response_format: { json_schema: { schema: { text: string } } } }
    const { schema } = fields.response_format.json_schema
    const { $schema: _, ...member } = JSON.parse(schema.text).properties?.v ?? {}
    const dropped = { type: "object", properties: { v: without(member, names) }, required: ["v"] }
    const { $defs } = JSON.parse(schema.text)
    const lax = {
      name: "answer",
      strict: false,
      schema: { ...dropped, ...($defs && { $defs: without($defs, names) }) },
    }
    const sent = {
      ...fields,
      response_format: { type: "json_schema", json_schema: lax },
      tokenrail: { open_objects: "always" },
    }
    return { ...each, requests: [{ path, body: sent }] }
  })
  const results = await run(own.url, dropping, 4)
  const missed = results
    .filter(({ verdict }) => verdict !== "ignored")
    .map(({ id, verdict, why }) => `${verdict}: ${id} ${why}`)
  expect(missed.length, missed.join("\n")).toBeLessThan(cases.length * 0.1)
})
