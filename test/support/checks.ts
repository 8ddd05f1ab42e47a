/**
 * Two models behind the application, for what the wire has to hold: the shipped one, and the same one under a template that
 * thinks. `serveChecks` is called once by a suite.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, createFetch } from "../../server/index.ts"
import { writeThinkingModel } from "./thinkingmodel.ts"

type CheckedModel = "plain" | "thinking"
export const messages = [{ role: "user", content: "What is the weather in Paris?" }]
export const place = {
  type: "object",
  properties: { city: { type: "string", maxLength: 12 }, unit: { enum: ["c", "f"] } },
  required: ["city", "unit"],
  additionalProperties: false,
}
export const weather = { type: "function", function: { name: "get_weather", parameters: place } }
export const now = { type: "function", function: { name: "now" } }
export const named = (name: string) => ({ type: "function", function: { name } })

export interface Checked {
  /** Posts to any path. */
  send(path: string, body: object, model?: CheckedModel): Promise<Response>
  /** The whole reply of a chat, which has to be one, without a field that was ignored. */
  // biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
  reply(fields: object, model?: CheckedModel): Promise<any>
  /** The error of a chat, which has to be a 400. */
  // biome-ignore lint/suspicious/noExplicitAny: the same
  refusal(fields: object, model?: CheckedModel): Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: the same
  chunks(fields: object, model?: CheckedModel): Promise<any[]>
  /** Answers that are drawn wildly. */
  // biome-ignore lint/suspicious/noExplicitAny: the same
  choicesOf(fields: object, model?: CheckedModel): Promise<any[]>
}

export function serveChecks(): Checked {
  let engine: Engine
  let thinker: Engine
  const folder = mkdtempSync(join(tmpdir(), "thinking-"))
  const fetches = {} as Record<CheckedModel, typeof fetch>
  beforeAll(async () => {
    engine = await open({ device: "cpu", context: 2048 })
    thinker = await open({ device: "cpu", context: 2048, model: writeThinkingModel(folder) })
    fetches.plain = createFetch(createApp(engine, { anyModel: true, onLength: "close" }))
    fetches.thinking = createFetch(createApp(thinker, { anyModel: true }))
  })
  afterAll(async () => {
    await engine.close()
    await thinker.close()
    rmSync(folder, { recursive: true })
  })
  const send = (path: string, body: object, model: CheckedModel = "plain"): Promise<Response> =>
    fetches[model](`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
  const post = (fields: object, model?: CheckedModel): Promise<Response> =>
    send("/v1/chat/completions", { model: "any", messages, max_tokens: 200, seed: 1, ...fields }, model)
  const reply: Checked["reply"] = async (fields, model) => {
    const response = await post(fields, model)
    const body = await response.json()
    expect(response.status, JSON.stringify(body)).toBe(200)
    expect(response.headers.get("x-tokenrail-ignored")).toBe(null)
    return body
  }
  return {
    send,
    reply,
    refusal: async (fields, model) => {
      const response = await post(fields, model)
      expect(response.status).toBe(400)
      return (await response.json()).error
    },
    chunks: async (fields, model) => {
      const response = await post({ stream: true, ...fields }, model)
      expect(response.status).toBe(200)
      const events = (await response.text()).split("\n\n").filter((line) => line.startsWith("data: {"))
      return events.map((line) => JSON.parse(line.slice("data: ".length)))
    },
    choicesOf: async (fields, model) => {
      const { choices } = await reply({ n: 8, temperature: 2, ...fields }, model)
      return choices
    },
  }
}
