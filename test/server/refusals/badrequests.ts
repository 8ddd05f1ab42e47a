/**
 * Bad requests over every endpoint: `[what, path, fields, param]`. `fields` are laid over a good request of the path, and `param`
 * is what the refusal must name. Fields of one constraint go to every endpoint that takes constraints.
 */

export type BadRequest = readonly [what: string, path: string, fields: object, param: string | RegExp]

const chat = "/v1/chat/completions"
const completions = "/v1/completions"
const responses = "/v1/responses"
const messages = "/v1/messages"
const decisions = "/v1/decisions"
const score = "/v1/score"
const compile = "/v1/compile"
const generating = [chat, completions, responses, messages]

const user = [{ role: "user", content: "hi" }]

/** A good request of each path, small. */
export const goodRequests: Readonly<Record<string, object>> = {
  [chat]: { messages: user, max_tokens: 10 },
  [completions]: { prompt: "hi", max_tokens: 10 },
  [responses]: { input: "hi", max_output_tokens: 10 },
  "/v1/responses/input_tokens": { input: "hi" },
  [messages]: { messages: user, max_tokens: 10 },
  "/v1/messages/count_tokens": { messages: user },
  [decisions]: { input: "hi", questions: [{ type: "predicate", instructions: "x" }] },
  [score]: { prompt: "hi", texts: ["a"] },
  [compile]: { structured_outputs: { regex: "a" }, check: ["a"] },
  "/tokenize": { prompt: "hi" },
  "/detokenize": { tokens: [5] },
}

/** Schemas that no text satisfies, that nobody can read, or that ask for what is not there. */
const badSchemas: readonly (readonly [what: string, schema: unknown])[] = [
  ["a type that is none", { type: "odd" }],
  ["a minimum above the maximum", { type: "integer", minimum: 2, maximum: 1 }],
  ["a pattern that is none", { type: "string", pattern: "(" }],
  ["a reference to nothing", { $ref: "#/$defs/x" }],
  ["a reference to another document", { $ref: "https://example.com/x.json" }],
  ["false", false],
  ["not anything", { not: {} }],
  ["an empty enum", { enum: [] }],
  ["a text as schema of a property", { properties: { a: "string" } }],
  ["required that is no list", { required: "a" }],
  ["a negative length", { type: "string", minLength: -1 }],
  ["a multiple of zero", { type: "number", multipleOf: 0 }],
  ["two constants", { allOf: [{ const: 1 }, { const: 2 }] }],
  ["a member that must be and cannot", { type: "object", required: ["a"], properties: { a: false } }],
  ["items that are no schema", { items: 7 }],
  ["more items than there may be", { type: "array", minItems: 3, maxItems: 2 }],
  ["an endless object", { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] }],
  ["a list as schema", []],
  ["a number as schema", 7],
  ["a text that is no JSON", "{"],
  ["a name twice in a text", '{"type":"object","type":"array"}'],
]

