/**
 * A loop of one's own over onnxruntime-web writes a text that a regular expression accepts: greedy,
 * with a cache of keys and values, on the model that ships with Tokenrail.
 *
 *   npm ci && npm run build && npm install --no-save onnxruntime-web && node examples/onnxruntime.js
 */
import { readFileSync } from "node:fs"
import { Tokenizer } from "@huggingface/tokenizers"
import { InferenceSession, Tensor } from "onnxruntime-web"
import { constrain } from "tokenrail/adapters"
import { compile } from "tokenrail/grammar"
import { bindGrammar, parseVocabulary } from "tokenrail/mask"

const folder = import.meta.resolve("tokenrail/package.json").replace("package.json", "runtime/embedded/")
const read = (name) => readFileSync(new URL(folder + name))
const [json, config] = ["tokenizer.json", "config.json"].map((name) => JSON.parse(read(name)))
const vocabulary = parseVocabulary(json, null, { width: config.vocab_size, endIds: [config.eos_token_id] })
const { grammar } = compile({ kind: "regex", pattern: "[0-9]{2}:[0-9]{2} o'clock" })
const rows = constrain(bindGrammar(grammar, vocabulary))
const tokenizer = new Tokenizer(json, {})
const session = await InferenceSession.create(read("onnx/model.onnx"))

const int64 = (values) => new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length])
const ids = tokenizer.encode("<|im_start|>user\nWhat time is it?<|im_end|>\n<|im_start|>assistant\n").ids
const start = ids.length
const pasts = session.inputNames.filter((name) => name.startsWith("past_key_values"))
let cache = Object.fromEntries(pasts.map((name) => [name, new Tensor("float32", [], [1, 2, 0, 64])]))
for (let done = 0; !rows.isDone(); ) {
  const [input_ids, position_ids] = [ids, [...ids.keys()]].map((all) => int64(all.slice(done)))
  const attention_mask = int64(ids.map(() => 1))
  const output = await session.run({ ...cache, input_ids, position_ids, attention_mask })
  const last = rows.apply(output.logits).data.subarray(-vocabulary.width)
  const token = last.reduce((best, logit, at) => (logit > last[best] ? at : best), 0)
  rows.accept(token)
  done = ids.push(token) - 1
  cache = Object.fromEntries(pasts.map((name) => [name, output[name.replace("past_key_values", "present")]]))
}
console.log(tokenizer.decode(ids.slice(start), { skip_special_tokens: true }))
