/**
 * One mutated request: a seed of a request, changed one to three times at random places.
 */
import { model } from "./requests.ts"
import { among, type Random, repeat, whole } from "./schemas/generator.ts"

export interface Mutant {
  bytes: Buffer
  isHead: boolean
  /** Its head claims more body than there is, so the server may wait for the rest. */
  mayWait: boolean
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const base = { model, messages: [{ role: "user", content: "hi" }], max_tokens: 2 }
const schema: Json = {
  $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  type: "object",
  properties: {
    a: { type: "string", pattern: "^a+$", maxLength: 3 },
    b: { type: "integer", minimum: 1, multipleOf: 3 },
    c: {
      type: "array",
      items: { oneOf: [{ enum: [1, "x"] }, { $ref: "#/$defs/node" }] },
      maxItems: 2,
      uniqueItems: true,
    },
    d: { type: "string", format: "date" },
  },
  required: ["a"],
  additionalProperties: false,
}
const bodies: Json[] = [
  { ...base, response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } } },
  {
    ...base,
    structured_outputs: { regex: "(a|b)*c", whitespace: "any" },
    temperature: 1,
    top_p: 0.9,
    seed: 1,
    n: 2,
  },
  {
    ...base,
    guided_choice: ["yes", "no"],
    stop: ["x"],
    logit_bias: { "5": 1 },
    logprobs: true,
    top_logprobs: 2,
  },
  {
    ...base,
    stream: true,
    stream_options: { include_usage: true },
    tokenrail: { report: true, order: "any" },
  },
  {
    ...base,
    stop_regex: ["a+b"],
    repetition_detection: { min: 1, max: 4, count: 3 },
    stop_when: "json",
    bad_words: ["no"],
  },
  {
    ...base,
    stream: true,
    structured_outputs: { json: schema },
    tokenrail: { on_length: "close" },
    max_tokens: 30,
  },
  {
    ...base,
    messages: [
      { role: "system", content: [{ type: "text", text: "a" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "x" },
    ],
    ...{
      chat_template_kwargs: { a: 1 },
      reasoning_effort: "low",
      prediction: { type: "content", content: "hi" },
    },
  },
  {
    ...base,
    ...{
      dry_multiplier: 1,
      dry_sequence_breakers: ["a"],
      mirostat: 2,
      xtc_probability: 0.5,
      min_p: 0.1,
      top_k: 5,
    },
    ...{
      allowed_token_ids: [5, 6],
      stop_token_ids: [7],
      min_tokens: 1,
      sampler_order: ["top_k", "temperature"],
    },
  },
]
const junk: Json[] = [
  ...[
    null,
    true,
    false,
    -1,
    0,
    1,
    2,
    3,
    1e300,
    1.5,
    2 ** 53,
    "",
    "json_schema",
    "integer",
    "\ud800",
    "\u0000",
    "ä💩",
  ],
  ...[
    [],
    {},
    [[]],
    { type: "x" },
    [null],
    "a".repeat(3_000),
    repeat(300, (i) => i),
    "^(a|b)*$",
    "#/$defs/node",
    "close",
  ],
]
const names = [
  ...[
    "type",
    "schema",
    "$ref",
    "allOf",
    "not",
    "format",
    "minimum",
    "pattern",
    "required",
    "items",
    "tools",
    "regex",
  ],
  ...[
    "json",
    "n",
    "stop",
    "seed",
    "temperature",
    "max_tokens",
    "mirostat",
    "content",
    "role",
    "__proto__",
    "stream",
  ],
  ...[
    "const",
    "enum",
    "if",
    "oneOf",
    "contains",
    "uniqueItems",
    "$dynamicRef",
    "$id",
    "constructor",
    "choice",
    "grammar",
  ],
]
const methods = [
  "GET",
  "POST",
  "HEAD",
  "OPTIONS",
  "PUT",
  "DELETE",
  "PATCH",
  "TRACE",
  "CONNECT",
  "BREW",
  "post",
  "",
]
const paths = [
  ...["/v1/chat/completions", "/v1/models", `/v1/models/${model}`, "/health", "/ping", "/version", "/load"],
  ...["/", "/v1/responses", "/v1", "/v1/models/", "/metrics", "/v1/models/%2e%2e/%00", "//", "*"],
]
const headers: [string, string][] = [
  ...(["text/plain", "", "application/json; charset=utf-16", "application/jsonx", "multipart/form-data"].map(
    (type) => ["content-type", type],
  ) as [string, string][]),
  ...([
    ["origin", "http://evil.example"],
    ["origin", "http://localhost:3"],
    ["origin", "null"],
    ["host", "evil.example"],
    ["host", ""],
    ["host", "[::1"],
    ["authorization", "Bearer "],
    ["authorization", "Basic YTpi"],
    ["x-request-id", "a b"],
    ["x-request-id", "x".repeat(500)],
    ["accept-encoding", "gzip"],
    ["content-encoding", "gzip"],
    ["expect", "100-continue"],
    ["upgrade", "h2c"],
    ["access-control-request-method", "POST"],
    ["range", "bytes=0-1"],
    ["if-none-match", "*"],
    ["cookie", "a=b"],
    ["x-large", "y".repeat(20_000)],
    ["te", "trailers"],
  ] as [string, string][]),
]

export function mutantRequest(random: Random): Mutant {
  const other = random() < 0.25
  let method = other ? among(random, methods) : "POST"
  let path = other ? among(random, paths) : "/v1/chat/completions"
  const lines = new Map<string, string>([
    ["host", "127.0.0.1"],
    ["content-type", "application/json"],
  ])
  let body: Json = structuredClone(among(random, bodies))
  let bytesChanged = false
  let mayWait = false
  const steps = 1 + whole(random, 3)
  for (let step = 0; step < steps; step++) {
    const kind = random()
    if (kind < 0.6) body = changed(random, body)
    else if (kind < 0.75) bytesChanged = true
    else if (kind < 0.8) method = among(random, methods)
    else if (kind < 0.85)
      path += among(random, ["/", "?a=1", "?%zz", "%00", "//x", "#f", ";", "?stream=true&n=9", "\u00ff"])
    else lines.set(...among(random, headers))
  }
  let payload = Buffer.from(JSON.stringify(body))
  if (bytesChanged) payload = withOtherBytes(random, payload)
  let length = payload.length
  if (random() < 0.02) {
    length += whole(random, 40) - 10
    mayWait = length > payload.length
  }
  if (method === "GET" && random() < 0.5) {
    payload = Buffer.alloc(0)
    length = 0
  }
  lines.set("content-length", String(length))
  lines.set("connection", "close")
  const head = [...lines].map(([name, value]) => `${name}: ${value}\r\n`).join("")
  // Node hands the connection of a CONNECT over, and nobody takes it.
  mayWait ||= method === "CONNECT"
  return {
    bytes: Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, "latin1"), payload]),
    isHead: method === "HEAD",
    mayWait,
  }
}

