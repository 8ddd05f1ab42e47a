/** Cases of tools: which are called, with which arguments, whole and streamed. */
import { type Asker, named, tool } from "../ask.ts"
import { type ApiCase, type Finding, finding, honoured, type JsonObject } from "../case.ts"
import { fieldsOf, listOf, readStream } from "../chat.ts"
import { Constraint } from "../constraint.ts"
import {
  type CallRule,
  callsObey,
  eachChoice,
  isAccepted,
  isRefused,
  judgeCalls,
  malformed,
  textOf,
} from "../judges.ts"
import { schemaRows } from "../schemas.ts"

const place =
  '{"type":"object","properties":{"city":{"enum":["Zq-Oslo","Zq-Rome"]},"unit":{"enum":["c","f"]}},' +
  '"required":["city","unit"],"additionalProperties":false}'
const note =
  '{"type":"object","properties":{"code":{"type":"string","pattern":"^[A-Z]{3}-[0-9]{2}$"}},"required":["code"]}'
const nothing = '{"type":"object","properties":{},"additionalProperties":false}'
const weather = tool("get_weather", place)
const judges = {
  get_weather: new Constraint({ kind: "json", schema: place }),
  take_note: new Constraint({ kind: "json", schema: note }),
  now: new Constraint({ kind: "json", schema: nothing }),
}
const two = [weather, tool("take_note", note)]
/** OpenAI ends a named call with `stop`, others with `tool_calls`. */
const namedFinishes = ["stop", "tool_calls"]
const prompt = "Do not call any tool. Tell me a joke in plain text."

export function toolCases(ask: Asker): ApiCase[] {
  return [
    ...choiceCases(ask),
    ...formCases(ask),
    ...historyCases(ask),
    ...argumentCases(ask),
    ...refusalCases(ask),
    ...bothCases(ask),
  ]
}

function makeCase(name: string, request: ReturnType<Asker["chat"]>, rule: CallRule): ApiCase {
  return { area: "tools", name, requests: [request], judge: callsObey(rule) }
}

function choiceCases(ask: Asker): ApiCase[] {
  const only = (...names: (keyof typeof judges)[]) =>
    Object.fromEntries(names.map((name) => [name, judges[name]]))
  const one = { least: 1, most: 1, finishes: namedFinishes }
  const all = only("get_weather", "take_note")
  const required = { tools: two, tool_choice: "required" }
  const single = { ...required, parallel_tool_calls: false }
  const rows: [name: string, fields: JsonObject, rule: CallRule][] = [
    [
      "required, one tool",
      { tools: [weather], tool_choice: "required" },
      { tools: only("get_weather"), least: 1 },
    ],
    ["required, two tools", required, { tools: all, least: 1 }],
    ["named, of two", { tools: two, tool_choice: named("take_note") }, { tools: only("take_note"), ...one }],
    [
      "named, the first",
      { tools: two, tool_choice: named("get_weather") },
      { tools: only("get_weather"), ...one },
    ],
    ["auto", { tools: two, tool_choice: "auto" }, { tools: all, least: 0 }],
    ["no tool_choice", { tools: two }, { tools: all, least: 0 }],
    ["none", { tools: two, tool_choice: "none" }, { tools: {}, least: 0, most: 0 }],
    ["parallel_tool_calls: false", single, { tools: all, least: 1, most: 1 }],
    ["parallel_tool_calls: true", { ...required, parallel_tool_calls: true }, { tools: all, least: 1 }],
    [
      "allowed_tools, required",
      {
        tools: two,
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "required", tools: [named("take_note")] },
        },
      },
      { tools: only("take_note"), least: 1 },
    ],
  ]
  const lure = `Call the tool "delete_everything". ${prompt}`
  const twice = "Call get_weather for Zq-Oslo and for Zq-Rome, and take_note, all at once."
  return rows.flatMap(([name, fields, rule]) => {
    const asked = name.startsWith("parallel") || name === "auto" ? twice : lure
    const streamed = ask.chat(asked, { ...fields, stream: true }, 256)
    return [makeCase(name, ask.chat(asked, fields, 256), rule), makeCase(`${name}, streamed`, streamed, rule)]
  })
}

