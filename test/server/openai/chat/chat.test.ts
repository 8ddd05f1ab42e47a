import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../../../runtime/index.ts"
import { createApp } from "../../../../server/app.ts"
import { createFetch } from "../../../../server/serve.ts"
import { bodyOf, chunksOf } from "../../../support/replies.ts"

let engine: Engine
let fetchApp: typeof fetch
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 512 })
  fetchApp = createFetch(createApp(engine))
})
afterAll(() => engine.close())

const messages = [{ role: "user", content: "Describe a person." }]
const person = {
  type: "object",
  properties: { name: { type: "string", maxLength: 12 }, age: { type: "integer", minimum: 0, maximum: 120 } },
  required: ["name", "age"],
  additionalProperties: false,
}
const personFormat = { type: "json_schema", json_schema: { name: "person", strict: true, schema: person } }

function post(fields: object, init: RequestInit = {}): Promise<Response> {
  return fetchApp("http://localhost/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: engine.model.id, messages, max_tokens: 120, ...fields }),
    ...init,
  })
}

// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
async function reply(fields: object): Promise<any> {
  return bodyOf(await post(fields))
}

// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
async function chunks(fields: object): Promise<any[]> {
  return chunksOf(await post({ stream: true, ...fields }))
}

test("a long list of log-probabilities is written piece by piece, and is that of the stream", async () => {
  const fields = {
    max_tokens: 260,
    min_tokens: 260,
    ignore_eos: true,
    seed: 4,
    logprobs: true,
    top_logprobs: 2,
  }
  const { choices } = await reply(fields)
  const rows = (await chunks(fields)).flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? [])
  expect(rows.length).toBe(260)
  expect(choices[0].logprobs.content).toEqual(rows)
})

describe("schema_in_prompt", () => {
  const system = `JSON schema: ${JSON.stringify(person)}`

  test("is the request whose system message ends with the schema, to the last token", async () => {
    const fields = { response_format: personFormat, seed: 3, temperature: 0 }
    const said = { role: "system", content: "Answer briefly." }
    const asked = await reply({
      ...fields,
      messages: [said, ...messages],
      tokenrail: { schema_in_prompt: true },
    })
    const shown = { role: "system", content: `Answer briefly.\n\n${system}` }
    const written = await reply({ ...fields, messages: [shown, ...messages] })
    expect(asked.choices).toEqual(written.choices)
    expect(asked.usage.prompt_tokens).toBe(written.usage.prompt_tokens)
    const without = await reply({ ...fields, messages: [said, ...messages] })
    expect(asked.usage.prompt_tokens).toBeGreaterThan(without.usage.prompt_tokens + 20)
  })

  test("may stand inside structured_outputs and is off by default", async () => {
    const inside = await reply({
      structured_outputs: { json: person, schema_in_prompt: true },
      temperature: 0,
    })
    const written = await reply({
      messages: [{ role: "system", content: system }, ...messages],
      structured_outputs: { json: person },
      temperature: 0,
    })
    expect(inside.usage.prompt_tokens).toBe(written.usage.prompt_tokens)
    const off = await reply({ structured_outputs: { json: person, schema_in_prompt: false }, temperature: 0 })
    const plain = await reply({ structured_outputs: { json: person }, temperature: 0 })
    expect(off.usage.prompt_tokens).toBe(plain.usage.prompt_tokens)
  })

  test.each([
    ["without a constraint", {}],
    ["with a regular expression", { structured_outputs: { regex: "a+" } }],
  ])("%s is refused", async (_, fields) => {
    const response = await post({ ...fields, tokenrail: { schema_in_prompt: true } })
    expect(response.status).toBe(400)
    expect((await response.json()).error).toMatchObject({
      param: "schema_in_prompt",
      message: expect.stringMatching(/leave schema_in_prompt out/),
    })
  })
})

