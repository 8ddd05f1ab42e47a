/**
 * Cases of the responses API and of legacy completions. They are skipped if the server has no such
 * route.
 */
import type { Asker } from "../ask.ts"
import type { Reply } from "../case.ts"
import {
  type ApiCase,
  type ApiRequest,
  type Finding,
  finding,
  honoured,
  type JsonObject,
  RawJson,
} from "../case.ts"
import { fieldsOf, listOf, parsed } from "../chat.ts"
import { Constraint } from "../constraint.ts"
import { events } from "../events.ts"
import { isRefused, malformed } from "../judges.ts"
import { schemaRows } from "../schemas.ts"
import { usageForm } from "./streams.ts"

/** Keywords that are also sent to the responses API. */
const keywords = [
  "enum",
  "pattern",
  "minimum",
  "uniqueItems",
  "required",
  "additionalProperties",
  "anyOf",
  "$ref",
]
const now = {
  type: "function",
  name: "now",
  parameters: { type: "object", properties: {}, additionalProperties: false },
}
const prompt = "Tell me a joke."

export function otherCases(ask: Asker): ApiCase[] {
  return [...responsesCases(ask), ...completionCases(ask)]
}

function responsesCases(ask: Asker): ApiCase[] {
  const request = (fields: JsonObject): ApiRequest => ({
    path: "/responses",
    body: { input: prompt, max_output_tokens: ask.budget(), ...fields },
  })
  const formatOf = (schema: string) => ({
    text: { format: { type: "json_schema", name: "answer", strict: true, schema: new RawJson(schema) } },
  })
  const small = { max_output_tokens: 24 }
  const rows = keywords.map((keyword) => schemaRows().find((row) => row.keyword === keyword)!)
  const make = (name: string, fields: JsonObject, judge: ApiCase["judge"]): ApiCase => ({
    ...{ area: "responses", name },
    requests: [request(fields)],
    isOptional: true,
    judge,
  })
  const nested = { type: "function", function: { name: "now", parameters: {} } }
  const first = formatOf(rows[0].schema)
  // The first request finds out whether there is such a route.
  const refused = (name: string, fields: JsonObject): ApiCase => ({
    ...{ area: "responses", name, isSentOnce: true },
    requests: [request(small), request(fields)],
    ...{ isOptional: true, expectsRefusal: true },
    judge: isRefused,
  })
  return [
    make("the form", small, ([reply]) => responseForm(reply)),
    make(
      "input as items",
      { ...small, input: [{ role: "user", content: [{ type: "input_text", text: prompt }] }] },
      ([reply]) => responseForm(reply),
    ),
    make("instructions", { ...small, instructions: "Be brief." }, ([reply]) => responseForm(reply)),
    ...rows.map(({ keyword, name, prompt: input, schema }) =>
      make(`text.format: ${keyword}, ${name}`, { input, ...formatOf(schema) }, ([reply]) =>
        textVerdict(reply, schema),
      ),
    ),
    make("text.format, streamed", { input: rows[0].prompt, ...first, stream: true }, ([reply]) =>
      streamVerdict(reply, rows[0].schema),
    ),
    make("json_object", { input: "A poem. (JSON)", text: { format: { type: "json_object" } } }, ([reply]) =>
      textVerdict(reply, '{"type":"object"}'),
    ),
    make("a named tool", { tools: [now], tool_choice: { type: "function", name: "now" } }, ([reply]) =>
      callVerdict(reply),
    ),
    make("tools, required", { tools: [now], tool_choice: "required" }, ([reply]) => callVerdict(reply)),
    make("the order of events", { ...small, stream: true }, ([reply]) => eventOrder(reply)),
    make("max_output_tokens: 16", { max_output_tokens: 16 }, ([reply]) => budgetVerdict(reply, 16)),
    refused("response_format instead of text.format", { ...small, response_format: { type: "json_object" } }),
    refused("a nested tool, as of chat completions", { ...small, tools: [nested] }),
    refused("a schema of an unknown type", {
      ...small,
      ...formatOf(
        '{"type":"object","properties":{"v":{"type":"odd"}},"required":["v"],"additionalProperties":false}',
      ),
    }),
    refused("an unknown format", { ...small, text: { format: { type: "yaml" } } }),
    refused("an unknown previous response", { ...small, previous_response_id: "resp_none" }),
  ]
}

