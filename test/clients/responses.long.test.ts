/** Responses by the clients that use them by default, unmodified: the AI SDK, LangChain and the agents of OpenAI. */

import { createOpenAI } from "@ai-sdk/openai"
import { HumanMessage, ToolMessage } from "@langchain/core/messages"
import { tool as chainTool } from "@langchain/core/tools"
import { ChatOpenAI } from "@langchain/openai"
import { Agent, tool as agentTool, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents"
import * as ai6 from "ai"
import * as ai7 from "ai7"
import { createOpenAI as createOpenAI4 } from "aisdk-openai4"
import { ChatOpenAI as ChatOpenAI16 } from "langchain-openai16"
import OpenAI from "openai7"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { serveWays, ways } from "../support/ways.ts"

// Its warnings are looked at where they count.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
setTracingDisabled(true)

const served = serveWays({ onLength: "close" })
const Person = z.object({ name: z.string().max(12), age: z.number().int().min(0).max(120) })
const Place = z.object({ city: z.string().max(12), unit: z.enum(["c", "f"]) })
const question = "What is the weather in Paris?"

describe.each(ways)("%s", (way) => {
  const sent: string[] = []
  const client = () => {
    const options = served.client(way)
    const fetchNoted: typeof fetch = (input, init) => {
      sent.push(String(init?.body))
      return options.fetch(input, init)
    }
    return { ...options, fetch: fetchNoted }
  }
  const sdks = [
    ["6", ai6, () => createOpenAI(client()).responses("gpt-4o")],
    ["7", ai7 as unknown as typeof ai6, () => createOpenAI4(client()).responses("gpt-4o") as never],
  ] as const
  describe.each(sdks)("AI SDK %s", (_, sdk, model) => {
    const asked = () => ({ model: model(), maxOutputTokens: 300, maxRetries: 0 })

    test("text, whole and streamed, and a second turn that refers to the first", async () => {
      const first = await sdk.generateText({ ...asked(), prompt: "Say hi.", maxOutputTokens: 8 })
      const messages = [
        { role: "user" as const, content: "Say hi." },
        ...first.response.messages,
        { role: "user" as const, content: "Once more." },
      ]
      const second = await sdk.generateText({ ...asked(), messages, maxOutputTokens: 8 })
      expect(second.usage.inputTokens).toBeGreaterThan(first.usage.inputTokens!)
      expect(sent.at(-1)).toContain("item_reference")
      const stream = sdk.streamText({ ...asked(), prompt: "Say hi.", maxOutputTokens: 8 })
      let text = ""
      for await (const delta of stream.textStream) text += delta
      expect(text).toBe(await stream.text)
    })

    test("an object, whole and streamed", async () => {
      const { object } = await sdk.generateObject({ ...asked(), schema: Person, prompt: "Invent a person." })
      expect(Person.parse(object)).toEqual(object)
      const stream = sdk.streamObject({ ...asked(), schema: Person, prompt: "Invent a person." })
      for await (const _ of stream.partialObjectStream);
      expect(Person.safeParse(await stream.object).success).toBe(true)
    })

    test.each(["required", { type: "tool", toolName: "weather" }] as const)(
      "a tool, and its result: %j",
      async (toolChoice) => {
        const calls: unknown[] = []
        const weather = sdk.tool({
          description: "of a city",
          inputSchema: Place,
          execute: async (place: z.infer<typeof Place>) => {
            calls.push(place)
            return "12 degrees"
          },
        })
        const stopWhen = sdk.stepCountIs(2)
        const { steps } = await sdk.generateText({
          ...asked(),
          tools: { weather },
          toolChoice,
          stopWhen,
          prompt: question,
        })
        expect(steps.length).toBe(2)
        for (const place of calls) expect(Place.parse(place)).toEqual(place)
        const stream = sdk.streamText({ ...asked(), tools: { weather }, toolChoice, prompt: question })
        await stream.consumeStream()
        expect((await stream.toolCalls).length).toBeGreaterThan(0)
      },
    )
  })

  const chains = [
    ["1.5", ChatOpenAI],
    ["1.6", ChatOpenAI16 as unknown as typeof ChatOpenAI],
  ] as const
  describe.each(chains)("LangChain %s", (_, Chat) => {
    const model = () => {
      const { apiKey, ...configuration } = served.client(way)
      const options = { useResponsesApi: true, maxTokens: 300, maxRetries: 0 }
      return new Chat({ model: "gpt-4o", apiKey, ...options, modelKwargs: { seed: 1 }, configuration })
    }

    test("an object of a schema", async () => {
      const structured = model().withStructuredOutput(Person, { method: "jsonSchema", strict: true })
      const person = await structured.invoke("Invent a person.")
      expect(Person.parse(person)).toEqual(person)
    })

    test("a stream", async () => {
      const chunks: string[] = []
      for await (const chunk of await model().stream("Say hi.")) chunks.push(chunk.text)
      expect(chunks.length).toBeGreaterThan(0)
    })

    test("a named tool, and its result", async () => {
      const weather = chainTool(async () => "12 degrees", {
        name: "weather",
        description: "of a city",
        schema: Place,
      })
      const bound = model().bindTools([weather], {
        tool_choice: { type: "function", function: { name: "weather" } },
      })
      const asked = new HumanMessage(question)
      const answer = await bound.invoke([asked])
      const [call] = answer.tool_calls!
      expect(Place.parse(call.args)).toEqual(call.args)
      const result = new ToolMessage({ content: "12 degrees", tool_call_id: call.id! })
      const last = await model().bindTools([weather]).invoke([asked, answer, result])
      expect(last.usage_metadata!.input_tokens).toBeGreaterThan(answer.usage_metadata!.input_tokens)
    })
  })

  describe("agents", () => {
    const runner = () => {
      // The agents bring the same client along in a folder of their own.
      const openAIClient = new OpenAI({ ...served.client(way), maxRetries: 0 }) as never
      const modelProvider = new OpenAIProvider({ openAIClient, useResponses: true })
      return new Runner({ modelProvider, model: "gpt-4o", modelSettings: { maxTokens: 200 } })
    }

    test("a run with a type of output, whole and streamed", async () => {
      const agent = new Agent({ name: "writer", instructions: "Invent a person.", outputType: Person })
      const { finalOutput } = await runner().run(agent, "Go on.")
      expect(Person.parse(finalOutput)).toEqual(finalOutput)
      const stream = await runner().run(agent, "Go on.", { stream: true })
      await stream.completed
      expect(Person.safeParse(stream.finalOutput).success).toBe(true)
    })

    test("a tool that has to be called, then an answer", async () => {
      const asked: unknown[] = []
      const weather = agentTool({
        name: "weather",
        description: "of a city",
        parameters: Place,
        execute: async (place) => {
          asked.push(place)
          return "12 degrees"
        },
      })
      const modelSettings = { toolChoice: "required" as const, parallelToolCalls: false }
      const agent = new Agent({
        ...{ name: "reporter", instructions: "Tell the weather.", tools: [weather], modelSettings },
        toolUseBehavior: "stop_on_first_tool",
      })
      expect((await runner().run(agent, question)).finalOutput).toBe("12 degrees")
      expect(asked.length).toBe(1)
    })
  })
})
