/**
 * Which fields of a reply each client stands on: one field is taken out of every reply of the server, and what a client makes of the
 * rest is compared with what it makes of the whole. A field that nobody misses is sent all the same.
 */
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { tool as langchainTool } from "@langchain/core/tools"
import { ChatOpenAI } from "@langchain/openai"
import * as ai from "ai"
import OpenAI from "openai"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { serveWays } from "../support/ways.ts"

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
const served = serveWays()

/** Takes something out of a whole reply or a chunk; null takes all of it. */
// biome-ignore lint/suspicious/noExplicitAny: fields are taken out of whatever there is
type Cut = (body: any) => any

/** Whole replies of the server by the body that asked for them: the seed is fixed, and clients ask the same again. */
const replies = new Map<string, { text: string; type: string }>()

/** A fetch whose replies lack what `cut` takes out. */
function cutting(cut: Cut, isUntyped = false): typeof fetch {
  return async (input, init) => {
    const asked = String(init?.body)
    let reply = replies.get(asked)
    if (reply === undefined) {
      const response = await served.client("in process").fetch(input, init)
      reply = { text: await response.text(), type: response.headers.get("content-type")! }
      expect(response.status, reply.text).toBe(200)
      replies.set(asked, reply)
    }
    const { text, type } = reply
    const isStream = type.startsWith("text/event-stream")
    const body = isStream
      ? text
          .split("\n\n")
          .flatMap((event) => cutEvent(event, cut))
          .join("")
      : (cutJson(text, cut) ?? "")
    const headers: HeadersInit = isUntyped && !isStream ? {} : { "content-type": type }
    return new Response(new TextEncoder().encode(body), { headers })
  }
}

function cutEvent(event: string, cut: Cut): string[] {
  if (!event.startsWith("data: ")) return []
  const data = event.slice("data: ".length)
  const left = data === "[DONE]" ? cut(data) : cutJson(data, cut)
  return left === null ? [] : [`data: ${left}\n\n`]
}

function cutJson(text: string, cut: Cut): string | null {
  const body = cut(JSON.parse(text))
  return body === null ? null : JSON.stringify(body)
}

const whole: Cut = (body) => body
const without =
  (...keys: string[]): Cut =>
  (body) =>
    body === "[DONE]" ? body : Object.fromEntries(Object.entries(body).filter(([key]) => !keys.includes(key)))
/** Does something to every choice, and to the chunks or the whole replies alone. */
// biome-ignore lint/suspicious/noExplicitAny: the same
const ofChoices = (change: (choice: any) => void, kind: "chunk" | "reply" | "both" = "both"): Cut => {
  return (body) => {
    const isChunk = body?.object === "chat.completion.chunk"
    if (body !== "[DONE]" && (kind === "both" || (kind === "chunk") === isChunk)) body.choices.forEach(change)
    return body
  }
}
const ofCalls = (...keys: string[]): Cut =>
  ofChoices(({ delta }) => {
    for (const call of delta.tool_calls ?? []) for (const key of keys) delete call[key]
  }, "chunk")

const model = "gpt-4o"
const prompt = "What is the weather in Paris?"
const messages = [{ role: "user" as const, content: prompt }]
const place = z.object({ city: z.enum(["Paris", "Rome"]) })
const calling = {
  tools: [{ type: "function" as const, function: { name: "weather", parameters: z.toJSONSchema(place) } }],
  tool_choice: "required" as const,
}
const common = { seed: 1, max_tokens: 120 }
const counted = { stream_options: { include_usage: true } }

/** What a client makes of its replies; whatever it throws is what it makes of them, too. */
const flows: Record<string, (fetchReply: typeof fetch) => Promise<unknown>> = {
  "openai create": async (fetchReply) => {
    const client = openai(fetchReply)
    const text = await client.create({ model, messages, ...common, max_tokens: 8 })
    const called = await client.create({ model, messages, ...common, ...calling })
    return [text.choices[0].message.content, called.choices[0].message.tool_calls!.map(callOf)]
  },
  "openai stream": async (fetchReply) => {
    const client = openai(fetchReply)
    const text = await client.stream({ model, messages, ...common, ...counted, max_tokens: 8 }).finalContent()
    const called = await client.stream({ model, messages, ...common, ...counted, ...calling }).finalMessage()
    return [text, called.tool_calls!.map(callOf)]
  },
  "openai runTools stream": async (fetchReply) => {
    const asked: string[] = []
    const func = { ...calling.tools[0].function, function: (args: string) => void asked.push(args) }
    const tools = [{ type: "function" as const, function: func }]
    const request = { model, messages, ...common, ...counted, ...calling, tools, stream: true as const }
    await openai(fetchReply)
      .runTools(request as never, { maxChatCompletions: 1 })
      .done()
    return asked
  },
  "LangChain invoke": async (fetchReply) => {
    const { plain, bound } = langchain(fetchReply)
    const called = await bound.invoke(prompt)
    return [(await plain.invoke(prompt)).text, called.tool_calls!.map(({ name, args }) => ({ name, args }))]
  },
  "LangChain stream": async (fetchReply) => {
    const { plain, bound } = langchain(fetchReply)
    let text = ""
    for await (const chunk of await plain.stream(prompt)) text += chunk.text
    const chunks = []
    for await (const chunk of await bound.stream(prompt)) chunks.push(chunk)
    const called = chunks.reduce((sum, chunk) => sum.concat(chunk))
    return [text, called.tool_calls!.map(({ name, args }) => ({ name, args }))]
  },
  "compatible generateText": (fetchReply) => generated(compatible(fetchReply)),
  "compatible streamText": (fetchReply) => streamed(compatible(fetchReply)),
  "openai.chat generateText": (fetchReply) => generated(createOpenAI(withFetch(fetchReply)).chat(model)),
  "openai.chat streamText": (fetchReply) => streamed(createOpenAI(withFetch(fetchReply)).chat(model)),
}

