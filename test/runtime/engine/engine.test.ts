import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as ort from "onnxruntime-node"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { GrammarError } from "../../../grammar/index.ts"
import type { Distribution } from "../../../runtime/engine/distribution.ts"
import { AbortError, IncompleteError, RequestError, ValidationError } from "../../../runtime/errors.ts"
import type {
  Engine,
  GenerateOptions,
  GenerateResult,
  LogitsProcessor,
  StandardSchema,
  StreamEvent,
} from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"
import { SamplingError } from "../../../sampler/index.ts"
import { generator, writeTinyModel } from "../../support/onnx.ts"

const directory = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
let engine: Engine

beforeAll(async () => {
  engine = await open({ model: directory, device: "cpu", slots: 4, threads: 1 })
})
afterAll(async () => {
  await engine.close()
})

const idle = { running: 0, waiting: 0, slots: 4 }
const steps = async (count: number): Promise<void> => {
  const target = engine.metrics.steps + count
  while (engine.metrics.steps < target) await new Promise((resolve) => setImmediate(resolve))
}

describe("processors", () => {
  const choice = ["aaaa", "bbbb"]
  const bIds = (row: Float32Array): void => {
    for (const id of row.keys())
      if (engine.vocabulary.bytes(id)[0] === 0x61) row[id] = Number.NEGATIVE_INFINITY
  }

  test("see each drawn token's logits behind the constraint, and may ban and change, never allow", async () => {
    const free = await engine.generate("?", { choice, temperature: 0, processors: [] })
    const seen: [position: number, finite: number][] = []
    const watch = (row: Float32Array, { position }: { position: number }): void => {
      seen.push([position, row.filter((value) => value > Number.NEGATIVE_INFINITY).length])
      row[0] = 1e9
    }
    const held = await engine.generate("?", { choice, temperature: 0, processors: [watch] })
    expect(held.text).toBe(free.text)
    expect(seen[0]).toEqual([held.usage.promptTokens, expect.any(Number)])
    expect(seen.every(([, finite]) => finite <= 8)).toBe(true)
    const other = await engine.generate("?", { choice, temperature: 0, processors: [watch, bIds] })
    expect(other.text).toBe("bbbb")
    const all = await engine.generate("?", { raw: true, n: 3, maxTokens: 8, processors: [bIds] })
    for (const { text } of all.choices) expect(text).not.toMatch(/^a/)
  })

  const textOf = (ids: Int32Array) =>
    [...ids].map((id) => new TextDecoder().decode(engine.vocabulary.bytes(id))).join("")

  test("that change nothing leave every token as it is: free, constrained, sampled, greedy, beside others", async () => {
    const idle = [() => {}]
    for (const asked of [
      { raw: true, maxTokens: 24, seed: 3 },
      { raw: true, maxTokens: 24, seed: 3, topP: 0.9, topK: 40, repetitionPenalty: 1.2 },
      { schema: { type: "array", items: { enum: [true, 1, "x"] }, maxItems: 6 }, seed: 5, forcing: "none" },
      { regex: "(a|b){8}", temperature: 0, forcing: "none", logprobs: 2 },
    ] as const) {
      const plain = await engine.generate("?", asked)
      const [alone, together] = [
        await engine.generate("?", { ...asked, processors: idle }),
        (await Promise.all([1, 2, 3].map(() => engine.generate("?", { ...asked, processors: idle }))))[1],
      ]
      for (const { tokens, logprobs } of [alone, together])
        expect([tokens, logprobs]).toEqual([plain.tokens, plain.logprobs])
    }
  })

  test("get the tokens so far and a mask to narrow, all of it copies", async () => {
    const texts: string[] = []
    const narrow: LogitsProcessor = (logits, { tokens, promptCount, position, mask }) => {
      expect(tokens.length).toBe(position)
      texts.push(textOf(tokens.subarray(promptCount)))
      for (const [id, value] of logits.entries()) {
        expect((mask[id >>> 5] >>> (id & 31)) & 1).toBe(value === Number.NEGATIVE_INFINITY ? 0 : 1)
        if (engine.vocabulary.bytes(id)[0] === 0x61) mask[id >>> 5] &= ~(1 << (id & 31))
        else mask[id >>> 5] |= 1 << (id & 31)
      }
      tokens.fill(0)
    }
    const { text } = await engine.generate("?", { regex: "(a|b){6}", processors: [narrow] })
    expect([text, texts[0], texts.at(-1)?.startsWith("b")]).toEqual(["bbbbbb", "", true])
    expect((await engine.generate("?", { regex: "a{6}" })).text).toBe("aaaaaa")
  })

  test("that leave no clear result end their answer with their place, the token and a way out", async () => {
    const cases: [processor: LogitsProcessor, message: RegExp][] = [
      [
        (logits) => void logits.fill(Number.NaN),
        /^processors\[1\]: it wrote NaN for token \d+ at position \d+/,
      ],
      [(logits) => void logits.fill(Number.NEGATIVE_INFINITY), /^processors\[1\]: it forbids all \d+ tokens/],
      [
        (_, { mask }) => void mask.fill(0),
        /^processors\[1\]: it forbids all \d+ tokens .* Leave at least one/,
      ],
      [async () => {}, /^processors\[1\]: it returned a promise/],
    ]
    for (const [processor, message] of cases) {
      let calls = 0
      const counting = () => void calls++
      const [failed, fine, counted] = await Promise.allSettled([
        engine.generate("?", { regex: "(a|b){4}", processors: [() => {}, processor] }),
        engine.generate("?", { regex: "(a|b){4}", seed: 1 }),
        engine.generate("?", { regex: "[ab]{4}", processors: [counting], seed: 1, forcing: "none" }),
      ])
      expect(failed).toMatchObject({ status: "rejected", reason: { name: "SamplingError" } })
      expect((failed as PromiseRejectedResult).reason.message).toMatch(message)
      expect([fine.status, counted.status]).toEqual(["fulfilled", "fulfilled"])
      // One call for each drawn token, although the row beside it failed.
      expect(calls).toBeLessThanOrEqual(
        (counted as PromiseFulfilledResult<GenerateResult>).value.tokens.length,
      )
    }
  })

  test("an error of theirs ends their answer alone, and what is no function is refused", async () => {
    const broken = (): void => {
      throw new Error("a rule of mine")
    }
    const [failed, fine] = await Promise.allSettled([
      engine.generate("?", { choice: ["ab", "b"], processors: [broken] }),
      engine.generate("?", { choice: ["ab", "b"] }),
    ])
    expect(failed).toMatchObject({ status: "rejected", reason: { message: "a rule of mine" } })
    expect(fine.status).toBe("fulfilled")
    const odd = ["top_k"] as unknown as GenerateOptions["processors"]
    await expect(engine.generate("?", { processors: odd })).rejects.toMatchObject({ param: "processors" })
  })
})

