/**
 * Route handlers as Next.js calls them: in an App Router the file app/api/llm/[...path]/route.js
 * exports GET, POST, DELETE and OPTIONS.
 *
 *   npm ci && npm run build && node examples/next.js
 *
 * Outside of this repository begin with `npm install --ignore-scripts tokenrail next`.
 */
import { open } from "tokenrail"
import { createApp, underPath } from "tokenrail/server"

const engine = await open()
const handle = underPath(createApp(engine), "/api/llm")

export { handle as DELETE, handle as GET, handle as OPTIONS, handle as POST }

const messages = [{ role: "user", content: "Is water wet?" }]
const request = new Request("http://localhost/api/llm/v1/chat/completions", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: engine.model.id, messages, guided_choice: ["yes", "no"] }),
})
const response = await handle(request)
const { choices } = await response.json()
console.log(response.status, choices[0].message.content)
await engine.close()
