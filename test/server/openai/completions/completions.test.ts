import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
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

const prompt = "The rail runs north, and"
const path = "/v1/completions"

function post(fields: object, init: RequestInit = {}): Promise<Response> {
  return fetchApp(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: engine.model.id, prompt, ...fields }),
    ...init,
  })
}

interface Logprobs {
  tokens: string[]
  token_logprobs: (number | null)[]
  top_logprobs: (Record<string, number> | null)[]
  text_offset: number[]
}

interface Choice {
  index: number
  text: string
  logprobs: Logprobs | null
  finish_reason: string | null
  stop_reason: string | number | null
  tokenrail?: { fields: { event: string; path: string; value?: unknown }[] }
}

// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
type Body = Record<string, any> & { choices: Choice[] }

async function reply(fields: object): Promise<Body> {
  return bodyOf(await post(fields))
}

async function chunks(fields: object): Promise<Body[]> {
  return chunksOf(await post({ stream: true, ...fields }))
}

/** The choices that the chunks of a stream make. */
function joined(all: readonly Body[]): Choice[] {
  const choices: Choice[] = []
  for (const { index, text, logprobs, finish_reason, stop_reason } of all.flatMap((each) => each.choices)) {
    choices[index] ??= { index, text: "", logprobs: null, finish_reason: null, stop_reason: null }
    const choice = choices[index]
    expect(choice.finish_reason).toBeNull()
    choice.text += text
    if (finish_reason !== null) Object.assign(choice, { finish_reason, stop_reason })
    if (!logprobs) continue
    choice.logprobs ??= { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] }
    for (const key of Object.keys(choice.logprobs) as (keyof Logprobs)[])
      (choice.logprobs[key] as unknown[]).push(...logprobs[key])
  }
  return choices
}

const ids = async (text: string) => [...(await engine.tokenize(text, { raw: true }))]

