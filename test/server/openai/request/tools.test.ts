import { expect, test } from "vitest"
import { Refusal } from "../../../../server/errors.ts"
import { defaultBodyLimits } from "../../../../server/http/body.ts"
import { readTools } from "../../../../server/openai/request/tools.ts"
import { readBody } from "../../../support/bodies.ts"

async function read(fields: object | string) {
  const body = typeof fields === "string" ? fields : JSON.stringify(fields)
  const headers = { "content-type": "application/json" }
  const request = new Request("http://localhost/", { method: "POST", body, headers })
  return readTools(await readBody(request, defaultBodyLimits))
}

const f = { type: "function", function: { name: "f", parameters: { type: "object" } } }
const c = { type: "custom", custom: { name: "c", format: { type: "text" } } }

test("no tools, an empty list and null are the same", async () => {
  for (const fields of [
    {},
    { tools: [] },
    { tools: null, tool_choice: null },
    { tools: [], tool_choice: "auto" },
  ])
    expect((await read(fields)).tools).toBe(null)
})

test("a schema keeps its text: number spelling and the order of keys", async () => {
  const { tools } = await read(
    '{"tools": [{"type": "function", "function": {"name": "f", "parameters": {"2": 1.0, "1": 12345678901234567890}}}]}',
  )
  expect(tools).toEqual([
    { type: "function", function: { name: "f", parameters: '{"2": 1.0, "1": 12345678901234567890}' } },
  ])
})

test("keys that clients send have no effect", async () => {
  const { tools } = await read({
    tools: [
      {
        ...f,
        cache_control: { type: "ephemeral" },
        function: {
          ...f.function,
          strict: null,
          defer_loading: true,
          allowed_callers: ["direct"],
          async: false,
          output_schema: {},
          eager_input_streaming: true,
          input_examples: [],
        },
      },
      { type: "function", function: { name: "g", parameters: null, strict: true } },
    ],
  })
  expect(tools?.length).toBe(2)
})

test.each([
  ["auto", "auto"],
  ["none", "none"],
  ["required", "required"],
  ["a function", { type: "function", function: { name: "f" } }],
  ["a custom tool", { type: "custom", custom: { name: "c" } }],
  ["some of them", { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [f, c] } }],
])("tool_choice %s", async (_, choice) => {
  const { toolChoice } = await read({ tools: [f, c], tool_choice: choice })
  expect(toolChoice).toEqual(choice)
})

test.each([
  ["any", "required"],
  [{ type: "any" }, "required"],
  [{ type: "required" }, "required"],
  [{ type: "auto" }, "auto"],
  [{ type: "none" }, "none"],
])("tool_choice %j is a word of other APIs for %s", async (choice, expected) => {
  const { toolChoice } = await read({ tools: [f], tool_choice: choice })
  expect(toolChoice).toBe(expected)
})

const named = (name: unknown) => ({ type: "function", function: { name } })
const allowed = (inner: object) => ({ type: "allowed_tools", allowed_tools: inner })

test.each<[what: string, fields: object, param: string, message: RegExp]>([
  ["tools that are no list", { tools: {} }, "tools", /must be a list/],
  ["a tool that is no object", { tools: [f, 1] }, "tools[1]", /must be an object/],
  ["a tool without a type", { tools: [{ name: "f" }] }, "tools[0].type", /is missing: a tool is of type/],
  [
    "an unknown type",
    { tools: [{ type: "robot" }] },
    "tools[0].type",
    /"robot": a tool is of type function or custom/,
  ],
  [
    "a hosted tool alone, where a call is required",
    { tools: [{ type: "web_search" }], tool_choice: "required" },
    "tool_choice",
    /"web_search".*no tool is run here/,
  ],
  [
    "a hosted tool by the choice",
    { tools: [f, { type: "web_search" }], tool_choice: { type: "web_search" } },
    "tool_choice.type",
    /no tool is run here/,
  ],
  [
    "hosted tools alone among those that are allowed and required",
    {
      tools: [f, { type: "mcp" }],
      tool_choice: allowed({ mode: "required", tools: [{ type: "mcp", server_label: "x" }] }),
    },
    "tool_choice",
    /"mcp".*no tool is run here/,
  ],
  [
    "the shape of responses",
    { tools: [{ type: "function", name: "f" }] },
    "tools[0]",
    /flat tool, which \/v1\/responses takes/,
  ],
  ["no function", { tools: [{ type: "function" }] }, "tools[0].function", /is missing/],
  ["no name", { tools: [{ type: "function", function: {} }] }, "tools[0].function.name", /is missing/],
  ["a wrong name", { tools: [named("a b")] }, "tools[0].function.name", /"a b" is no name of a tool/],
  ["a name of 129", { tools: [named("a".repeat(129))] }, "tools[0].function.name", /is no name of a tool/],
  ["a name twice", { tools: [f, f] }, "tools[1].function.name", /the name of another tool too/],
  [
    "a schema that is none",
    { tools: [{ type: "function", function: { name: "f", parameters: "{}" } }] },
    "tools[0].function.parameters",
    /must be a JSON Schema/,
  ],
  [
    "what nobody waits for",
    { tools: [{ type: "function", function: { name: "f", async: true } }] },
    "tools[0].function.async",
    /synchronous/,
  ],
  [
    "calls by programs",
    { tools: [{ ...f, allowed_callers: ["code"] }] },
    "tools[0].allowed_callers",
    /no program/,
  ],
  ["required without tools", { tool_choice: "required" }, "tool_choice", /needs tools/],
  ["a name without tools", { tools: [], tool_choice: named("f") }, "tool_choice", /needs tools/],
  ["any without tools", { tool_choice: { type: "any" } }, "tool_choice", /needs tools/],
  ["another word", { tools: [f], tool_choice: "all" }, "tool_choice", /"all" is not auto, none or required/],
  ["a number", { tools: [f], tool_choice: 1 }, "tool_choice", /a string or an object/],
  [
    "an unknown tool",
    { tools: [f], tool_choice: named("g") },
    "tool_choice.function.name",
    /no tool is named "g".*There are: f/,
  ],
  ["no kind of choice", { tools: [f], tool_choice: {} }, "tool_choice.type", /is missing/],
  [
    "a mode that is none",
    { tools: [f], tool_choice: allowed({ mode: "none", tools: [f] }) },
    "tool_choice.allowed_tools.mode",
    /auto or required/,
  ],
  [
    "allowed tools that are no list",
    { tools: [f], tool_choice: allowed({ mode: "auto" }) },
    "tool_choice.allowed_tools.tools",
    /must be a list/,
  ],
  [
    "an allowed tool that is unknown",
    { tools: [f], tool_choice: allowed({ mode: "auto", tools: [named("g")] }) },
    "tool_choice.allowed_tools.tools[0]",
    /no tool is named "g"/,
  ],
])("%s is refused by its field", async (_, fields, param, message) => {
  const refusal = await read(fields).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(Refusal)
  expect((refusal as Refusal).details.param).toBe(param)
  expect((refusal as Refusal).message).toMatch(message)
})
