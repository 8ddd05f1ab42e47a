/** What a chat template is given: calls with their arguments as it takes them, reasoning by its names, tools or None. */
import { expect, test } from "vitest"
import { RequestError } from "../../../runtime/errors.ts"
import { ChatTemplate, type Message } from "../../../runtime/model/template.ts"

const call = (args: string) => ({ id: "a", type: "function", function: { name: "f", arguments: args } })
const custom = { id: "b", type: "custom", custom: { name: "g", input: "x y" } }
const open = (source: string) => new ChatTemplate(new Map([["default", source]]), {})
const render = (source: string, calls: unknown[]) =>
  open(source).render([{ role: "assistant", content: "", tool_calls: calls }])

const each = (body: string) =>
  `{% for c in messages[0].tool_calls %}${body.replaceAll("ARGS", "c.function.arguments")};{% endfor %}`

test.each([
  ["dumps a value", each("{{ ARGS | tojson }}"), '{"a": 1};{"input": "x y"};'],
  [
    "dumps it under another name",
    each("{% set v = c['function']['arguments'] %}{{ v | tojson }}"),
    '{"a": 1};{"input": "x y"};',
  ],
  [
    "dumps the whole call",
    each("{{ c.function | tojson }}"),
    '{"name": "f", "arguments": {"a": 1}};{"name": "g", "arguments": {"input": "x y"}};',
  ],
  [
    "looks at its members",
    each("{% for k, v in ARGS | items %}{{ k }}={{ v }}{% endfor %}"),
    "a=1;input=x y;",
  ],
  [
    "asks for its kind",
    each("{% if ARGS is string %}{{ ARGS }}{% else %}{{ ARGS | tojson }}{% endif %}"),
    '{"a": 1};{"input": "x y"};',
  ],
  [
    "reads a text as JSON by a filter that is nowhere",
    each("{% if ARGS is string %}{{ ARGS | from_json }}{% else %}{{ ARGS | tojson }}{% endif %}"),
    '{"a": 1};{"input": "x y"};',
  ],
  ["adds the text", each("{{ c.function.name + ARGS }}"), 'f{"a": 1};g{"input":"x y"};'],
  ["writes the text", each("{{ ARGS }}"), '{"a": 1};{"input":"x y"};'],
])("a template that %s", (_, source, text) => {
  expect(render(source, [call('{"a": 1}'), custom])).toBe(text)
})

test("numbers and the order of keys in arguments are the client's", () => {
  const args = '{"2": 1.0, "1": 12345678901234567890, "a": 1e3, "b": -0.0, "a": 2}'
  const written = '{"2": 1.0, "1": 12345678901234567890, "a": 2, "b": -0.0};'
  expect(render(each("{{ ARGS | tojson }}"), [call(args)])).toBe(written)
  const members = each("{% for k, v in ARGS | items %}{{ k }}={{ v }},{% endfor %}{{ ARGS['1'] is integer }}")
  expect(render(members, [call(args)])).toBe("2=1.0,1=12345678901234567890,a=2,b=-0.0,True;")
})

test("arguments that are values already are printed as Python prints them", () => {
  const value = { id: "a", type: "function", function: { name: "f", arguments: { a: 1 } } }
  expect(render(each("{{ ARGS }}"), [value])).toBe("{'a': 1};")
  expect(() => render(each("{{ 'x' + ARGS }}"), [value])).toThrow(
    'can only concatenate str (not "dict") to str',
  )
})

test("arguments that were cut off stay a text", () => {
  expect(render(each("{{ ARGS | tojson }}"), [call('{"a": ')])).toBe('"{\\"a\\": ";')
})

test("what a template raises over calls is said as it is", () => {
  expect(() => render(each("{{ raise_exception('one call only') }}"), [call("{}")])).toThrow(
    new RequestError("invalid_value", "chat template: one call only", "messages"),
  )
})

test.each<[string, Partial<Message>, string]>([
  ["reasoning_content", { reasoning_content: "r" }, "rr"],
  ["thinking", { thinking: "t" }, "tt"],
  ["reasoning", { reasoning: "x" }, "xx"],
  ["null", { reasoning_content: null }, "nonenone"],
])("reasoning by the name %s", (_, fields, text) => {
  const source =
    "{% for n in ['thinking', 'reasoning_content'] %}{{ messages[0][n] | default('none') }}{% endfor %}"
  expect(open(source).render([{ role: "assistant", content: "a", ...fields }])).toBe(text)
})

test("tools are None where there are none, and fields that are null are left out", () => {
  const source =
    "{{ tools is none }} {{ tools is defined }} {{ documents }} {{ 'name' in messages[0] }} {{ 'content' in messages[0] }}"
  const messages = [{ role: "user", content: "a", name: null }] as unknown as Message[]
  expect(open(source).render(messages, { tools: [] })).toBe("True True None False True")
})

test("a template that cannot be read is said by its line, with what to do", () => {
  expect(() => open("a\n{% if %}").render([{ role: "user", content: "a" }])).toThrow(
    "the chat template of this model cannot be read, line 2: unexpected %}: send a raw prompt, or correct chat_template.jinja in its directory",
  )
})
