/**
 * The server inside a program of your own: the OpenAI-compatible application on a free port, called with `fetch` for an answer
 * that a JSON Schema constrains, and closed again.
 *
 *   npm ci && npm run build && node examples/server.js
 *
 * Outside of this repository begin with `npm install --ignore-scripts tokenrail`.
 */
import { open } from "tokenrail"
import { createApp, serve } from "tokenrail/server"

const engine = await open()
const server = await serve(createApp(engine), { port: 0 })
try {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: engine.model.id,
      messages: [{ role: "user", content: "Is water wet?" }],
      seed: 1,
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "verdict",
          schema: {
            type: "object",
            properties: {
              answer: { enum: ["yes", "no", "it depends"] },
              confidence: { type: "integer", minimum: 0, maximum: 10 },
            },
            required: ["answer", "confidence"],
            additionalProperties: false,
          },
        },
      },
    }),
  })
  const body = await response.json()
  if (!response.ok) throw new Error(body.error.message)
  const [{ message, finish_reason }] = body.choices
  console.log(response.status, message.content, finish_reason)
} finally {
  await server.close()
  await engine.close()
}
console.log("closed")
