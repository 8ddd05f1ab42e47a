/**
 * Conversations that chat templates are compared over: who speaks in which order, tools, calls and their results, reasoning,
 * and texts that are hard to write down. Each is given with and without the asking for an answer and with each wish to think.
 */
import type { Message, TemplateOptions } from "../../runtime/model/template.ts"

export interface Conversation {
  name: string
  messages: readonly Message[]
  options: TemplateOptions
}

const user = (content: string): Message => ({ role: "user", content })
const system: Message = { role: "system", content: "You are brief." }
const answer: Message = { role: "assistant", content: "Hello!" }

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: 'The weather <now> of a city & its "surroundings": it\'s °C',
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", description: "Größe, 東京, 😀" },
        days: { type: "integer", minimum: 1, maximum: 7, default: 3 },
        units: { type: "string", enum: ["C", "F"] },
        where: {
          type: "object",
          properties: { lat: { type: "number" }, tags: { type: "array", items: { type: "string" } } },
          required: ["lat"],
        },
      },
      required: ["city"],
    },
  },
}
const clock = {
  type: "function",
  function: { name: "get_time", description: "The time.", parameters: { type: "object", properties: {} } },
}
const kinds = {
  type: "function",
  function: {
    name: "kinds",
    description: "Every kind of parameter.\nTwo lines.",
    parameters: {
      type: "object",
      properties: {
        either: { anyOf: [{ type: "string" }, { type: "null" }], description: "" },
        list: { type: ["array", "null"], items: { type: "integer" }, default: [] },
        flag: { type: "boolean", default: false, nullable: true },
        ratio: { type: "number", default: 0.5, maximum: 1e21 },
        free: { type: "object", additionalProperties: true },
        one: { const: "a" },
        ref: { $ref: "#/$defs/x" },
      },
      required: ["list", "flag"],
      $defs: { x: { type: "string" } },
    },
    return: { type: "object", properties: { ok: { type: "boolean" } } },
  },
}
const tools = [weather, clock]

const call = (id: string, name: string, args: unknown) => ({
  id,
  type: "function",
  function: { name, arguments: args },
})
const result = (id: string, name: string, content: string): Message => ({
  role: "tool",
  tool_call_id: id,
  name,
  content,
})
const calling = (calls: readonly unknown[], rest: Partial<Message> = {}): Message => ({
  role: "assistant",
  content: null,
  tool_calls: calls,
  ...rest,
})
const oslo = call("call00001", "get_weather", { city: "Oslo", days: 2 })
const paris = call("call00002", "get_weather", { city: "Paris" })
const now = call("call00003", "get_time", {})
const rich = call("call00004", "kinds", {
  either: null,
  list: [1, 2, -3],
  flag: true,
  ratio: 0.1,
  free: { "a b": [{ c: 'd\ne"f\\' }, false, null], é: "<&>'" },
  one: "東京 😀",
})

const talk = [system, user("Hi"), answer, user("And now?")]
const asked = [user("Weather in Oslo?"), calling([oslo]), result("call00001", "get_weather", '{"t": -3}')]
const thought: Message = { role: "assistant", content: "It is 4.", reasoning_content: "2 + 2\nis 4." }

const bases: Record<string, { messages: readonly Message[]; options?: TemplateOptions }> = {
  "user alone": { messages: [user("Hi there")] },
  "system, user": { messages: [system, user("Hi")] },
  "several turns": { messages: talk },
  "turns without a system message": { messages: talk.slice(1) },
  "white space around": {
    messages: [
      { role: "system", content: "  be\n brief \n" },
      user(" \n\tHi  \n"),
      { role: "assistant", content: "\n\n Yes. " },
      user("ok\u00a0\n"),
    ],
  },
  "hard texts": {
    messages: [user("é\u0301 😀 東京 \\n \"q\" 'a' {{ x }} {% y %} </s> <think>t</think> \u2028")],
  },
  "empty texts": {
    messages: [{ role: "system", content: "" }, user(""), { role: "assistant", content: "" }, user("x")],
  },
  "tools, user": { messages: [user("Weather?")], options: { tools } },
  "tools, system, user": { messages: [system, user("Weather?")], options: { tools } },
  "tools of every kind": { messages: [system, user("Go")], options: { tools: [kinds] } },
  "one call": { messages: asked.slice(0, 2), options: { tools } },
  "one call and its result": { messages: asked, options: { tools } },
  "one call, its result and an answer": {
    messages: [...asked, { role: "assistant", content: "It is -3." }, user("Thanks")],
    options: { tools },
  },
  "a call beside a text": {
    messages: [system, asked[0], calling([oslo], { content: "Let me see." }), asked[2]],
    options: { tools },
  },
  "two calls and their results": {
    messages: [
      system,
      user("Oslo and Paris?"),
      calling([oslo, paris]),
      result("call00001", "get_weather", "-3"),
      result("call00002", "get_weather", "9"),
    ],
    options: { tools },
  },
  "calls one behind another": {
    messages: [...asked, calling([now]), result("call00003", "get_time", "12:00"), answer, user("Thanks")],
    options: { tools },
  },
  "a call with every kind of value": {
    messages: [user("Go"), calling([rich], { content: "" }), result("call00004", "kinds", '[1, "a"]')],
    options: { tools: [kinds] },
  },
  "a call without tools": { messages: asked },
  "reasoning before an answer": { messages: [user("2+2?"), thought, user("sure?")] },
  "reasoning last": { messages: [user("2+2?"), thought] },
  "reasoning before a call": {
    messages: [
      user("Oslo?"),
      calling([oslo], { reasoning_content: "I must look." }),
      result("call00001", "get_weather", "-3"),
    ],
    options: { tools },
  },
  "reasoning in tags": {
    messages: [user("2+2?"), { role: "assistant", content: "<think>\n2 + 2\n</think>\n\n4" }, user("sure?")],
  },
  "two users in a row": { messages: [user("a"), user("b")] },
  "assistant first": { messages: [answer, user("Hi")] },
  "assistant last": { messages: [user("Hi"), answer] },
  "system later": { messages: [user("Hi"), answer, system, user("go")] },
  developer: { messages: [{ role: "developer", content: "Be brief." }, user("Hi")] },
  "an unknown role": { messages: [user("Hi"), { role: "critic", content: "Bad." }] },
  documents: {
    messages: [user("Who?")],
    options: { documents: [{ doc_id: "1", title: "A", text: "Ann is it.", contents: "Ann is it." }] },
  },
}

const thinking: Record<string, Record<string, unknown>> = {
  "": {},
  ", thinking": { enable_thinking: true, thinking: true, reasoning_effort: "high" },
  ", not thinking": { enable_thinking: false, thinking: false },
}

/** All of them. */
export const conversations: readonly Conversation[] = Object.entries(bases).flatMap(
  ([base, { messages, options }]) =>
    Object.entries(thinking).flatMap(([wish, variables]) =>
      [true, false].map((addGenerationPrompt) => ({
        name: `${base}${wish}${addGenerationPrompt ? "" : ", no question"}`,
        messages,
        options: { ...options, addGenerationPrompt, variables },
      })),
    ),
)