describe("a whole reply", () => {
  test("has the fields of OpenAI's and a text that the schema allows", async () => {
    const body = await reply({ response_format: personFormat, seed: 5, temperature: 1.2 })
    expect(body).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      model: engine.model.id,
      choices: [
        { index: 0, message: { role: "assistant", refusal: null }, logprobs: null, finish_reason: "stop" },
      ],
      tokenrail: { seed: 5 },
    })
    const value = JSON.parse(body.choices[0].message.content)
    expect(Object.keys(value)).toEqual(["name", "age"])
    expect(value.age).toBeLessThanOrEqual(120)
    const { prompt_tokens, completion_tokens, total_tokens } = body.usage
    expect(prompt_tokens).toBeGreaterThan(0)
    expect(completion_tokens).toBeGreaterThan(0)
    expect(total_tokens).toBe(prompt_tokens + completion_tokens)
  })

  test("says length when the budget cuts the text", async () => {
    const body = await reply({ response_format: personFormat, max_tokens: 2 })
    expect(body.choices[0].finish_reason).toBe("length")
    expect(body.usage.completion_tokens).toBe(2)
  })

  test("holds n choices, each one allowed", async () => {
    const body = await reply({
      structured_outputs: { choice: ["red", "green", "blue"] },
      n: 3,
      temperature: 2,
    })
    // biome-ignore lint/suspicious/noExplicitAny: see above
    expect(body.choices.map((choice: any) => choice.index)).toEqual([0, 1, 2])
    for (const { message } of body.choices) expect(["red", "green", "blue"]).toContain(message.content)
  })

  test("a regular expression is matched in full", async () => {
    const body = await reply({ structured_outputs: { regex: "[0-9]{3}-[0-9]{4}" }, temperature: 1.5 })
    expect(body.choices[0].message.content).toMatch(/^[0-9]{3}-[0-9]{4}$/)
  })

  test("the same seed gives the same text, and the seed that was drawn is told", async () => {
    const first = await reply({ response_format: personFormat, temperature: 1.5 })
    const again = await reply({ response_format: personFormat, temperature: 1.5, seed: first.tokenrail.seed })
    expect(again.choices[0].message.content).toBe(first.choices[0].message.content)
  })

  test("log-probabilities: the bytes of the rows are the text, the chosen token is listed", async () => {
    const body = await reply({ structured_outputs: { regex: "[a-z]{8}" }, logprobs: true, top_logprobs: 3 })
    const rows: { bytes: number[]; logprob: number; token: string; top_logprobs: { token: string }[] }[] =
      body.choices[0].logprobs.content
    const bytes = Uint8Array.from(rows.flatMap((row) => row.bytes))
    expect(new TextDecoder().decode(bytes)).toBe(body.choices[0].message.content)
    for (const row of rows) {
      expect(row.logprob).toBeLessThanOrEqual(0)
      expect(row.top_logprobs.length).toBeLessThanOrEqual(4)
      expect(row.top_logprobs.map(({ token }) => token)).toContain(row.token)
    }
  })

  test("the report comes when asked for", async () => {
    const body = await reply({ response_format: personFormat, tokenrail: { report: true, timing: true } })
    expect(body.tokenrail.report.keywords).toContainEqual(
      expect.objectContaining({ keyword: "maxLength", status: "exact" }),
    )
    expect(body.usage.tokenrail).toMatchObject({
      compile_ms: expect.any(Number),
      mask_us: expect.any(Number),
    })
  })

  test("an unknown field is named in a header", async () => {
    const response = await post({ structured_outputs: { choice: ["a"] }, favourite: 1 })
    expect(response.headers.get("x-tokenrail-ignored")).toBe("favourite")
  })
})

