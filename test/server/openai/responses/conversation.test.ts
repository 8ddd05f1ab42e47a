/** Items → messages: what a chat template reads of input, of references and of responses before. */
import { describe, expect, test } from "vitest"
import { Refusal } from "../../../../server/errors.ts"
import { conversationOf } from "../../../../server/openai/responses/conversation.ts"
import { type Item, listedItem, readInput } from "../../../../server/openai/responses/items.ts"
import { ResponseStore } from "../../../../server/openai/responses/store.ts"

const nothing = { instructions: null, previousResponseId: null }
const fresh = () => new ResponseStore().of(0)
const messagesOf = (input: unknown, instructions: string | null = null) =>
  conversationOf({ ...nothing, instructions, input: readInput(input) }, fresh()).messages

const call = (id: string, name = "f") => ({ type: "function_call", call_id: id, name, arguments: '{"a":1}' })
const shown = (id: string, name = "f", args = '{"a":1}') => ({
  id,
  type: "function",
  function: { name, arguments: args },
})
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "noon" })

test.each<[what: string, input: unknown, messages: object[]]>([
  ["a text", "hi", [{ role: "user", content: "hi" }]],
  [
    "messages, with and without a type",
    [
      { role: "developer", content: "be brief" },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "a" },
          { type: "input_text", text: "b" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "output_text", text: "c", annotations: [] },
          { type: "refusal", refusal: "no" },
        ],
      },
    ],
    [
      { role: "system", content: "be brief" },
      { role: "user", content: "a\nb" },
      { role: "assistant", content: "c\nno" },
    ],
  ],
  [
    "a turn of reasoning, text and calls is one message",
    [
      { role: "user", content: "x" },
      { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "hm" }] },
      { role: "assistant", content: "a moment", phase: "commentary" },
      call("1"),
      call("2", "g"),
      output("1"),
      output("2"),
      { role: "assistant", content: "done" },
    ],
    [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: "a moment",
        phase: "commentary",
        reasoning_content: "hm",
        tool_calls: [shown("1"), shown("2", "g")],
      },
      { role: "tool", tool_call_id: "1", name: "f", content: "noon" },
      { role: "tool", tool_call_id: "2", name: "g", content: "noon" },
      { role: "assistant", content: "done" },
    ],
  ],
  [
    "what cannot follow in a turn begins another",
    [
      call("1"),
      { role: "assistant", content: "b" },
      { role: "assistant", content: "c" },
      { type: "reasoning", summary: [{ type: "summary_text", text: "d" }] },
    ],
    [
      { role: "assistant", content: "", tool_calls: [shown("1")] },
      { role: "assistant", content: "b" },
      { role: "assistant", content: "c" },
      { role: "assistant", content: "", reasoning_content: "d" },
    ],
  ],
  [
    "calls of custom tools, and of a namespace",
    [
      { type: "custom_tool_call", call_id: "1", name: "dial", input: '1"2' },
      { type: "custom_tool_call_output", call_id: "1", output: [{ type: "input_text", text: "ok" }] },
      { ...call("2"), namespace: "crm" },
    ],
    [
      { role: "assistant", content: "", tool_calls: [shown("1", "dial", '{"input":"1\\"2"}')] },
      { role: "tool", tool_call_id: "1", name: "dial", content: "ok" },
      { role: "assistant", content: "", tool_calls: [shown("2", "crm.f")] },
    ],
  ],
])("%s", (_, input, messages) => {
  expect(messagesOf(input)).toEqual(messages)
})

test("instructions stand before all", () => {
  expect(messagesOf("hi", "be brief")).toEqual([
    { role: "system", content: "be brief" },
    { role: "user", content: "hi" },
  ])
})

describe("what is stored", () => {
  const scope = fresh()
  const put = (id: string, previousId: string | null, said: string) => {
    const asked = { type: "message", id: `in_${id}`, role: "user", content: `${said}?` } as const
    const answer: Item = { type: "message", id: `msg_${id}`, role: "assistant", content: said }
    scope.put({
      response: { id, status: "completed", output: [answer], instructions: "not these" },
      input: [asked],
      previousId,
      ownIds: [asked.id, `msg_${id}`],
    })
  }
  put("a", null, "one")
  put("b", "a", "two")
  put("c", "gone", "three")

  test("a response goes on from all before it, without their instructions", () => {
    const asked = { ...nothing, instructions: "these", previousResponseId: "b", input: readInput("more") }
    const { messages, input } = conversationOf(asked, scope)
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      "system: these",
      ...["user: one?", "assistant: one", "user: two?", "assistant: two", "user: more"],
    ])
    expect(input).toEqual(readInput("more"))
  })

  test("a reference stands for its item", () => {
    const input = readInput([
      { role: "user", content: "x" },
      { type: "item_reference", id: "msg_a" },
      { id: "in_b" },
    ])
    const { messages } = conversationOf({ ...nothing, input }, scope)
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      "user: x",
      "assistant: one",
      "user: two?",
    ])
  })

  test.each<[what: string, asked: object, code: string, param: string, message: RegExp]>([
    [
      "an unknown response",
      { previousResponseId: "x" },
      "not_found",
      "previous_response_id",
      /no response "x"/,
    ],
    [
      "a response whose predecessor is gone",
      { previousResponseId: "c" },
      "not_found",
      "previous_response_id",
      /no response "gone"/,
    ],
    [
      "an unknown item",
      { input: readInput([{ type: "item_reference", id: "x" }]) },
      "not_found",
      "input[0].id",
      /no item "x"/,
    ],
    [
      "a result of no call",
      { input: readInput([output("1")]) },
      "invalid_value",
      "input[0].call_id",
      /no earlier call has the id "1".*Send the call first/,
    ],
    [
      "a result of another call",
      { input: readInput([call("1"), output("2")]) },
      "invalid_value",
      "input[1].call_id",
      /The latest are "1"/,
    ],
    [
      "too many items",
      { previousResponseId: "a", input: Array.from({ length: 4_095 }, () => readInput("x")[0]) },
      "invalid_value",
      "previous_response_id",
      /4097 items/,
    ],
  ])("%s is refused", (_, asked, code, param, message) => {
    let refusal: unknown
    try {
      conversationOf({ ...nothing, input: readInput("x"), ...asked }, scope)
    } catch (error) {
      refusal = error
    }
    expect(refusal).toBeInstanceOf(Refusal)
    const { code: said, details, message: text } = refusal as Refusal
    expect([said, details.param]).toEqual([code, param])
    expect(text).toMatch(message)
  })
})

test("lists show texts as parts", () => {
  expect(listedItem({ type: "message", id: "a", role: "user", content: "x" })).toEqual({
    type: "message",
    id: "a",
    status: "completed",
    role: "user",
    content: [{ type: "input_text", text: "x" }],
  })
  expect(listedItem({ type: "message", id: "a", role: "assistant", content: "x" })).toMatchObject({
    content: [{ type: "output_text", text: "x", annotations: [], logprobs: [] }],
  })
  const result = { type: "function_call_output", id: "a", call_id: "c", output: "x" } as const
  expect(listedItem(result)).toEqual({ ...result, status: "completed" })
})
