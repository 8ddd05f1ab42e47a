/** The engine on the model that ships with the package: what the first run of a user does. */

import { Ajv2020 } from "ajv/dist/2020.js"
import * as ort from "onnxruntime-node"
import { afterAll, beforeAll, expect, test } from "vitest"
import { packageFile } from "../../../runtime/files.ts"
import type { Engine, GenerateOptions } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu" })
})
afterAll(async () => engine.close())

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 12 },
    age: { type: "integer", minimum: 0, maximum: 120 },
    roles: { type: "array", items: { enum: ["admin", "editor", "viewer"] }, maxItems: 3, uniqueItems: true },
    mail: { type: "string", pattern: "^[a-z]{1,6}@[a-z]{1,6}\\.(com|org)$" },
    when: { anyOf: [{ type: "null" }, { type: "string", pattern: "^20[0-9]{2}-[01][0-9]$" }] },
  },
  required: ["name", "age", "roles", "mail"],
  additionalProperties: false,
}

test("greedy tokens are those of a plain loop without cache or batch", async () => {
  const session = await ort.InferenceSession.create(packageFile("runtime/embedded/onnx/model.onnx"))
  const { vocabulary } = engine
  const caches = session.inputNames.filter((name) => name.startsWith("past_key_values"))
  const [, heads, , dim] = (session.inputMetadata as unknown as { name: string; shape: number[] }[]).find(
    ({ name }) => name === caches[0],
  )!.shape
  const prompts = ["Hello", "Write a list of colours, one a line."]
  const results = await Promise.all(
    prompts.map((prompt) => engine.generate(prompt, { temperature: 0, maxTokens: 12, ignoreEos: true })),
  )
  for (const [index, prompt] of prompts.entries()) {
    const tokens = engine.tokenizer.encodeMessages([{ role: "user", content: prompt }])
    const begin = tokens.length
    while (tokens.length < begin + 12) {
      const dims = [1, tokens.length]
      const empty = new ort.Tensor("float32", new Float32Array(0), [1, heads, 0, dim])
      const { logits } = await session.run({
        input_ids: new ort.Tensor("int64", BigInt64Array.from(tokens, BigInt), dims),
        position_ids: new ort.Tensor(
          "int64",
          BigInt64Array.from(tokens, (_, at) => BigInt(at)),
          dims,
        ),
        attention_mask: new ort.Tensor("int64", new BigInt64Array(tokens.length).fill(1n), dims),
        ...Object.fromEntries(caches.map((name) => [name, empty])),
      })
      const row = (logits.data as Float32Array).subarray(-vocabulary.width)
      let best = -1
      for (let id = 0; id < row.length; id++) {
        const isFree = (vocabulary.freeRow[id >>> 5] >>> (id & 31)) & 1
        if (isFree && (best < 0 || row[id] > row[best])) best = id
      }
      tokens.push(best)
    }
    expect(results[index].choices[0].tokens).toEqual(tokens.slice(begin))
  }
  await session.release()
})

test("the same seed gives the same answer alone and among seven others", async () => {
  const ask = (index: number) => {
    const options: GenerateOptions = { seed: BigInt(index), maxTokens: 24, temperature: 1 }
    const prompt = "Tell me more. ".repeat(1 + index * 4)
    return engine.start(prompt, index % 2 ? { ...options, schema: person } : { ...options, ignoreEos: true })
  }
  const alone: string[] = []
  for (let index = 0; index < 8; index++) alone.push((await (await ask(index)).result).text)
  const generations = await Promise.all(Array.from({ length: 8 }, (_, index) => ask(index)))
  const together = await Promise.all(generations.map((generation) => generation.result))
  expect(together.map(({ text }) => text)).toEqual(alone)
})

test("at temperature 1.5 every answer that stops is a person; with onLength close all do", async () => {
  const validate = new Ajv2020().compile(person)
  const options: GenerateOptions = { schema: person, temperature: 1.5, n: 8, seed: 9n }
  const cut = await (await engine.start("Invent a person", { ...options, maxTokens: 90 })).result
  const closed = await (
    await engine.start("Invent a person", { ...options, maxTokens: 40, onLength: "close" })
  ).result
  for (const { value, text, finishReason } of [...cut.choices, ...closed.choices]) {
    if (finishReason === "stop") expect(validate(value), text).toBe(true)
    else expect(finishReason).toBe("length")
  }
  expect(closed.choices.map(({ finishReason }) => finishReason)).toEqual(Array(8).fill("stop"))
  expect(cut.usage.forcedTokens).toBeGreaterThan(0)
  expect(engine.metrics.maskViolations).toBe(0)
})
