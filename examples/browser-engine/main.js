/**
 * The engine in a page: the embedded model writes what the schema accepts, token by token. There is
 * no server but one that sends these files, and the second visit needs no network for the model.
 *
 *   npm ci && npm run build && npx vite build examples/browser-engine
 *   npx vite preview examples/browser-engine         serves the page, at the address that it prints
 */
import wasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url"
import { open } from "tokenrail/browser"

const [prompt, schema, start, stop, state, answer] = [
  ...["prompt", "schema", "start", "stop", "state", "answer"],
].map((id) => document.getElementById(id))

schema.value = JSON.stringify(
  {
    type: "object",
    properties: {
      name: { type: "string", pattern: "^[A-Z][a-z]{2,9}$" },
      age: { type: "integer", minimum: 18, maximum: 99 },
    },
    required: ["name", "age"],
    additionalProperties: false,
  },
  null,
  2,
)

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`
const engine = await open({
  wasm,
  onDownload: ({ url, doneBytes, fileBytes }) => {
    state.textContent = `${url.split("/").at(-1)}: ${megabytes(doneBytes)} of ${megabytes(fileBytes)}`
  },
})
state.textContent = `${engine.model.id} is ready.`
start.disabled = false

let running
start.addEventListener("click", async () => {
  running = new AbortController()
  start.disabled = true
  stop.disabled = false
  answer.textContent = ""
  try {
    const options = { schema: schema.value, temperature: 0.2, seed: 7, signal: running.signal }
    for await (const event of engine.stream(prompt.value, options)) {
      if (event.type === "text") answer.textContent += event.text
      if (event.type === "finish") state.textContent = `It ended by ${event.finishReason}.`
    }
  } catch (error) {
    state.textContent = error.message // of a GrammarError: what is wrong, where, and the way out
  } finally {
    start.disabled = false
    stop.disabled = true
  }
})
stop.addEventListener("click", () => running.abort())
