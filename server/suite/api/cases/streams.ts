/** Cases of the form of replies, whole and streamed. */
import { type Asker, jsonSchema } from "../ask.ts"
import { type ApiCase, type Finding, finding, honoured, type JsonObject } from "../case.ts"
import { type Chat, fieldsOf, listOf, readChat, readStream } from "../chat.ts"
import { isAccepted, malformed } from "../judges.ts"

type Stream = ReturnType<typeof readStream>

const prompt = "Tell me a joke."
const schema =
  '{"type":"object","properties":{"a":{"enum":["qx-7","wv-3"]},"b":{"type":"string","maxLength":12}},"required":["a","b"],"additionalProperties":false}'

const wordy =
  '{"type":"object","properties":{"a":{"type":"string","minLength":40,"maxLength":60}},"required":["a"],"additionalProperties":false}'

/** Returns `wrong` unless the condition holds. */
function must(isRight: boolean, why: string): Finding {
  return isRight ? honoured : finding("wrong", why)
}

export function streamCases(ask: Asker): ApiCase[] {
  return [
    ...replyRows.map(
      ([name, check]): ApiCase => ({
        ...{ area: "replies", name },
        requests: [ask.chat(prompt, { max_tokens: 24 })],
        judge: ([reply]) => check(JSON.parse(reply.text), readChat(reply)),
      }),
    ),
    ...streamRows.map(
      ([name, check, fields]): ApiCase => ({
        ...{ area: "streams", name },
        requests: [ask.chat(prompt, { max_tokens: 24, stream: true, ...fields })],
        judge: ([reply]) => check(readStream(reply)),
      }),
    ),
    ...sameRows(ask).map(
      ([name, fields]): ApiCase => ({
        ...{ area: "streams", name, isSentOnce: true },
        requests: [false, false, true].map((stream) =>
          ask.chat(prompt, { ...fields, seed: 7, ...(stream && { stream }) }),
        ),
        judge: ([one, again, streamed]) => sameText(readChat(one), readChat(again), readStream(streamed)),
      }),
    ),
    {
      ...{ area: "replies", name: "the list of models", isSentOnce: true },
      requests: [{ path: "/models" }],
      judge: ([reply]) => modelList(JSON.parse(reply.text)),
    },
  ]
}

function modelList(body: unknown): Finding {
  const { object, data } = fieldsOf(body)
  const isList = object === "list" && listOf(data).length > 0
  return must(
    isList && listOf(data).every((each) => typeof fieldsOf(each).id === "string"),
    "not a list of models with ids",
  )
}

const replyRows: readonly (readonly [name: string, check: (body: unknown, chat: Chat) => Finding])[] = [
  ["the form", (_, { problems }) => malformed(problems) ?? honoured],
  ["object, id, created and model", (body) => head(body, "chat.completion")],
  [
    "the role",
    (_, { choices }) => must(choices[0]?.role === "assistant", `the role is "${choices[0]?.role}"`),
  ],
  ["usage", (_, { usage }) => usageForm(usage)],
  [
    "finish_reason and the budget",
    (_, { choices, usage }) => {
      const used = Number(fieldsOf(usage).completion_tokens)
      return must(used <= 24, `${used} tokens for max_tokens 24`).verdict === "honoured"
        ? must(used < 24 || choices[0]?.finish !== null, "no finish_reason")
        : finding("ignored", `${used} tokens for max_tokens 24`)
    },
  ],
]

function head(body: unknown, object: string): Finding {
  const { id, created, model, object: named } = fieldsOf(body)
  const faults = [
    ...(typeof id === "string" && id !== "" ? [] : ["id is missing"]),
    ...(Number.isInteger(created) ? [] : ["created is not a number"]),
    ...(typeof model === "string" ? [] : ["model is missing"]),
    ...(named === object ? [] : [`object is ${JSON.stringify(named)}, not "${object}"`]),
  ]
  return malformed(faults) ?? honoured
}

export function usageForm(usage: unknown): Finding {
  const { prompt_tokens: read, completion_tokens: written, total_tokens: total } = fieldsOf(usage)
  if (![read, written, total].every(Number.isInteger)) return finding("wrong", "usage lacks its three counts")
  if (Number(read) <= 0) return finding("wrong", "usage.prompt_tokens is 0")
  return must(Number(read) + Number(written) === total, `usage: ${read} + ${written} is not ${total}`)
}

const withUsage = { stream_options: { include_usage: true } }