describe("a whole reply", () => {
  test("has the shape of OpenAI's, and sixteen tokens where nothing is said", async () => {
    const body = await reply({ ignore_eos: true, seed: 1 })
    expect(body).toMatchObject({
      id: expect.stringMatching(/^cmpl-/),
      object: "text_completion",
      created: expect.any(Number),
      model: engine.model.id,
      system_fingerprint: expect.stringMatching(/^fp_/),
      choices: [{ index: 0, text: expect.any(String), logprobs: null, finish_reason: "length" }],
      usage: { prompt_tokens: (await ids(prompt)).length, completion_tokens: 16 },
      tokenrail: { seed: 1 },
    })
  })

  test("goes on with the text as it stands: no template", async () => {
    const fields = { temperature: 0, max_tokens: 12, ignore_eos: true }
    const [{ text }] = (await reply(fields)).choices
    const plain = await engine.generate(await ids(prompt), {
      ...{ raw: true, temperature: 0, maxTokens: 12, ignoreEos: true },
    })
    expect(text).toBe(plain.text)
    expect((await reply({ ...fields, prompt: await ids(prompt) })).choices[0].text).toBe(text)
    expect((await reply({ ...fields, prompt: [await ids(prompt)] })).choices[0].text).toBe(text)
  })

  test("of several prompts: choice prompt · n + j, and the prompt p alone with the seed plus p", async () => {
    const prompts = ["One", "Two and", "Two and"]
    const fields = { n: 2, max_tokens: 8, ignore_eos: true }
    const body = await reply({ ...fields, prompt: prompts, seed: 7 })
    expect(body.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5])
    for (const [p, each] of prompts.entries()) {
      const alone = await reply({ ...fields, prompt: each, seed: 7 + p })
      const texts = body.choices.slice(2 * p, 2 * p + 2).map(({ text }) => text)
      expect(texts).toEqual(alone.choices.map(({ text }) => text))
    }
    expect(body.choices[2].text).not.toBe(body.choices[4].text)
    const counts = await Promise.all(prompts.map(async (each) => (await ids(each)).length))
    const promptTokens = counts.reduce((a, b) => a + b)
    expect(body.usage).toMatchObject({
      prompt_tokens: promptTokens,
      completion_tokens: 48,
      total_tokens: promptTokens + 48,
    })
  })

  test.each([
    ["structured_outputs", { structured_outputs: { regex: " [0-9]{3}" } }, /^ [0-9]{3}$/],
    ["response_format", { response_format: { type: "json_object" }, max_tokens: 60, temperature: 0 }, /^\{/],
    ["grammar", { grammar: 'root ::= " yes" | " no"' }, /^ (yes|no)$/],
    ["guided_choice", { guided_choice: [" a", " b"] }, /^ [ab]$/],
  ])("is held to a constraint: %s", async (_, fields, pattern) => {
    const body = await reply({ seed: 3, ...fields })
    expect(body.choices[0].text).toMatch(pattern)
  })

  test("a default budget ends with the context, and so does a larger one, with a warning", async () => {
    const long = Array(505).fill((await ids("a"))[0])
    const body = await reply({ prompt: [long, [long[0]]], ignore_eos: true })
    expect(body.usage.completion_tokens).toBe(512 - 505 + 16)
    const cut = await reply({ prompt: long, max_tokens: 16, ignore_eos: true })
    expect([cut.usage.completion_tokens, cut.choices[0].finish_reason]).toEqual([512 - 505, "length"])
    expect(cut.tokenrail.warnings).toEqual([expect.stringMatching(/^max_tokens: 16 are more than the 7 /)])
  })

  test("a list is refused at the first prompt that does not fit, before the others cost anything", async () => {
    const long = "a b ".repeat(512)
    const tokenize = vi.spyOn(engine, "tokenize")
    const response = await post({ prompt: ["a", long, ...Array(100).fill("b")] })
    expect(tokenize.mock.calls.length).toBe(2)
    tokenize.mockRestore()
    const { error } = await response.json()
    expect([response.status, error.code]).toEqual([400, "context_length_exceeded"])
    expect(engine.load()).toMatchObject({ running: 0, waiting: 0 })
  })

  test("special tokens of the prompt are read, unless parse_special says otherwise", async () => {
    const [name] = [...engine.vocabulary.specials.keys()]
    const counted = async (fields: object) => (await reply({ max_tokens: 1, ...fields })).usage.prompt_tokens
    expect(await counted({ prompt: `a${name}b` })).toBe((await ids(`a${name}b`)).length)
    expect(await counted({ prompt: `a${name}b`, parse_special: false })).toBeGreaterThan(
      await counted({ prompt: `a${name}b`, parse_special: true }),
    )
  })

  test("use_beam_search keeps best_of texts and tells n, for each prompt", async () => {
    const body = await reply({
      ...{ prompt: ["a", "b"], structured_outputs: { choice: ["x", "y", "z"] }, temperature: 0 },
      ...{ use_beam_search: true, best_of: 8, n: 2 },
    })
    expect(body.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3])
    for (const { text } of body.choices) expect(["x", "y", "z"]).toContain(text)
    expect(new Set(body.choices.slice(0, 2).map(({ text }) => text)).size).toBe(2)
  })

  test("best_of tells those with the highest mean log-probability, the best first, and counts all", async () => {
    const fields = { max_tokens: 6, ignore_eos: true, seed: 11, temperature: 1.5 }
    const all = await reply({ ...fields, n: 5, logprobs: 0 })
    const mean = ({ logprobs }: Choice) =>
      logprobs!.token_logprobs.reduce<number>((sum, one) => sum + one!, 0) / logprobs!.tokens.length
    const ranked = [...all.choices].sort((a, b) => mean(b) - mean(a))
    const told = await reply({ ...fields, n: 2, best_of: 5 })
    expect(told.choices).toEqual(
      ranked.slice(0, 2).map((choice, index) => ({ ...choice, index, logprobs: null })),
    )
    expect(told.usage.completion_tokens).toBe(30)
  })
})

