import { Ajv2020 } from "ajv/dist/2020.js"
import OpenAI from "openai"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../../server/index.ts"
import { randomSchema } from "../support/randomschemas.ts"

let engine: Engine
let server: RunningServer
let client: OpenAI
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  server = await serve(createApp(engine), { port: 0 })
  client = new OpenAI({ apiKey: "none", baseURL: `${server.url}/v1`, maxRetries: 0 })
})
afterAll(async () => {
  await server.close()
  await engine.close()
})

const ajv = new Ajv2020({ strict: false, allErrors: true })
const schemaCount = 200

async function ask(seed: number): Promise<{ seed: number; stopped: boolean }> {
  const schema = randomSchema(seed)
  const completion = await client.chat.completions.create({
    model: engine.model.id,
    messages: [{ role: "user", content: "Answer in JSON." }],
    response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } },
    temperature: 1.5,
    max_completion_tokens: 400,
    seed,
  })
  const [{ message, finish_reason }] = completion.choices
  if (finish_reason !== "stop") return { seed, stopped: false }
  const context = `seed ${seed}\n${JSON.stringify(schema)}\n${message.content}`
  const validate = ajv.compile(schema)
  const valid = validate(JSON.parse(message.content!))
  expect(valid, `${context}\n${ajv.errorsText(validate.errors)}`).toBe(true)
  return { seed, stopped: true }
}

test("the validator is one that can say no", () => {
  const verdicts = Array.from({ length: 50 }, (_, seed) => ajv.compile(randomSchema(seed))({ "": 1 }))
  expect(verdicts).toContain(false)
})

test(`${schemaCount} random schemas at temperature 1.5: every answer that stops validates`, {
  timeout: 600_000,
}, async () => {
  const results: { seed: number; stopped: boolean }[] = []
  const seeds = Array.from({ length: schemaCount }, (_, seed) => seed)
  const worker = async () => {
    for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) results.push(await ask(seed))
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  expect(results).toHaveLength(schemaCount)
  // The schemas are bounded and small: an answer is cut off by its budget only now and then.
  expect(results.filter(({ stopped }) => stopped).length).toBeGreaterThan(0.9 * schemaCount)
})