describe("a stream", () => {
  test("joined is the whole reply with the same seed", async () => {
    const fields = { response_format: personFormat, seed: 11, temperature: 1.5 }
    const whole = await reply(fields)
    const parts = await chunks(fields)
    const text = parts.map((part) => part.choices[0].delta.content ?? "").join("")
    expect(text).toBe(whole.choices[0].message.content)
    expect(parts.at(-1).choices[0]).toMatchObject({
      delta: {},
      finish_reason: whole.choices[0].finish_reason,
    })
  })

  test("starts with the role and keeps one id", async () => {
    const parts = await chunks({ structured_outputs: { choice: ["yes"] } })
    expect(parts[0]).toMatchObject({
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }],
    })
    expect(new Set(parts.map((part) => part.id)).size).toBe(1)
    expect(parts.some((part) => "usage" in part)).toBe(false)
  })

  test("counts usage on a last chunk without choices", async () => {
    const parts = await chunks({
      structured_outputs: { choice: ["yes"] },
      stream_options: { include_usage: true },
    })
    expect(parts.slice(0, -1).every((part) => part.usage === null)).toBe(true)
    const { choices, usage } = parts.at(-1)
    expect(choices).toEqual([])
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
  })

  test("of n choices gives each its role, text and end", async () => {
    const parts = await chunks({ structured_outputs: { choice: ["red", "green"] }, n: 2, temperature: 2 })
    for (const index of [0, 1]) {
      const own = parts.filter((part) => part.choices[0].index === index)
      expect(own[0].choices[0].delta.role).toBe("assistant")
      expect(["red", "green"]).toContain(own.map((part) => part.choices[0].delta.content ?? "").join(""))
      expect(own.filter((part) => part.choices[0].finish_reason !== null)).toHaveLength(1)
    }
  })
})

