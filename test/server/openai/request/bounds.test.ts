/** What a request may hold at most: every bound is met by the largest value that passes and the smallest that does not. */
import { describe, expect, test } from "vitest"
import { Refusal } from "../../../../server/errors.ts"
import { defaultBodyLimits } from "../../../../server/http/body.ts"
import { type BodyRead, type Endpoint, readBody } from "../../../../server/openai/read/readbody.ts"
import { requestBounds } from "../../../../server/openai/request/bounds.ts"
import { ignoredHeader } from "../../../../server/openai/request/keys.ts"
import { policyFields } from "../../../../server/openai/request/policies.ts"

const messages = [{ role: "user", content: "hi" }]

function read(fields: object | string): BodyRead<"chat"> {
  const body = typeof fields === "string" ? fields : JSON.stringify({ model: "m", messages, ...fields })
  return readBody("chat", new TextEncoder().encode(body), defaultBodyLimits)
}

/** A field of an endpoint that has no messages. */
function readOther(endpoint: Endpoint, fields: object): BodyRead<Endpoint> {
  const body = JSON.stringify({ model: "m", ...fields })
  return readBody(endpoint, new TextEncoder().encode(body), defaultBodyLimits)
}

function refusal(fields: object | string, reads: (fields: object | string) => unknown = read): Refusal {
  try {
    reads(fields)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error(`not refused: ${JSON.stringify(fields).slice(0, 200)}`)
}

const times = <T>(count: number, each: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => each(i))
const users = (count: number) => times(count, () => messages[0])
const parts = (count: number) => times(count, () => ({ type: "text", text: "x" }))
const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } }
const calls = (count: number) => [...messages, { role: "assistant", tool_calls: times(count, () => call) }]
const namespace = (name: string, count: number) => ({
  type: "namespace",
  name,
  tools: times(count, (i) => ({ type: "function", name: `t${i}` })),
})
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
const keys = (count: number) => Object.fromEntries(times(count, (i) => [`x_favourite_${i}`, 1]))

