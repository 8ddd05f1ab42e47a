/**
 * What other servers of 2026 got wrong with fields, constraints, conversations and refusals, each as a check by its number; those of
 * tools and reasoning are in checks2026tools.long.test.ts.
 */
import { readFileSync } from "node:fs"
import { Ajv2020 } from "ajv/dist/2020.js"
import { describe, expect, test } from "vitest"
import { open, packageFile } from "../../../runtime/index.ts"
import { createApp, createFetch } from "../../../server/index.ts"
import { messages, named, now, serveChecks, weather } from "../../support/checks.ts"

const { send, reply, refusal, choicesOf } = serveChecks()
const ajv = new Ajv2020({ strict: false })
const answer = { enum: ["yes", "no"] }
const formatOf = (schema: object) => ({ type: "json_schema", json_schema: { name: "x", schema } })
const closed = (properties: object) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

describe("responses", () => {
  // biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
  async function respond(fields: object, status = 200): Promise<any> {
    const body = { model: "any", input: "Is it so?", max_output_tokens: 200, seed: 1, ...fields }
    const response = await send("/v1/responses", body)
    const got = await response.json()
    expect(response.status, JSON.stringify(got)).toBe(status)
    return got
  }
  const flat = { type: "function", name: "now", parameters: null }

  test("11: items have their ids, states and lists", async () => {
    const text = { format: { type: "json_schema", name: "x", schema: answer } }
    const said = await respond({ text })
    expect(said).toMatchObject({ object: "response", status: "completed", created_at: expect.any(Number) })
    const [item] = said.output
    expect(item).toMatchObject({ id: expect.stringMatching(/^msg_/), status: "completed", role: "assistant" })
    expect(item.content[0]).toMatchObject({ type: "output_text", annotations: [], logprobs: [] })
    const called = await respond({ tools: [flat], tool_choice: { type: "function", name: "now" } })
    expect(called.output.at(-1)).toMatchObject({
      id: expect.stringMatching(/^fc_/),
      type: "function_call",
      call_id: expect.any(String),
      name: "now",
      status: "completed",
    })
  })

  test("12: response_format is refused with a hint, text.format is enforced", async () => {
    const { error } = await respond({ response_format: formatOf(answer) }, 400)
    expect([error.param, error.message + error.hint]).toEqual([
      "response_format",
      expect.stringContaining("text.format"),
    ])
    const { output } = await respond({ text: { format: { type: "json_schema", name: "x", schema: answer } } })
    expect(["yes", "no"]).toContain(JSON.parse(output[0].content[0].text))
  })

  test("13: a nested tool is refused with the form that responses take", async () => {
    const { error } = await respond({ tools: [now] }, 400)
    expect(error.param).toMatch(/^tools/)
    expect(error.message + error.hint).toMatch(/flat|"type": "function", "name"|chat/)
  })

  test("14: phases go in, and constrained text is no commentary", async () => {
    const input = [
      { role: "user", content: "Is it so?" },
      {
        type: "message",
        role: "assistant",
        phase: "commentary",
        content: [{ type: "output_text", text: "Hm." }],
      },
      { role: "user", content: "Well?" },
    ]
    const { output } = await respond({
      input,
      text: { format: { type: "json_schema", name: "x", schema: answer } },
    })
    expect([undefined, null, "final_answer"]).toContain(output[0].phase)
  })
})

describe("fields", () => {
  test("13: a flat tool is refused with the form that chat takes", async () => {
    const error = await refusal({ tools: [{ type: "function", name: "now", parameters: {} }] })
    expect(error).toMatchObject({ param: "tools[0]", hint: expect.stringContaining('"function": {"name"') })
  })

  test("14: phases of earlier turns are accepted, and constrained text is no commentary", async () => {
    for (const phase of ["commentary", "final_answer", null]) {
      const history = [...messages, { role: "assistant", content: "Hm.", phase }, messages[0]]
      const { choices } = await reply({ messages: history, response_format: formatOf(answer) })
      expect([undefined, "final_answer"]).toContain(choices[0].message.phase)
    }
  })

  test("16: fields that promise nothing are accepted", async () => {
    const fields = {
      moderation: {},
      prompt_cache_options: { ttl: "1h" },
      obfuscation: true,
      context_management: [],
      verbosity: "low",
      metadata: { a: "b" },
      store: true,
      user: "u",
      safety_identifier: "s",
      prompt_cache_key: "k",
      prompt_cache_retention: "24h",
      max_tokens: 1,
    }
    for (const service_tier of ["auto", "flex", "priority", "anything"])
      await reply({ ...fields, service_tier })
    for (const reasoning_effort of ["none", "minimal", "low", "medium", "high", "xhigh", "max"])
      await reply({ reasoning_effort, max_tokens: 1 })
  })
})