describe("what is refused is a status, also for streams, and the server goes on", () => {
  const schemaFormat = (schema: unknown) => ({
    response_format: { type: "json_schema", json_schema: { name: "x", schema } },
  })
  test.each<[string, object, number, string, RegExp]>([
    ["an unknown model", { model: "gpt-9" }, 404, "model_not_found", /gpt-9.*Use/],
    ["a malformed schema", schemaFormat({ type: "objct" }), 400, "invalid_json_schema", /type/],
    ["a reference to nothing", schemaFormat({ $ref: "#/$defs/x" }), 400, "invalid_json_schema", /x/],
    [
      "an unsatisfiable schema",
      schemaFormat({ type: "integer", minimum: 5, maximum: 3 }),
      400,
      "invalid_json_schema",
      /5.*3|no value/,
    ],
    [
      "a broken regular expression",
      { structured_outputs: { regex: "(a" } },
      400,
      "invalid_grammar",
      /\(a|Unterminated/,
    ],
    ["a backreference", { structured_outputs: { regex: "(a)\\1" } }, 400, "invalid_grammar", /reference/],
    ["top_p 0", { top_p: 0 }, 400, "invalid_value", /top_p.*temperature/],
    ["a token that is not there", { logit_bias: { "99999999": 1 } }, 400, "invalid_value", /99999999/],
    ["an empty stop string", { stop: "" }, 400, "invalid_value", /stop/],
    [
      "a long prompt",
      { messages: [{ role: "user", content: "word ".repeat(5000) }] },
      400,
      "context_length_exceeded",
      /512/,
    ],
  ])("%s", async (_, fields, status, code, message) => {
    for (const stream of [false, true]) {
      const response = await post({ ...fields, stream })
      const { error } = await response.json()
      expect([response.status, error.code], error.message).toEqual([status, code])
      expect(error.message).toMatch(message)
      expect(error.type).toBe("invalid_request_error")
    }
    const after = await reply({ structured_outputs: { choice: ["alive"] } })
    expect(after.choices[0].message.content).toBe("alive")
  })
})

describe("whoever leaves frees the slot", () => {
  const long = { structured_outputs: { regex: "[a-z]{2000}" }, max_tokens: 400 }
  const idle = () =>
    expect.poll(() => engine.load().running + engine.load().waiting, { timeout: 5000 }).toBe(0)

  test("by cancelling the body of a stream", async () => {
    const response = await post({ ...long, stream: true })
    const reader = response.body!.getReader()
    await reader.read()
    await reader.read()
    expect(engine.load().running).toBe(1)
    await reader.cancel()
    await idle()
  })

  test.each([true, false])("by the request's signal, stream %s", async (stream) => {
    const controller = new AbortController()
    const response = post({ ...long, stream }, { signal: controller.signal })
    response.catch(() => {})
    await expect.poll(() => engine.load().running, { timeout: 5000, interval: 1 }).toBe(1)
    controller.abort()
    if (!stream) await expect(response).rejects.toMatchObject({ name: "AbortError" })
    await idle()
  })
})

describe("how an answer ends", () => {
  const choice = (body: { choices: object[] }) => body.choices[0]

  test("stop_regex: before the first match; the pattern is the reason", async () => {
    const letters = ["a", "b", "c"].flatMap((text) =>
      engine.tokenizer.encode(text, { addSpecialTokens: false }),
    )
    const fields = { allowed_token_ids: letters, frequency_penalty: 2, ignore_eos: true, max_tokens: 60 }
    const whole = (await reply({ ...fields, temperature: 0 })).choices[0].message.content as string
    const pattern = `${whole[40]}${whole[41]}?[${whole[42]}]`
    const { index, 0: match } = new RegExp(pattern.replace("?", "??")).exec(whole)!
    const cut = choice(await reply({ ...fields, temperature: 0, stop_regex: pattern }))
    expect(cut).toMatchObject({
      message: { content: whole.slice(0, index) },
      finish_reason: "stop",
      stop_reason: pattern,
    })
    const kept = await reply({
      ...fields,
      temperature: 0,
      stop_regex: [pattern],
      include_stop_str_in_output: true,
    })
    expect(choice(kept)).toMatchObject({ message: { content: whole.slice(0, index) + match } })
  })

  test("repetition_detection, in our names and in vLLM's", async () => {
    const [a] = engine.tokenizer.encode("a", { addSpecialTokens: false })
    const fields = { allowed_token_ids: [a], ignore_eos: true }
    for (const repetition_detection of [
      { min: 1, max: 4, count: 7 },
      { min_pattern_size: 1, max_pattern_size: 4, min_count: 7 },
    ]) {
      const body = await reply({ ...fields, repetition_detection })
      expect(choice(body)).toMatchObject({ finish_reason: "stop", stop_reason: "repetition" })
      expect(body.usage.completion_tokens).toBe(7)
    }
  })

  test("on_length close: complete within the budget, and the reply says so", async () => {
    const fields = { response_format: personFormat, max_tokens: 24, temperature: 1.5, seed: 2 }
    const close = { ...fields, tokenrail: { on_length: "close" } }
    const body = await reply(close)
    expect(JSON.parse(body.choices[0].message.content)).toHaveProperty("age")
    const streamed = await chunks(close)
    if (body.choices[0].stop_reason === "closed") {
      expect(body.tokenrail.closed).toBe(true)
      expect(streamed.at(-1).tokenrail).toEqual({ closed: true })
    } else expect(body.tokenrail.closed).toBeUndefined()
    const refused = await post({ ...close, max_tokens: 2 })
    expect((await refused.json()).error).toMatchObject({ code: "max_tokens_too_small", param: "max_tokens" })
  })

  test("on_length as the server's default; the request wins", async () => {
    const closing = createFetch(createApp(engine, { onLength: "close" }))
    const ask = async (fields: object) => {
      const response = await closing("http://localhost/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: engine.model.id, messages, max_tokens: 24, ...fields }),
      })
      return (await response.json()).choices[0]
    }
    const bound = { structured_outputs: { regex: "[ab]{10,400}" } }
    expect((await ask(bound)).finish_reason).toBe("stop")
    expect((await ask({ ...bound, tokenrail: { on_length: "truncate" } })).finish_reason).toMatch(
      /length|stop/,
    )
    expect((await ask({ ignore_eos: true })).finish_reason).toBe("length")
  })

  test("S4-20: deltas that end at words", async () => {
    const fields = { temperature: 1, seed: 4, ignore_eos: true, max_tokens: 60 }
    const whole = (await reply(fields)).choices[0].message.content
    for (const asked of [{ stream_granularity: "word" }, { tokenrail: { stream_granularity: "word" } }]) {
      const texts = (await chunks({ ...fields, ...asked })).map(
        ({ choices: [{ delta }] }) => (delta.content ?? "") as string,
      )
      expect(texts.join("")).toBe(whole)
      const sent = texts.filter((text) => text !== "")
      for (const text of sent.slice(0, -1)) expect(text).toMatch(/[ \n\p{Script=Han}\p{Script=Katakana}]$/u)
    }
  })

  test.each<[param: string, fields: object]>([
    ["stop_regex", { stop_regex: "a*" }],
    ["stop_regex", { stop_regex: ["("] }],
    ["stop_when", { stop_when: "html" }],
    ["stop_when", { stop_when: "json", response_format: personFormat }],
    ["repetition_detection", { repetition_detection: { max: 3, count: 1 } }],
    ["stream_granularity", { stream_granularity: "line" }],
    ["verify", { verify: "maybe" }],
    ["draft_tokens", { tokenrail: { draft_tokens: 3 } }],
  ])("%s is refused by its name: %j", async (param, fields) => {
    const response = await post(fields)
    expect(response.status).toBe(400)
    expect((await response.json()).error).toMatchObject({ param, message: expect.stringContaining(param) })
  })
})

