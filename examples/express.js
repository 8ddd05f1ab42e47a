/**
 * The server below a path of Express 5. It comes before express.json(), which would read the bodies
 * of its requests.
 *
 *   npm ci && npm run build && node examples/express.js
 *
 * Outside of this repository begin with `npm install --ignore-scripts tokenrail express`.
 */
import { once } from "node:events"
import express from "express"
import { open } from "tokenrail"
import { createApp, nodeListener } from "tokenrail/server"

const engine = await open()
const app = express()
app.use("/llm", nodeListener(createApp(engine)))
app.use(express.json())
const server = app.listen(0)
await once(server, "listening")
const { port } = server.address()

const messages = [{ role: "user", content: "Is water wet?" }]
const response = await fetch(`http://127.0.0.1:${port}/llm/v1/chat/completions`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: engine.model.id, messages, guided_choice: ["yes", "no"] }),
})
const { choices } = await response.json()
console.log(response.status, choices[0].message.content)
server.close()
await engine.close()