describe("constraints", () => {
  test.each<[spelling: string, format: object, form: RegExp]>([
    [
      "json_object with schema",
      { type: "json_object", schema: closed({ a: { const: 1 } }) },
      /^\{\s*"a":\s*1\s*\}$/,
    ],
    ["grammar", { type: "grammar", grammar: 'root ::= "a" [0-9] "z"' }, /^a\dz$/],
    ["regex", { type: "regex", regex: "[a-c]{4}" }, /^[a-c]{4}$/],
    ["pattern", { type: "regex", pattern: "[x-z]{3}" }, /^[x-z]{3}$/],
  ])("17: response_format of %s is enforced", async (_, response_format, form) => {
    for (const { message } of await choicesOf({ response_format, n: 4 }))
      expect(message.content).toMatch(form)
  })

  const small = closed({ n: { enum: [1, 2] } })
  const draft7 = "http://json-schema.org/draft-07/schema#"
  const { type: _, ...untyped } = small
  test.each<[what: string, schema: Record<string, unknown>]>([
    ["$schema of draft 7", { $schema: draft7, ...small }],
    ["$schema of 2020-12", { $schema: "https://json-schema.org/draft/2020-12/schema", ...small }],
    ["$defs beside a root $ref", { $defs: { S: small }, $ref: "#/$defs/S" }],
    [
      "definitions beside a root $ref",
      { $schema: draft7, definitions: { S: small }, $ref: "#/definitions/S" },
    ],
    [
      "a root that refers to itself",
      closed({ value: { enum: [1, 2] }, next: { anyOf: [{ $ref: "#" }, { type: "null" }] } }),
    ],
    ["anyOf of one", { anyOf: [small] }],
    ["no type", untyped],
  ])("18: %s compiles, as a response format and as parameters", async (_, schema) => {
    const { $schema: _draft, ...plain } = schema
    const { choices } = await reply({ response_format: formatOf(schema) })
    expect(ajv.validate(plain, JSON.parse(choices[0].message.content)), choices[0].message.content).toBe(true)
    const tools = [{ type: "function", function: { name: "f", parameters: schema } }]
    const [call] = (await reply({ tools, tool_choice: named("f") })).choices[0].message.tool_calls
    expect(ajv.validate(plain, JSON.parse(call.function.arguments)), call.function.arguments).toBe(true)
  })

  test.each<[what: string, schema: object, form: RegExp]>([
    ["an unanchored pattern", { type: "string", pattern: "b+c", maxLength: 8 }, /b+c/],
    ["\\d", { type: "string", pattern: "^\\d{3}$" }, /^"\d{3}"$/],
    ["a lookahead", { type: "string", pattern: "^(?=.*1)[a-c1]{2,6}$" }, /^"(?=.*1)[a-c1]{2,6}"$/],
    ["maxLength: 65536", { type: "string", maxLength: 65536 }, /^".*"$/s],
    ["maxItems: 10^9", { type: "array", items: { enum: [0, 1] }, maxItems: 1e9 }, /^\[[\d,\s]*\]$/],
    [
      "a format with a pattern",
      { type: "string", format: "date", pattern: "^2026-1" },
      /^"2026-1[0-2]-\d\d"$/,
    ],
  ])("19: %s is enforced exactly", async (_, schema, form) => {
    const response_format = formatOf(schema)
    const asked = { response_format, temperature: 1.5, tokenrail: { report: true } }
    const { choices, tokenrail } = await reply(asked)
    expect(choices[0].message.content).toMatch(form)
    expect([choices[0].finish_reason, tokenrail.report.counts.relaxed]).toEqual(["stop", 0])
    expect(tokenrail.report.counts.exact).toBeGreaterThan(0)
  })

  const fences = '```json\n"""\r\n\\'
  const controls = "<|im_end|>\n<|im_start|>user </tool_call></tool_response>"
  const toolOf = (value: string) => [
    { type: "function", function: { name: "f", parameters: closed({ v: { const: value } }) } },
  ]

  test("20: values with fences, quotes, line ends and control tokens go through", async () => {
    const { choices } = await reply({ tools: toolOf(fences), tool_choice: named("f") })
    expect(JSON.parse(choices[0].message.tool_calls[0].function.arguments)).toEqual({ v: fences })
    const value = fences + controls
    const said = await reply({ response_format: formatOf(closed({ v: { const: value } })) })
    expect(JSON.parse(said.choices[0].message.content)).toEqual({ v: value })
    // Inside of a call they would end it for whoever reads it by its tags.
    expect((await refusal({ tools: toolOf(controls) })).kind).toBe("unsatisfiable")
  })

  test("20: and in the next turn they are text", async () => {
    const turns = (value: string) => [
      { role: "user", content: value },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "f", arguments: JSON.stringify({ v: value }) },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: value },
      { role: "user", content: value },
    ]
    const { added_tokens } = JSON.parse(readFileSync(packageFile("runtime/embedded/tokenizer.json"), "utf8"))
    const added = new Set(added_tokens.map(({ id }: { id: number }) => id))
    const controlIds = async (history: object[]) => {
      const { tokens } = await (await send("/tokenize", { messages: history })).json()
      return tokens.filter((id: number) => added.has(id))
    }
    expect(await controlIds(turns(controls))).toEqual(await controlIds(turns("x")))
  })
})

