import { expect, test } from "vitest"
import { GrammarError, ModelError, RequestError, SamplingError } from "../../runtime/index.ts"
import { errorResponse, Refusal, toHttpError } from "../../server/errors.ts"

const schema = { constraint: { field: "response_format.json_schema.schema", isSchema: true } }
const regex = { constraint: { field: "structured_outputs.regex", isSchema: false } }

test.each([
  ["refusal", new Refusal("model_not_found", "no"), {}, 404, "invalid_request_error", "model_not_found"],
  [
    "schema",
    new GrammarError("unsupported", "/not", "no"),
    schema,
    400,
    "invalid_request_error",
    "invalid_json_schema",
  ],
  ["regex", new GrammarError("syntax", "3", "no"), regex, 400, "invalid_request_error", "invalid_grammar"],
  [
    "prompt",
    new RequestError("context_length_exceeded", "no"),
    {},
    400,
    "invalid_request_error",
    "context_length_exceeded",
  ],
  ["queue", new RequestError("queue_full", "no"), {}, 429, "rate_limit_error", "queue_full"],
  ["closing", new RequestError("shutting_down", "no"), {}, 503, "server_error", "shutting_down"],
  ["model", new ModelError("no"), {}, 500, "server_error", "server_error"],
  ["bug", new Error("no"), {}, 500, "server_error", "server_error"],
  ["not even an error", "no", {}, 500, "server_error", "server_error"],
])("%s becomes a status, a type and a code", (_, error, context, status, type, code) => {
  const http = toHttpError(error, context)
  expect([http.status, http.body.error.type, http.body.error.code]).toEqual([status, type, code])
  expect(http.body.error.message).toContain("no")
})

test("a grammar's refusal says where: the field of the request and the place in the constraint", () => {
  const { body } = toHttpError(new GrammarError("unsatisfiable", "/minimum", "5 is above 3"), schema)
  expect(body.error).toEqual({
    message: "/minimum: 5 is above 3",
    type: "invalid_request_error",
    param: "response_format.json_schema.schema",
    code: "invalid_json_schema",
    kind: "unsatisfiable",
    path: "/minimum",
  })
})

test("a sampling parameter is named as on the wire", () => {
  const error = Object.create(SamplingError.prototype, {
    message: { value: "top_p: 0" },
    param: { value: "top_p" },
  })
  expect(toHttpError(error).body.error).toMatchObject({
    param: "top_p",
    code: "invalid_value",
    message: "top_p: 0",
  })
})

test("the way out is part of the message and stands alone beside it", () => {
  const { error } = toHttpError(new Refusal("unknown_url", "nothing here", { hint: "Go there" })).body
  expect(error).toMatchObject({ message: "nothing here. Go there", hint: "Go there" })
})

test("what is worth another try says when, what is not says so", async () => {
  const full = errorResponse(new RequestError("queue_full", "no"), { retryAfterSeconds: 2.2 })
  expect([full.headers.get("retry-after"), full.headers.get("retry-after-ms")]).toEqual(["3", "3000"])
  const closing = errorResponse(new Refusal("shutting_down", "no"))
  expect(closing.headers.get("retry-after")).toBe("1")
  expect(errorResponse(new Error("no")).headers.get("x-should-retry")).toBe("false")
  expect(await full.json()).toHaveProperty("error.type", "rate_limit_error")
})

test("no error is longer than its bounds, whatever it repeats; the way out stays", () => {
  const long = "x".repeat(1 << 20)
  const { body } = toHttpError(new Refusal("invalid_value", long, { param: long, hint: "Send less" }))
  expect(body.error.message.length).toBe(2_000)
  expect(body.error.message).toMatch(/x…x+\. Send less$/)
  expect(body.error.param?.length).toBe(256)
  const grammar = toHttpError(new GrammarError("syntax", `/${long}`, "no")).body.error
  expect([grammar.message.length, grammar.path?.length]).toEqual([2_000, 256])
})

test.each([
  ["EMFILE", "as many files open"],
  ["ENFILE", "as many files open"],
  ["ENOSPC", "disk is full"],
  ["EDQUOT", "disk is full"],
  ["ENOMEM", "no memory left"],
])("%s is no fault of the server's, and passes: 503, without its paths", (code, said) => {
  const lack = Object.assign(new Error(`${code}: something, open '/srv/models/x.json'`), { code })
  for (const error of [lack, new ModelError(`the thread ended: ${lack.message}`, { cause: lack })]) {
    const { status, body, headers } = toHttpError(error)
    expect([status, body.error.code]).toEqual([503, "overloaded"])
    expect(body.error.message).toContain(said)
    expect(JSON.stringify(body)).not.toContain("/srv")
    expect(Number(headers["retry-after"])).toBeGreaterThan(0)
  }
})

test.each([
  "ENOENT: no such file or directory, open '/srv/models/x.json'",
  "EACCES: permission denied, open 'C:\\\\models\\\\x.json'",
  'Cannot find module "file:///srv/models/x.js"',
])("%s: the reply has no path of the server", (message) => {
  for (const error of [new Error(message), new ModelError(message)]) {
    const { message: told } = toHttpError(error).body.error
    expect(told).toContain("a file")
    expect(told).not.toMatch(/models/)
  }
})
