/**
 * Cases of requests that a server must refuse: with a status of 4xx and a JSON error that says why.
 */
import type { Asker } from "../ask.ts"
import { type ApiCase, type ApiRequest, type JsonObject, RawJson } from "../case.ts"
import { isRefused } from "../judges.ts"

const prompt = "Tell me a joke."
const path = "/chat/completions"
const format = (schema: string): JsonObject => ({
  response_format: {
    type: "json_schema",
    json_schema: { name: "answer", strict: true, schema: new RawJson(schema) },
  },
})
const member = (schema: string) =>
  format(`{"type":"object","properties":{"v":${schema}},"required":["v"],"additionalProperties":false}`)

export function errorCases(ask: Asker): ApiCase[] {
  const chats = [...fieldRows, ...schemaRows].map(
    ([name, fields]) => [name, ask.chat(prompt, { max_tokens: 8, ...fields })] as const,
  )
  const streamed = streamedNames.map((wanted) => {
    const [, fields] = [...fieldRows, ...schemaRows].find(([name]) => name === wanted)!
    return [`${wanted}, streamed`, ask.chat(prompt, { max_tokens: 8, ...fields, stream: true })] as const
  })
  return [...bodyRows, ...chats, ...streamed].map(
    ([name, request]): ApiCase => ({
      ...{ area: "errors", name, isSentOnce: true },
      expectsRefusal: true,
      requests: [request],
      judge: isRefused,
    }),
  )
}

const bodyRows: readonly (readonly [name: string, request: ApiRequest])[] = [
  ["JSON that is cut off", { path, body: '{"model":"x","messages":[{"role":"user"' }],
  ["an empty body", { path, body: "" }],
  ["a list as the body", { path, body: "[]" }],
  ["a text that is no JSON", { path, body: "hello" }],
  ["an unknown route", { path: "/chat/completionz", body: "{}" }],
  ["GET instead of POST", { path }],
  ["JSON of 5,000 levels", { path, body: `{"messages":${"[".repeat(5_000)}${"]".repeat(5_000)}}` }],
]

type Row = readonly [name: string, fields: JsonObject]

const fieldRows: readonly Row[] = [
  ["an unknown model", { model: "no-such-model-9q" }],
  ["no messages", { messages: undefined }],
  ["an empty list of messages", { messages: [] }],
  ["messages that are a text", { messages: "hello" }],
  ["a message without a role", { messages: [{ content: "hello" }] }],
  ["a message of an unknown role", { messages: [{ role: "wizard", content: "hello" }] }],
  ["content that is a number", { messages: [{ role: "user", content: 7 }] }],
  ["temperature: -1", { temperature: -1 }],
  ["temperature that is a text", { temperature: "hot" }],
  ["top_p: 2", { top_p: 2 }],
  ["n: 0", { n: 0 }],
  ["max_tokens: -5", { max_tokens: -5 }],
  ["max_tokens that is a text", { max_tokens: "many" }],
  ["stop that is a number", { stop: 7 }],
  ["stream that is a text", { stream: "perhaps" }],
  ["top_logprobs: 999", { logprobs: true, top_logprobs: 999 }],
  ["an unknown response format", { response_format: { type: "yaml" } }],
  ["a response format that is a text", { response_format: "json" }],
  [
    "json_schema without a schema",
    { response_format: { type: "json_schema", json_schema: { name: "answer" } } },
  ],
  ["json_schema without its object", { response_format: { type: "json_schema" } }],
]

/** Schemas that are not valid, or that no value satisfies. */
const schemaRows: readonly Row[] = [
  ["schema: an unknown type", member('{"type":"odd"}')],
  ["schema: a pattern that is none", member('{"type":"string","pattern":"([0-9"}')],
  ["schema: minLength: -1", member('{"type":"string","minLength":-1}')],
  ["schema: minimum that is a text", member('{"type":"integer","minimum":"three"}')],
  ["schema: required that is a text", format('{"type":"object","required":"a"}')],
  ["schema: properties that are a list", format('{"type":"object","properties":["a"]}')],
  ["schema: an empty enum", member('{"enum":[]}')],
  ["schema: a $ref to nothing", member('{"$ref":"#/$defs/missing"}')],
  ["schema: a $ref to a file", member('{"$ref":"file:///etc/passwd"}')],
  ["schema: a list", format("[]")],
  ["schema: a text", format('"object"')],
  ["schema: no value, bounds", member('{"type":"integer","minimum":3,"maximum":1}')],
  ["schema: no value, types", member('{"allOf":[{"type":"integer"},{"type":"string"}]}')],
  ["schema: no value, false", member("false")],
  [
    "schema: no end",
    format('{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"],"additionalProperties":false}'),
  ],
]

const streamedNames = [
  "an unknown response format",
  "temperature that is a text",
  "schema: an unknown type",
  "schema: a $ref to nothing",
]
