/** Flat tools and choices: what a turn is told of them, and each refusal by its field. */
import { describe, expect, test } from "vitest"
import { Refusal } from "../../../../server/errors.ts"
import { defaultBodyLimits, parseBody } from "../../../../server/http/body.ts"
import type { LeftOut } from "../../../../server/openai/request/leftout.ts"
import { readFlatChoice } from "../../../../server/openai/responses/toolchoice.ts"
import { readFlatTools, requestPath } from "../../../../server/openai/responses/tools.ts"

function bodyOf(fields: object | string) {
  const text = typeof fields === "string" ? fields : JSON.stringify(fields)
  return parseBody(new TextEncoder().encode(text), defaultBodyLimits)
}

function read(fields: object | string) {
  const body = bodyOf(fields)
  const leftOut: LeftOut[] = []
  const tools = readFlatTools(body, leftOut)
  return { tools, choice: readFlatChoice(body.value.tool_choice, tools, leftOut) }
}

const f = { type: "function", name: "f", description: "does", parameters: { type: "object" }, strict: true }
const c = { type: "custom", name: "c", format: { type: "grammar", syntax: "regex", definition: "a" } }
const crm = {
  type: "namespace",
  name: "crm",
  description: "of customers",
  tools: [
    { type: "function", name: "get", description: "reads", parameters: null },
    { type: "custom", name: "f" },
  ],
}

test.each([
  ...["web_search", "web_search_preview", "file_search", "code_interpreter", "computer_use_preview", "mcp"],
  ...["image_generation", "local_shell", "shell", "apply_patch", "tool_search", "programmatic_tool_calling"],
])("%s is left out and named, whatever else is chosen", (type) => {
  const hosted = { type }
  const choose = (choice: unknown) => {
    const leftOut: LeftOut[] = []
    const body = bodyOf({ tools: [hosted, f], tool_choice: choice })
    const tools = readFlatTools(body, leftOut)
    return { flat: tools.flat, choice: readFlatChoice(body.value.tool_choice, tools, leftOut), leftOut }
  }
  const own = { type: "function", function: { name: "f" } }
  for (const [given, read] of [
    ["auto", "auto"],
    [null, null],
    ["required", "required"],
    [{ type: "function", name: "f" }, own],
    [
      { type: "allowed_tools", mode: "auto", tools: [hosted, { type: "function", name: "f" }] },
      { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [own] } },
    ],
    [{ type: "allowed_tools", mode: "auto", tools: [hosted] }, "none"],
  ]) {
    const { flat, choice, leftOut } = choose(given)
    expect(choice).toEqual(read)
    expect(flat).toEqual([{ name: "f", namespace: null, path: "/1" }])
    expect(leftOut[0]).toMatchObject({
      param: "tools[0].type",
      warning: expect.stringContaining(`"${type}"`),
    })
  }
})

test("tools that items of the input add stand behind those of the request", () => {
  const added = { type: "additional_tools", role: "developer", tools: [crm, { type: "web_search" }] }
  const body = bodyOf({ tools: [f], input: [{ role: "user", content: "x" }, added] })
  const leftOut: LeftOut[] = []
  const tools = readFlatTools(body, leftOut)
  expect(tools.flat).toEqual([
    { name: "f", namespace: null, path: "/0" },
    { name: "get", namespace: "crm", path: "/input/1/tools/0/tools/0" },
    { name: "f", namespace: "crm", path: "/input/1/tools/0/tools/1" },
  ])
  expect(leftOut).toMatchObject([{ param: "input[1].tools[1].type" }])
  expect(requestPath("/2/custom/format", tools)).toBe("/input/1/tools/0/tools/1/format")
  expect(readFlatChoice({ type: "function", name: "get" }, tools, [])).toEqual({
    type: "function",
    function: { name: "crm.get" },
  })
})

test.each([
  ["no list", { input: [{ type: "additional_tools" }] }, "input[0].tools"],
  [
    "a name twice",
    { tools: [f], input: [{ type: "additional_tools", tools: [f] }] },
    "input[0].tools[0].name",
  ],
  [
    "a name that a namespace makes twice",
    { tools: [{ ...f, name: "crm.f" }], input: [{ type: "additional_tools", tools: [crm] }] },
    "input[0].tools[0].tools[1].name",
  ],
])("added tools: %s is refused by its field", (_, fields, param) => {
  expect(() => read(fields)).toThrowError(
    expect.objectContaining({ details: expect.objectContaining({ param }) }),
  )
})