/** Checks a whole response: its fields, and those of each item. */
function responseForm(reply: Reply, body: unknown = parsed(reply.text)): Finding {
  const { id, object, status, created_at, output } = fieldsOf(body)
  const faults: string[] = []
  if (typeof id !== "string") faults.push("id is missing")
  if (object !== "response") faults.push(`object is ${JSON.stringify(object)}`)
  if (status !== "completed" && status !== "incomplete") faults.push(`status is ${JSON.stringify(status)}`)
  if (typeof created_at !== "number") faults.push("created_at is missing")
  if (!Array.isArray(output)) faults.push("output is not a list")
  for (const item of listOf(output).map(fieldsOf)) {
    if (typeof item.id !== "string" || typeof item.type !== "string")
      faults.push("an item of output has no id or type")
    if (item.type !== "message") continue
    if (item.role !== "assistant") faults.push("a message has no role")
    for (const part of listOf(item.content).map(fieldsOf))
      if (part.type === "output_text" && !Array.isArray(part.annotations))
        faults.push("output_text has no annotations")
  }
  return malformed(faults) ?? honoured
}

function messageText(body: unknown): string {
  const messages = listOf(fieldsOf(body).output)
    .map(fieldsOf)
    .filter(({ type }) => type === "message")
  const parts = messages.flatMap(({ content }) => listOf(content).map(fieldsOf))
  return parts.map(({ text }) => (typeof text === "string" ? text : "")).join("")
}

function textVerdict(reply: Reply, schema: string, body: unknown = parsed(reply.text)): Finding {
  const form = responseForm(reply, body)
  if (form.verdict !== "honoured") return form
  const isCut = fieldsOf(body).status === "incomplete"
  return new Constraint({ kind: "json", schema }).judge(messageText(body), isCut)
}

function callVerdict(reply: Reply): Finding {
  const form = responseForm(reply)
  if (form.verdict !== "honoured") return form
  const calls = listOf(fieldsOf(parsed(reply.text)).output)
    .map(fieldsOf)
    .filter(({ type }) => type === "function_call")
  if (calls.length === 0) return finding("ignored", "no function_call")
  const [{ name, call_id, arguments: args }] = calls
  if (name !== "now") return finding("ignored", `a call of ${name}`)
  if (typeof call_id !== "string") return finding("wrong", "a call has no call_id")
  return parsed(String(args)) === undefined
    ? finding("wrong", `the arguments are not JSON: ${args}`)
    : honoured
}

function streamVerdict(reply: Reply, schema: string): Finding {
  const { values, problems } = events(reply)
  const last = fieldsOf(values.at(-1)).response
  const joined = values
    .filter(({ type }) => type === "response.output_text.delta")
    .map(({ delta }) => delta)
    .join("")
  const faults = [
    ...problems,
    ...(joined === messageText(last) ? [] : ["the deltas do not join to the text of the response"]),
  ]
  return malformed(faults) ?? textVerdict(reply, schema, last)
}

/**
 * Created comes first, a part belongs to an open item, numbers rise, and the whole response is
 * last.
 */
function eventOrder(reply: Reply): Finding {
  const { values, names, problems } = events(reply)
  const types = values.map(({ type }) => String(type))
  const faults = [...problems]
  if (types.some((type, at) => names[at] !== type)) faults.push("`event:` differs from the type")
  if (types[0] !== "response.created") faults.push(`the first event is ${types[0]}`)
  if (!/^response\.(completed|incomplete)$/.test(types.at(-1) ?? ""))
    faults.push(`the last event is ${types.at(-1)}`)
  const order = [
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
  ]
  const firsts = order.map((type) => types.indexOf(type))
  const missing = order.filter((_, at) => firsts[at] === -1 && !order[at].endsWith("delta"))
  if (missing.length > 0) faults.push(`there is no ${missing[0]}`)
  else if (firsts.filter((at) => at >= 0).some((at, i, all) => i > 0 && at < all[i - 1]))
    faults.push("events come in another order")
  const numbers = values.map(({ sequence_number }) => sequence_number)
  if (numbers.some((number, at) => number !== at)) faults.push("sequence_number does not count from 0")
  return malformed(faults) ?? honoured
}