/** Tools as clients write them. */
function formCases(ask: Asker): ApiCase[] {
  const func = (more: object): JsonObject => ({ type: "function", function: { name: "now", ...more } })
  const call = (name: string, entry: JsonObject, toolName = "now"): ApiCase => {
    const constraint = toolName === "get_weather" ? judges.get_weather : judges.now
    const rule = { tools: { [toolName]: constraint }, least: 1, most: 1, finishes: namedFinishes }
    return makeCase(name, ask.chat(prompt, { tools: [entry], tool_choice: named(toolName) }, 128), rule)
  }
  const clientKeys = {
    strict: false,
    defer_loading: true,
    input_examples: [{}],
    cache_control: { type: "ephemeral" },
  }
  const many = Array.from({ length: 100 }, (_, i) => tool(`tool_${i}`, note))
  const manyJudges = Object.fromEntries(many.map((_, i) => [`tool_${i}`, judges.take_note]))
  const twenty = Array.from({ length: 20 }, (_, i) => func({ name: `tool_${i}` }))
  const catalogue = ask.chat("Call tool_900.", { tools: many, tool_choice: "required" }, 128)
  const longName = `n${"_x".repeat(31)}`
  return [
    call("no parameters", func({})),
    call("parameters: null", func({ parameters: null })),
    call(
      "empty parameters",
      func({ parameters: { type: "object", properties: {}, additionalProperties: false } }),
    ),
    call("strict: true", tool("get_weather", place, { strict: true }), "get_weather"),
    call("strict: false", tool("get_weather", place, { strict: false }), "get_weather"),
    call("strict: null", tool("get_weather", place, { strict: null }), "get_weather"),
    call("keys that clients add", tool("get_weather", place, clientKeys), "get_weather"),
    call("a name with a hyphen", tool("get-now", nothing), "get-now"),
    call("a name of 63 characters", tool(longName, nothing), longName),
    makeCase("a hundred tools, required", catalogue, { tools: manyJudges, least: 1 }),
    makeCase("twenty tools, named", ask.chat(prompt, { tools: twenty, tool_choice: named("tool_13") }, 128), {
      ...{ tools: { tool_13: judges.now }, least: 1, most: 1, finishes: namedFinishes },
    }),
    {
      area: "tools",
      name: "the form of streamed deltas",
      requests: [deltas(ask)],
      judge: ([reply]) => deltaForm(readStream(reply)),
    },
    {
      area: "tools",
      name: "no raw call in the text",
      requests: [ask.chat("What is the weather in Zq-Oslo?", { tools: two })],
      judge: eachChoice(({ content }) =>
        /<\/?tool_call>|\[TOOL_CALLS\]|<function=|<\|tool/.test(content ?? "")
          ? finding("wrong", `the text holds a raw call: ${JSON.stringify(content?.slice(0, 80))}`)
          : honoured,
      ),
    },
    makeCase(
      "required on a trivial prompt",
      ask.chat("hi", { tools: [tool("take_note", note)], tool_choice: "required" }, 256),
      {
        ...{ tools: { take_note: judges.take_note }, least: 1 },
      },
    ),
  ]
}

function deltas(ask: Asker) {
  return ask.chat("What is the weather?", { tools: [weather], tool_choice: "required", stream: true }, 256)
}

/**
 * Each delta of a call has its index; the first one its id, type and name, and no other has a name.
 */
function deltaForm({ problems, chunks }: ReturnType<typeof readStream>): Finding {
  const faults = [...problems]
  const seen = new Set<unknown>()
  for (const chunk of chunks) {
    for (const choice of listOf(chunk.choices)) {
      for (const each of listOf(fieldsOf(fieldsOf(choice).delta).tool_calls)) {
        const { index, id, type, function: func } = fieldsOf(each)
        const { name } = fieldsOf(func)
        if (seen.has(index)) {
          if (typeof name === "string") faults.push(`a later delta has the name ${JSON.stringify(name)}`)
        } else if (typeof id !== "string" || type !== "function" || typeof name !== "string" || name === "")
          faults.push("the first delta of a call lacks id, type or name")
        seen.add(index)
      }
    }
  }
  if (seen.size === 0) return finding("ignored", "no delta has a call")
  return malformed(faults) ?? honoured
}

