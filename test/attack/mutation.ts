/**
 * One mutated request: a seed of a request, changed one to three times at random places.
 */
import { model } from "./requests.ts"
import { among, type Random, repeat, whole } from "./schemas/generator.ts"
import { type Json, seeds } from "./seeds.ts"

export interface Mutant {
  bytes: Buffer
  isHead: boolean
  /** Its head claims more body than there is, so the server may wait for the rest. */
  mayWait: boolean
}

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
  ...[
    "tool_choice",
    "function",
    "custom",
    "name",
    "parameters",
    "input_schema",
    "input",
    "id",
    "call_id",
    "tool_call_id",
  ],
  ...[
    "format",
    "definition",
    "syntax",
    "effort",
    "budget_tokens",
    "tokenrail",
    "fields",
    "confidence",
    "reason",
  ],
  ...[
    "prompt",
    "messages",
    "echo",
    "best_of",
    "logprobs",
    "include",
    "store",
    "previous_response_id",
    "arguments",
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
  ...["/v1/responses/resp_1", "/v1/responses/resp_1/cancel", "/v1/responses/resp_1/input_items?limit=2"],
  ...["/v1/responses/%00/input_items", "/tokenizer_info", "/v1/tokenize", "/detokenize", "/v1/messages"],
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
  const seed = among(random, seeds)
  let path = other ? among(random, paths) : seed.path
  const lines = new Map<string, string>([
    ["host", "127.0.0.1"],
    ["content-type", "application/json"],
  ])
  let body: Json = structuredClone(seed.body)
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

/** The value, which is written over, with one member or item of it replaced, removed, added or moved. */
export function changed(random: Random, value: Json): Json {
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
