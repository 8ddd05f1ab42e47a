import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Engine, GenerateOptions, RunOptions } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const directory = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
let engine: Engine

beforeAll(async () => {
  engine = await open({ model: directory, device: "cpu", slots: 2, threads: 1, isolation: "none" })
})
afterAll(async () => {
  await engine.close()
})

/** What is refused alike by every function that takes the options of a request. */
const refused: [options: object, message: string][] = [
  [{ schmea: {} }, "schmea: unknown name. Did you mean schema?"],
  [{ schema: {}, temprature: 0 }, "temprature: unknown name. Did you mean temperature?"],
  [{ max_tokens: 5 }, "max_tokens: unknown name. Did you mean maxTokens?"],
  [{ max_completion_tokens: 5 }, "max_completion_tokens: unknown name. Did you mean maxTokens?"],
  [{ response_format: {} }, "response_format: unknown name. Did you mean schema?"],
  [{ schema: undefined }, "schema: it is undefined"],
  [{ schema: null }, "schema: it is null"],
  [{ choice: "red" }, 'choice: "red" is not a list of strings'],
  [{ choice: [1] }, "choice: a list is not a list of strings"],
  [{ regex: "a", whitespace: "nonee" }, 'whitespace: "nonee" is none of bounded, none, spaced, any'],
  [{ whitespace: "nonee" }, 'Did you mean "none"?'],
  [{ regex: "a", formats: "asert" }, 'Did you mean "assert"?'],
  [{ regex: "a", unknownKeywords: "refuse" }, 'unknownKeywords: "refuse" is none of ignore, error'],
  [{ regex: "a", limits: { node: 5 } }, "limits.node: unknown name. Did you mean nodes?"],
  [{ constraint: { kind: "regx", pattern: "a" } }, 'kind: "regx" is none of'],
  [{ constraint: "a+" }, 'constraint: "a+" is not an object'],
  [{ heal: "no" }, 'heal: "no" is not true or false'],
  [{ raw: 1 }, "raw: 1 is not true or false"],
  [{ templateOptions: { tool: [] } }, "templateOptions.tool: unknown name. Did you mean tools?"],
  [{ repetitionDetection: { max: 3, cuont: 2 } }, "repetitionDetection.cuont: unknown name"],
  [{ signal: "now" }, 'signal: "now" is not an object'],
]

describe("an option that there is not is refused, with the nearest name:", () => {
  test.each(refused)("%j: %s", async (options, message) => {
    const asked = options as GenerateOptions
    await expect(engine.generate("Hi", asked)).rejects.toThrow(message)
    await expect(engine.start("Hi", asked)).rejects.toThrow(message)
    await expect(engine.stream("Hi", asked).next()).rejects.toThrow(message)
    await expect(engine.run("Hi", { tools: {}, ...options } as RunOptions)).rejects.toThrow(message)
  })

  test.each<[unknown, string]>([
    [undefined, "undefined is not an object of options"],
    [{}, "tools: it is missing"],
    [{ tools: {}, maxStep: 3 }, "maxStep: unknown name. Did you mean maxSteps?"],
    [{ tools: { f: {} } }, "tools.f.execute: the tool has no function"],
    [{ tools: { f: { excute: () => 1 } } }, "tools.f.excute: unknown name. Did you mean execute?"],
    [
      { tools: { f: { parameters: {}, execute: () => 1 } } },
      "tools.f.parameters: unknown name. Did you mean schema?",
    ],
    [{ tools: { f: { schema: undefined, execute: () => 1 } } }, "tools.f.schema: it is undefined"],
  ])("run %j: %s", async (options, message) => {
    await expect(engine.run("Hi", options as RunOptions)).rejects.toThrow(message)
  })

  test.each<[object, string]>([
    [{ modle: "x" }, "modle: unknown name. Did you mean model?"],
    [{ device: "cuda" }, 'device: "cuda" is none of auto, gpu, cpu'],
    [{ isolation: "process" }, 'isolation: "process" is none of thread, none'],
    [{ slots: "8" }, 'slots: "8" is not a number'],
    [{ contextLength: 5 }, "contextLength: unknown name. Did you mean context?"],
    [{ limits: { compilMs: 5 } }, "limits.compilMs: unknown name. Did you mean compileMs?"],
    [{ limits: { compileMs: -1 } }, "limits.compileMs: -1 is not a number of milliseconds"],
    [{ seed: 0.5 }, "seed: 0.5 is not an exact integer"],
  ])("open(%j): %s", async (options, message) => {
    await expect(open({ model: directory, ...options })).rejects.toThrow(message)
  })
})

test("undefined and null are the default of every option that is no constraint", async () => {
  const options = {
    temperature: undefined,
    whitespace: null,
    stop: null,
    signal: undefined,
    fields: undefined,
  }
  const { text } = await engine.generate("Hi", { choice: ["yes"], ...options } as object)
  expect(text).toBe("yes")
})

test("the types refuse what the library refuses", () => {
  const calls = () => {
    // @ts-expect-error: a misspelt name beside one that is right
    void engine.generate("Hi", { schmea: {}, temperature: 1 })
    // @ts-expect-error: alone
    void engine.generate("Hi", { schmea: {} })
    // @ts-expect-error: the name of the wire
    void engine.generate("Hi", { schema: {}, max_tokens: 1 })
    // @ts-expect-error: an unknown word
    void engine.generate("Hi", { schema: {}, whitespace: "nonee" })
    // @ts-expect-error: in a stream
    void engine.stream("Hi", { schmea: {}, temperature: 1 })
    // @ts-expect-error: in a request
    void engine.start("Hi", { schmea: {}, temperature: 1 })
    // @ts-expect-error: in a run
    void engine.run("Hi", { tools: {}, maxStep: 1 })
    // @ts-expect-error: in a tool of a run
    void engine.run("Hi", { tools: { f: { execute: () => 1, descripton: "" } } })
    // @ts-expect-error: in a constraint
    void engine.compile({ kind: "regex", pattern: "a", flag: "i" })
    // @ts-expect-error: in nested options
    void engine.compile({ kind: "regex", pattern: "a" }, { limits: { node: 5 } })
    // @ts-expect-error: when opening
    void open({ modle: "x", slots: 1 })
    // @ts-expect-error: of another method
    void open({ speculation: { method: "ngram", model: "x" } })
    void engine.generate("Hi", { schema: {}, whitespace: "none" })
    void engine.generate("Hi", { schema: {}, whitespace: "compact" })
    const made: GenerateOptions = { schema: {} }
    void engine.generate("Hi", made)
    void engine.generate("Hi", Math.random() > 0.5 ? { schema: {} } : { regex: "a" })
  }
  expect(calls).toBeTypeOf("function")
})
