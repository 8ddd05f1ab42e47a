/**
 * The AI SDK on an engine in this process: an object that a Zod schema accepts, then a tool that
 * the model has to call.
 *
 *   npm ci && npm run build && node examples/aisdk.js
 *
 * Outside of this repository begin with `npm install --ignore-scripts tokenrail ai@6 zod`.
 */
import { generateObject, generateText, tool } from "ai"
import { open } from "tokenrail"
import { tokenrail } from "tokenrail/adapters"
import { z } from "zod"

const engine = await open()
const model = tokenrail(engine, { version: "v3" }) // ai 7 needs no version
try {
  const schema = z.object({
    name: z.string().regex(/^[A-Z][a-z]{2,9}$/),
    age: z.number().int().min(18).max(99),
  })
  const { object } = await generateObject({
    model,
    schema,
    prompt: "Ann Miller turned 34 last week.",
    seed: 1,
  })
  console.log("object:", JSON.stringify(object))

  const inputSchema = z.object({ city: z.enum(["Oslo", "Rome"]) })
  const weather = tool({ inputSchema, execute: ({ city }) => `4 degrees in ${city}` })
  const asked = { model, tools: { weather }, toolChoice: "required", prompt: "Is it cold in Oslo?", seed: 1 }
  const { toolResults } = await generateText(asked)
  console.log("tool:", toolResults[0].output)
} finally {
  await engine.close()
}
