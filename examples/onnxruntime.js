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
const [tokenizerJson, config] = ["tokenizer.json", "config.json"].map((name) =>
  JSON.parse(readFileSync(new URL(folder + name), "utf8")),
)
const vocabulary = parseVocabulary(tokenizerJson, null, {
  width: config.vocab_size,
  endIds: [config.eos_token_id],
})
const rows = constrain(
  bindGrammar(compile({ kind: "regex", pattern: "[0-9]{2}:[0-9]{2} o'clock" }).grammar, vocabulary),
)
const tokenizer = new Tokenizer(tokenizerJson, {})
const session = await InferenceSession.create(readFileSync(new URL(`${folder}onnx/model.onnx`)))

const int64 = (values) => new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length])
const ids = tokenizer.encode("<|im_start|>user\nWhat time is it?<|im_end|>\n<|im_start|>assistant\n").ids
const start = ids.length
const pasts = session.inputNames.filter((name) => name.startsWith("past_key_values"))
let cache = Object.fromEntries(pasts.map((name) => [name, new Tensor("float32", [], [1, 2, 0, 64])]))
for (let done = 0; !rows.isDone(); ) {
  const output = await session.run({
    ...cache,
    input_ids: int64(ids.slice(done)),
    attention_mask: int64(ids.map(() => 1)),
    position_ids: int64([...ids.keys()].slice(done)),
  })
  const { data, dims } = rows.apply(output.logits)
  const last = data.subarray(-dims[2])
  const token = last.reduce((best, logit, at) => (logit > last[best] ? at : best), 0)
  rows.accept(token)
  done = ids.push(token) - 1
  cache = Object.fromEntries(pasts.map((name) => [name, output[name.replace("past_key_values", "present")]]))
}
console.log(tokenizer.decode(ids.slice(start), { skip_special_tokens: true }))