const badConstraints: readonly (readonly [what: string, fields: object, param: string])[] = [
  ...badSchemas.map(
    ([what, json]) => [what, { structured_outputs: { json } }, "structured_outputs.json"] as const,
  ),
  ["a regex that is none", { structured_outputs: { regex: "[" } }, "structured_outputs.regex"],
  ["a regex of no text", { structured_outputs: { regex: "a(?!a)(?=a)" } }, "structured_outputs.regex"],
  ["a back reference", { structured_outputs: { regex: "(a)\\1" } }, "structured_outputs.regex"],
  ["a regex that is no text", { structured_outputs: { regex: 7 } }, "structured_outputs.regex"],
  ["no choice", { structured_outputs: { choice: [] } }, "structured_outputs.choice"],
  ["a choice of numbers", { structured_outputs: { choice: [1, 2] } }, "structured_outputs.choice"],
  ["a GBNF without root", { structured_outputs: { grammar: 'a ::= "x"' } }, "structured_outputs.grammar"],
  [
    "a GBNF with an unknown rule",
    { structured_outputs: { grammar: "root ::= b" } },
    "structured_outputs.grammar",
  ],
  ["a GBNF without end", { structured_outputs: { grammar: 'root ::= "a' } }, "structured_outputs.grammar"],
  [
    "a GBNF of no text",
    { structured_outputs: { grammar: 'root ::= "a" root' } },
    "structured_outputs.grammar",
  ],
  [
    "a Lark grammar without start",
    { structured_outputs: { grammar: 'a: "x"' } },
    "structured_outputs.grammar",
  ],
  [
    "a Lark grammar with an unknown rule",
    { structured_outputs: { grammar: "start: b" } },
    "structured_outputs.grammar",
  ],
  [
    "a Lark import of nothing",
    { structured_outputs: { grammar: "%import odd.X\nstart: X" } },
    "structured_outputs.grammar",
  ],
  ["an empty grammar", { structured_outputs: { grammar: "" } }, "structured_outputs.grammar"],
  [
    "a tag without format",
    { structured_outputs: { structural_tag: {} } },
    "structured_outputs.structural_tag",
  ],
  [
    "a tag of an odd node",
    { structured_outputs: { structural_tag: { format: { type: "odd" } } } },
    "structured_outputs.structural_tag",
  ],
  [
    "a tag with an unknown field",
    { structured_outputs: { structural_tag: { format: { type: "any_text", max: 1 } } } },
    "structured_outputs.structural_tag",
  ],
  [
    "a trigger that begins no tag",
    {
      structured_outputs: {
        structural_tag: {
          structures: [{ begin: "<a>", schema: {}, end: "</a>" }],
          triggers: ["<b"],
        },
      },
    },
    "structured_outputs.structural_tag",
  ],
  ["two constraints in one", { structured_outputs: { json: {}, regex: "a" } }, "structured_outputs"],
  ["an unknown constraint", { structured_outputs: { jsn: {} } }, "structured_outputs.jsn"],
  ["no constraint where one is due", { structured_outputs: {} }, "structured_outputs"],
  [
    "two constraints beside each other",
    { structured_outputs: { json: {} }, guided_regex: "a" },
    "guided_regex",
  ],
  ["guided_json and guided_choice", { guided_json: {}, guided_choice: ["a"] }, "guided_choice"],
  ["a misspelt constraint", { guided_jsn: {} }, "guided_jsn"],
  ["another misspelt constraint", { structured_output: {} }, "structured_output"],
  ["what looks like a constraint", { grammar_file: "x" }, "grammar_file"],
  ["an unknown policy", { tokenrail: { whitespac: "none" } }, "tokenrail"],
  ["a policy of another value", { tokenrail: { order: "alphabetical" } }, "tokenrail.order"],
  [
    "indentation",
    { structured_outputs: { json: {} }, tokenrail: { whitespace: { indent: 2 } } },
    "tokenrail.whitespace",
  ],
  ["leniency", { structured_outputs: { json: {} }, tokenrail: { lenient: true } }, "tokenrail.lenient"],
  ["a trace of too many tokens", { tokenrail: { trace: 65 } }, "tokenrail.trace"],
  [
    "a budget below the shortest text",
    { structured_outputs: { regex: "[a-z]{300}" }, tokenrail: { on_length: "close" } },
    "max",
  ],
  ["confidence without fields", { tokenrail: { confidence: true, fields: false } }, "confidence"],
]

/** What every endpoint that generates reads alike. */
const badSampling: readonly (readonly [what: string, fields: object, param: string])[] = [
  ["no model", { model: undefined }, "model"],
  ["a model that is no text", { model: 7 }, "model"],
  ["a temperature of a text", { temperature: "hot" }, "temperature"],
  ["a negative temperature", { temperature: -1 }, "temperature"],
  ["top_p of 0", { top_p: 0 }, "top_p"],
  ["a negative top_k", { top_k: -2 }, "top_k"],
  ["min_p above 1", { min_p: 2 }, "min_p"],
  ["a repetition penalty of 0", { repetition_penalty: 0 }, "repetition_penalty"],
  ["a seed that is no number", { seed: "x" }, "seed"],
  ["a bias of a word", { logit_bias: { hello: 1 } }, "logit_bias"],
  ["an allowed id that is none", { allowed_token_ids: [-1] }, "allowed_token_ids"],
  ["a stop id of a fraction", { stop_token_ids: [1.5] }, "stop_token_ids"],
  ["mirostat 7", { mirostat: 7 }, "mirostat"],
  ["an empty bad word", { bad_words: [""] }, "bad_words"],
  ["a stop pattern that is none", { stop_regex: ["("] }, "stop_regex"],
  ["two halves of a stop pattern", { stop_regex: ["a)|(b"] }, "stop_regex"],
  ["an unknown end", { stop_when: "yaml" }, "stop_when"],
  ["more least than most", { min_tokens: 11 }, "min_tokens"],
  ["stream as a text", { stream: "yes" }, "stream"],
]

