/**
 * node-llama-cpp writes JSON that a schema accepts. The model of the tests has random weights; give
 * the path of a GGUF file of your own.
 *
 *   npm ci && npm run build && npm install --no-save node-llama-cpp && node examples/llamacpp.js [FILE.gguf]
 */
import { getLlama } from "node-llama-cpp"
import { llamaCppTokens, llamaCppVocabulary } from "tokenrail/adapters"
import { compile } from "tokenrail/grammar"
import { bindGrammar } from "tokenrail/mask"

const modelPath = process.argv[2] ?? "test/decoders/llama.gguf"
const llama = await getLlama({ build: "never" })
const model = await llama.loadModel({ modelPath })
const context = await model.createContext({ contextSize: 256 })
const sequence = context.getSequence()

const properties = {
  name: { type: "string", maxLength: 12 },
  age: { type: "integer", minimum: 0, maximum: 120 },
}
const schema = { type: "object", properties, required: ["name", "age"], additionalProperties: false }
const { grammar } = compile({ kind: "json", schema }, { whitespace: "compact" })
const fsm = bindGrammar(grammar, await llamaCppVocabulary(modelPath))

const tokens = []
const prompt = model.tokenize("Ann Miller turned 34 last week. As JSON: ")
for await (const token of llamaCppTokens(sequence, prompt, fsm, { maxTokens: 100 })) tokens.push(token)
console.log(model.detokenize(tokens))
await llama.dispose()