describe("text without a constraint", () => {
  test("greedy tokens are those of a plain loop without cache or batch", async () => {
    const session = await ort.InferenceSession.create(join(directory, "onnx/model.onnx"))
    const { vocabulary } = engine
    const plain = async (ids: number[], count: number): Promise<number[]> => {
      const tokens = [...ids]
      while (tokens.length < ids.length + count) {
        const dims = [1, tokens.length]
        const empty = new ort.Tensor("float32", new Float32Array(0), [1, 2, 0, 8])
        const { logits } = await session.run({
          input_ids: new ort.Tensor("int64", BigInt64Array.from(tokens, BigInt), dims),
          position_ids: new ort.Tensor(
            "int64",
            BigInt64Array.from(tokens, (_, at) => BigInt(at)),
            dims,
          ),
          attention_mask: new ort.Tensor("int64", new BigInt64Array(tokens.length).fill(1n), dims),
          "past_key_values.0.key": empty,
          "past_key_values.0.value": empty,
        })
        const row = (logits.data as Float32Array).subarray(-vocabulary.width)
        let best = -1
        for (let id = 0; id < row.length; id++) {
          const isFree = (vocabulary.freeRow[id >>> 5] >>> (id & 31)) & 1
          if (isFree && (best < 0 || row[id] > row[best])) best = id
        }
        tokens.push(best)
        if (vocabulary.isEnd(best)) break
      }
      return tokens.slice(ids.length)
    }
    const prompts = ["a", "hello", "x".repeat(150), "The quick brown fox"]
    const results = await Promise.all(
      prompts.map((prompt) => engine.generate(prompt, { raw: true, temperature: 0, maxTokens: 40 })),
    )
    for (const [index, prompt] of prompts.entries()) {
      expect(results[index].choices[0].tokens).toEqual(await plain(engine.tokenizer.encode(prompt), 40))
    }
  })

  test("the same seed gives the same tokens alone and in any company", async () => {
    const requests = Array.from({ length: 12 }, (_, index) => ({
      prompt: "p".repeat(1 + index * 23),
      options: {
        seed: BigInt(index),
        temperature: 1,
        maxTokens: 5 + index * 3,
        ignoreEos: true,
      } as GenerateOptions,
    }))
    const alone: (readonly number[])[] = []
    for (const { prompt, options } of requests)
      alone.push((await engine.generate(prompt, options)).choices[0].tokens)
    const together = await Promise.all(
      requests.map(({ prompt, options }) => engine.generate(prompt, options)),
    )
    expect(together.map(({ choices }) => choices[0].tokens)).toEqual(alone)
  })

  test("choice 0 of n is the choice of n = 1, and the choices differ", async () => {
    const options: GenerateOptions = { seed: 7n, maxTokens: 12, ignoreEos: true }
    const one = await engine.generate("hi", options)
    const many = await engine.generate("hi", { ...options, n: 3 })
    expect(many.choices[0].tokens).toEqual(one.choices[0].tokens)
    expect(new Set(many.choices.map(({ text }) => text)).size).toBe(3)
    expect(many.usage.completionTokens).toBe(36)
  })

  test("a prompt seen before is not computed again, and the answer is the same", async () => {
    const options: GenerateOptions = { seed: 3n, maxTokens: 10, ignoreEos: true, raw: true }
    const prompt = "q".repeat(300)
    const first = await engine.generate(prompt, options)
    const second = await engine.generate(prompt, options)
    expect(second.usage.cachedTokens).toBe(288)
    expect(second.choices[0].tokens).toEqual(first.choices[0].tokens)
  })

  test("events joined are the text; the last one says how it ended", async () => {
    const events: StreamEvent[] = []
    for await (const event of engine.stream("hi", { seed: 5n, maxTokens: 30, ignoreEos: true }))
      events.push(event)
    const texts = events.filter((event) => event.type === "text")
    const whole = await engine.generate("hi", { seed: 5n, maxTokens: 30, ignoreEos: true })
    expect(texts.map(({ text }) => text).join("")).toBe(whole.text)
    expect(texts.flatMap(({ tokens }) => tokens)).toEqual(whole.choices[0].tokens)
    expect(events.at(-1)).toEqual({ type: "finish", choice: 0, finishReason: "length", stopReason: null })
  })

  test("stop strings and stop ids end the text", async () => {
    const options: GenerateOptions = { seed: 11n, maxTokens: 60, ignoreEos: true, raw: true }
    const whole = await engine.generate("z", options)
    const stop = whole.text.slice(20, 22)
    const cut = await engine.generate("z", { ...options, stop })
    expect([cut.text, cut.stopReason]).toEqual([whole.text.slice(0, whole.text.indexOf(stop)), stop])
    const kept = await engine.generate("z", { ...options, stop, includeStopStrInOutput: true })
    expect(kept.text).toBe(cut.text + stop)
    const id = whole.choices[0].tokens[10]
    const byId = await engine.generate("z", { ...options, stopTokenIds: [id] })
    expect([byId.finishReason, byId.stopReason]).toEqual(["stop", id])
    expect(byId.choices[0].tokens.indexOf(id)).toBe(byId.choices[0].tokens.length - 1)
  })
})