test("drafts and a prediction: the same answer, and usage counts them", async () => {
  // Drafts that pause by the clock may all pause on a busy machine.
  const speculation = { method: "ngram", min: 1, adaptive: false } as const
  const drafting = await open({ device: "cpu", context: 512, speculation })
  const draftingFetch = createFetch(createApp(drafting))
  const fields = { temperature: 0, ignore_eos: true, max_tokens: 80 }
  const expected = await reply(fields)
  const response = await draftingFetch("http://localhost/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: drafting.model.id, messages, ...fields }),
  })
  const body = await response.json()
  const again = await draftingFetch("http://localhost/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: drafting.model.id,
      messages,
      ...fields,
      prediction: { type: "content", content: [{ type: "text", text: expected.choices[0].message.content }] },
    }),
  })
  const predicted = await again.json()
  await drafting.close()
  expect(predicted.choices[0].message.content).toBe(expected.choices[0].message.content)
  expect(predicted.usage.completion_tokens_details.accepted_prediction_tokens).toBeGreaterThan(0)
  expect(body.choices[0].message.content).toBe(expected.choices[0].message.content)
  const { accepted_prediction_tokens, rejected_prediction_tokens } = body.usage.completion_tokens_details
  expect(accepted_prediction_tokens + rejected_prediction_tokens).toBeGreaterThan(0)
})