test("tools become those of a turn", () => {
  const { nested, flat } = read({ tools: [f, c, crm] }).tools
  const { type: _, ...fields } = f
  expect(nested).toEqual([
    { type: "function", function: { ...fields, parameters: '{"type":"object"}' } },
    { type: "custom", custom: { name: "c", format: c.format } },
    { type: "function", function: { name: "crm.get", description: "of customers\nreads" } },
    { type: "custom", custom: { name: "crm.f", description: "of customers" } },
  ])
  expect(flat).toEqual([
    { name: "f", namespace: null, path: "/0" },
    { name: "c", namespace: null, path: "/1" },
    { name: "get", namespace: "crm", path: "/2/tools/0" },
    { name: "f", namespace: "crm", path: "/2/tools/1" },
  ])
})

test("a schema keeps its text", () => {
  const { tools } = read('{"tools":[{"type":"function","name":"f","parameters":{"2":1.0,"1":2}}]}')
  expect(tools.nested).toEqual([{ type: "function", function: { name: "f", parameters: '{"2":1.0,"1":2}' } }])
})

test("a place in the tools of a turn leads to the tool of the request", () => {
  const { tools } = read({ tools: [f, c, crm] })
  expect(requestPath("/0/function/parameters/type", tools)).toBe("/0/parameters/type")
  expect(requestPath("/1/custom/format", tools)).toBe("/1/format")
  expect(requestPath("/3/custom/format/definition", tools)).toBe("/2/tools/1/format/definition")
  expect(requestPath("tool_choice", tools)).toBe("tool_choice")
})

const keys = {
  strict: null,
  defer_loading: true,
  allowed_callers: ["direct"],
  async: false,
  output_schema: {},
  cache_control: {},
}
test("keys that clients send have no effect", () => {
  expect(read({ tools: [{ type: "function", name: "g", parameters: null, ...keys }] }).tools.nested).toEqual([
    { type: "function", function: { name: "g" } },
  ])
})

describe("tool_choice", () => {
  const named = (name: string, type = "function") => ({ type, [type]: { name } })
  test.each<[what: string, choice: unknown, told: unknown]>([
    ["null", null, null],
    ["auto", "auto", "auto"],
    ["none", "none", "none"],
    ["required", "required", "required"],
    ["a function", { type: "function", name: "f" }, named("f")],
    ["a custom tool", { type: "custom", name: "c" }, named("c", "custom")],
    ["a name that one namespace has", { type: "function", name: "get" }, named("crm.get")],
    ["a namespace and a name", { type: "custom", name: "f", namespace: "crm" }, named("crm.f", "custom")],
    ["the name in the turn", { type: "custom", name: "crm.f" }, named("crm.f", "custom")],
    [
      "some of them",
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] },
      { type: "allowed_tools", allowed_tools: { mode: "required", tools: [named("f")] } },
    ],
  ])("%s", (_, choice, told) => {
    expect(read({ tools: [f, c, crm], tool_choice: choice }).choice).toEqual(told)
  })
})

