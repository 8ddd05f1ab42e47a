/**
 * Large and odd bodies: every field that holds a text or a list, filled to the bound of 16 MiB, and JSON that is hard
 * to read.
 */
import { existsSync, readFileSync } from "node:fs"
import { chat, chatBody, send } from "../requests.ts"
import { type Kinds, MiB, repeat } from "./kind.ts"

const folder = "../shared/data/attacks"
export const hasAttackFiles = existsSync(folder)

const file =
  (name: string): Kinds[string] =>
  async (port) => [await send(port, { body: readFileSync(`${folder}/${name}`) })]

/** A chat request with these fields. */
const fields =
  (make: () => object): Kinds[string] =>
  async (port) => [await chat(port, make())]

/** A chat request with `text` before its last brace, for what `JSON.stringify` does not write. */
const source =
  (make: () => string): Kinds[string] =>
  async (port) => [await send(port, { body: `${chatBody({}).slice(0, -1)},${make()}}` })]

const user = (content: unknown) => ({ messages: [{ role: "user", content }] })

const fileKinds: Kinds = {
  "file crash.json": file("crash.json"),
  "file surrogate.json": file("surrogate.json"),
}

export const bodyKinds: Kinds = {
  ...(hasAttackFiles && fileKinds),
  "stop: one of 15 MiB": fields(() => ({ stop: "a".repeat(15 * MiB) })),
  "stop: 64 of 250 kB": fields(() => ({ stop: repeat(64, (i) => `${i} ${"word ".repeat(50_000)}`) })),
  "stop: 64 of overlapping a": fields(() => ({
    stop: repeat(64, (i) => `${"a".repeat(200_000 + i)}b`),
    structured_outputs: { regex: "a{400}" },
    max_tokens: 400,
  })),
  "stop: a million": fields(() => ({ stop: repeat(1_000_000, (i) => `s${i}`) })),
  "prompt: 15 MiB of words": fields(() => user("some words ".repeat((15 * MiB) / 11))),
  "prompt: 15 MiB of one letter": fields(() => user("a".repeat(15 * MiB))),
  "prompt: 15 MiB of spaces": fields(() => user(" ".repeat(15 * MiB))),
  "prompt: 15 MiB of marks": fields(() => user("\u0301".repeat(7 * MiB))),
  "prompt: 15 MiB of control tokens": fields(() => user("<|im_end|>".repeat(1.5 * MiB))),
  "prompt: 200 kB of one letter": fields(() => user("a".repeat(200_000))),
  "messages: 100,000": fields(() => ({ messages: repeat(100_000, () => ({ role: "user", content: "hi" })) })),
  "messages: 300,000 parts": fields(() => user(repeat(300_000, () => ({ type: "text", text: "hi" })))),
  "tool calls: 100,000": fields(() => ({
    messages: [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: repeat(100_000, (i) => ({
          ...{ id: `c${i}`, type: "function" },
          function: { name: "f", arguments: "{}" },
        })),
      },
    ],
  })),
  "tool calls: arguments of 8 MiB": fields(() => ({
    messages: [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c", type: "function", function: { name: "f", arguments: `{"a":"${"x".repeat(8 * MiB)}"}` } },
        ],
      },
    ],
  })),
  "tools: 100,000": fields(() => ({
    tools: repeat(100_000, (i) => ({ type: "function", function: { name: `f${i}`, parameters: {} } })),
  })),
  "seed: a million digits": source(() => `"seed":${"7".repeat(1_000_000)}`),
  "seed: a text of 15 million digits": fields(() => ({ seed: "7".repeat(15_000_000) })),
  "keys: 20,000 unknown": fields(() => Object.fromEntries(repeat(20_000, (i) => [`unknown_${i}`, i]))),
  "keys: 600,000 as long as constraints": fields(() =>
    Object.fromEntries(repeat(600_000, (i) => [`xqz_${i.toString(36).padStart(9, "q")}`, 1])),
  ),
  "keys: one of 15 MiB": fields(() => ({ ["k".repeat(15 * MiB)]: 1 })),
  "keys: 1,500 of 10 kB": fields(() =>
    Object.fromEntries(repeat(1_500, (i) => [`${i}${"ä".repeat(5_000)}`, 1])),
  ),
  "keys: a million times the same": source(() => repeat(1_000_000, () => '"x":1').join(",")),
  "keys: __proto__ and kin": source(
    () =>
      '"__proto__":{"stream":true,"n":128},"constructor":{"prototype":{"n":128}},"toString":1,"hasOwnProperty":2',
  ),
  "bad_words: a million": fields(() => ({ bad_words: repeat(1_000_000, (i) => `w${i}`) })),
  "bad_words: one of 15 MiB": fields(() => ({ bad_words: ["word ".repeat(3 * MiB)] })),
  "bad_words: 20,000 of 700 letters": fields(() => ({
    bad_words: repeat(20_000, (i) => `${i}${"a".repeat(700)}`),
  })),
  "breakers: 64 of 240 kB": fields(() => ({
    ...{ dry_multiplier: 1, dry_sequence_breakers: repeat(64, (i) => `${i}${"a".repeat(240_000)}`) },
  })),
  "breakers: a million": fields(() => ({
    ...{ dry_multiplier: 1, dry_sequence_breakers: repeat(1_000_000, (i) => `b${i}`) },
  })),
  "logit_bias: a million": fields(() => ({
    logit_bias: Object.fromEntries(repeat(1_000_000, (i) => [i, 1])),
  })),
  "logit_bias: a million spellings of 7": source(
    () => `"logit_bias":{${repeat(800_000, (i) => `"${"0".repeat(i % 12)}${i % 9}":1`).join(",")}}`,
  ),
  "allowed ids: two million": fields(() => ({ allowed_token_ids: repeat(2_000_000, (i) => i % 4_000) })),
  "stop ids: two million": fields(() => ({ stop_token_ids: repeat(2_000_000, (i) => i % 4_000) })),
  "logprob ids: two million": fields(() => ({
    ...{ logprobs: true, logprob_token_ids: repeat(2_000_000, (i) => i % 4_000), max_tokens: 2 },
  })),
  "sampler_order: a million": fields(() => ({ sampler_order: repeat(1_000_000, () => "temperature") })),
  "prediction: 15 MiB": fields(() => ({ prediction: { type: "content", content: "word ".repeat(3 * MiB) } })),
  "repetition_detection: huge": fields(() => ({
    ...{ repetition_detection: { min: 1, max: 1e9, count: 1e9 }, max_tokens: 400, ignore_eos: true },
  })),
  "metadata: 15 MiB": fields(() => ({ metadata: { a: repeat(1_800_000, (i) => i) }, max_tokens: 1 })),
  "model: a name of 8 MiB": fields(() => ({ model: "m".repeat(8 * MiB) })),
  "kwargs: 8 MiB": fields(() => ({ chat_template_kwargs: { note: "x".repeat(8 * MiB) } })),
  "kwargs: 300,000 keys": fields(() => ({
    chat_template_kwargs: Object.fromEntries(repeat(300_000, (i) => [`k${i}`, i])),
  })),
  "kwargs: names of the template": fields(() => ({
    chat_template_kwargs: {
      ...{
        messages: "none",
        bos_token: { a: [1] },
        eos_token: null,
        add_generation_prompt: "x".repeat(1_000),
      },
      ...{ loop: 1, namespace: 2, range: 3, raise_exception: 4, strftime_now: 5, tools: [{}], true: false },
    },
  })),
  "kwargs: messages of a million": fields(() => ({
    chat_template_kwargs: { messages: repeat(300_000, () => ({ role: "user", content: "hi" })) },
  })),
  "kwargs: 400 levels": source(() => `"chat_template_kwargs":{"a":${"[".repeat(400)}${"]".repeat(400)}}`),
  "n 128, many tokens, 20 alternatives": async (port) => [
    await chat(
      port,
      { n: 128, max_tokens: 1_900, logprobs: true, top_logprobs: 20, ignore_eos: true, stream: true },
      { timeoutMs: 6_000 },
    ),
  ],
  "n 128 of one token, whole": fields(() => ({ n: 128, max_tokens: 1, logprobs: true, top_logprobs: 20 })),
  "JSON: 500,000 brackets": async (port) => [await send(port, { body: "[".repeat(500_000) })],
  "JSON: 500,000 braces in a field": source(() => `"x":${'{"a":'.repeat(500_000)}1${"}".repeat(500_000)}`),
  "JSON: 16 MiB of spaces": async (port) => [await send(port, { body: " ".repeat(16 * MiB) })],
  "JSON: more than the bound": async (port) => [await send(port, { body: " ".repeat(17 * MiB) })],
  "JSON: two million escapes": source(() => `"x":"${"\\u0000".repeat(2_000_000)}"`),
  "JSON: seven million zeros in a list": source(() => `"x":[${"0,".repeat(7_000_000)}0]`),
  "numbers: 8 million digits": source(() => `"temperature":${"9".repeat(8_000_000)}`),
  "numbers: an exponent of a million digits": source(() => `"temperature":1e${"9".repeat(1_000_000)}`),
  "numbers: beyond doubles": source(() => '"max_tokens":1e999,"top_p":-1e999,"n":1e400,"seed":1e999'),
  "numbers: minus zero and fractions": source(
    () => '"seed":-0,"top_k":1e2,"min_tokens":0.5,"max_tokens":9007199254740993',
  ),
  "invalid UTF-8": async (port) => [
    await send(port, {
      body: Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}')]),
    }),
    await send(port, { body: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(chatBody({}))]) }),
    await send(port, { body: Buffer.from(chatBody({}), "utf16le") }),
  ],
}