/** Schemas of tools, in the shape of each endpoint. */
const badTools: readonly BadRequest[] = badSchemas
  .filter(([, schema]) => typeof schema !== "string")
  .flatMap(([what, schema]): BadRequest[] => [
    [
      `a tool with ${what}`,
      chat,
      { tools: [{ type: "function", function: { name: "f", parameters: schema } }] },
      /^tools/,
    ],
    [
      `a tool with ${what}`,
      responses,
      { tools: [{ type: "function", name: "f", parameters: schema }] },
      /^tools/,
    ],
    [`a tool with ${what}`, messages, { tools: [{ name: "f", input_schema: schema }] }, /^tools/],
  ])

const func = { type: "function", function: { name: "f" } }
const flat = { type: "function", name: "f" }
const custom = (format: object) => ({ tools: [{ type: "custom", custom: { name: "c", format } }] })
const flatCustom = (format: object) => ({ tools: [{ type: "custom", name: "c", format }] })

const ofChat: readonly (readonly [what: string, fields: object, param: string | RegExp])[] = [
  ["no messages", { messages: undefined }, "messages"],
  ["an empty list of messages", { messages: [] }, "messages"],
  ["a message that is none", { messages: ["hi"] }, /^messages/],
  ["an unknown role", { messages: [{ role: "robot", content: "x" }] }, /^messages/],
  ["no content", { messages: [{ role: "user" }] }, /^messages/],
  [
    "an image",
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }] },
    /^messages/,
  ],
  ["a result of no call", { messages: [{ role: "tool", tool_call_id: "c", content: "x" }] }, /^messages/],
  ["a result without id", { messages: [{ role: "tool", content: "x" }] }, /^messages/],
  ["half a surrogate pair", { messages: [{ role: "user", content: "\ud800" }] }, /^messages/],
  ["max_tokens 0", { max_tokens: 0 }, "max_tokens"],
  ["n 0", { n: 0 }, "n"],
  ["n 500", { n: 500 }, "n"],
  ["alternatives without log-probabilities", { top_logprobs: 2 }, "top_logprobs"],
  ["too many alternatives", { logprobs: true, top_logprobs: 21 }, "top_logprobs"],
  ["an empty stop", { stop: [""] }, "stop"],
  ["usage of no stream", { stream: false, stream_options: { include_usage: true } }, "stream_options"],
  ["functions", { functions: [{ name: "f" }] }, "functions"],
  ["function_call", { function_call: "auto" }, "function_call"],
  ["audio", { modalities: ["text", "audio"] }, "modalities"],
  ["a web search", { web_search_options: {} }, "web_search_options"],
  ["a template of one's own", { chat_template: "x" }, "chat_template"],
  [
    "messages as variables of the template",
    { chat_template_kwargs: { messages: [] } },
    /^chat_template_kwargs/,
  ],
  ["a format of no type", { response_format: {} }, /^response_format/],
  ["an unknown format", { response_format: { type: "yaml" } }, /^response_format/],
  ["a format without schema", { response_format: { type: "json_schema" } }, /^response_format/],
  [
    "a key beside the schema",
    { response_format: { type: "json_schema", json_schema: { schema: {}, strikt: true } } },
    /^response_format/,
  ],
  [
    "two names of a budget below the shortest",
    {
      response_format: { type: "json_schema", json_schema: { schema: { const: "x".repeat(200) } } },
      tokenrail: { on_length: "close" },
    },
    "max_tokens",
  ],
  ["two constraints", { response_format: { type: "json_object" }, guided_regex: "a" }, "guided_regex"],
  ["the shape of responses", { tools: [flat] }, /^tools/],
  ["tools that are no list", { tools: {} }, "tools"],
  ["a tool of no type", { tools: [{ function: { name: "f" } }] }, /^tools/],
  ["a tool without a name", { tools: [{ type: "function", function: {} }] }, /^tools/],
  ["a name that is none", { tools: [{ type: "function", function: { name: "a b" } }] }, /^tools/],
  ["a name twice", { tools: [func, func] }, /^tools/],
  ["a hosted tool alone", { tools: [{ type: "code_interpreter" }], tool_choice: "required" }, "tool_choice"],
  ["a tool that runs on", { tools: [{ type: "function", function: { name: "f" }, async: true }] }, /^tools/],
  ["an unknown choice", { tools: [func], tool_choice: "always" }, "tool_choice"],
  [
    "a choice of an unknown tool",
    { tools: [func], tool_choice: { type: "function", function: { name: "g" } } },
    /^tool_choice/,
  ],
  ["a choice without tools", { tool_choice: "required" }, "tool_choice"],
  ["parallel calls as a text", { tools: [func], parallel_tool_calls: "no" }, "parallel_tool_calls"],
  ["no calls at all", { tools: [func], max_tool_calls: 0 }, "max_tool_calls"],
  [
    "a syntax that is none",
    custom({ type: "grammar", grammar: { syntax: "yacc", definition: "x" } }),
    /^tools/,
  ],
  [
    "a custom regex that is none",
    custom({ type: "grammar", grammar: { syntax: "regex", definition: "(" } }),
    /^tools/,
  ],
  [
    "a custom Lark grammar that is none",
    custom({ type: "grammar", grammar: { syntax: "lark", definition: "start: x" } }),
    /^tools/,
  ],
  ["an unknown effort", { reasoning_effort: "huge" }, "reasoning_effort"],
  ["a negative budget", { thinking_token_budget: -1 }, "thinking_token_budget"],
  ["an empty end of the reasoning", { tokenrail: { reason: { until: "" } } }, /^tokenrail\.reason/],
  ["a prediction that is none", { prediction: "x" }, "prediction"],
]

