/** The engine as the `LanguageModel` of browsers, with the shipped model. */
import { getEventListeners } from "node:events"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { languageModel, type PromptInput, type PromptModel } from "../../../runtime/adapters/index.ts"
import { type Engine, type GenerateOptions, open } from "../../../runtime/index.ts"

let engine: Engine
let model: PromptModel
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 256, slots: 2, threads: 1 })
  model = languageModel(engine, { maxTokens: 24, seed: 1 })
})
afterAll(() => engine.close())

const rating = {
  type: "object",
  properties: { rating: { type: "integer", minimum: 0, maximum: 5 } },
  required: ["rating"],
  additionalProperties: false,
}
const idle = { running: 0, waiting: 0 }
const user = (content: string) => [{ role: "user" as const, content }]

describe("constraints", () => {
  test("a JSON Schema and a RegExp hold, and an answer is the same whole and streamed", async () => {
    const session = await model.create()
    const text = await session.prompt("How was it?", { responseConstraint: rating })
    expect(JSON.parse(text).rating).toBeLessThanOrEqual(5)
    expect(await session.prompt("Which year?", { responseConstraint: /^(19|20)[0-9]{2}$/ })).toMatch(
      /^(19|20)\d\d$/,
    )
    const [whole, streamed] = await Promise.all([model.create(), model.create()])
    let pieces = ""
    for await (const piece of streamed.promptStreaming("Count.", { responseConstraint: /[0-9]( [0-9]){4}/ }))
      pieces += piece
    expect(pieces).toBe(await whole.prompt("Count.", { responseConstraint: /[0-9]( [0-9]){4}/ }))
  })

  test("the schema is part of the prompt unless it is omitted", async () => {
    const session = await model.create()
    const [plain, shown, omitted] = [
      await session.measureContextUsage("How was it?"),
      await session.measureContextUsage("How was it?", { responseConstraint: rating }),
      await session.measureInputUsage("How was it?", {
        responseConstraint: rating,
        omitResponseConstraintInput: true,
      }),
    ]
    expect(shown).toBeGreaterThan(plain)
    expect(omitted).toBe(plain)
  })

  test("a prompt's constraint takes the place of the one of the defaults", async () => {
    const session = await languageModel(engine, { regex: "[0-9]{4}" }).create()
    expect(await session.prompt("Which year?")).toMatch(/^\d{4}$/)
    const text = await session.prompt("How was it?", { responseConstraint: rating })
    expect(Object.keys(JSON.parse(text))).toEqual(["rating"])
  })

  test("what cannot hold is refused by the exceptions of the specification", async () => {
    const session = await model.create()
    const refused = (responseConstraint: object | undefined, more = {}) =>
      session.prompt("?", { responseConstraint, ...more }).catch((error: unknown) => error)
    expect(await refused({ type: "integer", minimum: 5, maximum: 3 })).toMatchObject({ name: "SyntaxError" })
    expect(await refused({ $ref: "https://schemas.test/other" })).toMatchObject({ name: "NotSupportedError" })
    expect(await refused({ type: "nothing" })).toBeInstanceOf(TypeError)
    expect(await refused(undefined, { omitResponseConstraintInput: true })).toBeInstanceOf(TypeError)
    expect(await refused({ type: "string", minLength: 400 })).toMatchObject({
      name: expect.stringMatching(/QuotaExceeded|Operation/),
    })
    expect(session.contextUsage).toBe(0)
  })
})