/** [bound of the table, the largest request that passes, the smallest that does not, the field that is named] */
const cases: [bound: string, passes: object, refused: object, field?: string][] = [
  ["model units", { model: "m".repeat(256) }, { model: "m".repeat(257) }],
  ["messages members", { messages: users(4_096) }, { messages: users(4_097) }],
  [
    "messages[].content parts in all messages",
    { messages: [...users(1), { role: "user", content: parts(4_096) }] },
    {
      messages: [
        { role: "user", content: parts(1) },
        { role: "user", content: parts(4_096) },
      ],
    },
    "messages[1].content",
  ],
  [
    "messages[].tool_calls calls of one message",
    { messages: calls(128) },
    { messages: calls(129) },
    "messages[1].tool_calls",
  ],
  [
    "messages values in all messages",
    { messages: [{ ...messages[0], x: times(65_532, () => 0) }] },
    { messages: [{ ...messages[0], x: times(65_533, () => 0) }] },
    "messages[0]",
  ],
  [
    "messages levels",
    { messages: [{ ...messages[0], x: nested(15) }] },
    { messages: [{ ...messages[0], x: nested(16) }] },
    "messages[0]",
  ],
  ["stop members", { stop: times(64, () => "x") }, { stop: times(65, () => "x") }],
  ["stop units in all", { stop: ["x".repeat(4_095), "y"] }, { stop: ["x".repeat(4_096), "y"] }],
  ["stop_regex members", { stop_regex: times(8, () => "x") }, { stop_regex: times(9, () => "x") }],
  ["stop_regex units in all", { stop_regex: "x".repeat(1_024) }, { stop_regex: "x".repeat(1_025) }],
  [
    "stop_token_ids members",
    { stop_token_ids: times(128, () => 1) },
    { stop_token_ids: times(129, () => 1) },
  ],
  ["bad_words members", { bad_words: times(128, () => "x") }, { bad_words: times(129, () => "x") }],
  ["bad_words units in all", { bad_words: ["x".repeat(8_192)] }, { bad_words: ["x".repeat(8_192), "y"] }],
  [
    "dry_sequence_breakers members",
    { dry_sequence_breakers: times(64, () => "x") },
    { dry_sequence_breakers: times(65, () => "x") },
  ],
  [
    "dry_sequence_breakers units in all",
    { dry_sequence_breakers: ["x".repeat(1_024)] },
    { dry_sequence_breakers: ["x".repeat(1_025)] },
  ],
  [
    "allowed_token_ids members",
    { allowed_token_ids: times(262_144, (i) => i) },
    { allowed_token_ids: times(262_145, (i) => i) },
  ],
  [
    "logprob_token_ids members",
    { logprobs: true, logprob_token_ids: times(128, (i) => i) },
    { logprobs: true, logprob_token_ids: times(129, (i) => i) },
  ],
  [
    "logit_bias members",
    { logit_bias: Object.fromEntries(times(1_024, (i) => [i, 1])) },
    { logit_bias: Object.fromEntries(times(1_025, (i) => [i, 1])) },
  ],
  ["logit_bias units", { logit_bias: { ["1".repeat(20)]: 1 } }, { logit_bias: { ["1".repeat(21)]: 1 } }],
  ["sampler_order members", { sampler_order: times(32, () => "x") }, { sampler_order: times(33, () => "x") }],
  ["seed units", { seed: "-9223372036854775808" }, { seed: "1".repeat(21) }],
  [
    "prediction.content members",
    { prediction: { type: "content", content: parts(1_024) } },
    { prediction: { type: "content", content: parts(1_025) } },
  ],
  [
    "prediction.content units in all",
    { prediction: { type: "content", content: "x".repeat(262_144) } },
    { prediction: { type: "content", content: "x".repeat(262_145) } },
  ],
  ["chat_template_kwargs members", { chat_template_kwargs: keys(64) }, { chat_template_kwargs: keys(65) }],
  [
    "chat_template_kwargs values in all",
    { chat_template_kwargs: { a: times(255, () => 0) } },
    { chat_template_kwargs: { a: times(256, () => 0) } },
    "chat_template_kwargs.a",
  ],
  [
    "chat_template_kwargs units in all",
    { chat_template_kwargs: { a: "x".repeat(4_095) } },
    { chat_template_kwargs: { a: "x".repeat(4_096) } },
    "chat_template_kwargs.a",
  ],
  [
    "chat_template_kwargs levels",
    { chat_template_kwargs: { a: nested(4) } },
    { chat_template_kwargs: { a: nested(5) } },
    "chat_template_kwargs.a",
  ],
  [
    "tools members",
    { tools: times(1_024, (i) => ({ type: "function", function: { name: `t${i}` } })) },
    { tools: times(1_025, () => ({})) },
  ],
  ["regex units", { regex: "x".repeat(65_536) }, { regex: "x".repeat(65_537) }],
  ["guided_regex units", { guided_regex: "x".repeat(65_536) }, { guided_regex: "x".repeat(65_537) }],
  [
    "structured_outputs.regex units",
    { structured_outputs: { regex: "x".repeat(65_536) } },
    { structured_outputs: { regex: "x".repeat(65_537) } },
  ],
  ...["grammar", "ebnf", "guided_grammar"].map((field): (typeof cases)[number] => [
    `${field} units`,
    { [field]: "x".repeat(1 << 20) },
    { [field]: "x".repeat((1 << 20) + 1) },
  ]),
  [
    "structured_outputs.grammar units",
    { structured_outputs: { grammar: "x".repeat(1 << 20) } },
    { structured_outputs: { grammar: "x".repeat((1 << 20) + 1) } },
  ],
  [
    "response_format.grammar units",
    { response_format: { type: "grammar", grammar: "x".repeat(1 << 20) } },
    { response_format: { type: "grammar", grammar: "x".repeat((1 << 20) + 1) } },
  ],
  ...["regex", "pattern"].map((name): (typeof cases)[number] => [
    `response_format.${name} units`,
    { response_format: { type: "regex", [name]: "x".repeat(65_536) } },
    { response_format: { type: "regex", [name]: "x".repeat(65_537) } },
  ]),
  [
    "guided_choice members",
    { guided_choice: times(200_000, (i) => `${i}`) },
    { guided_choice: times(200_001, (i) => `${i}`) },
  ],
  [
    "guided_choice units in all",
    { guided_choice: ["x".repeat(4_194_304)] },
    { guided_choice: ["x".repeat(4_194_304), "y"] },
  ],
  [
    "structured_outputs.choice members",
    { structured_outputs: { choice: times(200_000, (i) => `${i}`) } },
    { structured_outputs: { choice: times(200_001, (i) => `${i}`) } },
  ],
  [
    "structured_outputs.choice units in all",
    { structured_outputs: { choice: ["x".repeat(4_194_304)] } },
    { structured_outputs: { choice: ["x".repeat(4_194_304), "y"] } },
  ],
  [
    "guided_whitespace_pattern units",
    { guided_whitespace_pattern: `[${" ".repeat(253)}]*`.slice(0, 256) },
    { guided_whitespace_pattern: `[${" ".repeat(254)}]*` },
  ],
  [
    "structured_outputs.whitespace_pattern units",
    { structured_outputs: { regex: "a", whitespace_pattern: `[${" ".repeat(253)}]*` } },
    { structured_outputs: { regex: "a", whitespace_pattern: `[${" ".repeat(254)}]*` } },
  ],
  [
    "tokenrail.first_tokens members",
    { tokenrail: { first_tokens: times(1 << 16, () => 1) } },
    { tokenrail: { first_tokens: times((1 << 16) + 1, () => 1) } },
  ],
  [
    "structured_outputs.first_tokens members",
    { structured_outputs: { regex: "a", first_tokens: times(1 << 16, () => 1) } },
    { structured_outputs: { regex: "a", first_tokens: times((1 << 16) + 1, () => 1) } },
  ],
  ["tokenrail members", { tokenrail: { report: true } }, { tokenrail: keys(65) }],
  [
    "any other field members",
    { stream: true, stream_options: keys(64) },
    { stream: true, stream_options: keys(65) },
    "stream_options",
  ],
  ["any other field units", { stop_when: "x".repeat(256) }, { stop_when: "x".repeat(257) }, "stop_when"],
  ["the body unknown keys", keys(1_000), keys(1_001)],
  [
    "the body units of an unknown key",
    { ["k".repeat(256)]: 1 },
    { ["k".repeat(257)]: 1 },
    JSON.stringify(`${"k".repeat(79)}…`),
  ],
]