function budgetVerdict(reply: Reply, most: number): Finding {
  const { usage, status, incomplete_details } = fieldsOf(parsed(reply.text))
  const used = Number(fieldsOf(usage).output_tokens)
  if (!Number.isInteger(used)) return finding("wrong", "usage.output_tokens is missing")
  if (used > most) return finding("ignored", `${used} tokens, but at most ${most} are allowed`)
  const { reason } = fieldsOf(incomplete_details)
  const isRight = status === "completed" || reason === "max_output_tokens"
  return isRight
    ? honoured
    : finding("wrong", `the status is ${status}, and the reason ${JSON.stringify(reason)}`)
}

function completionCases(ask: Asker): ApiCase[] {
  const schema = schemaRows().find(({ keyword }) => keyword === "pattern")!.schema
  const constraint = new Constraint({ kind: "json", schema })
  const make = (
    name: string,
    fields: JsonObject,
    judge: (body: Readonly<Record<string, unknown>>, reply: Reply) => Finding,
  ): ApiCase => ({
    ...{ area: "completions", name },
    requests: [{ path: "/completions", body: { prompt: "Once upon a time", max_tokens: 16, ...fields } }],
    isOptional: true,
    judge: ([reply]) => judge(fieldsOf(parsed(reply.text)), reply),
  })
  const textOf = (body: JsonObject) => fieldsOf(listOf(body.choices)[0]).text
  return [
    make("the form", {}, (body) => completionForm(body)),
    make("usage", {}, ({ usage }) => usageForm(usage)),
    make("max_tokens: 3", { max_tokens: 3 }, ({ usage }) => {
      const used = Number(fieldsOf(usage).completion_tokens)
      return used <= 3 ? honoured : finding("ignored", `${used} tokens, but at most 3 are allowed`)
    }),
    make("two prompts", { prompt: ["One", "Two"] }, (body) =>
      listOf(body.choices).length === 2
        ? honoured
        : finding("ignored", `${listOf(body.choices).length} choices for two prompts`),
    ),
    make("stop", { stop: ["e"], max_tokens: 32 }, (body) =>
      String(textOf(body)).includes("e")
        ? finding("ignored", `the text holds the stop: ${textOf(body)}`)
        : honoured,
    ),
    make("echo", { echo: true, max_tokens: 4 }, (body) =>
      String(textOf(body)).startsWith("Once upon a time")
        ? honoured
        : finding("ignored", `the text is ${JSON.stringify(textOf(body))}`),
    ),
    make("logprobs: 2", { logprobs: 2, max_tokens: 4 }, (body) => {
      const { tokens, token_logprobs } = fieldsOf(fieldsOf(listOf(body.choices)[0]).logprobs)
      const isGiven = listOf(tokens).length > 0 && listOf(tokens).length === listOf(token_logprobs).length
      return isGiven ? honoured : finding("ignored", "there are no logprobs.tokens with their token_logprobs")
    }),
    make("streamed", { stream: true }, (_, reply) => {
      const { values, problems, isDone } = events(reply)
      const texts = values.flatMap(({ choices }) => listOf(choices).map((choice) => fieldsOf(choice).text))
      const faults = [
        ...problems,
        ...(isDone ? [] : ["no [DONE]"]),
        ...(texts.every((text) => typeof text === "string") ? [] : ["an event has no text"]),
      ]
      return malformed(faults) ?? honoured
    }),
    make(
      "response_format: json_schema",
      {
        max_tokens: ask.budget(),
        response_format: {
          type: "json_schema",
          json_schema: { name: "answer", strict: true, schema: new RawJson(schema) },
        },
      },
      (body) => {
        const { text, finish_reason } = fieldsOf(listOf(body.choices)[0])
        return constraint.judge(String(text), finish_reason === "length")
      },
    ),
  ]
}

function completionForm(body: Readonly<Record<string, unknown>>): Finding {
  const [choice] = listOf(body.choices).map(fieldsOf)
  const faults = [
    ...(body.object === "text_completion" ? [] : [`object is ${JSON.stringify(body.object)}`]),
    ...(typeof choice?.text === "string" ? [] : ["choices[0].text is missing"]),
    ...(choice?.index === 0 ? [] : ["choices[0].index is not 0"]),
    ...(["stop", "length"].includes(String(choice?.finish_reason)) ? [] : ["finish_reason is missing"]),
  ]
  return malformed(faults) ?? honoured
}
