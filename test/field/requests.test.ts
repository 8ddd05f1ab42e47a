/**
 * Requests of real clients that once failed, and what must come back for each. Skipped where `../shared` is absent. Larger
 * requests of the same kinds are in the tests of the routes.
 */
import { existsSync, readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, createFetch } from "../../server/index.ts"

interface FieldRequest {
  id: string
  method: string
  path: string
  headers: Record<string, string>
  body: Record<string, unknown> | null
}

/** What a request must give: a status, and a part of its reply. */
type Expected = [status: number, reply: object | null]

const path = "../shared/data/field/requests.jsonl"
const rows: FieldRequest[] = existsSync(path)
  ? readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
  : []

const has = (part: string) => expect.stringContaining(part)
const like = (pattern: RegExp) => expect.stringMatching(pattern)
const warns = (part: string) => ({ tokenrail: { warnings: expect.arrayContaining([has(part)]) } })
const refuses = (fields: object) => ({ error: expect.objectContaining(fields) })
const overflow = (param: string) =>
  refuses({
    code: "context_length_exceeded",
    param,
    message: like(/^This model's maximum context length is 2048 tokens\. However, /),
  })
const says = (content: string, more: object) => ({
  choices: [expect.objectContaining({ message: expect.objectContaining({ content }), ...more })],
})

const expected: Record<string, Expected> = {
  "overflow-chat": [400, overflow("messages")],
  "overflow-responses": [400, overflow("input")],
  "overflow-completions": [400, overflow("prompt")],
  "overflow-messages": [400, refuses({ message: like(/^prompt is too long: \d+ tokens > 2048 maximum/) })],
  "overflow-sum-messages": [200, { type: "message" }],
  "max-tokens-above-context": [200, warns("max_tokens")],
  "hosted-web_search": [200, warns("web_search")],
  "hosted-image_generation": [200, warns("image_generation")],
  "hosted-local_shell": [200, warns("local_shell")],
  "hosted-tool_search": [200, warns("tool_search")],
  "hosted-file_search": [200, warns("file_search")],
  "hosted-mcp": [200, warns("mcp")],
  "hosted-code_interpreter": [200, warns("code_interpreter")],
  "hosted-history": [200, warns("web_search_call")],
  "equal-constraints": [200, {}],
  "different-constraints": [
    400,
    refuses({ message: like(/structured_outputs.*guided_regex|guided_regex.*structured_outputs/) }),
  ],
  "empty-parts": [200, {}],
  "function-call-history": [200, {}],
  "empty-prompt": [400, refuses({ param: "prompt", message: expect.not.stringContaining("messages") })],
  "models-anthropic": [
    200,
    {
      data: [
        expect.objectContaining({
          type: "model",
          display_name: expect.any(String),
          created_at: expect.any(String),
        }),
      ],
      has_more: false,
      first_id: expect.any(String),
      last_id: expect.any(String),
    },
  ],
  "head-root": [200, null],
  "gzip-body": [200, {}],
  compact: [404, refuses({ code: "unknown_url" })],
  "tokenizer-info": [
    200,
    Object.fromEntries(
      ["bos_token", "eos_token", "pad_token", "unk_token"].map((name) => [
        name,
        expect.toBeOneOf([expect.any(String), null]),
      ]),
    ),
  ],
  "stop-at-the-end": [200, says("9", { stop_reason: "3" })],
  "bad-words": [200, says("no", {})],
  "min-tokens": [200, { ...says("9", {}), ...warns("min_tokens") }],
  "temperature-100": [200, {}],
  "foreign-repeat_penalty": [200, {}],
  "foreign-repeat_last_n": [200, {}],
  "foreign-typ_p": [200, {}],
  "foreign-samplers": [200, {}],
  "foreign-min_keep": [400, refuses({ param: "min_keep" })],
  "prompts-early": [400, overflow("prompt[0]")],
  "tool-name-colon": [200, {}],
}

describe.skipIf(rows.length === 0)("requests of real clients", () => {
  let engine: Engine
  let send: typeof fetch
  beforeAll(async () => {
    engine = await open({ device: "cpu", context: 2048 })
    send = createFetch(createApp(engine, { anyModel: true }))
  })
  afterAll(() => engine.close())

  test.each(rows.map((row) => [row.id, row] as const))("%s", async (id, row) => {
    const [status, reply] = expected[id]
    const response = await send(`http://localhost${row.path}`, requestOf(row))
    const text = await response.text()
    expect(response.status, text).toBe(status)
    expect(response.headers.get("x-tokenrail-ignored")).toBe(null)
    if (reply !== null) expect(JSON.parse(text)).toMatchObject(reply)
  })
})

function requestOf({ id, method, headers, body }: FieldRequest): RequestInit {
  if (method !== "POST") return { method, headers }
  const json = { "content-type": "application/json", ...headers }
  if (id === "gzip-body") {
    const text = JSON.stringify({ model: "any", messages: [{ role: "user", content: "x" }], max_tokens: 3 })
    return { method, headers: { ...json, "content-encoding": "gzip" }, body: gzipSync(text) }
  }
  return { method, headers: json, body: JSON.stringify({ model: "any", ...body }) }
}