const question = { type: "predicate", instructions: "Is it so?" }
const otherCases: [name: string, endpoint: Endpoint, passes: object, refused: object][] = [
  [
    "system members",
    "messages",
    { messages, max_tokens: 1, system: parts(1_024) },
    { messages, max_tokens: 1, system: parts(1_025) },
  ],
  [
    "stop_sequences members",
    "messages",
    { messages, max_tokens: 1, stop_sequences: times(64, () => "x") },
    { messages, max_tokens: 1, stop_sequences: times(65, () => "x") },
  ],
  [
    "stop_sequences units in all",
    "messages",
    { messages, max_tokens: 1, stop_sequences: ["x".repeat(4_095), "y"] },
    { messages, max_tokens: 1, stop_sequences: ["x".repeat(4_096), "y"] },
  ],
  [
    "prompt prompts in a list",
    "completions",
    { prompt: times(128, () => "x") },
    { prompt: times(129, () => "x") },
  ],
  [
    "input members",
    "responses",
    { input: times(4_096, () => messages[0]) },
    { input: times(4_097, () => messages[0]) },
  ],
  [
    "text.format.regex units",
    "responses",
    { input: "x", text: { format: { type: "regex", regex: "x".repeat(65_536) } } },
    { input: "x", text: { format: { type: "regex", regex: "x".repeat(65_537) } } },
  ],
  [
    "text.format.pattern units",
    "responses",
    { input: "x", text: { format: { type: "regex", pattern: "x".repeat(65_536) } } },
    { input: "x", text: { format: { type: "regex", pattern: "x".repeat(65_537) } } },
  ],
  [
    "text.format.grammar units",
    "responses",
    { input: "x", text: { format: { type: "grammar", grammar: "x".repeat(1 << 20) } } },
    { input: "x", text: { format: { type: "grammar", grammar: "x".repeat((1 << 20) + 1) } } },
  ],
  [
    "tools tools in all namespaces",
    "responses",
    { input: "x", tools: [namespace("a", 512), namespace("b", 512)] },
    { input: "x", tools: [namespace("a", 512), namespace("b", 513)] },
  ],
  [
    "metadata pairs of a response",
    "responses",
    { input: "x", metadata: Object.fromEntries(times(16, (i) => [`k${i}`, "x"])) },
    { input: "x", metadata: Object.fromEntries(times(17, (i) => [`k${i}`, "x"])) },
  ],
  [
    "metadata units of a value of a response",
    "responses",
    { input: "x", metadata: { a: "x".repeat(512) } },
    { input: "x", metadata: { a: "x".repeat(513) } },
  ],
  [
    "tokens members",
    "detokenize",
    { tokens: times(1 << 18, () => 1) },
    { tokens: times((1 << 18) + 1, () => 1) },
  ],
  [
    "questions members",
    "decisions",
    { input: "x", questions: times(400, () => question) },
    { input: "x", questions: times(401, () => question) },
  ],
  [
    "texts members",
    "score",
    { prompt: "x", texts: times(400, () => "a") },
    { prompt: "x", texts: times(401, () => "a") },
  ],
  [
    "texts units in all",
    "score",
    { prompt: "x", texts: ["a".repeat(1 << 20)] },
    { prompt: "x", texts: ["a", "a".repeat(1 << 20)] },
  ],
  [
    "check members",
    "compile",
    { structured_outputs: { regex: "a" }, check: times(400, () => "a") },
    { structured_outputs: { regex: "a" }, check: times(401, () => "a") },
  ],
  [
    "check units in all",
    "compile",
    { structured_outputs: { regex: "a" }, check: ["a".repeat(1 << 20)] },
    { structured_outputs: { regex: "a" }, check: ["a", "a".repeat(1 << 20)] },
  ],
]

