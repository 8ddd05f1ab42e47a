/** What a program does with an engine: many prompts, results as JSON, signals, its end. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, expectTypeOf, test, vi } from "vitest"
import { AbortError, RequestError } from "../../../runtime/errors.ts"
import type { Engine } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"
import { SamplingError } from "../../../sampler/index.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const directory = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
let engine: Engine

beforeAll(async () => {
  engine = await open({ model: directory, device: "cpu", slots: 4, threads: 1, isolation: "none" })
})
afterAll(async () => {
  await engine.close()
})

describe("many prompts", () => {
  const prompts = Array.from({ length: 400 }, (_, index) => `Prompt ${index}`)

  test("400 calls at once wait in line, with one signal and no warning", async () => {
    const warn = vi.fn()
    process.on("warning", warn)
    const { signal } = new AbortController()
    const asked = prompts.map((prompt, seed) => engine.generate(prompt, { choice: ["a", "b"], seed, signal }))
    expect((await Promise.all(asked)).filter(({ value }) => ["a", "b"].includes(value))).toHaveLength(400)
    await new Promise((resolve) => setImmediate(resolve))
    process.off("warning", warn)
    expect(warn).not.toHaveBeenCalled()
  })

  test("a batch has the results of its prompts in their order, iterated or awaited", async () => {
    const some = ["One", "Two?", "Three is more", "4", "Five"]
    const options = { regex: "[a-z]{1,8}", seed: 3 } as const
    const alone: string[] = []
    for (const prompt of some) alone.push((await engine.generate(prompt, options)).text)
    const texts: string[] = []
    for await (const { text } of engine.batch(some, options)) texts.push(text)
    expect(texts).toEqual(alone)
    const results = await engine.batch(some, { choice: ["yes", "no"] as const })
    expectTypeOf(results[0].value).toEqualTypeOf<"yes" | "no">()
    expect(results).toHaveLength(5)
    expect(await engine.batch([], options)).toEqual([])
  })

  test("it ends with the first error, and when its reader leaves", async () => {
    const some = Array.from({ length: 40 }, () => "Hi")
    await expect(engine.batch(["Hi", [] as number[], ...some], { maxTokens: 2 })).rejects.toThrow(
      "messages: at least one",
    )
    for await (const { text } of engine.batch(some, { maxTokens: 2 })) {
      expect(text).toBeTypeOf("string")
      break
    }
    await vi.waitFor(() => expect(engine.load()).toEqual({ running: 0, waiting: 0, slots: 4 }))
    expect(() => engine.batch(some, { schmea: {} } as object)).toThrow("Did you mean schema?")
  })
})

test("a result is JSON, whole or spread by run, with its seed as digits", async () => {
  const result = await engine.generate("Hi", {
    schema: { enum: [1, 2] },
    seed: 2n ** 60n,
    logprobs: 2,
    n: 2,
    report: true,
  })
  const read = JSON.parse(JSON.stringify(result))
  expect(read).toMatchObject({
    value: result.value,
    text: result.text,
    tokens: result.tokens,
    seed: `${2n ** 60n}`,
  })
  expect(read.choices).toHaveLength(2)
  expect(read.report.keywords[0].keyword).toBe("enum")
  expect(read.usage).toEqual(result.usage)
  const run = await engine.run("Hi", { tools: {}, choice: ["a"], seed: 5 })
  expect(JSON.parse(JSON.stringify(run))).toMatchObject({ seed: "5", steps: 1 })
  expect(Object.keys(result)).not.toContain("toJSON")
})

describe("a signal", () => {
  const error = (signal: AbortSignal) =>
    engine.generate("Hi", { ignoreEos: true, signal }).then(
      () => null,
      (error: unknown) => error,
    )

  test("rejects with its own reason, before and during an answer", async () => {
    expect(await error(AbortSignal.timeout(5))).toMatchObject({ name: "TimeoutError" })
    const mine = new Error("mine")
    expect(await error(AbortSignal.abort(mine))).toBe(mine)
    const controller = new AbortController()
    const pending = error(controller.signal)
    setImmediate(() => controller.abort(mine))
    expect(await pending).toBe(mine)
    await expect(engine.stream("Hi", { signal: AbortSignal.abort(mine) }).next()).rejects.toBe(mine)
    await expect(engine.batch(["Hi"], { signal: AbortSignal.abort(mine) })).rejects.toBe(mine)
    await expect(engine.run("Hi", { tools: {}, signal: AbortSignal.abort(mine) })).rejects.toBe(mine)
  })

  test("without a reason it is an AbortError", async () => {
    expect(await error(AbortSignal.abort())).toBeInstanceOf(AbortError)
  })
})

test.each<[object, string, string]>([
  [{ maxTokens: 0 }, "maxTokens", "maxTokens: 0 is not an integer at least 1"],
  [{ topK: 0.5 }, "topK", "topK: 0.5"],
  [{ topP: 0 }, "topP", "topP: 0"],
  [{ stopWhen: "yaml" }, "stopWhen", "stopWhen:"],
  [{ onLength: "max_tokens" }, "onLength", 'onLength: "max_tokens" is not'],
  [{ thinkingTokenBudget: -1 }, "thinkingTokenBudget", "thinkingTokenBudget: -1"],
  [{ logitBias: { 1: 1000 } }, "logitBias", "logitBias: 1000"],
])("the error of %j names the option %s", async (options, param, message) => {
  const error = await engine.generate("Hi", options).catch((error: unknown) => error)
  expect(error instanceof RequestError || error instanceof SamplingError).toBe(true)
  expect(error).toMatchObject({ param, message: expect.stringContaining(message) })
})

test("an engine closes once, by itself at the end of a block", async () => {
  const own = await open({ model: directory, device: "cpu", slots: 1, threads: 1, isolation: "none" })
  await own[Symbol.asyncDispose]()
  await own.close()
  await expect(own.generate("Hi", { maxTokens: 1 })).rejects.toThrow("shutting down")
})

test.each([0, 1])("a queue of %i holds no prompt of a batch back", async (maxWaiting) => {
  const narrow = await open({ device: "cpu", slots: 2, maxWaiting })
  try {
    const prompts = Array.from({ length: 9 }, (_, index) => `line ${index}`)
    const results = await narrow.batch(prompts, { raw: true, maxTokens: 2 })
    expect(results.length).toBe(9)
    const twice = await narrow.batch(prompts.slice(0, 4), { raw: true, maxTokens: 2, n: 2 })
    expect(twice.map(({ choices }) => choices.length)).toEqual([2, 2, 2, 2])
  } finally {
    await narrow.close()
  }
})