describe("constraints", () => {
  test("every answer that stops parses and validates, at a temperature that writes garbage", async () => {
    const ajv = new Ajv2020({ strict: false })
    const random = generator(2024)
    const pick = <T>(...options: T[]): T => options[Math.floor(random() * options.length)]
    const schema = (depth: number): Record<string, unknown> => {
      const kind =
        depth > 2
          ? pick("string", "integer", "enum")
          : pick("string", "integer", "enum", "object", "array", "union")
      switch (kind) {
        case "string":
          return pick(
            { type: "string", maxLength: 6 },
            { type: "string", pattern: "^[a-f]{1,4}-[0-9]+$", maxLength: 8 },
          )
        case "integer":
          return {
            type: "integer",
            minimum: -Math.floor(random() * 50),
            maximum: 5 + Math.floor(random() * 5000),
          }
        case "enum":
          return { enum: [null, true, "red", 12, { a: 1 }].filter(() => random() < 0.6).concat("x") }
        case "array":
          return { type: "array", items: schema(depth + 1), minItems: pick(0, 1), maxItems: pick(1, 2, 3) }
        case "union":
          return { anyOf: [schema(depth + 1), schema(depth + 1)] }
        default: {
          const names = ["a", "bb", "ccc", 'd"d'].filter(() => random() < 0.7)
          return {
            type: "object",
            properties: Object.fromEntries(names.map((name) => [name, schema(depth + 1)])),
            required: names.filter(() => random() < 0.5),
            additionalProperties: false,
          }
        }
      }
    }
    const schemas = Array.from({ length: 40 }, () => schema(0))
    const results = await Promise.all(
      schemas.map(async (each, index) => {
        const generation = await engine.start("go", {
          schema: each,
          temperature: 1.5,
          seed: BigInt(index),
          n: 2,
        })
        return generation.result
      }),
    )
    let stopCount = 0
    for (const [index, { choices }] of results.entries()) {
      const validate = ajv.compile(schemas[index])
      for (const { text, value, finishReason, message } of choices) {
        expect([finishReason, message]).not.toContain("error")
        if (finishReason !== "stop") continue
        stopCount++
        expect(JSON.parse(text)).toEqual(value)
        expect(validate(value), `${JSON.stringify(schemas[index])} ${text}`).toBe(true)
      }
    }
    expect(stopCount).toBeGreaterThan(60)
    expect(engine.metrics.maskViolations).toBe(0)
  })

  test("choice, regex, jsonObject and a compiled grammar; tokens without a choice are not sampled", async () => {
    const choice = await engine.generate("?", { choice: ["yes", "no"], maxTokens: 10 })
    expect(["yes", "no"]).toContain(choice.value)
    expect(choice.stopReason).toBe("complete")
    // After the first letter everything is forced.
    expect(choice.usage.forcedTokens).toBe(choice.text.length - 1)
    const date = await engine.generate("?", { regex: /\d{3}-\d{4}/, maxTokens: 10 })
    expect(date.text).toMatch(/^\d{3}-\d{4}$/)
    const { grammar } = engine.compile({ kind: "regex", pattern: "ab+c" })
    expect((await engine.generate("?", { constraint: grammar, temperature: 2 })).text).toMatch(/^ab+c$/)
    const fixed = await engine.generate("?", { schema: { const: { a: [1, "two"] } }, whitespace: "compact" })
    expect(fixed.value).toEqual({ a: [1, "two"] })
    expect(fixed.usage.forcedTokens).toBe(fixed.usage.completionTokens)
  })

  test("forced or sampled, a request's tokens do not depend on its neighbours", async () => {
    const schema = {
      type: "object",
      properties: {
        kind: { enum: ["alpha", "beta", "gamma"] },
        id: { type: "integer" },
        s: { type: "string", maxLength: 9 },
      },
      required: ["kind", "id", "s"],
      additionalProperties: false,
    }
    const ask = (index: number) =>
      engine.generate("p".repeat(20 + 40 * index), { schema, seed: BigInt(index), temperature: 1 })
    const alone: string[] = []
    for (let index = 0; index < 8; index++) alone.push((await ask(index)).text)
    const together = await Promise.all(Array.from({ length: 8 }, (_, index) => ask(index)))
    expect(together.map(({ text }) => text)).toEqual(alone)
  })

  test("a stop string counts only where the constraint is complete", async () => {
    const result = await engine.generate("?", {
      regex: "a{4}b?b?",
      stop: ["a", "b"],
      temperature: 2,
      seed: 1n,
    })
    expect(result.text).toMatch(/^aaaab?b?$/)
    expect(result.warnings.length + (result.text === "aaaa" ? 0 : 1)).toBeGreaterThan(0)
    const inside = await engine.start("?", { choice: ["xay"], stop: "a" })
    const { text, warnings } = await inside.result
    expect([text, warnings]).toEqual(["xay", ['stop "a": inside the constraint it is ordinary text']])
    const free = { maxTokens: 30, minTokens: 20, seed: 1n, temperature: 0 }
    const stop = (await engine.generate("?", free)).text[0]
    const early = await engine.generate("?", { ...free, stop })
    expect(early.warnings).toEqual([`stop ${JSON.stringify(stop)}: below minTokens it is ordinary text`])
  })

  test("Standard Schema: the validator reads what the model wrote", async () => {
    const schema: StandardSchema<string> = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        jsonSchema: { input: () => ({ type: "integer", minimum: 1, maximum: 9 }) },
        validate: (value: unknown) =>
          (value as number) < 100 ? { value: `n${value}` } : { issues: [{ message: "too big" }] },
      },
    }
    const { value } = await engine.generate("?", { schema })
    expect(value satisfies string).toMatch(/^n[1-9]$/)
    const strict = {
      "~standard": { ...schema["~standard"], validate: () => ({ issues: [{ message: "never" }] }) },
    }
    await expect(engine.generate("?", { schema: strict })).rejects.toThrow(ValidationError)
    const bare = {
      "~standard": { version: 1 as const, vendor: "valibot", validate: schema["~standard"].validate },
    }
    await expect(engine.generate("?", { schema: bare })).rejects.toThrow(/valibot.*jsonSchema/s)
  })

  test("an answer cut by the budget is no value", async () => {
    const options: GenerateOptions = { regex: "[ab]{50}", maxTokens: 5 }
    const refusal = await engine.generate("?", options).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(IncompleteError)
    expect((refusal as IncompleteError).text).toMatch(/^[ab]{5}$/)
    const { finishReason, value } = await (await engine.start("?", options)).result
    expect([finishReason, value]).toEqual(["length", undefined])
  })

  test("compiled constraints are kept", async () => {
    const before = engine.metrics.compileMisses
    for (let round = 0; round < 3; round++)
      await engine.generate("?", { choice: ["only this"], maxTokens: 12 })
    expect(engine.metrics.compileMisses).toBe(before + 1)
  })

  test("what a request took is counted: compilation by kind, masks, waits, times of tokens, completions in a budget", async () => {
    const counts = () => {
      const { compileSeconds, seconds, closed } = engine.metrics
      const count = (times?: Distribution) => times?.counts.reduce((sum, each) => sum + each, 0) ?? 0
      const { ttft, tpot, mask, maskWait } = seconds
      return [count(compileSeconds.get("regex")), ...[ttft, tpot, mask, maskWait].map(count), closed]
    }
    const before = counts()
    const options: GenerateOptions = { regex: "[xy]{20,400}z", maxTokens: 30, onLength: "close" }
    const { choices } = await engine.generate("?", options)
    const closed = Number(choices[0].stopReason === "closed")
    const [compiled, ttft, tpot, masks, waits, ends] = counts().map((count, at) => count - before[at])
    expect([compiled, ttft, tpot, ends]).toEqual([1, 1, 1, closed])
    expect(masks).toBeGreaterThan(3)
    expect(waits).toBeGreaterThan(3)
  })
})