describe("the largest that passes, the smallest that does not", () => {
  test.each(otherCases)("%s of %s", (name, endpoint, passes, refused) => {
    const bound = requestBounds.find((each) => `${each.field} ${each.measure}` === name)!
    expect(() => readOther(endpoint, passes)).not.toThrow()
    const { code, message } = refusal(refused, (fields) => readOther(endpoint, fields as object))
    expect([code, message.endsWith(`of ${bound.most}. ${bound.hint}`)]).toEqual(["invalid_value", true])
  })

  test.each(cases)("%s", (name, passes, refused, field) => {
    const bound = requestBounds.find((each) => `${each.field} ${each.measure}` === name)!
    expect(() => read(passes)).not.toThrow()
    const { code, message, details } = refusal(refused)
    expect([code, details.param]).toEqual(["invalid_value", field ?? bound.field])
    // The message alone is enough: the field, the value, the bound and the way out.
    expect(message).toMatch(
      new RegExp(`^.+: \\d+ .+ are more than the bound of ${bound.most}\\. ${bound.hint}$`),
    )
  })

  test("no bound is without a case", () => {
    const elsewhere = [
      "logprobs rows of one reply that is not a stream (n × tokens × (1 + alternatives))",
      "tokenrail.trace rows of one stream (n × tokens × (1 + 2 × trace))",
      "previous_response_id items with those of the input",
    ]
    const names = requestBounds.map(({ field, measure }) => `${field} ${measure}`)
    expect([...[...cases, ...otherCases].map(([name]) => name), ...elsewhere].sort()).toEqual(names.sort())
  })
})

