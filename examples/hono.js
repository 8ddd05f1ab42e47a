/**
 * The server below a path of a Hono application, which mounts it by itself.
 *
 *   npm ci && npm run build && node examples/hono.js
 *
 * Outside of this repository begin with `npm install --ignore-scripts tokenrail hono`.
 */
import { Hono } from "hono"
import { open } from "tokenrail"
import { createApp, serve } from "tokenrail/server"

const engine = await open()
const app = new Hono().get("/", (c) => c.text("Hello"))
app.mount("/llm", createApp(engine).fetch)
const server = await serve(app, { port: 0 })
const { port } = server

const messages = [{ role: "user", content: "Is water wet?" }]
const response = await fetch(`http://127.0.0.1:${port}/llm/v1/chat/completions`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: engine.model.id, messages, guided_choice: ["yes", "no"] }),
})
const { choices } = await response.json()
console.log(response.status, choices[0].message.content)
await server.close()
await engine.close()
