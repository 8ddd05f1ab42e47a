import { expect, test } from "vitest"
import { openLog } from "../../../server/cli/log.ts"
import type { Outcome } from "../../../server/http/exchange.ts"
import { logOutcome } from "../../../server/http/requestlog.ts"
import { ioOf } from "../../support/io.ts"

const outcome: Outcome = {
  ...{ requestId: "req_1", method: "POST", endpoint: "/v1/chat/completions", status: 200, ms: 153.21 },
  tokens: { promptTokens: 20, cachedTokens: 0, completionTokens: 34 },
  ...{ finish: ["stop"], refusal: null, isAborted: false },
}
const refused: Outcome = {
  ...{ ...outcome, status: 400, ms: 2, tokens: null, finish: [] },
  refusal: { code: "invalid_json_schema", kind: "unsatisfiable" },
}
const failed: Outcome = {
  ...{ ...outcome, status: 500, tokens: null, finish: [] },
  refusal: { code: "server_error", fault: "TypeError at f (a.ts:1:2)" },
}

test("a JSON object a line", async () => {
  const io = ioOf()
  const log = await openLog({ level: "info", isJson: false }, io)
  logOutcome(log, outcome)
  log.warn("the model is lost")
  const [request, lost] = io.printed
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(request).toEqual({
    ...{ level: "info", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), msg: "request" },
    ...{ request_id: "req_1", method: "POST", endpoint: "/v1/chat/completions", status: 200, ms: 153.2 },
    ...{ prompt_tokens: 20, cached_tokens: 0, completion_tokens: 34, finish: "stop" },
  })
  expect(lost).toMatchObject({ level: "warn", msg: "the model is lost" })
})

test("in words on a terminal, unless JSON is asked for", async () => {
  const io = ioOf({ isTerminal: true })
  const log = await openLog({ level: "debug", isJson: false }, io)
  for (const each of [outcome, refused, failed]) logOutcome(log, each)
  logOutcome(log, { ...outcome, isAborted: true, status: 499, finish: ["abort"] })
  logOutcome(log, { ...refused, endpoint: "/health", method: "GET", status: 200, refusal: null })
  log.info("SIGTERM: no new requests")
  expect(io.printed.replace(/^\d\d:\d\d:\d\d /gm, "")).toBe(
    `info  POST /v1/chat/completions 200 in 153 ms, 20 + 34 tokens, stop, req_1
info  POST /v1/chat/completions 400 in 2 ms, invalid_json_schema, unsatisfiable, req_1
error POST /v1/chat/completions 500 in 153 ms, server_error, req_1, TypeError at f (a.ts:1:2)
info  POST /v1/chat/completions 499 in 153 ms, 20 + 34 tokens, abort, the client has gone, req_1
debug GET /health 200 in 2 ms, req_1
info  SIGTERM: no new requests
`,
  )
  const json = ioOf({ isTerminal: true })
  logOutcome(await openLog({ level: "info", isJson: true }, json), outcome)
  expect(JSON.parse(json.printed)).toMatchObject({ status: 200 })
})

test.each([
  ["debug", 4],
  ["info", 3],
  ["warn", 2],
  ["error", 1],
  ["silent", 0],
] as const)("level %s lets %i of four lines through", async (level, count) => {
  const io = ioOf()
  const log = await openLog({ level, isJson: false }, io)
  logOutcome(log, { ...outcome, endpoint: "/health", tokens: null })
  logOutcome(log, outcome)
  logOutcome(log, { ...refused, status: 429, refusal: { code: "queue_full" } })
  logOutcome(log, failed)
  expect(io.printed.split("\n").length - 1).toBe(count)
})
