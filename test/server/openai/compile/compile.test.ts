/** `POST /v1/compile`: the report of chat, verdicts on texts, refusals with their place. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../../runtime/index.ts"
import { createApp } from "../../../../server/app.ts"
import { createFetch } from "../../../../server/serve.ts"
import { writeTinyModel } from "../../../support/onnx.ts"

let engine: Engine
let fetchApp: typeof fetch
beforeAll(async () => {
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { contextLength: 1_024 })
  engine = await open({ model, device: "cpu", threads: 1 })
  fetchApp = createFetch(createApp(engine))
})
afterAll(() => engine.close())

// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
async function post(fields: object, path = "/v1/compile"): Promise<{ status: number; body: any }> {
  const response = await fetchApp(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
  })
  return { status: response.status, body: await response.json() }
}

const schema = {
  type: "object",
  properties: { age: { type: "integer", minimum: 1, title: "Age" } },
  required: ["age"],
}
const response_format = { type: "json_schema", json_schema: { name: "person", schema } }

test("the report is that of a chat request with the same constraint", async () => {
  const { status, body } = await post({ response_format })
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.results).toBeUndefined()
  const { body: chat } = await post(
    {
      ...{ model: engine.model.id, messages: [{ role: "user", content: "x" }], max_tokens: 64 },
      ...{ response_format, tokenrail: { report: true, on_length: "close" } },
    },
    "/v1/chat/completions",
  )
  expect(body.report).toEqual(chat.tokenrail.report)
  expect(body.report.satisfiable).toBe(true)
  await expect.poll(() => engine.load().running).toBe(0)
})

test("each text has a verdict, with the byte where it fails and what was expected", async () => {
  const check = ['{"age": 3}', '{"age":3', '{"ä', '{"age":0}', '{ "\\u0061ge" : 7 }']
  const { status, body } = await post({ structured_outputs: { json: schema }, check })
  expect(status, JSON.stringify(body)).toBe(200)
  const [whole, early, other, zero, spelled] = body.results
  expect(whole).toEqual({ accepted: true, prefix: true, offset: 10, expected: [] })
  expect(early).toMatchObject({ accepted: false, prefix: true, offset: 8 })
  expect(early.expected.length).toBeGreaterThan(0)
  expect(other).toMatchObject({ accepted: false, prefix: expect.any(Boolean) })
  expect(zero).toMatchObject({ accepted: false, prefix: false, offset: 8 })
  expect(zero.expected[0]).toMatchObject({ what: expect.any(String), path: expect.any(String) })
  expect(spelled.accepted).toBe(true)
})

test("offsets count bytes", async () => {
  const { body } = await post({ regex: "äöx", check: ["äöy", "äöx"] })
  expect(body.results.map(({ offset }: { offset: number }) => offset)).toEqual([4, 5])
})

const user = "<|user|>"
const calls = {
  type: "tag",
  begin: `${user}f`,
  content: { type: "json_schema", json_schema: schema },
  end: "<|end|>",
}
const tag = (format: object) => ({ response_format: { type: "structural_tag", format } })

test.each<[name: string, constraint: object, accepted: string[], rejected: [text: string, offset: number][]]>(
  [
    [
      "a tag whose ends are tokens",
      tag(calls),
      [`${user}f{"age":3}<|end|>`],
      [
        [`${user}f{"age":3}`, 18],
        [`${user}g`, 8],
      ],
    ],
    [
      "tags behind a trigger",
      tag({ type: "triggered_tags", triggers: [user], tags: [calls] }),
      ["hi", `hi ${user}f{"age":3}<|end|>, bye`],
      // The digit may begin 0.1e1.
      [[`hi ${user}f{"age":0}<|end|>`, 20]],
    ],
    [
      "a token by its name",
      tag({
        type: "sequence",
        elements: [
          { type: "const_string", value: "a" },
          { type: "token", token: user },
        ],
      }),
      [`a${user}`],
      [
        ["a<|x|>", 3],
        ["a", 1],
      ],
    ],
    ["a token of a Lark grammar", { grammar: `start: ${user} "a"` }, [`${user}a`], [["a", 0]]],
  ],
)("texts spell the control tokens that %s names", async (_, constraint, accepted, rejected) => {
  const check = [...accepted, ...rejected.map(([text]) => text)]
  const { status, body } = await post({ ...constraint, check })
  expect(status, JSON.stringify(body)).toBe(200)
  const verdicts = body.results.map(({ accepted, offset }: { accepted: boolean; offset: number }) => [
    accepted,
    offset,
  ])
  expect(verdicts).toEqual([
    ...accepted.map((text) => [true, text.length]),
    ...rejected.map(([, offset]) => [false, offset]),
  ])
})

test.each<[name: string, constraint: object]>([
  ["Lark", { grammar: 'start: <[256]> "a"' }],
  ["Lark, in a range", { grammar: 'start: "b" | <[1,255-258]> "a"' }],
  ["Lark, any", { grammar: 'start: <[*]> "a"' }],
  ["GBNF", { grammar: 'root ::= Token(256) "a"' }],
  ["a tag", tag({ type: "token", token: 256 })],
  ["a tag, any but one", tag({ type: "any_tokens", exclude_tokens: [256] })],
])("tokens by id in %s compile, and no text is judged by them", async (_, constraint) => {
  const whole = await post(constraint)
  expect(whole.status, JSON.stringify(whole.body)).toBe(200)
  const { status, body } = await post({ ...constraint, check: ["<|user|>a", "a"] })
  expect([status, body.error.kind ?? body.error.code], JSON.stringify(body)).toEqual([400, "unsupported"])
  expect(body.error.message).toMatch(/vocabulary|check reads texts as bytes/)
})

test.each<[object, string]>([
  [{}, "response_format"],
  [{ regex: "(", check: ["a"] }, "regex"],
  [{ regex: "a", check: "a" }, "check"],
  [{ regex: "a", check: [1] }, "check[0]"],
  [{ regex: "a", check: Array(401).fill("a") }, "check"],
  [{ regex: "a", tools: [] }, "tools"],
  [
    { response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: "what" } } } },
    "response_format.json_schema.schema",
  ],
  [{ regex: "a", model: "other" }, "model"],
])("a wrong request is refused at its place (%#)", async (fields, param) => {
  const { status, body } = await post(fields)
  expect(body.error, JSON.stringify(body)).toMatchObject({ param, type: "invalid_request_error" })
  expect(status).toBe(param === "model" ? 404 : 400)
})
