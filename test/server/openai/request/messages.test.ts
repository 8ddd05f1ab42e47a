import { expect, test } from "vitest"
import { z } from "zod"
import { message, toMessages } from "../../../../server/openai/request/messages.ts"

const read = (messages: unknown) => toMessages(z.array(message).parse(messages))
const user = { role: "user", content: "w?" }

test("an empty list of parts is an empty text, in every role", () => {
  const calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }]
  expect(
    read([
      { role: "system", content: [] },
      { role: "user", content: [] },
      { role: "assistant", content: [] },
      { role: "assistant", content: [], tool_calls: calls },
      { role: "tool", tool_call_id: "a", content: [] },
    ]).map(({ content }) => content),
  ).toEqual(["", "", "", "", ""])
})

test("function_call and its result are a call and its result", () => {
  const call = (name: string) => ({
    role: "assistant",
    content: null,
    function_call: { name, arguments: "{}" },
  })
  const result = (name: string, content: string) => ({ role: "function", name, content })
  const ids = ["call00001", "call00002"]
  const called = (id: string, name: string) => ({
    role: "assistant",
    content: "",
    tool_calls: [{ id, type: "function", function: { name, arguments: "{}" } }],
  })
  expect(read([user, call("f"), result("f", "1"), call("f"), result("f", "2")])).toEqual([
    user,
    called(ids[0], "f"),
    { role: "tool", name: "f", tool_call_id: ids[0], content: "1" },
    called(ids[1], "f"),
    { role: "tool", name: "f", tool_call_id: ids[1], content: "2" },
  ])
})

test.each([
  [
    "a result without a call",
    [user, { role: "function", name: "f", content: "1" }],
    "messages[1].name",
    /no earlier call has the name "f"/,
  ],
  [
    "both forms in one message",
    [
      user,
      {
        role: "assistant",
        function_call: { name: "f", arguments: "{}" },
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
      },
    ],
    "messages[1].function_call",
    /tool_calls as well/,
  ],
])("%s is refused by its field", (_, messages, param, text) => {
  expect(() => read(messages)).toThrowError(
    expect.objectContaining({
      details: expect.objectContaining({ param }),
      message: expect.stringMatching(text),
    }),
  )
})