describe("parameters of the sampler", () => {
  const content = (body: { choices: { message: { content: string } }[] }) => body.choices[0].message.content

  test("bad_words ban their tokens while another is left, and say when none is", async () => {
    const choice = { structured_outputs: { choice: ["a", "b"] }, temperature: 0 }
    const free = content(await reply(choice))
    const other = free === "a" ? "b" : "a"
    expect(content(await reply({ ...choice, bad_words: [free] }))).toBe(other)
    const both = await reply({ ...choice, bad_words: ["a", "b"] })
    // Of words that cannot all be kept out, the first ones are.
    expect(content(both)).toBe("b")
    expect(both.tokenrail.warnings).toEqual(["bad_words: lifted where it left no token to choose"])
    const streamed = await chunks({ ...choice, bad_words: ["a", "b"] })
    expect(streamed.at(-1).tokenrail).toEqual({ warnings: both.tokenrail.warnings })
  })

  test("use_beam_search tells the likeliest answers, in a stream too", async () => {
    const choice = { structured_outputs: { choice: ["red", "green", "blue"] }, use_beam_search: true }
    const all = await reply({ ...choice, n: 3, beam_width: 8 })
    const texts = all.choices.map((each: { message: { content: string } }) => each.message.content)
    expect(new Set(texts).size).toBe(texts.length)
    for (const text of texts) expect(["red", "green", "blue"]).toContain(text)
    expect(content(await reply({ ...choice, beam_width: 8 }))).toBe(texts[0])
    const streamed = await chunks({ ...choice, beam_width: 8 })
    expect(streamed.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(texts[0])
    const response = await post({ ...choice, temperature: 0.5 })
    expect([response.status, (await response.json()).error.param]).toEqual([400, "temperature"])
  })

  test("min_tokens puts the end off, and gives way to a constraint that ends", async () => {
    const free = await reply({ temperature: 0, min_tokens: 40, max_tokens: 60 })
    expect(free.usage.completion_tokens).toBeGreaterThanOrEqual(40)
    const bound = await reply({ structured_outputs: { regex: "a{2}b*" }, logit_bias: {}, min_tokens: 20 })
    expect(content(bound)).toMatch(/^aab*$/)
  })

  test("logit_bias as llama.cpp's list of pairs: ids and texts, and false for never", async () => {
    const [a] = engine.tokenizer.encode("a", { addSpecialTokens: false })
    const choice = { structured_outputs: { choice: ["a", "b", "c"] }, temperature: 2 }
    const never = {
      logit_bias: [
        [a, false],
        ["b", false],
      ],
    }
    for (const seed of [1, 2, 3, 4]) expect(content(await reply({ ...choice, ...never, seed }))).toBe("c")
    expect(content(await reply({ ...choice, logit_bias: [["b", 100]] }))).toBe("b")
    const response = await post({ logit_bias: [[a, "1"]] })
    const { error } = await response.json()
    expect([response.status, error.param]).toEqual([400, "logit_bias"])
    expect(error.message).toMatch(/^logit_bias: a member of the list is not a pair/)
  })

  test("allowed_token_ids narrow a constraint, forced tokens too", async () => {
    const [a] = engine.tokenizer.encode("a", { addSpecialTokens: false })
    const [b] = engine.tokenizer.encode("b", { addSpecialTokens: false })
    const narrow = { structured_outputs: { regex: "[ab]{4}" }, allowed_token_ids: [a] }
    expect(content(await reply(narrow))).toBe("aaaa")
    const response = await post({ structured_outputs: { regex: "b" }, allowed_token_ids: [a] })
    const { error } = await response.json()
    expect([response.status, error.param]).toEqual([400, "allowed_token_ids"])
    expect(error.message).toMatch(/^empty_mask: no token of allowed_token_ids may come next/)
    expect(content(await reply({ structured_outputs: { regex: "b" }, allowed_token_ids: [a, b] }))).toBe("b")
  })

  test("logprob_token_ids name tokens of every row", async () => {
    const body = await reply({ max_tokens: 3, logprobs: true, logprob_token_ids: [300, 301] })
    for (const row of body.choices[0].logprobs.content) {
      expect(row.named_logprobs.map((named: { bytes: number[] }) => named.bytes)).toEqual(
        [300, 301].map((id) => [...engine.vocabulary.bytes(id)]),
      )
    }
  })

  test.each([
    ["dry_multiplier", { dry_multiplier: -1 }],
    ["bad_words", { bad_words: [""] }],
    ["allowed_token_ids", { allowed_token_ids: [] }],
    ["min_tokens", { min_tokens: 500 }],
    ["logprobs_mode", { logprobs: true, logprobs_mode: "pretty" }],
    ["penalty_exempt", { penalty_exempt: "some" }],
    ["top_p", { top_p: 0 }],
  ])("%s out of range is refused by its name", async (param, fields) => {
    const response = await post(fields)
    expect(response.status).toBe(400)
    expect((await response.json()).error).toMatchObject({ param, message: expect.stringContaining(param) })
  })
})
