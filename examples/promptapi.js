/**
 * The Prompt API of browsers on an engine in Node: an answer that a JSON Schema accepts, and one
 * that is streamed.
 *
 *   npm ci && npm run build && node examples/promptapi.js
 *
 * Outside of this repository begin with `npm install --ignore-scripts tokenrail`.
 */
import { open } from "tokenrail"
import { languageModel } from "tokenrail/adapters"

const engine = await open()
const LanguageModel = globalThis.LanguageModel ?? languageModel(engine, { seed: 1 })
try {
  const session = await LanguageModel.create({ initialPrompts: [{ role: "system", content: "Be short." }] })
  const properties = { rating: { type: "integer", minimum: 0, maximum: 5 } }
  const responseConstraint = { type: "object", properties, required: ["rating"], additionalProperties: false }
  console.log("prompt:", await session.prompt("The food was delicious.", { responseConstraint }))

  process.stdout.write("stream: ")
  const stream = session.promptStreaming("Since which year?", { responseConstraint: /^(19|20)[0-9]{2}$/ })
  for await (const piece of stream) process.stdout.write(piece)
  console.log(` (${session.contextUsage > 0})`)
} finally {
  await engine.close()
}