describe("nothing grows with a value that is refused", () => {
  const large = 8 << 20

  test.each<[string, () => string]>([
    ["stop strings", () => JSON.stringify({ model: "m", messages, stop: ["ab".repeat(large / 2)] })],
    ["a seed of a million digits", () => `{"model":"m","messages":[],"seed":${"1".repeat(1e6)}}`],
    [
      "a seed of millions of digits as a string",
      () => `{"model":"m","messages":[],"seed":"${"1".repeat(large)}"}`,
    ],
    ["one key of megabytes", () => `{"model":"m","messages":[],"${"k".repeat(large)}":1}`],
    [
      "parts that are none",
      () => `{"model":"m","messages":[{"role":"user","content":[${"{},".repeat(1e6)}{}]}]}`,
    ],
    ["ids that are none", () => `{"model":"m","messages":[],"stop_token_ids":[${'"",'.repeat(1e6)}""]}`],
    [
      "allowed ids that are none",
      () => `{"model":"m","messages":[],"allowed_token_ids":[${'"",'.repeat(2.6e5)}""]}`,
    ],
    ["a list where a text is due", () => `{"model":[${'"",'.repeat(1e6)}""],"messages":[]}`],
    ["messages that are none", () => `{"model":"m","messages":[${"{},".repeat(4e3)}{}]}`],
    [
      "a policy of megabytes",
      () => `{"model":"m","messages":[{"role":"user","content":""}],"tokenrail":{"${"k".repeat(large)}":1}}`,
    ],
    [
      "a known default of megabytes",
      () => `{"model":"m","messages":[],"functions":[${'"",'.repeat(1e6)}""]}`,
    ],
    ["a model of megabytes", () => `{"messages":[],"model":"${"m".repeat(large)}"}`],
  ])("%s: a short message", (_, body) => {
    const { message, details } = refusal(body())
    expect(message.length + (details.hint?.length ?? 0)).toBeLessThan(1_000)
  })
})

test("first tokens that are none make one error", () => {
  const { error } = policyFields.safeParse({ first_tokens: times(1 << 16, () => "") })
  expect(error!.issues.map(({ path }) => path)).toEqual([["first_tokens", 0]])
})

test("a policy may be given twice, with the same value", () => {
  const both = (beside: number[], inside: number[]) => ({
    tokenrail: { first_tokens: beside },
    structured_outputs: { regex: "a", first_tokens: inside },
  })
  expect(read(both([1, 2], [1, 2])).policies.generate.firstTokens).toEqual([1, 2])
  expect(refusal(both([1, 2], [2, 1])).message).toContain("first_tokens differ")
})

describe("numbers that are none", () => {
  test.each(["temperature", "top_p", "n", "max_tokens", "seed", "logit_bias", "top_k"])(
    "%s: 1e999",
    (field) => {
      const value = field === "logit_bias" ? '{"1":1e999}' : "1e999"
      const { code, message } = refusal(
        `{"model":"m","messages":${JSON.stringify(messages)},"${field}":${value}}`,
      )
      expect([code, message.startsWith(field)]).toEqual(["invalid_value", true])
    },
  )

  test("a seed has at most 20 digits; the message shows the beginning of what it got", () => {
    const { message } = refusal(
      `{"model":"m","messages":${JSON.stringify(messages)},"seed":${"7".repeat(1e6)}}`,
    )
    expect(message).toMatch(/^seed must be an integer of 64 bits, got 7{39}…\. Send one from /)
  })
})

