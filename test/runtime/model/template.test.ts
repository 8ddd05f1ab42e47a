/** What a chat template is given of calls: arguments as values where it looks into them, else as the text that they are. */
import { expect, test } from "vitest"
import { ChatTemplate } from "../../../runtime/model/template.ts"

const call = (args: string) => ({ id: "a", type: "function", function: { name: "f", arguments: args } })
const custom = { id: "b", type: "custom", custom: { name: "g", input: "x y" } }
const render = (source: string, calls: unknown[]) =>
  new ChatTemplate(new Map([["default", source]]), {}).render([
    { role: "assistant", content: "", tool_calls: calls },
  ])

const each = (body: string) =>
  `{% for c in messages[0].tool_calls %}${body.replaceAll("ARGS", "c.function.arguments")};{% endfor %}`

test.each([
  ["dumps a value", each("{{ ARGS | tojson }}"), '{"a": 1};{"input": "x y"};'],
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
  ["takes the text", each("{{ c.function.name + ARGS }}"), 'f{"a": 1};g{"input":"x y"};'],
])("a template that %s", (_, source, text) => {
  expect(render(source, [call('{"a": 1}'), custom])).toBe(text)
})

test("arguments that were cut off stay a text", () => {
  expect(render(each("{{ ARGS | tojson }}"), [call('{"a": ')])).toBe('"{\\"a\\": ";')
})
