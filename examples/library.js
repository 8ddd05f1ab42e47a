/**
 * The library: the embedded model answers with an object that a JSON Schema accepts, then as a stream of text that a regular
 * expression accepts.
 *
 *   npm ci && npm run build && node examples/library.js
 *
 * Outside of this repository begin with `npm install --ignore-scripts tokenrail`.
 */
import { open } from "tokenrail"

const schema = {
  type: "object",
  properties: {
    city: { type: "string", pattern: "^[A-Z][a-z]{2,11}$" },
    celsius: { type: "integer", minimum: -40, maximum: 50 },
    sky: { enum: ["clear", "cloudy", "rain", "snow"] },
  },
  required: ["city", "celsius", "sky"],
  additionalProperties: false,
}

const engine = await open() // the model that ships with the package
try {
  const { value, usage } = await engine.generate("It rains in Oslo, at 4 degrees.", { schema, seed: 1 })
  console.log("generate:", JSON.stringify(value))
  console.log("forced without a choice:", usage.forcedTokens, "of", usage.completionTokens, "tokens")

  process.stdout.write("stream: ")
  for await (const event of engine.stream("At what time?", {
    regex: "([01][0-9]|2[0-3]):[0-5][0-9]",
    seed: 1,
  })) {
    if (event.type === "text") process.stdout.write(event.text)
    else console.log(` (${event.finishReason})`)
  }
} finally {
  await engine.close()
}