describe("log-probabilities", () => {
  test("are four lists side by side; the offsets cut the text", async () => {
    const { text, logprobs } = (await reply({ logprobs: 3, seed: 2, max_tokens: 20, ignore_eos: true }))
      .choices[0]
    const { tokens, token_logprobs, top_logprobs, text_offset } = logprobs!
    expect([token_logprobs, top_logprobs, text_offset].map((list) => list.length)).toEqual([20, 20, 20])
    expect(text_offset[0]).toBe(0)
    for (const [i, token] of tokens.entries()) {
      expect(top_logprobs[i]![token]).toBe(token_logprobs[i])
      expect([3, 4]).toContain(Object.keys(top_logprobs[i]!).length)
      if (!token.startsWith("bytes:")) expect(text.slice(text_offset[i]).startsWith(token)).toBe(true)
    }
  })

  test("logprobs: 0 tells of the token alone", async () => {
    const { logprobs } = (await reply({ logprobs: 0, max_tokens: 2, ignore_eos: true })).choices[0]
    expect(logprobs!.top_logprobs).toEqual(
      logprobs!.tokens.map((token, i) => ({ [token]: logprobs!.token_logprobs[i] })),
    )
  })

  test("a character of several tokens: names by bytes, one offset", async () => {
    const { text, logprobs } = (
      await reply({ logprobs: 1, structured_outputs: { choice: ["\u{1f389}é!"] }, max_tokens: 20 })
    ).choices[0]
    expect(text).toBe("\u{1f389}é!")
    const halves = logprobs!.tokens.filter((token) => token.startsWith("bytes:"))
    expect(halves.length).toBeGreaterThan(0)
    for (const half of halves) expect(half).toMatch(/^bytes:(\\x[0-9a-f]{2})+$/)
    const offsets = logprobs!.text_offset
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
    for (const offset of offsets) expect([0, 2, 3]).toContain(offset)
  })
})

describe("echo", () => {
  test("puts the prompt before the answer, as text or as what its tokens spell", async () => {
    const fields = { temperature: 0, max_tokens: 5, ignore_eos: true }
    const { text } = (await reply(fields)).choices[0]
    expect((await reply({ ...fields, echo: true })).choices[0].text).toBe(prompt + text)
    const [name] = [...engine.vocabulary.specials.keys()]
    const special = `${prompt}${name}`
    const [asText, asIds] = (await reply({ ...fields, echo: true, prompt: [special, special] })).choices
    expect(asText.text.startsWith(special)).toBe(true)
    expect(asIds.text).toBe(asText.text)
    const written = (await reply({ ...fields, echo: true, prompt: await ids(special) })).choices[0]
    expect(written.text).toBe(asText.text)
  })

  test("with logprobs judges the prompt: null first, then what the model says of each token", async () => {
    const { text, logprobs } = (
      await reply({ echo: true, logprobs: 2, max_tokens: 3, ignore_eos: true, n: 2, seed: 5 })
    ).choices[1]
    const promptIds = await ids(prompt)
    expect(logprobs!.tokens.length).toBe(promptIds.length + 3)
    expect([logprobs!.token_logprobs[0], logprobs!.top_logprobs[0]]).toEqual([null, null])
    for (const [i, offset] of logprobs!.text_offset.entries())
      expect(text.slice(offset).startsWith(logprobs!.tokens[i])).toBe(true)
    const drawn = await engine.generate(promptIds.slice(0, 3), {
      ...{ raw: true, maxTokens: 1, logprobs: 1, logprobsMode: "unmasked_logprobs" },
    })
    const top = Object.values(logprobs!.top_logprobs[3]!)[0]
    expect(top).toBeCloseTo(drawn.logprobs![0].top[0].logprob, 3)
  })

  test("with max_tokens 0 judges and writes nothing", async () => {
    const fields = { echo: true, max_tokens: 0 }
    const body = await reply({ ...fields, logprobs: 1, prompt: [prompt, "Another one"] })
    expect(body.choices.map(({ text }) => text)).toEqual([prompt, "Another one"])
    expect(body.choices[0].finish_reason).toBe("length")
    expect(body.usage.completion_tokens).toBe(0)
    expect(body.choices[0].logprobs!.tokens.join("")).toBe(prompt)
    const bare = await reply(fields)
    expect(bare.choices[0]).toMatchObject({ text: prompt, logprobs: null })
  })
})