const ofCompletions: readonly (readonly [what: string, fields: object, param: string | RegExp])[] = [
  ["no prompt", { prompt: undefined }, "prompt"],
  ["a prompt of no kind", { prompt: { a: 1 } }, "prompt"],
  ["no prompts", { prompt: [] }, "prompt"],
  ["a foreign id", { prompt: [10_000_000] }, /^prompt/],
  ["a negative id", { prompt: [[-1]] }, /^prompt/],
  ["a suffix", { suffix: "x" }, "suffix"],
  ["best_of below n", { n: 3, best_of: 2 }, "best_of"],
  ["best_of of a stream", { best_of: 2, stream: true }, /^(best_of|stream)$/],
  ["too many log-probabilities", { logprobs: 6 }, "logprobs"],
  ["tools", { tools: [func] }, "tools"],
  ["messages", { messages: user }, "messages"],
  ["a negative budget", { max_tokens: -1 }, "max_tokens"],
]

const ofResponses: readonly (readonly [what: string, fields: object, param: string | RegExp])[] = [
  ["no input", { input: undefined }, "input"],
  ["no items", { input: [] }, "input"],
  ["an item that is none", { input: ["x"] }, /^input/],
  ["an unknown item", { input: [{ type: "odd" }] }, /^input/],
  ["an image", { input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }] }, /^input/],
  ["an unknown role", { input: [{ role: "robot", content: "x" }] }, /^input/],
  [
    "an output of no call",
    { input: [{ type: "function_call_output", call_id: "c", output: "x" }] },
    /^input/,
  ],
  ["a call without name", { input: [{ type: "function_call", call_id: "c", arguments: "{}" }] }, /^input/],
  ["chat's format", { response_format: { type: "json_object" } }, "response_format"],
  ["chat's messages", { messages: user }, "messages"],
  ["chat's budget", { max_tokens: 5 }, "max_tokens"],
  ["chat's effort", { reasoning_effort: "low" }, "reasoning_effort"],
  ["work in the background", { background: true }, "background"],
  ["a conversation", { conversation: "c" }, "conversation"],
  ["a stored prompt", { prompt: { id: "p" } }, "prompt"],
  ["several answers", { n: 2 }, "n"],
  ["the shape of chat", { tools: [func] }, /^tools/],
  ["a hosted tool alone", { tools: [{ type: "web_search" }], tool_choice: "required" }, "tool_choice"],
  [
    "a patch alone",
    { tools: [{ type: "apply_patch" }], tool_choice: { type: "apply_patch" } },
    /^tool_choice/,
  ],
  ["a choice without tools", { tool_choice: "required" }, "tool_choice"],
  [
    "a choice of an unknown tool",
    { tools: [flat], tool_choice: { type: "function", name: "g" } },
    /^tool_choice/,
  ],
  [
    "chat's choice",
    { tools: [flat], tool_choice: { type: "function", function: { name: "f" } } },
    /^tool_choice/,
  ],
  [
    "a custom regex that is none",
    flatCustom({ type: "grammar", syntax: "regex", definition: "(" }),
    /^tools/,
  ],
  ["two halves of a regex", flatCustom({ type: "grammar", syntax: "regex", definition: "a)|(b" }), /^tools/],
  ["an unknown syntax", flatCustom({ type: "grammar", syntax: "yacc", definition: "x" }), /^tools/],
  ["an unknown effort", { reasoning: { effort: "huge" } }, /^reasoning/],
  ["a format of no type", { text: { format: {} } }, /^text\.format/],
  ["a format without schema", { text: { format: { type: "json_schema", name: "x" } } }, /^text\.format/],
  ["metadata of numbers", { metadata: { a: 1 } }, "metadata.a"],
  ["a budget of 0", { max_output_tokens: 0 }, "max_output_tokens"],
]

