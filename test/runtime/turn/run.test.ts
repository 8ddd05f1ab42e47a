/** The tool loop with the shipped model. */
import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import { type Engine, open, tool } from "../../../runtime/index.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", isolation: "none" })
})
afterAll(() => engine.close())

test("calls a tool with arguments of its type, tells the model what came of it, and ends with an answer", async () => {
  const seen: { city: string }[] = []
  const weather = tool({
    description: "The weather of a city.",
    schema: z.object({ city: z.string().max(12) }),
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string }>()
      seen.push(args)
      return { sky: "clear" }
    },
  })
  const asked = {
    tools: { weather },
    toolChoice: "required",
    parallelToolCalls: false,
    maxTokens: 80,
    seed: 1n,
    maxSteps: 3,
  }
  const { messages, steps, text } = await engine.run("Weather in Paris?", asked)
  expect(seen.length).toBeGreaterThan(0)
  expect(typeof seen[0].city).toBe("string")
  const roles = messages.map(({ role }) => role)
  expect(roles.slice(0, 3)).toEqual(["user", "assistant", "tool"])
  expect(messages[2]).toMatchObject({ role: "tool", name: "weather", content: '{"sky":"clear"}' })
  expect([steps <= 3, messages.at(-1)?.content]).toEqual([true, text])
})

test("what a tool throws is its result", async () => {
  const now = {
    execute: () => {
      throw new Error("no clock")
    },
  }
  const { messages, steps } = await engine.run("What time is it?", {
    tools: { now },
    toolChoice: "required",
    maxTokens: 60,
    maxSteps: 2,
    seed: 1n,
  })
  expect(messages[2]).toMatchObject({ role: "tool", content: "error: no clock" })
  expect(steps).toBe(2)
})

test("a number of steps that is none is refused", async () => {
  await expect(engine.run("a", { tools: {}, maxSteps: 0 })).rejects.toThrow(/maxSteps: 0/)
})