/** The value with one member or item of it replaced, removed, added or moved. */
function changed(random: Random, value: Json): Json {
  const places: [holder: Record<string, Json>, key: string][] = []
  const visit = (holder: Record<string, Json>) => {
    for (const key of Object.keys(holder)) {
      places.push([holder, key])
      if (typeof holder[key] === "object" && holder[key] !== null) visit(holder[key] as Record<string, Json>)
    }
  }
  if (typeof value === "object" && value !== null) visit(value as Record<string, Json>)
  if (places.length === 0) return value
  const [holder, key] = among(random, places)
  const kind = random()
  if (kind < 0.2) delete holder[key]
  else if (kind < 0.6) holder[key] = structuredClone(among(random, junk))
  else if (kind < 0.7) {
    const [from, at] = among(random, places)
    holder[key] = structuredClone(from[at] ?? null)
  } else {
    const member = {
      value: structuredClone(among(random, junk)),
      enumerable: true,
      configurable: true,
      writable: true,
    }
    Object.defineProperty(holder, among(random, names), member)
  }
  return value
}

/** Some bytes replaced, doubled or left out. */
function withOtherBytes(random: Random, payload: Buffer): Buffer<ArrayBuffer> {
  const bytes = [...payload]
  for (let i = 1 + whole(random, 4); i > 0; i--) {
    const at = whole(random, bytes.length)
    const kind = whole(random, 4)
    if (kind === 0) bytes[at] = whole(random, 256)
    else if (kind === 1) bytes.splice(at, 1 + whole(random, 20))
    else if (kind === 2) bytes.splice(at, 0, ...bytes.slice(at, at + 1 + whole(random, 30)))
    else bytes[at] = among(random, [...Buffer.from('"{}[],:\\0e-+.')])
  }
  return Buffer.from(bytes)
}