const ofMessages: readonly (readonly [what: string, fields: object, param: string | RegExp])[] = [
  ["no budget", { max_tokens: undefined }, "max_tokens"],
  ["no messages", { messages: [] }, "messages"],
  ["another role", { messages: [{ role: "tool", content: "x" }] }, /^messages/],
  ["an image", { messages: [{ role: "user", content: [{ type: "image", source: {} }] }] }, /^messages/],
  ["a prefilled answer", { messages: [...user, { role: "assistant", content: "{" }] }, "messages"],
  [
    "a result of no call",
    { messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "x" }] }] },
    /^messages/,
  ],
  ["a system text that is none", { system: 7 }, "system"],
  ["OpenAI's format", { response_format: { type: "json_object" } }, "response_format"],
  ["chat's tools", { tools: [func] }, /^tools/],
  [
    "chat's choice",
    { tools: [{ name: "f", input_schema: {} }], tool_choice: { type: "required" } },
    /^tool_choice/,
  ],
  ["stop", { stop: ["x"] }, "stop"],
  [
    "a hosted tool by its name",
    { tools: [{ type: "web_search_20250305", name: "web_search" }], tool_choice: { type: "any" } },
    "tool_choice",
  ],
  ["thinking of no type", { thinking: {} }, /^thinking/],
  ["thinking without a budget", { thinking: { type: "enabled" } }, /^thinking/],
  ["an unknown effort", { output_config: { effort: "huge" } }, /^output_config/],
]

const ofOthers: readonly BadRequest[] = [
  ["no input", "/v1/responses/input_tokens", { input: undefined }, "input"],
  ["an unknown item", "/v1/responses/input_tokens", { input: [{ type: "odd" }] }, /^input/],
  [
    "a hosted tool alone",
    "/v1/responses/input_tokens",
    { tools: [{ type: "web_search" }], tool_choice: "required" },
    "tool_choice",
  ],
  ["no messages", "/v1/messages/count_tokens", { messages: [] }, "messages"],
  ["a system text that is none", "/v1/messages/count_tokens", { system: 7 }, "system"],
  ["chat's tools", "/v1/messages/count_tokens", { tools: [func] }, /^tools/],
  ["no prompt", "/tokenize", { prompt: undefined }, "prompt"],
  ["a prompt that is no text", "/tokenize", { prompt: 7 }, "prompt"],
  ["both", "/tokenize", { messages: user }, "messages"],
  ["a message that is none", "/tokenize", { prompt: undefined, messages: ["x"] }, /^messages/],
  ["a flag that is none", "/tokenize", { add_special_tokens: "yes" }, "add_special_tokens"],
  ["no tokens", "/detokenize", { tokens: undefined }, "tokens"],
  ["a text", "/detokenize", { tokens: "x" }, "tokens"],
  ["a foreign id", "/detokenize", { tokens: [10_000_000] }, /^tokens/],
  ["a fraction", "/detokenize", { tokens: [1.5] }, /^tokens/],
]

const predicate = { type: "predicate", instructions: "x" }
const choice = { type: "choice", instructions: "x", choices: [{ value: "a" }, { value: "b" }] }
const among = (...values: unknown[]) => ({
  questions: [{ ...choice, choices: values.map((value) => ({ value })) }],
})

