/**
 * Calls whose arguments are written without quotes are read by the tool's schema. One that takes long to ask must not hold the
 * event loop, and its calls are read all the same.
 */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, type GenerationEvent, open } from "../../../runtime/index.ts"
import { TurnReading } from "../../../runtime/turn/reading.ts"
import { SlowReading } from "../../../runtime/turn/slowreading.ts"
import { valueSchemas } from "../../attack/schemas/values.ts"
import { writeTinyModel } from "../../support/onnx.ts"
import { randomOf } from "../../support/oracle.ts"

const turns =
  "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}<|assistant|>{# <tool_call><function= #}"

let engine: Engine
beforeAll(async () => {
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "slow-")), { template: turns, end: "<|end|>" })
  engine = await open({ model, device: "cpu", slots: 2 })
})
afterAll(() => engine.close())

/** Takes 60 ms to compile and a second and more to be asked for the types of its arguments. */
const slow = {
  type: "object",
  properties: {
    a: valueSchemas.wide(randomOf(42), 16),
    b: { type: ["string", "integer"], maxLength: 4, maximum: 99 },
  },
  required: ["b"],
}
const call = { type: "function", function: { name: "go", parameters: slow } }
const asked = {
  tools: [call],
  toolChoice: "required",
  maxToolCalls: 1,
  maxTokens: 300,
  toolsInPrompt: false,
} as const

test("a call of a tool with a slow schema is read back whole, in a stream too", async () => {
  for (const seed of [1n, 2n]) {
    const events: GenerationEvent[] = []
    const generation = await engine.start("hi", { ...asked, seed })
    for await (const event of generation) events.push(event)
    const { toolCalls, finishReason, message } = await generation.result
    expect([finishReason, message]).toEqual(["stop", undefined])
    expect(toolCalls.map(({ name, isComplete }) => [name, isComplete])).toEqual([["go", true]])
    const { b } = JSON.parse(toolCalls[0].arguments)
    expect(["string", "number"]).toContain(typeof b)
    const pieces = events.filter((event) => event.type === "arguments")
    expect(pieces.map(({ text }) => text).join("")).toBe(toolCalls[0].arguments)
    expect(events.filter(({ type }) => type === "call" || type === "called").length).toBe(2)
    const tokens = events.flatMap((event) => ("tokens" in event ? event.tokens : []))
    expect(tokens).toEqual((await generation.result).tokens.slice(0, tokens.length))
  }
})

test("a slow schema is given up soon, and what it says is said when the text has been read apart", async () => {
  const turn = { style: "qwen_xml", tools: [call], tool_choice: "required", reasoning: null }
  const text = "<tool_call>\n<function=go>\n<parameter=b>\n12\n</parameter>\n</function>\n</tool_call>"
  const reading = new TurnReading(turn, () => 1)
  const said = []
  for (const [i, piece] of text.match(/.{1,5}/gs)!.entries()) {
    said.push(...reading.feed(piece, { tokens: [i] }))
  }
  said.push(...reading.end(undefined, true))
  expect(reading.isSlow).toBe(true)
  const late = reading.complete(
    await new SlowReading().read({ turn, text, end: undefined, endNames: [] }),
    true,
  )
  expect([...said, ...late].map(({ tokens: _, ...piece }) => piece)).toEqual([
    { type: "call", index: 0, id: expect.stringMatching(/^call_/), name: "go", isCustom: false },
    { type: "arguments", index: 0, text: '{"b":12}' },
    { type: "called", index: 0 },
  ])
  expect(reading.turn.toolCalls).toMatchObject([{ name: "go", arguments: '{"b":12}', isComplete: true }])
})

test("a turn that cannot be read is told with its reason, and threads end with the engine", async () => {
  const slowReading = new SlowReading()
  const turn = { style: "qwen_xml", tools: [call], tool_choice: "required", reasoning: null }
  await expect(
    slowReading.read({ turn, text: "<tool_call>\n<function=no>\n", end: undefined, endNames: [] }),
  ).rejects.toThrow("no")
  const pending = [1, 2, 3, 4].map(() => slowReading.read({ turn, text: "", end: undefined, endNames: [] }))
  const ends = Promise.allSettled(pending)
  await slowReading.close()
  expect((await ends).map(({ status }) => status)).toContain("rejected")
})