describe("refused before the first token", () => {
  test.each<[name: string, options: GenerateOptions, type: new (...args: never[]) => Error, message: RegExp]>(
    [
      ["two constraints", { regex: "a", choice: ["b"] }, RequestError, /regex and choice/],
      ["an unsatisfiable schema", { schema: { type: "integer", minimum: 3, maximum: 2 } }, GrammarError, /./],
      ["a bad pattern", { regex: "(" }, GrammarError, /./],
      [
        "max_tokens above the context",
        { maxTokens: 512 },
        RequestError,
        /max_tokens 512 are too many for the context of 512/,
      ],
      ["n", { n: 129 }, RequestError, /n: 129 is not an integer from 1 to 128/],
      ["an empty stop", { stop: "" }, RequestError, /stop\[0\] is empty/],
      ["a foreign stop id", { stopTokenIds: [261] }, SamplingError, /261/],
      ["a seed that lost its digits", { seed: 2 ** 60 }, SamplingError, /bigint/],
      ["top_p 0", { topP: 0 }, SamplingError, /top_p/],
    ],
  )("%s", async (_, options, type, message) => {
    const refusal = await engine.start("hi", options).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(type)
    expect((refusal as Error).message).toMatch(message)
    expect(engine.load()).toEqual(idle)
  })

  test("a prompt longer than the context, with both numbers", async () => {
    await expect(engine.start("x".repeat(600), { raw: true })).rejects.toMatchObject({
      code: "context_length_exceeded",
      message: expect.stringMatching(/600 prompt tokens .* context of 512 tokens/),
    })
  })

  test("a full line", async () => {
    const small = await open({ model: directory, device: "cpu", slots: 1, maxWaiting: 1, threads: 1 })
    const options: GenerateOptions = { ignoreEos: true, maxTokens: 400 }
    const first = await small.start("a", options)
    const second = await small.start("b", options)
    await expect(small.start("c", options)).rejects.toMatchObject({ code: "queue_full" })
    first.cancel()
    second.cancel()
    await Promise.all([first.result, second.result])
    expect((await small.generate("c", { maxTokens: 1 })).usage.completionTokens).toBe(1)
    await small.close()
    await expect(small.start("d")).rejects.toMatchObject({ code: "shutting_down" })
  })
})