const space = (name: unknown, tools: unknown) => ({ type: "namespace", name, tools })
const g = { type: "function", name: "g" }
test.each<[what: string, fields: object, param: string, message: RegExp]>([
  ["tools that are no list", { tools: {} }, "tools", /must be a list/],
  ["a tool that is no object", { tools: [f, 1] }, "tools[1]", /must be an object/],
  ["a tool without a type", { tools: [{ name: "f" }] }, "tools[0].type", /is missing/],
  ["an unknown type", { tools: [{ type: "robot" }] }, "tools[0].type", /"robot": a tool is of type/],
  [
    "a hosted tool alone, where a call is required",
    { tools: [{ type: "web_search" }], tool_choice: "required" },
    "tool_choice",
    /"web_search".*no tool is run here/,
  ],
  [
    "a hosted tool alone among those that are allowed and required",
    {
      tools: [f, { type: "mcp" }],
      tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "mcp" }] },
    },
    "tool_choice",
    /"mcp".*no tool is run here/,
  ],
  [
    "the shape of chat",
    { tools: [{ type: "function", function: { name: "f" } }] },
    "tools[0]",
    /nested tool, which \/v1\/chat\/completions takes.*beside its type/,
  ],
  ["no name", { tools: [{ type: "function" }] }, "tools[0].name", /is missing/],
  [
    "a wrong name",
    { tools: [{ type: "function", name: "a b" }] },
    "tools[0].name",
    /"a b" is no name of a tool/,
  ],
  ["a name twice", { tools: [f, f] }, "tools[1].name", /the name of another tool too/],
  [
    "a schema that is none",
    { tools: [{ ...f, parameters: "{}" }] },
    "tools[0].parameters",
    /must be a JSON Schema/,
  ],
  ["what nobody waits for", { tools: [{ ...f, async: true }] }, "tools[0].async", /synchronous/],
  [
    "calls by programs",
    { tools: [{ ...f, allowed_callers: ["programmatic"] }] },
    "tools[0].allowed_callers",
    /no program/,
  ],
  ["a namespace without a name", { tools: [space(undefined, [])] }, "tools[0].name", /is missing/],
  ["a namespace twice", { tools: [space("a", []), space("a", [])] }, "tools[1].name", /another tool too/],
  ["a namespace without tools", { tools: [space("a", undefined)] }, "tools[0].tools", /must be a list/],
  [
    "a name twice in a namespace",
    { tools: [space("a", [g, g])] },
    "tools[0].tools[1].name",
    /another tool too/,
  ],
  [
    "a namespace in a namespace",
    { tools: [space("a", [space("b", [])])] },
    "tools[0].tools[0].type",
    /"namespace": a tool is/,
  ],
  [
    "a name that both have",
    { tools: [{ ...g, name: "a.g" }, space("a", [g])] },
    "tools[1].tools[0].name",
    /another tool too/,
  ],
  [
    "names too long together",
    { tools: [space("a".repeat(100), [{ ...g, name: "b".repeat(100) }])] },
    "tools[0].tools[0].name",
    /no name of a tool/,
  ],
  ["required without tools", { tool_choice: "required" }, "tool_choice", /needs tools/],
  ["a name without tools", { tool_choice: { type: "function", name: "f" } }, "tool_choice", /needs tools/],
  ["any without tools", { tool_choice: "any" }, "tool_choice", /needs tools/],
  ["another word", { tools: [f], tool_choice: "all" }, "tool_choice", /"all" is not auto/],
  ["a number", { tools: [f], tool_choice: 1 }, "tool_choice", /a string or an object/],
  ["no kind of choice", { tools: [f], tool_choice: {} }, "tool_choice.type", /is missing/],
  [
    "a hosted choice",
    { tools: [f], tool_choice: { type: "web_search_preview" } },
    "tool_choice.type",
    /no tool is run here/,
  ],
  [
    "the choice of chat",
    { tools: [f], tool_choice: { type: "function", function: { name: "f" } } },
    "tool_choice",
    /nested choice/,
  ],
  [
    "an unknown tool",
    { tools: [f], tool_choice: { type: "function", name: "x" } },
    "tool_choice.name",
    /no tool is named "x".*There are: f/,
  ],
  [
    "a tool of the other type",
    { tools: [f, c], tool_choice: { type: "custom", name: "f" } },
    "tool_choice.name",
    /There are: c/,
  ],
  [
    "a name of two",
    { tools: [space("a", [g]), space("b", [g])], tool_choice: g },
    "tool_choice.name",
    /2 tools are named "g".*Use a\.g or b\.g/,
  ],
  [
    "a mode that is none",
    { tools: [f], tool_choice: { type: "allowed_tools", mode: "none", tools: [f] } },
    "tool_choice.mode",
    /auto or required/,
  ],
  [
    "allowed tools as chat has them",
    { tools: [f], tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [f] } } },
    "tool_choice",
    /nested choice/,
  ],
  [
    "allowed tools that are no list",
    { tools: [f], tool_choice: { type: "allowed_tools", mode: "auto" } },
    "tool_choice.tools",
    /must be a list/,
  ],
  [
    "an allowed tool that is unknown",
    { tools: [f], tool_choice: { type: "allowed_tools", mode: "auto", tools: [g] } },
    "tool_choice.tools[0].name",
    /no tool is named "g"/,
  ],
])("%s is refused by its field", (_, fields, param, message) => {
  let refusal: unknown
  try {
    read(fields)
  } catch (error) {
    refusal = error
  }
  expect(refusal).toBeInstanceOf(Refusal)
  expect((refusal as Refusal).details.param).toBe(param)
  expect((refusal as Refusal).message).toMatch(message)
})