describe("half a surrogate pair", () => {
  const half = "x\ud800"
  test.each<[string, object, string]>([
    ["an unknown key", { [half]: 1 }, 'the key "x\\ud800"'],
    ["the model", { model: half }, "model"],
    ["a message", { messages: [{ role: "user", content: half }] }, "messages[0].content"],
    [
      "a part",
      { messages: [{ role: "user", content: [{ type: "text", text: half }] }] },
      "messages[0].content[0].text",
    ],
    [
      "a key of a message",
      { messages: [{ role: "user", content: "", [half]: 1 }] },
      'messages[0]["x\\ud800"]',
    ],
    ["a name", { messages: [{ role: "user", content: "", name: half }] }, "messages[0].name"],
    ["a stop string", { stop: ["a", half] }, "stop[1]"],
    ["a stop pattern", { stop_regex: half }, "stop_regex"],
    ["a bad word", { bad_words: [half] }, "bad_words[0]"],
    ["a breaker", { dry_sequence_breakers: [half] }, "dry_sequence_breakers[0]"],
    ["a variable of the template", { chat_template_kwargs: { a: half } }, "chat_template_kwargs.a"],
    ["a prediction", { prediction: { type: "content", content: half } }, "prediction.content"],
    ["a choice", { guided_choice: ["a", half] }, "guided_choice[1]"],
    ["a regular expression", { regex: half }, "regex"],
    ["one inside of an object", { structured_outputs: { regex: half } }, "structured_outputs.regex"],
  ])("in %s is refused by its place", (_, fields, place) => {
    const { code, message, details } = refusal(fields)
    expect([code, details.param]).toEqual(["invalid_value", place])
    expect(message).toBe(
      `${place} holds half of a surrogate pair, which is not a character. Send both halves, or U+FFFD in its place`,
    )
  })

  test("a whole pair passes, spelt as two escapes or not", () => {
    expect(read({ stop: ["😀"] }).chat.options.stop).toEqual(["😀"])
    const body = `{"model":"m","messages":${JSON.stringify(messages)},"stop":"\\ud83d\\ude00"}`
    expect(read(body).chat.options.stop).toBe("😀")
  })
})

describe("variables of the chat template", () => {
  test("scalars, lists and objects pass under any other name", () => {
    const kwargs = {
      enable_thinking: false,
      builtin_tools: ["a"],
      controls: { length: "short" },
      budget: 3,
      x: null,
    }
    expect(read({ chat_template_kwargs: kwargs }).chat.options.templateOptions).toEqual({ variables: kwargs })
  })

  test.each([
    ...["messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token", "pad_token"],
    ...["chat_template", "continue_final_message", "raise_exception", "__proto__"],
  ])("%s cannot be set", (key) => {
    const body = `{"model":"m","messages":${JSON.stringify(messages)},"chat_template_kwargs":{"${key}":1}}`
    const { code, message } = refusal(body)
    expect([code, message]).toEqual([
      "invalid_value",
      `chat_template_kwargs.${key}: a request cannot set this variable. Leave it out`,
    ])
  })

  test.each([
    [{ "a b": 1 }, 'chat_template_kwargs: "a b" is not the name of a variable'],
    [{ "": 1 }, 'chat_template_kwargs: "" is not the name of a variable'],
    [{ ["k".repeat(65)]: 1 }, 'chat_template_kwargs: "kkkk'],
  ])("%j is refused", (kwargs, message) => {
    expect(refusal({ chat_template_kwargs: kwargs }).message).toContain(message)
  })

  test("a number too large for a double is refused", () => {
    const body = `{"model":"m","messages":${JSON.stringify(messages)},"chat_template_kwargs":{"a":[1e999]}}`
    expect(refusal(body).message).toContain("chat_template_kwargs.a: the number is too large")
  })
})

describe("unknown keys", () => {
  test("names of Object.prototype are unknown as any other", () => {
    const body = `{"model":"m","messages":${JSON.stringify(messages)},"constructor":1,"__proto__":2,"toString":3}`
    expect(read(body).chat.ignored).toEqual(["constructor", "__proto__", "toString"])
  })

  test("the header names twenty in at most 1 kB, and says how many more there are", () => {
    expect(ignoredHeader(["a", "é"])).toBe("a, %C3%A9")
    expect(ignoredHeader(times(1_000, (i) => `k${i}`))).toBe(
      `${times(20, (i) => `k${i}`).join(", ")}, and 980 more`,
    )
    const long = ignoredHeader(times(1_000, (i) => `${"é".repeat(60)}${i}`))
    expect(long.length).toBeLessThan(1_024)
    expect(long).toMatch(/, and 998 more$/)
    expect(ignoredHeader(["é".repeat(256)])).toBe("and 1 more")
  })
})
