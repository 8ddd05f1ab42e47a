/**
 * transformers.js writes JSON that a schema accepts: a batch of two on the model that ships with
 * Tokenrail. A model of the Hub takes its place by its name.
 *
 *   npm ci && npm run build && npm install --no-save @huggingface/transformers && node examples/transformers.js
 */
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { AutoModelForCausalLM, AutoTokenizer, env } from "@huggingface/transformers"
import { transformersProcessor, transformersVocabulary } from "tokenrail/adapters"
import { compile } from "tokenrail/grammar"
import { bindGrammar } from "tokenrail/mask"

env.localModelPath = dirname(fileURLToPath(import.meta.resolve("tokenrail/package.json")))
const tokenizer = await AutoTokenizer.from_pretrained("runtime/embedded")
const model = await AutoModelForCausalLM.from_pretrained("runtime/embedded", { dtype: "fp32" })

const properties = {
  name: { type: "string", maxLength: 12 },
  age: { type: "integer", minimum: 0, maximum: 120 },
}
const { grammar } = compile({
  kind: "json",
  schema: { type: "object", properties, required: ["name", "age"] },
})
const processor = transformersProcessor(bindGrammar(grammar, transformersVocabulary(tokenizer, model)))

const chats = ["Ann Miller turned 34 last week.", "Bob is 12."].map((content) => [{ role: "user", content }])
const prompts = chats.map((chat) =>
  tokenizer.apply_chat_template(chat, { tokenize: false, add_generation_prompt: true }),
)
tokenizer.padding_side = "left"
const inputs = tokenizer(prompts, { padding: true, add_special_tokens: false })
const ids = await model.generate({ ...inputs, max_new_tokens: 60, logits_processor: [processor] })
const texts = tokenizer.batch_decode(ids.slice(null, [inputs.input_ids.dims[1], null]), {
  skip_special_tokens: true,
})
for (const text of texts) console.log(text)