const ofDecisions: readonly (readonly [what: string, fields: object, param: string | RegExp])[] = [
  ["no model", { model: undefined }, "model"],
  ["no input", { input: undefined }, "input"],
  ["an input that is none", { input: 7 }, "input"],
  ["no messages", { input: [] }, "input"],
  ["a message that is none", { input: ["hi"] }, /^input/],
  ["a result of no call", { input: [{ role: "tool", tool_call_id: "c", content: "x" }] }, /^input/],
  ["no questions", { questions: undefined }, "questions"],
  ["an empty list of questions", { questions: [] }, "questions"],
  ["too many questions", { questions: Array(401).fill(predicate) }, "questions"],
  ["a question that is none", { questions: ["x"] }, "questions[0]"],
  ["an unknown type", { questions: [{ ...predicate, type: "guess" }] }, "questions[0].type"],
  ["no instructions", { questions: [{ type: "predicate" }] }, "questions[0].instructions"],
  ["choices of a predicate", { questions: [{ ...predicate, choices: [] }] }, "questions[0].choices"],
  ["a name that is none", { questions: [{ ...predicate, name: 7 }] }, "questions[0].name"],
  ["an unknown key", { questions: [{ ...predicate, hint: "x" }] }, "questions[0].hint"],
  ["one choice", among("a"), "questions[0].choices"],
  ["too many choices", among(...Array.from({ length: 256 }, (_, i) => `${i}`)), "questions[0].choices"],
  ["a choice twice", among("a", "b", "a"), "questions[0].choices[2].value"],
  ["a choice that is a number", among("a", 7), "questions[0].choices[1].value"],
  ["an empty choice", among("a", ""), "questions[0].choices[1].value"],
  ["half a surrogate pair", among("a", "\ud800"), "questions[0].choices[1].value"],
  ["a long choice", among("a", "b".repeat(257)), "questions[0].choices[1].value"],
  [
    "levels that are none",
    { questions: [{ type: "score", instructions: "x", levels: 7 }] },
    /^questions\[0\]/,
  ],
  ["a constraint", { guided_choice: ["a"] }, "guided_choice"],
  ["a format", { response_format: { type: "json_object" } }, "response_format"],
  [
    "messages as variables of the template",
    { chat_template_kwargs: { messages: [] } },
    /^chat_template_kwargs/,
  ],
]

const ofScore: readonly (readonly [what: string, fields: object, param: string | RegExp])[] = [
  ["no model", { model: undefined }, "model"],
  ["no prompt", { prompt: undefined }, "messages"],
  ["a prompt that is none", { prompt: 7 }, "prompt"],
  ["both", { messages: user }, "messages"],
  ["a message that is none", { prompt: undefined, messages: ["hi"] }, /^messages/],
  ["no texts", { texts: undefined }, "texts"],
  ["an empty list of texts", { texts: [] }, "texts"],
  ["a text in place of a list", { texts: "a" }, "texts"],
  ["an empty text", { texts: ["a", ""] }, "texts[1]"],
  ["a text that is none", { texts: [7] }, "texts[0]"],
  ["half a surrogate pair", { texts: ["\udc00"] }, "texts[0]"],
  ["a text that the context cannot hold", { texts: ["word ".repeat(2_000)] }, "texts[0]"],
  ["too many texts", { texts: Array(401).fill("a") }, "texts"],
  ["a constraint", { structured_outputs: { regex: "a" } }, "structured_outputs"],
]

const ofCompile: readonly (readonly [what: string, fields: object, param: string | RegExp])[] = [
  ["no constraint", { structured_outputs: undefined }, "response_format"],
  ["a regex that is none", { structured_outputs: undefined, regex: "(" }, "regex"],
  ["tools", { tools: [func] }, "tools"],
  ["a choice of tools", { tool_choice: "auto" }, "tool_choice"],
  ["a check that is no list", { check: "a" }, "check"],
  ["a check of numbers", { check: [1] }, "check[0]"],
  ["too many texts", { check: Array(401).fill("a") }, "check"],
  ["texts that are too long", { check: ["a".repeat(600_000), "a".repeat(600_000)] }, "check"],
  ["a token by its id", { structured_outputs: undefined, grammar: 'start: "a" <[1]>' }, "grammar"],
  [
    "a token of a tag by its id",
    {
      structured_outputs: undefined,
      response_format: { type: "structural_tag", format: { type: "token", token: 1 } },
    },
    /^response_format/,
  ],
  ["any token", { structured_outputs: undefined, grammar: "start: <[*]>" }, "grammar"],
]

const at = (
  path: string,
  list: readonly (readonly [what: string, fields: object, param: string | RegExp])[],
): readonly BadRequest[] => list.map(([what, fields, param]) => [what, path, fields, param] as const)

export const badRequests: readonly BadRequest[] = [
  ...generating.flatMap((path) => at(path, [...badConstraints, ...badSampling])),
  ...badTools,
  ...at(chat, ofChat),
  ...at(completions, ofCompletions),
  ...at(responses, ofResponses),
  ...at(messages, ofMessages),
  ...at(decisions, ofDecisions),
  ...at(score, ofScore),
  ...at(compile, [
    ...badConstraints.filter(([, fields]) => Object.keys(fields).join() === "structured_outputs"),
    ...ofCompile,
  ]),
  ...ofOthers,
]