describe("a stream", () => {
  test.each([
    ["plain", {}],
    ["of several prompts and answers", { prompt: ["One", "Two", "Three"], n: 2 }],
    ["with log-probabilities", { logprobs: 2, n: 2 }],
    ["with an echo", { echo: true, prompt: ["One", "Two"], n: 2 }],
    ["with a judged echo", { echo: true, logprobs: 1, prompt: ["One", "Two"], n: 3 }],
    ["of a judged prompt alone", { echo: true, logprobs: 1, max_tokens: 0 }],
    ["under a constraint", { structured_outputs: { regex: " [a-z]{4,30}\\." }, n: 2 }],
    ["that stops", { stop: ["e", "a"], n: 3 }],
    ["by words", { tokenrail: { stream_granularity: "word" } }],
  ])("joined is the whole reply: %s", async (_, fields) => {
    const asked = { seed: 21, max_tokens: 24, ...fields }
    const whole = await reply(asked)
    const all = await chunks({ ...asked, stream_options: { include_usage: true } })
    const last = all.at(-1)!
    expect(joined(all)).toEqual(whole.choices)
    expect(last.choices).toEqual([])
    const { prompt_tokens, completion_tokens, total_tokens } = whole.usage
    expect(last.usage).toMatchObject({ prompt_tokens, completion_tokens, total_tokens })
    for (const [i, chunk] of all.slice(0, -1).entries()) {
      const { id, object, model, created, choices, usage } = chunk
      expect({ id, object, model, created }).toEqual({
        id: all[0].id,
        object: "text_completion",
        model: engine.model.id,
        created: all[0].created,
      })
      expect(choices.length).toBe(1)
      expect(usage).toBeNull()
      expect(chunk.tokenrail?.seed).toBe(i === 0 ? 21 : undefined)
    }
  })

  test("tells what happens to the values of a JSON text where that is asked for", async () => {
    const all = await chunks({
      response_format: { type: "json_schema", json_schema: { schema: { const: { name: ["Ada", 36] } } } },
      tokenrail: { fields: true },
      max_tokens: 60,
    })
    const events = all.flatMap((chunk) =>
      chunk.choices.flatMap((choice: Choice) => choice.tokenrail?.fields ?? []),
    )
    const closed = events.filter(({ event }) => event === "close").map(({ path, value }) => [path, value])
    expect(closed).toContainEqual(["/name/0", "Ada"])
    expect(closed).toContainEqual(["/name/1", 36])
  })

  test("tells usage on every chunk where that is asked for", async () => {
    const all = await chunks({
      max_tokens: 6,
      ignore_eos: true,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    })
    const counts = all.map(({ usage }) => usage.completion_tokens)
    expect(counts).toEqual([...counts].sort((a, b) => a - b))
    expect(counts.at(-1)).toBe(6)
  })

  test("that is left ends all of its answers", async () => {
    const response = await post({
      stream: true,
      prompt: ["One", "Two"],
      n: 2,
      max_tokens: 400,
      ignore_eos: true,
    })
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    while (engine.load().running + engine.load().waiting > 0)
      await new Promise((resolve) => setTimeout(resolve, 5))
    expect(engine.metrics.finished.abort).toBeGreaterThanOrEqual(4)
  })
})