const streamRows: readonly (readonly [
  name: string,
  check: (stream: Stream) => Finding,
  fields?: JsonObject,
])[] = [
  ["the form", ({ problems }) => malformed(problems) ?? honoured],
  ["[DONE] ends the stream", ({ isDone }) => must(isDone, "the stream does not end with [DONE]")],
  [
    "the first delta has the role",
    ({ chunks }) => {
      const { role } = fieldsOf(fieldsOf(listOf(chunks[0]?.choices)[0]).delta)
      return must(role === "assistant", `the first delta has the role ${JSON.stringify(role)}`)
    },
  ],
  [
    "every choice has an index",
    ({ chunks }) =>
      must(
        choicesOf(chunks).every(({ index }) => Number.isInteger(index)),
        "a choice has no index",
      ),
  ],
  [
    "one id, model and object",
    ({ chunks }) => {
      const kinds = new Set(chunks.map(({ id, model, object }) => JSON.stringify([id, model, object])))
      return kinds.size === 1
        ? head(chunks[0], "chat.completion.chunk")
        : finding("wrong", `chunks differ: ${[...kinds].slice(0, 2).join(", ")}`)
    },
  ],
  [
    "text comes in several deltas",
    ({ chunks, choices }) => severalDeltas(chunks, choices[0]?.content ?? ""),
    { ...jsonSchema(wordy), max_tokens: 96 },
  ],
  [
    "one finish_reason, on the last delta",
    ({ chunks }) => {
      const finishes = choicesOf(chunks).map((choice) => choice.finish_reason ?? null)
      const set = finishes.filter((finish) => finish !== null).length
      return must(set === 1 && finishes.at(-1) !== null, `finish_reason is set ${set} times`)
    },
  ],
  ["include_usage: the last event", ({ chunks }) => lastUsage(chunks), withUsage],
  [
    "include_usage: no choice beside it",
    ({ chunks }) =>
      must(
        Array.isArray(chunks.at(-1)?.choices) && listOf(chunks.at(-1)?.choices).length === 0,
        "the event with usage has no empty `choices`",
      ),
    withUsage,
  ],
  [
    "without include_usage no event of usage",
    ({ chunks }) =>
      must(
        chunks.every(({ choices }) => listOf(choices).length > 0),
        "an event has no choices",
      ),
  ],
  ["n: 2", (stream) => streamedChoices(stream), { n: 2 }],
  [
    "no delta splits a character",
    ({ chunks }) =>
      must(
        choicesOf(chunks).every((choice) => whole(fieldsOf(choice.delta).content)),
        "a delta holds half a character",
      ),
    {
      ...jsonSchema(
        '{"type":"object","properties":{"a":{"const":"🜁🜂🜃日本語ж"}},"required":["a"],"additionalProperties":false}',
      ),
      max_tokens: 96,
    },
  ],
]

function severalDeltas(chunks: Stream["chunks"], text: string): Finding {
  const pieces = choicesOf(chunks).filter(({ delta }) => fieldsOf(delta).content).length
  if (text.length < 20) return finding("skipped", `the answer is too short: ${JSON.stringify(text)}`)
  return must(pieces > 1, `${text.length} characters in one delta`)
}

function choicesOf(chunks: Stream["chunks"]) {
  return chunks.flatMap(({ choices }) => listOf(choices).map(fieldsOf))
}

function lastUsage(chunks: Stream["chunks"]): Finding {
  const usage = chunks.at(-1)?.usage
  return usage ? usageForm(usage) : finding("ignored", "the last event has no usage")
}

function streamedChoices({ problems, choices }: Stream): Finding {
  if (choices.length === 1) return finding("ignored", "one choice for n: 2")
  return (
    malformed(problems) ??
    must(choices.map(({ index }) => index).join() === "0,1", "the choices are not 0 and 1")
  )
}

function whole(text: unknown): boolean {
  return (
    typeof text !== "string" ||
    !/\uFFFD|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)
  )
}

function sameRows(ask: Asker): [name: string, fields: JsonObject][] {
  return [
    ["the joined text is that of the whole reply", { max_tokens: 24, temperature: 1 }],
    ["the same with a schema", { ...ask.schema(schema), temperature: 1 }],
    ["the same at temperature 0", { max_tokens: 24, temperature: 0 }],
  ]
}

function sameText(one: Chat, again: Chat, streamed: Chat): Finding {
  const faults = malformed([...one.problems, ...again.problems, ...streamed.problems])
  if (faults !== null) return faults
  const [text, repeated, joined] = [one, again, streamed].map(({ choices }) => choices[0].content ?? "")
  if (text !== repeated) return finding("skipped", "the server does not repeat an answer with the same seed")
  return must(
    text === joined,
    `streamed ${JSON.stringify(joined.slice(0, 60))}, whole ${JSON.stringify(text.slice(0, 60))}`,
  )
}

const toolPart = { type: "text", text: prompt }

/** Fields and messages that promise nothing and are accepted. */
export function acceptedCases(ask: Asker): ApiCase[] {
  return acceptedRows.map(
    ([name, fields]): ApiCase => ({
      ...{ area: "fields", name: `accepted: ${name}`, isSentOnce: true },
      requests: [ask.chat(prompt, { max_tokens: 4, ...fields })],
      judge: isAccepted,
    }),
  )
}

const acceptedRows: readonly (readonly [name: string, fields: JsonObject])[] = [
  ["content in parts", { messages: [{ role: "user", content: [toolPart, toolPart] }] }],
  [
    "a system message",
    {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: prompt },
      ],
    },
  ],
  [
    "a developer message",
    {
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: prompt },
      ],
    },
  ],
  [
    "an earlier answer",
    {
      messages: [
        { role: "user", content: prompt },
        { role: "assistant", content: "No." },
        { role: "user", content: prompt },
      ],
    },
  ],
  [
    "phase of an earlier answer",
    {
      messages: [
        { role: "user", content: prompt },
        { role: "assistant", content: "No.", phase: "final_answer" },
        { role: "user", content: prompt },
      ],
    },
  ],
  [
    "two messages of the user in a row",
    {
      messages: [
        { role: "user", content: prompt },
        { role: "user", content: prompt },
      ],
    },
  ],
  ["text as response_format", { response_format: { type: "text" } }],
  ["no tools", { tools: [] }],
  [
    "top_p, frequency_penalty, presence_penalty",
    { top_p: 0.9, frequency_penalty: 0.5, presence_penalty: 0.5 },
  ],
  ["logit_bias", { logit_bias: { "5": 1 } }],
  ["user, metadata, store", { user: "u", metadata: { a: "b" }, store: false }],
  [
    "service_tier, verbosity, safety_identifier",
    { service_tier: "auto", verbosity: "low", safety_identifier: "s" },
  ],
  ["prompt_cache_key", { prompt_cache_key: "k" }],
  ["null for what is left out", { stop: null, tools: null, response_format: null, n: null, logprobs: null }],
]