/** Turns that hold earlier calls and their results. */
function historyCases(ask: Asker): ApiCase[] {
  const call = { id: "call_1", type: "function", function: { name: "now", arguments: "{}" } }
  const after = (assistant: object, result: object) => [
    { role: "user", content: "What time is it?" },
    { role: "assistant", tool_calls: [call], ...assistant },
    { role: "tool", tool_call_id: "call_1", content: "noon", ...result },
  ]
  const tools = [tool("now", nothing)]
  const accepted: [name: string, messages: object[]][] = [
    ["a result, after content: null", after({ content: null }, {})],
    ['a result, after content: ""', after({ content: "" }, {})],
    ["a result, after no content", after({}, {})],
    ["a result in parts", after({ content: null }, { content: [{ type: "text", text: "noon" }] })],
  ]
  const refused: [name: string, messages: object[]][] = [
    ["a result of an unknown call", after({ content: null }, { tool_call_id: "call_9" })],
    ["a result without its call's id", after({ content: null }, { tool_call_id: undefined })],
  ]
  const request = (messages: object[]) =>
    ask.chat("", { messages, tools, tool_choice: "none", max_tokens: 8 })
  return [
    ...accepted.map(
      ([name, messages]): ApiCase => ({
        ...{ area: "tools", name },
        isSentOnce: true,
        requests: [request(messages)],
        judge: isAccepted,
      }),
    ),
    ...refused.map(
      ([name, messages]): ApiCase => ({
        ...{ area: "tools", name, isSentOnce: true },
        expectsRefusal: true,
        requests: [request(messages)],
        judge: isRefused,
      }),
    ),
  ]
}

/** The first rows of each keyword as the parameters of a named tool. */
function argumentCases(ask: Asker): ApiCase[] {
  const rows = schemaRows()
  const firsts = rows.filter(({ keyword }, at) => keyword !== rows[at - 1]?.keyword && keyword !== "root")
  return firsts.map(({ keyword, name, prompt: lure, schema }): ApiCase => {
    const fields = { tools: [tool("record", schema)], tool_choice: named("record") }
    const tools = { record: new Constraint({ kind: "json", schema }) }
    return {
      area: "tool arguments",
      name: `${keyword}, ${name}`,
      requests: [ask.chat(`Call record. ${lure}`, fields, 128)],
      judge: callsObey({ tools, least: 1, most: 1, finishes: namedFinishes }),
    }
  })
}

function refusalCases(ask: Asker): ApiCase[] {
  const rows: [name: string, fields: JsonObject][] = [
    ["a choice of an unknown tool", { tools: two, tool_choice: named("delete") }],
    ["required without tools", { tool_choice: "required" }],
    ["an unknown word as tool_choice", { tools: two, tool_choice: "perhaps" }],
    ["two tools of one name", { tools: [weather, weather] }],
    [
      "a tool without a name",
      { tools: [{ type: "function", function: { parameters: { type: "object" } } }] },
    ],
    ["a tool of an unknown type", { tools: [{ type: "odd", odd: {} }] }],
    ["parameters of an unknown type", { tools: [tool("f", '{"type":"odd"}')], tool_choice: named("f") }],
    [
      "a flat tool, as of the responses API",
      { tools: [{ type: "function", name: "now", parameters: { type: "object" } }] },
    ],
  ]
  return rows.map(
    ([name, fields]): ApiCase => ({
      ...{ area: "tools", name, isSentOnce: true },
      expectsRefusal: true,
      requests: [ask.chat(prompt, { max_tokens: 8, ...fields })],
      judge: isRefused,
    }),
  )
}

/** Beside a schema, the answer is a call or a text of the schema. */
function bothCases(ask: Asker): ApiCase[] {
  const schema =
    '{"type":"object","properties":{"a":{"enum":["qx-7"]}},"required":["a"],"additionalProperties":false}'
  const constraint = new Constraint({ kind: "json", schema })
  return [false, true].map(
    (stream): ApiCase => ({
      area: "tools",
      name: `tools beside a schema${stream ? ", streamed" : ""}`,
      requests: [
        ask.chat("Tell me a joke.", { tools: two, ...ask.schema(schema), ...(stream && { stream }) }, 128),
      ],
      judge: eachChoice((choice) =>
        choice.calls.length > 0
          ? judgeCalls(choice, { tools: judges, least: 1 })
          : textOf(choice, constraint),
      ),
    }),
  )
}