describe("refusals", () => {
  test.each([
    ["no prompt", { prompt: null }, "prompt", "missing_required_parameter"],
    ["an object", { prompt: { text: "a" } }, "prompt", "invalid_value"],
    ["an empty list", { prompt: [] }, "prompt", "invalid_value"],
    ["an empty list of ids", { prompt: [[1], []] }, "prompt[1]", "invalid_value"],
    ["two kinds in a list", { prompt: ["a", [1]] }, "prompt[1]", "invalid_value"],
    ["a fraction as an id", { prompt: [1, 1.5] }, "prompt[1]", "invalid_value"],
    ["a text as an id", { prompt: [[1, "a"]] }, "prompt[0][1]", "invalid_value"],
    ["a foreign id", { prompt: [1 << 24] }, "prompt", "invalid_value"],
    ["a foreign id in a list", { prompt: [[1], [1 << 24]] }, "prompt[1]", "invalid_value"],
    ["half a pair in a prompt", { prompt: ["a", "\ud83d"] }, "prompt[1]", "invalid_value"],
    ["129 prompts", { prompt: Array(129).fill("a") }, "prompt", "invalid_value"],
    ["too many answers", { prompt: Array(128).fill("a"), n: 128 }, "n", "invalid_value"],
    ["a long prompt", { prompt: "word ".repeat(600) }, "prompt", "context_length_exceeded"],
    [
      "a long prompt in a list",
      { prompt: ["a", "word ".repeat(600)] },
      "prompt[1]",
      "context_length_exceeded",
    ],
    ["no tokens and no echo", { max_tokens: 0 }, "max_tokens", "invalid_value"],
    ["no tokens, twice", { max_tokens: 0, echo: true, n: 2 }, "max_tokens", "invalid_value"],
    ["logprobs as a switch", { logprobs: true }, "logprobs", "invalid_value"],
    ["six alternatives", { logprobs: 6 }, "logprobs", "invalid_value"],
    ["best_of below n", { n: 3, best_of: 2 }, "best_of", "invalid_value"],
    ["best_of in a stream", { best_of: 2, stream: true }, "best_of", "invalid_value"],
    ["best_of by logits", { best_of: 2, logprobs_mode: "raw_logits" }, "logprobs_mode", "invalid_value"],
    ["a suffix", { suffix: "end" }, "suffix", "unsupported_parameter"],
    ["messages", { messages: [{ role: "user", content: "a" }] }, "messages", "unsupported_parameter"],
    ["tools", { tools: [{ type: "function", function: { name: "a" } }] }, "tools", "unsupported_parameter"],
    ["a required tool", { tool_choice: "required" }, "tool_choice", "unsupported_parameter"],
    ["prompt_logprobs", { prompt_logprobs: 1 }, "prompt_logprobs", "unsupported_parameter"],
    ["named log-probabilities", { logprob_token_ids: [1] }, "logprob_token_ids", "unsupported_parameter"],
    [
      "the schema in the prompt",
      { tokenrail: { schema_in_prompt: true } },
      "schema_in_prompt",
      "invalid_value",
    ],
    ["reasoning", { tokenrail: { reason: { until: "x" } } }, "tokenrail.reason", "unsupported_parameter"],
    ["a misspelt constraint", { guided_jsn: {} }, "guided_jsn", "unsupported_parameter"],
    ["two constraints", { regex: "a", grammar: 'root ::= "a"' }, "regex", "invalid_value"],
    ["options without a stream", { stream_options: {} }, "stream_options", "invalid_value"],
    ["a temperature", { temperature: -1 }, "temperature", "invalid_value"],
    [
      "too many rows",
      { logprobs: 5, max_tokens: 500, n: 128, prompt: ["a", "b", "c"] },
      "n",
      "invalid_value",
    ],
  ])("%s", async (_, fields, param, code) => {
    const response = await post(fields)
    const { error } = await response.json()
    expect(response.status, JSON.stringify(error)).toBe(400)
    expect(error).toMatchObject({ param, code, type: "invalid_request_error" })
  })

  test("a model that there is not", async () => {
    const response = await post({ model: "other" })
    expect([response.status, (await response.json()).error.code]).toEqual([404, "model_not_found"])
  })

  test("suffix and tools that ask for nothing are none", async () => {
    await reply({ suffix: "", tools: [], best_of: 1, max_tokens: 1 })
  })
})
