/** What a turn refuses: the field or the tool that is wrong, by its place and its name. */
import { expect, test } from "vitest"
import type { Turn } from "../../../../grammar/tags/styles/plan.ts"
import { refusalOf } from "../../../support/cases.ts"
import { tool, turnGrammar } from "./support.ts"

const fine = tool("fine", { type: "object", properties: { a: { type: "string" } } })
const choice = (name: string) => ({ type: "function", function: { name } })
const custom = (format: unknown) => ({ type: "custom", custom: { name: "own", format } })

const table: [what: string, turn: Partial<Turn>, kind: string, path: string, message: string][] = [
  ["a style that is not there", { style: "herms" }, "syntax", "style", '"herms". There are: hermes,'],
  [
    "tools that are no list",
    { tools: "fine" as unknown as unknown[] },
    "syntax",
    "tools",
    "tools are a list",
  ],
  // biome-ignore lint/suspicious/noSparseArray: a hole is what is read
  ["a list of tools with a hole", { tools: [, fine] }, "syntax", "/0", "a tool is an object"],
  ["a tool that is no object", { tools: [fine, 5] }, "syntax", "/1", "a tool is an object"],
  ["a hosted tool", { tools: [{ type: "web_search" }] }, "unsupported", "/0/type", '"web_search"'],
  [
    "the shape of responses",
    { tools: [{ type: "function", name: "f" }] },
    "syntax",
    "/0",
    'under "function"',
  ],
  ["a name with a space", { tools: [tool("a b")] }, "syntax", "/0/function/name", '"a b" is no name'],
  [
    "a name twice",
    { tools: [fine, tool("fine")] },
    "syntax",
    "/1/function/name",
    "already at /0/function/name",
  ],
  [
    "an asynchronous tool",
    { tools: [{ ...(fine as object), async: true }] },
    "unsupported",
    "/0/async",
    "synchronous",
  ],
  [
    "a program that calls",
    { tools: [{ type: "function", function: { name: "f", allowed_callers: ["code"] } }] },
    "unsupported",
    "/0/function/allowed_callers",
    "direct",
  ],
  [
    "a call that begins as a message to the user",
    { style: "muse", tools: [tool("user")] },
    "unsupported",
    "/0/function/name",
    '" to=user<|message|>". Rename it',
  ],
  ["a choice that is none", { tool_choice: "any" }, "syntax", "tool_choice", "is an object"],
  [
    "a choice of another type",
    { tool_choice: { type: "mcp" } },
    "syntax",
    "tool_choice",
    "use auto, required, none",
  ],
  ["an unknown name", { tool_choice: choice("other") }, "syntax", "tool_choice", '"other". There are: fine'],
  [
    "a required call of nothing",
    { tools: [], tool_choice: "required" },
    "syntax",
    "tool_choice",
    "there is no tool",
  ],
  [
    "allowed tools without a mode",
    { tool_choice: { type: "allowed_tools", tools: [] } },
    "syntax",
    "tool_choice",
    "a mode",
  ],
  ["no number of calls", { max_tool_calls: 0 }, "syntax", "max_tool_calls", "0 is no number of calls"],
  ["reasoning without an end", { reasoning: { end: "" } }, "syntax", "reasoning/end", "some text"],
  [
    "optional reasoning that begins with nothing",
    { reasoning: { end: "</think>", optional: true } },
    "syntax",
    "reasoning/optional",
    "begins with some text",
  ],
  [
    "a pattern that is none",
    { tools: [fine, tool("bad", { properties: { a: { pattern: "(" } } })] },
    "syntax",
    "/1/function/parameters/properties/a/pattern",
    'the tool "bad": ',
  ],
  [
    "parameters that nothing satisfies",
    { tools: [tool("bad", { type: "object", required: ["a"], properties: { a: false } })] },
    "unsatisfiable",
    "/0/function/parameters/required",
    'the tool "bad": "a" is required',
  ],
  [
    "parameters that are no object",
    { tools: [tool("bad", { type: "string" })] },
    "unsatisfiable",
    "/0/function/parameters",
    "allows none",
  ],
  [
    "a value that only a control token spells",
    {
      tools: [tool("bad", { required: ["a"], properties: { a: { const: "</tool_call>" } }, type: "object" })],
    },
    "unsatisfiable",
    "/0/function/parameters/required",
    'the tool "bad"',
  ],
  [
    "a custom tool with a grammar, where none can be read",
    { tools: [custom({ type: "grammar", grammar: { syntax: "lark", definition: "start: /a/" } })] },
    "unsupported",
    "/0/custom/format/grammar/definition",
    'the tool "own": a grammar in Lark',
  ],
  [
    "a custom tool with a pattern that is none",
    { tools: [custom({ type: "grammar", grammar: { syntax: "regex", definition: "a)|(b" } })] },
    "syntax",
    "/0/custom/format/grammar/definition",
    'the tool "own": offset 1: Unmatched',
  ],
  [
    "a custom tool with a notation that is none",
    { tools: [custom({ type: "grammar", grammar: { syntax: "gbnf", definition: "" } })] },
    "syntax",
    "/0/custom/format/grammar/syntax",
    "lark or regex",
  ],
  [
    "a property that cannot be a key",
    { style: "qwen_xml", tools: [tool("bad", { type: "object", properties: { "a>b": {} } })] },
    "unsupported",
    "/0/function/parameters",
    'the property "a>b" cannot be written',
  ],
  [
    "a string that holds the tag that ends it",
    {
      style: "qwen_xml",
      tools: [tool("bad", { type: "object", required: ["a"], properties: { a: { const: "</parameter>" } } })],
    },
    "unsatisfiable",
    "/0/function/parameters/required",
    'the tool "bad"',
  ],
]

test.each(table)("%s", (_, turn, kind, path, message) => {
  const error = refusalOf(() => turnGrammar({ style: "hermes", tools: [fine], ...turn }))
  expect([error.kind, error.path]).toEqual([kind, path])
  expect(error.message).toContain(message)
})

test("what clients send without effect is taken", () => {
  const named = {
    name: "f",
    strict: null,
    parameters: null,
    defer_loading: true,
    allowed_callers: ["direct"],
    async: false,
    output_schema: {},
    input_examples: [],
    cache_control: { type: "ephemeral" },
  }
  const grammar = turnGrammar({
    style: "hermes",
    tools: [{ type: "function", function: named, strict: false }],
  })
  expect(grammar.isEmpty).toBe(false)
})