const withFetch = (fetchReply: typeof fetch) => ({
  apiKey: "none",
  baseURL: "http://localhost/v1",
  fetch: fetchReply,
})
const openai = (fetchReply: typeof fetch) =>
  new OpenAI({ ...withFetch(fetchReply), maxRetries: 0 }).chat.completions
const callOf = (call: OpenAI.Chat.Completions.ChatCompletionMessageToolCall) =>
  call.type === "function" ? [call.function.name, call.function.arguments] : null

function langchain(fetchReply: typeof fetch) {
  const open = (maxTokens: number) =>
    new ChatOpenAI({
      ...{ model, apiKey: "none", maxTokens, maxRetries: 0, modelKwargs: { seed: 1 } },
      configuration: withFetch(fetchReply),
    })
  const weather = langchainTool(() => "", { name: "weather", schema: place })
  return { plain: open(8), bound: open(120).bindTools([weather], { tool_choice: "any" }) }
}

const compatible = (fetchReply: typeof fetch) =>
  createOpenAICompatible({ name: "tokenrail", includeUsage: true, ...withFetch(fetchReply) })("any")
const tools = { weather: ai.tool({ inputSchema: place, execute: async ({ city }) => `12 in ${city}` }) }
const base = { prompt, seed: 1, maxRetries: 0 }

async function generated(languageModel: ai.LanguageModel): Promise<unknown> {
  const request = {
    ...base,
    model: languageModel,
    maxOutputTokens: 120,
    tools,
    toolChoice: "required" as const,
  }
  const { text } = await ai.generateText({ ...base, model: languageModel, maxOutputTokens: 8 })
  const { steps } = await ai.generateText({ ...request, stopWhen: ai.stepCountIs(2) })
  return [text, steps.map(({ toolResults }) => toolResults.map(({ input, output }) => ({ input, output })))]
}

async function streamed(languageModel: ai.LanguageModel): Promise<unknown> {
  const request = {
    ...base,
    model: languageModel,
    maxOutputTokens: 120,
    tools,
    toolChoice: "required" as const,
  }
  const onError = () => {}
  const { text } = ai.streamText({ ...base, model: languageModel, maxOutputTokens: 8, onError })
  const { steps } = ai.streamText({ ...request, stopWhen: ai.stepCountIs(2), onError })
  return [
    await text,
    (await steps).map(({ toolResults }) => toolResults.map(({ input, output }) => ({ input, output }))),
  ]
}

const outcome = (flow: (typeof flows)[string], fetchReply: typeof fetch): Promise<unknown> =>
  flow(fetchReply).catch((error: unknown) => `breaks: ${(error as Error).message}`)

const everybody = Object.keys(flows)
const openaiStreams = ["openai stream", "openai runTools stream"]
const cuts: [field: string, cut: Cut, broken: string[]][] = [
  ["content-type of a whole reply", whole, ["openai create", "LangChain invoke"]],
  ["choices", without("choices"), everybody],
  [
    "choices of the chunk of usage",
    (body) => (body.choices?.length === 0 ? without("choices")(body) : body),
    [...openaiStreams, "compatible streamText", "openai.chat streamText"],
  ],
  [
    "choices[].index",
    ofChoices((choice) => delete choice.index),
    [...openaiStreams, "openai.chat generateText", "openai.chat streamText"],
  ],
  [
    "the first delta's role",
    ofChoices(({ delta }) => delete delta.role, "chunk"),
    [...openaiStreams, "LangChain stream"],
  ],
  ["the message's role", ofChoices(({ message }) => delete message.role, "reply"), ["LangChain invoke"]],
  [
    "finish_reason of a stream",
    ofChoices((choice) => delete choice.finish_reason, "chunk"),
    [...openaiStreams, "compatible streamText", "openai.chat streamText"],
  ],
  [
    "index of a call's delta",
    ofCalls("index"),
    [...openaiStreams, "LangChain stream", "openai.chat streamText"],
  ],
  ["type of a call's delta", ofCalls("type"), openaiStreams],
  ["id of a call's delta", ofCalls("id"), ["LangChain stream"]],
  ["id", without("id"), []],
  ["object", without("object"), []],
  ["created", without("created"), []],
  ["model", without("model"), []],
  [
    "system_fingerprint, service_tier and tokenrail",
    without("system_fingerprint", "service_tier", "tokenrail"),
    [],
  ],
  ["usage", without("usage"), []],
  ["logprobs", ofChoices((choice) => delete choice.logprobs), []],
  ["stop_reason", ofChoices((choice) => delete choice.stop_reason), []],
  ["[DONE]", (body) => (body === "[DONE]" ? null : body), []],
]

describe("a reply", () => {
  test.each(cuts)("without %s", async (field, cut, broken) => {
    const found: string[] = []
    for (const [name, flow] of Object.entries(flows)) {
      const expected = await outcome(flow, cutting(whole))
      expect(String(expected)).not.toMatch(/^breaks/)
      const made = await outcome(flow, cutting(cut, field.startsWith("content-type")))
      if (JSON.stringify(made) !== JSON.stringify(expected)) found.push(name)
    }
    expect(found.sort()).toEqual([...broken].sort())
  })
})
