import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"
import { createFetch } from "../../../server/serve.ts"

let engine: Engine
let fetchApp: typeof fetch
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 512 })
  fetchApp = createFetch(createApp(engine))
})
afterAll(() => engine.close())

const messages = [
  { role: "system", content: "Answer briefly." },
  { role: "user", content: "Describe a person." },
]
const tools = [
  {
    type: "function",
    function: { name: "look_up", parameters: { properties: { name: { type: "string" } } } },
  },
]

const post = (path: string, fields: object): Promise<Response> =>
  fetchApp(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
  })

// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
async function reply(path: string, fields: object): Promise<any> {
  const response = await post(path, fields)
  const body = await response.json()
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body
}

const tokensOf = async (fields: object): Promise<number[]> => (await reply("/tokenize", fields)).tokens

describe("tokenize", () => {
  test.each(["/tokenize", "/v1/tokenize"])("%s counts the tokens of a text", async (path) => {
    const tokens = [...(await engine.tokenize("The rail runs north.", { raw: true }))]
    expect(await reply(path, { model: engine.model.id, prompt: "The rail runs north." })).toEqual({
      count: tokens.length,
      max_model_len: 512,
      tokens,
    })
  })

  test("token_strs spell the tokens, by bytes where they are no text", async () => {
    const { tokens, token_strs } = await reply("/tokenize", {
      prompt: "a \u{1f389}",
      add_special_tokens: false,
      return_token_strs: true,
    })
    expect(token_strs.length).toBe(tokens.length)
    const halves = token_strs.filter((text: string) => text.startsWith("bytes:"))
    expect(halves.length).toBeGreaterThan(0)
    expect(token_strs[0]).toBe("a")
  })

  test("what spells a control token is one, or text", async () => {
    const [[name, id]] = [...engine.vocabulary.specials]
    expect(await tokensOf({ prompt: name, add_special_tokens: false })).toEqual([id])
    const text = await tokensOf({ prompt: name, add_special_tokens: false, parse_special: false })
    expect(text).not.toContain(id)
    expect((await reply("/detokenize", { tokens: text })).prompt).toBe(name)
  })

  test("an empty text has no tokens but those that the tokenizer adds", async () => {
    expect(await reply("/tokenize", { prompt: "", add_special_tokens: false })).toMatchObject({
      count: 0,
      tokens: [],
    })
  })

  test.each([
    ["messages", {}],
    ["with tools", { tools }],
    ["with tools that are not called", { tools, tool_choice: "none" }],
    ["with tools left out of the prompt", { tools, tokenrail: { tools_in_prompt: false } }],
    ["with a variable of the template", { chat_template_kwargs: { enable_thinking: false } }],
    ["with an effort", { reasoning_effort: "low" }],
  ])("messages have the tokens of a chat request: %s", async (_, fields) => {
    const { count } = await reply("/tokenize", { messages, ...fields })
    const asked = { model: engine.model.id, messages, max_tokens: 1, on_length: "truncate", ...fields }
    const response = await post("/v1/chat/completions", asked)
    const body = await response.json()
    expect(response.status, JSON.stringify(body)).toBe(200)
    expect(count).toBe(body.usage.prompt_tokens)
  })

  test("without the prompt for an answer there are fewer", async () => {
    const all = await tokensOf({ messages })
    const some = await tokensOf({ messages, add_generation_prompt: false })
    expect(some.length).toBeLessThan(all.length)
    expect(all.slice(0, some.length)).toEqual(some)
  })
})

describe("detokenize", () => {
  test.each([
    ["text", "The rail runs north."],
    ["scripts", "Żółć 東京 \u{1f389}\u{1f3fd}"],
    ["white space", " \n\t  a  "],
    ["nothing", ""],
  ])("is the inverse: %s", async (_, text) => {
    for (const path of ["/detokenize", "/v1/detokenize"]) {
      const tokens = await tokensOf({ prompt: text, add_special_tokens: false })
      expect(await reply(path, { tokens })).toEqual({ prompt: text })
    }
  })

  test("spells control tokens", async () => {
    const [[name, id]] = [...engine.vocabulary.specials]
    expect(await reply("/detokenize", { tokens: [id, id] })).toEqual({ prompt: name + name })
  })
})

describe("refusals", () => {
  test.each([
    ["nothing to tokenize", "/tokenize", {}, "prompt", 400],
    ["both", "/tokenize", { prompt: "a", messages }, "messages", 400],
    ["a list of prompts", "/tokenize", { prompt: ["a"] }, "prompt", 400],
    ["no message", "/tokenize", { messages: [] }, "messages", 400],
    ["a foreign role", "/tokenize", { messages: [{ role: "robot", content: "a" }] }, "messages[0].role", 400],
    [
      "special tokens around messages",
      "/tokenize",
      { messages, add_special_tokens: true },
      "add_special_tokens",
      400,
    ],
    [
      "a template's own variable",
      "/tokenize",
      { messages, chat_template_kwargs: { messages } },
      "chat_template_kwargs.messages",
      400,
    ],
    ["half a pair", "/tokenize", { prompt: "\ud83d" }, "prompt", 400],
    ["a text above the context", "/tokenize", { prompt: "x".repeat(100_000) }, "prompt", 400],
    ["a foreign model", "/tokenize", { model: "other", prompt: "a" }, "model", 404],
    ["no tokens", "/detokenize", {}, "tokens", 400],
    ["a text for tokens", "/detokenize", { tokens: "a" }, "tokens", 400],
    ["a foreign id", "/detokenize", { tokens: [1, 1 << 24] }, "tokens[1]", 400],
    ["a negative id", "/detokenize", { tokens: [-1] }, "tokens[0]", 400],
    ["a fraction", "/detokenize", { tokens: [0.5] }, "tokens[0]", 400],
    ["a text among ids", "/detokenize", { tokens: [1, "1"] }, "tokens[1]", 400],
    ["too many", "/detokenize", { tokens: Array(262_145).fill(1) }, "tokens", 400],
  ])("%s", async (_, path, fields, param, status) => {
    const response = await post(path, fields)
    const { error } = await response.json()
    expect(response.status, JSON.stringify(error)).toBe(status)
    expect(error.param).toBe(param)
  })

  test("other methods", async () => {
    const response = await fetchApp("http://localhost/tokenize")
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"])
  })

  test("what has no effect is named", async () => {
    const response = await post("/tokenize", { prompt: "a", speed: 1 })
    expect([response.status, response.headers.get("x-tokenrail-ignored")]).toEqual([200, "speed"])
  })
})