describe("aborts and faults", () => {
  test("an abort frees slot and place within one step, running or waiting", async () => {
    const options: GenerateOptions = { ignoreEos: true, maxTokens: 400 }
    const controllers = Array.from({ length: 6 }, () => new AbortController())
    const generations = await Promise.all(
      controllers.map(({ signal }) => engine.start("a", { ...options, signal })),
    )
    await steps(3)
    expect(engine.load()).toEqual({ running: 4, waiting: 2, slots: 4 })
    controllers[0].abort()
    controllers[5].abort()
    await steps(2)
    expect(engine.load()).toEqual({ running: 4, waiting: 0, slots: 4 })
    for (const controller of controllers) controller.abort()
    expect(engine.load()).toEqual(idle)
    const results = await Promise.all(generations.map((generation) => generation.result))
    expect(new Set(results.map(({ finishReason }) => finishReason))).toEqual(new Set(["abort"]))
    await expect(engine.generate("a", { signal: controllers[0].signal })).rejects.toThrow(AbortError)
  })

  test("twenty streams, aborted, left and cancelled at random, give every slot back", async () => {
    const random = generator(77)
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const controller = new AbortController()
        const options: GenerateOptions = { maxTokens: 60, seed: BigInt(index), signal: controller.signal }
        const constraint =
          index % 2 ? { schema: { type: "array", items: { type: "integer" } } } : { ignoreEos: true }
        const stopAt = Math.floor(random() * 25)
        const way = index % 4
        let count = 0
        for await (const event of engine.stream("s".repeat(1 + index), { ...options, ...constraint })) {
          if (event.type === "text" && ++count > stopAt) {
            if (way === 0) break
            if (way === 1) controller.abort()
          }
        }
      }),
    )
    await steps(0)
    expect(engine.load()).toEqual(idle)
    expect((await engine.generate("after", { choice: ["fine"] })).text).toBe("fine")
  })

  test("a step that fails ends what ran with an error, and the engine goes on", async () => {
    // An id inside the logits and outside the embedding: the graph itself refuses it.
    const wide = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { failsAbove: 300, width: 320 })
    const lines: string[] = []
    const fragile = await open({
      model: wide,
      device: "cpu",
      slots: 2,
      threads: 1,
      log: (line) => lines.push(line),
    })
    const failed = await (await fragile.start([310], { maxTokens: 5 })).result
    expect(failed.finishReason).toBe("error")
    expect(failed.message).toMatch(/out of data bounds|out of range|indices/i)
    expect(fragile.load()).toEqual({ running: 0, waiting: 0, slots: 2 })
    expect(
      (await fragile.generate("still here", { maxTokens: 3, ignoreEos: true })).usage.completionTokens,
    ).toBe(3)
    expect(lines.some((line) => line.startsWith("step failed"))).toBe(true)
    await fragile.close()
  })
})
