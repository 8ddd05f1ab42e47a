/** The unmodified @openai/agents over chat: runs with a type of output, with tools, whole and streamed. */
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents"
import OpenAI from "openai7"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { serveWays, ways } from "../support/ways.ts"

setTracingDisabled(true)
const served = serveWays({ onLength: "close" })
const Person = z.object({ name: z.string().max(12), age: z.number().int().min(0).max(120) })

describe.each(ways)("agents, %s", (way) => {
  const runner = () => {
    const client = new OpenAI({ ...served.client(way), maxRetries: 0 })
    // The agents bring the same client along in a folder of their own.
    const openAIClient = client as never
    return new Runner({
      modelProvider: new OpenAIProvider({ openAIClient, useResponses: false }),
      model: "gpt-4o",
      modelSettings: { maxTokens: 200, providerData: { seed: 1 } },
    })
  }

  test("a run with a type of output, whole and streamed", async () => {
    const agent = new Agent({ name: "writer", instructions: "Invent a person.", outputType: Person })
    const { finalOutput } = await runner().run(agent, "Go on.")
    expect(Person.parse(finalOutput)).toEqual(finalOutput)
    const stream = await runner().run(agent, "Go on.", { stream: true })
    let text = ""
    for await (const delta of stream.toTextStream()) text += delta
    await stream.completed
    expect(JSON.parse(text)).toEqual(stream.finalOutput)
    expect(stream.finalOutput).toEqual(finalOutput)
  })

  test.each([["whole"], ["streamed"]])("a tool that has to be called, and its result, %s", async (kind) => {
    const asked: unknown[] = []
    const weather = tool({
      name: "get_weather",
      description: "of a city",
      parameters: z.object({ city: z.string().max(12), unit: z.enum(["c", "f"]) }),
      execute: async (args) => {
        asked.push(args)
        return "12 degrees"
      },
    })
    const agent = new Agent({
      name: "reporter",
      instructions: "Tell the weather.",
      tools: [weather],
      modelSettings: { toolChoice: "required", parallelToolCalls: false },
      toolUseBehavior: "stop_on_first_tool",
    })
    const question = "What is the weather in Paris?"
    if (kind === "whole") {
      expect((await runner().run(agent, question)).finalOutput).toBe("12 degrees")
    } else {
      const stream = await runner().run(agent, question, { stream: true })
      const items: string[] = []
      for await (const event of stream) if (event.type === "run_item_stream_event") items.push(event.name)
      await stream.completed
      expect(items).toEqual(["tool_called", "tool_output"])
      expect(stream.finalOutput).toBe("12 degrees")
    }
    expect(asked.length).toBe(1)
  })

  test("a tool beside a type of output: the run ends with the type, or at its last turn", async () => {
    const now = tool({
      name: "now",
      description: "the time",
      parameters: z.object({}),
      execute: () => "noon",
    })
    const agent = new Agent({
      name: "clerk",
      instructions: "Answer with a person.",
      tools: [now],
      outputType: Person,
      modelSettings: { toolChoice: "required", providerData: { tokenrail: { tools_in_prompt: false } } },
    })
    // After its first call the choice is the model's.
    const run = runner().run(agent, "Who is it?", { maxTurns: 4 })
    const ended = await run.then(
      ({ finalOutput }) => Person.parse(finalOutput),
      ({ name }) => name,
    )
    if (typeof ended === "string") expect(ended).toBe("MaxTurnsExceededError")
    else expect(ended.age).toBeLessThanOrEqual(120)
  })
})
