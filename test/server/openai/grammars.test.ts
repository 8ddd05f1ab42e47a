/** Grammars and structural tags over HTTP: the real app, the embedded model, threads of walks. */
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

function post(fields: object): Promise<Response> {
  return fetchApp("http://localhost/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ model: engine.model.id, messages: [{ role: "user", content: "Add." }], max_tokens: 120 },
      ...{ seed: 7, temperature: 1.5, ...fields },
    }),
  })
}

/** The text of the answer and why it ended. */
async function answer(fields: object): Promise<{ text: string; finish: string }> {
  const response = await post(fields)
  const body = await response.json()
  expect(response.status, JSON.stringify(body)).toBe(200)
  const [choice] = body.choices
  return { text: choice.message.content, finish: choice.finish_reason }
}

async function streamed(fields: object): Promise<string> {
  const response = await post({ ...fields, stream: true })
  expect(response.status).toBe(200)
  const lines = (await response.text()).split("\n\n").filter((line) => line.startsWith("data: {"))
  return lines.map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "").join("")
}

const sum = 'root ::= num (" + " num){1,2} "=" \nnum ::= [1-9] [0-9]{0,2}'
const larkSum = 'start: NUM (" + " NUM){1,2} "="\nNUM: /[1-9][0-9]{0,2}/'
const isSum = /^[1-9]\d{0,2}( \+ [1-9]\d{0,2}){1,2}=$/
const calls = {
  type: "structural_tag",
  format: {
    type: "tag",
    begin: "<f>",
    content: {
      type: "json_schema",
      json_schema: {
        type: "object",
        properties: { a: { enum: [1, 2] } },
        required: ["a"],
        additionalProperties: false,
      },
    },
    end: "</f>",
  },
}
const isCall = /^<f>\s*\{\s*"a"\s*:\s*[12]\s*\}\s*<\/f>$/

describe("every spelling is enforced, whole and as a stream", () => {
  test.each<[what: string, fields: object, text: RegExp]>([
    ["response_format grammar", { response_format: { type: "grammar", grammar: sum } }, isSum],
    ["structured_outputs.grammar", { structured_outputs: { grammar: larkSum } }, isSum],
    ["guided_grammar", { guided_grammar: larkSum }, isSum],
    ["grammar", { grammar: sum }, isSum],
    ["ebnf", { ebnf: sum }, isSum],
    ["response_format regex", { response_format: { type: "regex", regex: "[ab]{3}" } }, /^[ab]{3}$/],
    ["response_format structural_tag", { response_format: calls }, isCall],
    ["structured_outputs.structural_tag", { structured_outputs: { structural_tag: calls } }, isCall],
    ["structural_tag as text", { structural_tag: JSON.stringify(calls) }, isCall],
    [
      "the older dialect",
      {
        response_format: {
          type: "structural_tag",
          structures: [{ begin: "<f>", schema: { const: 1 }, end: "</f>" }],
          triggers: ["<f"],
        },
        max_tokens: 20,
      },
      /^(?:(?!<f)[\s\S])*(?:<f>\s*1[\s\S]*)?$/,
    ],
  ])("%s", async (_, fields, text) => {
    const whole = (await answer(fields)).text
    expect(whole).toMatch(text)
    expect(await streamed(fields)).toBe(whole)
  })
})

test("recursion is closed within the budget", async () => {
  const nested = 'root ::= "(" root ")" | "[" root "]" | "x"'
  for (const seed of [1, 2, 3, 4]) {
    const { text, finish } = await answer({
      ...{ grammar: nested, max_tokens: 12, seed, temperature: 2 },
      tokenrail: { on_length: "close" },
    })
    expect(finish).toBe("stop")
    const inside = text.slice(0, text.indexOf("x"))
    const mirrored = [...inside].reverse().map((open) => (open === "(" ? ")" : "]"))
    expect(text).toBe(`${inside}x${mirrored.join("")}`)
  }
})

test("what a grammar says of tokens holds in a stream, with its budget at the end", async () => {
  const grammar = 'root ::= body "."\nbody[max_tokens=4] ::= [a-z ]*'
  for (const seed of [1, 2, 3]) {
    const fields = { grammar, seed, logprobs: true, temperature: 2 }
    const body = await (await post(fields)).json()
    const [{ message, logprobs, finish_reason }] = body.choices
    expect(finish_reason).toBe("stop")
    expect(message.content).toMatch(/^[a-z ]*\.$/)
    // The full stop is one more, and so may be the end.
    expect(logprobs.content.length).toBeLessThanOrEqual(6)
    expect(await streamed(fields)).toBe(message.content)
  }
})

test("grammars inside each other, named, in threads", async () => {
  const word = { kind: "regex", pattern: "[xyz]{2}" } as const
  const { text } = await engine.generate("?", {
    constraint: { kind: "lark", text: 'start: "<" @total ">" @word', named: { total: larkSum, word } },
  })
  expect(text).toMatch(/^<[1-9]\d{0,2}( \+ [1-9]\d{0,2}){1,2}=>[xyz]{2}$/)
})

test("a control token that a grammar names is that token alone", async () => {
  const id = engine.vocabulary.specials.get("<|im_start|>")!
  const fields = { grammar: "root ::= [ab]{2} <|im_start|> [cd]{2}", logprobs: true }
  const body = await (await post(fields)).json()
  expect(body.choices[0].message.content).toMatch(/^[ab]{2}[cd]{2}$/)
  const { tokens } = await engine.generate("?", { grammar: fields.grammar, raw: true })
  expect(tokens.filter((token) => token === id)).toHaveLength(1)
})

describe("mistakes are 400 with field, place and source line", () => {
  test.each<[what: string, fields: object, param: string, path: string, message: RegExp]>([
    [
      "a rule that is not defined",
      { response_format: { type: "grammar", grammar: 'root ::= "a"\n  b' } },
      "response_format.grammar",
      "line 2, column 3",
      /line 2, column 3: rule "b" is not defined\n2 \| {3}b\n {6}\^/,
    ],
    [
      "a Lark mistake",
      { guided_grammar: "start: b" },
      "guided_grammar",
      "line 1, column 8",
      /\n1 \| start: b/,
    ],
    ["neither notation", { ebnf: "hello" }, "ebnf", "line 1, column 1", /expected a definition/],
    ["a token that is none", { grammar: "root ::= <|nope|>" }, "grammar", "line 1, column 10", /nope/],
    ["a tag's unknown field", { structural_tag: { type: "any_text", x: 1 } }, "structural_tag", "/x", /x/],
    [
      "a schema in a tag that nothing satisfies",
      { structural_tag: { type: "json_schema", json_schema: { type: "integer", minimum: 5, maximum: 3 } } },
      "structural_tag",
      "/json_schema",
      /contradict/,
    ],
    ["a grammar without a text", { grammar: 'root ::= "a" root' }, "grammar", "", /no text satisfies/],
  ])("%s", async (_, fields, param, path, message) => {
    for (const stream of [false, true]) {
      const response = await post({ ...fields, stream })
      const { error } = await response.json()
      expect([response.status, error.code, error.param], error.message).toEqual([
        400,
        "invalid_grammar",
        param,
      ])
      expect(error.path).toBe(path)
      expect(error.message).toMatch(message)
    }
  })
})
