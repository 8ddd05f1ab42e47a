/**
 * The server below a path of Fastify 5. The other routes keep their parsers of bodies.
 *
 *   npm ci && npm run build && node examples/fastify.js
 *
 * Outside of this repository begin with `npm install --ignore-scripts tokenrail fastify`.
 */
import fastify from "fastify"
import { open } from "tokenrail"
import { createApp, fastifyPlugin } from "tokenrail/server"

const engine = await open()
const app = fastify()
await app.register(fastifyPlugin(createApp(engine)), { prefix: "/llm" })
await app.listen({ port: 0 })
const { port } = app.server.address()

const messages = [{ role: "user", content: "Is water wet?" }]
const response = await fetch(`http://127.0.0.1:${port}/llm/v1/chat/completions`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: engine.model.id, messages, guided_choice: ["yes", "no"] }),
})
const { choices } = await response.json()
console.log(response.status, choices[0].message.content)
await app.close()
await engine.close()