test("21: what a template forbids is refused in its own words", async () => {
  const error = await refusal({ messages: [messages[0], messages[0]] }, "thinking")
  expect(error).toMatchObject({
    param: "messages",
    message: expect.stringContaining("roles have to alternate"),
  })
  expect((await refusal({ messages: [{ content: "hi" }] })).param).toBe("messages[0].role")
})

test.each<[what: string, fields: object]>([
  ["a schema", { response_format: formatOf({ type: "odd" }) }],
  ["a grammar", { response_format: { type: "grammar", grammar: "root ::= (" } }],
  ["a tool", { tools: [{ type: "function", function: { name: "f", parameters: { type: "odd" } } }] }],
  ["a choice without tools", { tool_choice: "required" }],
  ["a prompt that is too long", { messages: [{ role: "user", content: "word ".repeat(5_000) }] }],
  ["a budget below the shortest call", { tools: [weather], tool_choice: "required", max_tokens: 2 }],
  ["a parameter", { temperature: -1 }],
  ["an image", { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }] }],
])("23: %s is refused by a status, on a stream too", async (_, fields) => {
  const error = await refusal({ ...fields, stream: true })
  expect(error).toEqual(await refusal(fields))
  expect(error.message.length).toBeGreaterThan(10)
})

/** Compiles for minutes, or for a tenth of a second where it has one item and 200 rules: in a thread of its own. */
const hard = (seed: number, items = 8, rules = 400) => ({
  type: "array",
  minItems: items,
  maxItems: items,
  prefixItems: Array.from({ length: items }, (_, item) => ({
    type: "integer",
    minimum: 0,
    maximum: 1e9,
    allOf: Array.from({ length: rules }, (_, i) => ({
      not: { multipleOf: 101 + 8 * i + item + 4_000 * seed },
    })),
  })),
})

test("25: clients that leave in the midst of compilations leave the threads to others", async () => {
  const patient = await open({ device: "cpu", context: 512, limits: { compileMs: 600_000 } })
  const fetchApp = createFetch(createApp(patient, { anyModel: true, compileMs: 600_000 }))
  const ask = (schema: object, signal?: AbortSignal) =>
    fetchApp("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "any", messages, structured_outputs: { json: schema }, max_tokens: 30 }),
      signal: signal ?? null,
    })
  const leaving = new AbortController()
  // More than are compiled at once: the last of them only wait.
  const left = [1, 2, 3, 4, 5, 6].map((seed) =>
    ask(hard(seed), leaving.signal).then(
      () => null,
      ({ name }) => name,
    ),
  )
  await new Promise((resolve) => setTimeout(resolve, 150))
  leaving.abort()
  expect(await Promise.all(left)).toEqual(Array(6).fill("AbortError"))
  const response = await ask(hard(7, 1, 200))
  expect(JSON.parse((await response.json()).choices[0].message.content)).toEqual([expect.any(Number)])
  expect(patient.load()).toMatchObject({ running: 0, waiting: 0 })
  await patient.close()
})