describe("sessions", () => {
  test("the conversation grows, a clone grows by itself, and append adds without an answer", async () => {
    const session = await model.create({ initialPrompts: [{ role: "system", content: "Be short." }] })
    const { contextUsage } = session
    expect(contextUsage).toBeGreaterThan(0)
    expect([session.contextWindow, session.inputQuota, session.inputUsage]).toEqual([256, 256, contextUsage])
    await session.append(user("My name is Ann."))
    const grown = session.contextUsage
    expect(grown).toBeGreaterThan(contextUsage)
    const copy = await session.clone()
    await copy.prompt("And yours?", { responseConstraint: /[a-z]{3}/ })
    expect(copy.contextUsage).toBeGreaterThan(grown)
    expect(session.contextUsage).toBe(grown)
  })

  test("prompts run in their order, and a prefix is the beginning of its answer", async () => {
    const session = await model.create()
    const order: number[] = []
    await Promise.all(
      [0, 1, 2].map(async (index) => {
        const prefix = { role: "assistant" as const, content: "20", prefix: true }
        const text = await session.prompt([...user("Which year?"), prefix], {
          responseConstraint: /[0-9]{2}/,
        })
        expect(text).toMatch(/^\d\d$/)
        order.push(index)
      }),
    )
    expect(order).toEqual([0, 1, 2])
  })

  test("the oldest prompts leave with their answers, the initial ones stay, and an event says so", async () => {
    const initialPrompts = [{ role: "system" as const, content: "Be short." }]
    const session = await model.create({ initialPrompts })
    const events: string[] = []
    session.oncontextoverflow = ({ type }) => events.push(`on ${type}`)
    session.addEventListener("contextoverflow", ({ type }) => events.push(type))
    for (let turn = 0; turn < 4; turn++) {
      await session.prompt("word ".repeat(40), { responseConstraint: /[a-z]{2}/ })
      expect(session.contextUsage).toBeLessThanOrEqual(256)
    }
    expect(events.slice(0, 2)).toEqual(["on contextoverflow", "contextoverflow"])
    const before = session.contextUsage
    const error = await session.prompt("word ".repeat(400)).catch((refusal: unknown) => refusal)
    expect(error).toMatchObject({ name: "QuotaExceededError", quota: 256, requested: expect.any(Number) })
    expect(session.contextUsage).toBe(before)
    await expect(model.create({ initialPrompts: user("word ".repeat(400)) })).rejects.toMatchObject({
      name: "QuotaExceededError",
    })
  })

  test("an abort ends one prompt, destroy ends all, and slots are free", async () => {
    const long = languageModel(engine, { ignoreEos: true })
    const session = await long.create()
    const end = new AbortController()
    const running = session.prompt("Tell a story.", { signal: end.signal })
    const waiting = new AbortController()
    const queued = session.prompt("Another.", { signal: waiting.signal })
    waiting.abort(new Error("not now"))
    await expect(queued).rejects.toThrow("not now")
    end.abort()
    await expect(running).rejects.toMatchObject({ name: "AbortError" })
    expect(session.contextUsage).toBe(0)
    const stream = session.promptStreaming("Tell a story.")
    for await (const _ of stream) break
    const other = session.promptStreaming("Tell a story.").getReader()
    await other.read()
    session.destroy()
    await expect(other.read().then(() => other.closed)).rejects.toMatchObject({ name: "AbortError" })
    await expect(session.prompt("?")).rejects.toMatchObject({ name: "AbortError" })
    const signal = AbortSignal.abort()
    await expect(model.create({ signal })).rejects.toMatchObject({ name: "AbortError" })
    while (engine.load().running > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(engine.load()).toMatchObject(idle)
  })
})

test("a signal ends the creation at any time, and sessions that share it add one listener", async () => {
  const early = new AbortController()
  const monitor = () => early.abort(new Error("left"))
  await expect(model.create({ signal: early.signal, monitor })).rejects.toThrow("left")

  const shared = new AbortController()
  const [first, second] = [
    await model.create({ signal: shared.signal }),
    await model.create({ signal: shared.signal }),
  ]
  expect(getEventListeners(shared.signal, "abort").length).toBe(1)
  first.destroy()
  let isDestroyedAgain = false
  first.destroy = () => {
    isDestroyedAgain = true
  }
  shared.abort(new Error("enough"))
  expect(isDestroyedAgain).toBe(false)
  await expect(second.prompt("?")).rejects.toThrow("enough")
})

describe("options", () => {
  test("availability and create agree, temperatures and topK are clamped or refused", async () => {
    expect(await model.availability({ expectedInputs: [{ type: "text", languages: ["en"] }] })).toBe(
      "available",
    )
    for (const options of [
      { expectedInputs: [{ type: "image" }] },
      { expectedOutputs: [{ type: "audio" }] },
      { tools: [{ name: "f" }] },
    ]) {
      expect(await model.availability(options)).toBe("unavailable")
      await expect(model.create(options)).rejects.toMatchObject({ name: "NotSupportedError" })
    }
    const session = await model.create({ temperature: Number.POSITIVE_INFINITY, topK: 3.9 })
    expect([session.temperature, session.topK]).toEqual([2, 3])
    const { maxTopK } = await model.params()
    expect((await model.create({ topK: Number.POSITIVE_INFINITY })).topK).toBe(maxTopK)
    await expect(model.create({ temperature: -1 })).rejects.toBeInstanceOf(RangeError)
    await expect(model.create({ topK: 0 })).rejects.toBeInstanceOf(RangeError)
  })

  test("topK of the defaults is the sessions' own, and a session may have a greater one", async () => {
    const seen: (GenerateOptions | undefined)[] = []
    const watched: typeof engine.start = (prompt, options) => {
      seen.push(options)
      return engine.start(prompt, options)
    }
    const parts = { model: engine.model, tokenize: engine.tokenize.bind(engine), start: watched }
    const own = languageModel(parts, { topK: 40, maxTokens: 1 })
    const { defaultTopK, maxTopK } = await own.params()
    expect([defaultTopK, maxTopK]).toEqual([40, engine.model.width])
    const sessions = [await own.create(), await own.create({ topK: maxTopK }), await own.create({ topK: 2 })]
    for (const session of sessions) await session.prompt("?")
    expect(sessions.map(({ topK }) => topK)).toEqual([40, maxTopK, 2])
    expect(seen.map((options) => options?.topK)).toEqual([40, maxTopK, 2])
    expect((await languageModel(engine, { topK: -1 }).create()).topK).toBe(maxTopK)
    await expect(languageModel(engine, { topK: Number.NaN }).create()).rejects.toThrow("topK: NaN")
  })

  test("templateOptions of the defaults are part of what is counted", async () => {
    const counted: (GenerateOptions | undefined)[] = []
    const tokenize: typeof engine.tokenize = (prompt, options) => {
      counted.push(options)
      return engine.tokenize(prompt, options)
    }
    const parts = { model: engine.model, start: engine.start.bind(engine), tokenize }
    const variables = { mood: "calm" }
    const own = languageModel(parts, { templateOptions: { variables } })
    const session = await own.create({ initialPrompts: user("Hi") })
    await session.append(user("Hello"))
    await session.measureContextUsage("Hello")
    expect(counted.map((options) => options?.templateOptions)).toEqual([
      { variables, addGenerationPrompt: false },
      { variables },
      { variables, addGenerationPrompt: false },
      { variables },
    ])
  })

  test("tools of the defaults are part of what is counted", async () => {
    const parameters = { type: "object", properties: { city: { type: "string" } } }
    const tools = [{ type: "function" as const, function: { name: "weather", parameters } }]
    const own = languageModel(engine, { tools })
    const [first, second] = [user("Hi"), user("Hello")]
    const lengthOf = async (prompt: ReturnType<typeof user>, options: GenerateOptions = {}) =>
      (await engine.tokenize(prompt, { tools, ...options })).length
    expect(await lengthOf(first)).toBeGreaterThan((await engine.tokenize(first)).length)
    expect(await (await own.create()).measureContextUsage("Hi")).toBe(await lengthOf(first))
    const session = await own.create({ initialPrompts: first })
    const begun = await lengthOf(first, { templateOptions: { addGenerationPrompt: false } })
    expect(session.contextUsage).toBe(begun)
    const both = await lengthOf([...first, ...second])
    expect(await session.measureContextUsage("Hello")).toBe(both - begun)
    await session.append(second)
    expect(session.contextUsage).toBeGreaterThan(begun)
  })

  test("a monitor gets the two events of a model that is there", async () => {
    const loaded: number[] = []
    await model.create({
      monitor: (m) => m.addEventListener("downloadprogress", (e) => loaded.push(e.loaded)),
    })
    expect(loaded).toEqual([0, 1])
  })

  test("inputs of another form are refused where the specification says so", async () => {
    const session = await model.create({ initialPrompts: user("Hi") })
    const refused = (input: unknown) => session.prompt(input as PromptInput).catch((error: unknown) => error)
    expect(await refused([{ role: "system", content: "late" }])).toBeInstanceOf(TypeError)
    expect(await refused([{ role: "robot", content: "?" }])).toBeInstanceOf(TypeError)
    expect(await refused(5)).toBeInstanceOf(TypeError)
    expect(await refused([{ role: "user", content: [{ type: "text", value: 1 }] }])).toBeInstanceOf(TypeError)
    expect(await refused([{ role: "user", content: [{ type: "image", value: "" }] }])).toMatchObject({
      name: "NotSupportedError",
    })
    expect(await refused([{ role: "user", content: "?", prefix: true }])).toMatchObject({
      name: "SyntaxError",
    })
  })
})

// The last test: no engine is left behind it.
test("the end of the engine ends a prompt with an AbortError, and the session keeps no cut answer", async () => {
  const session = await languageModel(engine, { ignoreEos: true }).create()
  const reader = session.promptStreaming("Tell a story.").getReader()
  await reader.read()
  const whole = (async () => {
    while (!(await reader.read()).done);
  })()
  const refused = expect(whole).rejects.toMatchObject({ name: "AbortError" })
  await engine.close()
  await refused
  expect(session.contextUsage).toBe(0)
})
