/** The judges of the suite for servers, reply by reply, and what a hostile server can do to a run. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import type { Reply, Verdict } from "../../../../server/suite/api/case.ts"
import { apiCases } from "../../../../server/suite/api/cases/all.ts"
import { readStream } from "../../../../server/suite/api/chat.ts"
import { apiTable, summarizeApi } from "../../../../server/suite/api/report.ts"
import { type ApiResult, runCases } from "../../../../server/suite/api/run.ts"

const cases = apiCases()
const idOf = ({ area, name }: { area: string; name: string }) => `${area}/${name}`

test("names are unique, and there are some four hundred", () => {
  expect(new Set(cases.map(idOf)).size).toBe(cases.length)
  expect(cases.length).toBeGreaterThan(400)
})

/** The first case of each area, and of those that are judged differently. */
const firsts = cases.filter((each, at) => each.area !== cases[at - 1]?.area)

type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function against(
  answer: Answer,
  chosen = firsts,
  timeoutMs = 20_000,
  runMs = 20_000,
): Promise<ApiResult[]> {
  const server = createServer((request, response) => {
    request.resume()
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  try {
    return await runCases(chosen, {
      ...{ model: "any", samples: 1, parallel: 16 },
      target: {
        ...{ url: `http://127.0.0.1:${port}/v1`, timeoutMs, deadline: performance.now() + runMs },
        signal: new AbortController().signal,
      },
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const json =
  (value: unknown, status = 200) =>
  (_: IncomingMessage, response: ServerResponse) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
const events = (text: string) => (_: IncomingMessage, response: ServerResponse) =>
  response.writeHead(200, { "content-type": "text/event-stream" }).end(text)
const html = "<html><body>Welcome</body></html>"
const nulls = {
  choices: [null, { message: null }, { index: 0, message: { content: 5, tool_calls: [null, 7] } }],
}

test.each<[what: string, answer: Answer, verdicts: Verdict[]]>([
  [
    "a page of HTML",
    (_, response) => response.writeHead(200, { "content-type": "text/html" }).end(html),
    ["wrong", "ignored"],
  ],
  ["an empty reply", (_, response) => response.end(), ["wrong", "ignored"]],
  [
    "invalid UTF-8",
    (_, response) => response.end(Buffer.from([0x7b, 0xff, 0xfe, 0x22, 0xc3])),
    ["wrong", "ignored"],
  ],
  ["null", json(null), ["wrong", "ignored"]],
  ["a list", json([1]), ["wrong", "ignored"]],
  ["values of wrong types", json(nulls), ["wrong", "ignored"]],
  [
    "an object of wrong types",
    json({ choices: { length: 3 }, usage: [], output: "x", data: 5 }),
    ["wrong", "ignored"],
  ],
  ["JSON of 100,000 levels", (_, response) => response.end("[".repeat(1e5)), ["wrong", "ignored"]],
  ["events that are no JSON", events("data: {\n\ndata\n\nid: 5\n\ndata: [1]\n\n"), ["wrong", "ignored"]],
  [
    "events of nulls",
    events(`data: ${JSON.stringify(nulls)}\n\ndata: [DONE]\n\ndata: {}\n\n`),
    ["wrong", "ignored"],
  ],
  [
    "a huge index",
    events(`data: {"choices":[{"index":1e300,"delta":{"tool_calls":[{"index":-1}]}}]}\n\n`),
    ["wrong", "ignored"],
  ],
  ["a failure", (_, response) => response.writeHead(500).end(html), ["error", "wrong"]],
  ["a redirect to itself", (_, response) => response.writeHead(302, { location: "/v1" }).end(), ["error"]],
  ["no reply", () => {}, ["error"]],
  ["a closed socket", ({ socket }) => socket.destroy(), ["error"]],
  [
    "a socket closed within the reply",
    ({ socket }, response) => {
      response.writeHead(200, { "content-length": "100" }).write('{"choices"')
      setTimeout(() => socket.destroy(), 20)
    },
    ["error"],
  ],
  [
    "bytes without end",
    (_, response) => {
      const more = () => {
        while (response.writable && response.write(`data: {"x":"${"y".repeat(60_000)}"}\n\n`));
      }
      response.on("drain", more)
      more()
    },
    ["error"],
  ],
  [
    "a byte now and then, without end",
    (_, response) => {
      const timer = setInterval(() => response.write(" "), 20)
      response.on("close", () => clearInterval(timer))
    },
    ["error"],
  ],
  ["refusals", json({ error: { message: "No." } }, 400), ["refused", "honoured"]],
  ["refusals without an error", json({ detail: "No." }, 422), ["refused", "wrong"]],
  ["another key", json({ error: { message: "Who?" } }, 401), ["error", "honoured"]],
  ["no such route", json({ error: { message: "Where?" } }, 404), ["refused", "honoured", "skipped"]],
])("%s is a verdict of each case", async (what, answer, verdicts) => {
  const results = await against(
    answer,
    firsts,
    what.includes("no reply") || what.includes("without end") ? 300 : undefined,
  )
  expect(results.length).toBe(firsts.length)
  expect([...new Set(results.map(({ verdict }) => verdict))].sort()).toEqual([...verdicts].sort())
  for (const { verdict, why } of results) if (verdict !== "honoured") expect(why).not.toBe("")
})

test("a server that is busy is asked again after the time that it names", async () => {
  let asked = 0
  const [result] = await against(
    (request, response) => {
      asked++
      if (asked > 1)
        json({
          choices: [{ index: 0, message: { role: "assistant", content: "{}" }, finish_reason: "stop" }],
        })(request, response)
      else response.writeHead(429, { "retry-after": "0" }).end()
    },
    cases.filter(({ area }) => area === "json_object").slice(0, 1),
  )
  expect([asked, result.verdict]).toEqual([2, "honoured"])
})

/** A reply of chat completions with these parts of its choice. */
function reply(choice: object, more: Partial<Reply> = {}): Reply {
  const body = { choices: [{ index: 0, finish_reason: "stop", ...choice }], usage: {} }
  const none = { status: 200, contentType: "application/json", isUtf8: true, failure: null, sent: "{}" }
  return { ...none, text: JSON.stringify(body), ...more }
}
const said = (content: string | null, finish_reason = "stop") =>
  reply({ message: { role: "assistant", content }, finish_reason })
function called(args: string, finish_reason = "tool_calls", more: object = {}) {
  const call = { id: "c1", type: "function", function: { name: "get_weather", arguments: args }, ...more }
  return reply({ message: { role: "assistant", content: null, tool_calls: [call] }, finish_reason })
}
const oslo = '{"city":"Zq-Oslo","unit":"c"}'

test.each<[id: string, reply: Reply, verdict: string]>([
  ["json_object/a poem", said('{"a": [1]}'), "honoured"],
  ["json_object/a poem", said('\n {"a": [1]} \n'), "honoured"],
  ["json_object/a poem", said('{"a":1,"a":2}'), "honoured, the answer repeats a name"],
  ["json_object/a poem", said('{"a":1', "length"), "honoured, cut"],
  ["json_object/a poem", said('{"a":1'), "ignored"],
  ["json_object/a poem", said('```json\n{"a":1}\n```'), "ignored"],
  ["json_object/a poem", said("[1]", "length"), "ignored"],
  ["json_object/a poem", said("", "length"), "skipped"],
  ["json_object/a poem", said(null), "wrong"],
  ["json_object/a poem", reply({ message: { content: "{}" }, index: undefined }), "wrong"],
  ["json_object/a poem", said("{}", "done"), "wrong"],
  ["json_schema: pattern/a serial number", said('{"v":"AB-1234/zz"}'), "honoured"],
  ["json_schema: pattern/a serial number", said('{"v":"\\u0041B-1234/zz"}'), "honoured"],
  ["json_schema: pattern/a serial number", said('{"v":"AB-123/zz"}'), "ignored"],
  ["json_schema: const/a large integer", said('{"v":12345678901234567891}'), "honoured"],
  ["json_schema: const/a large integer", said('{"v":12345678901234567890}'), "ignored"],
  ["json_schema: order of keys/as declared", said('{"zed":1,"mid":2,"alpha":1}'), "honoured"],
  ["json_schema: order of keys/as declared", said('{"alpha":1,"zed":1,"mid":2}'), "ignored"],
  ["tools/required, one tool", called(oslo), "honoured"],
  ["tools/required, one tool", called('{"city":"Paris","unit":"c"}'), "ignored"],
  ["tools/required, one tool", called("{city:1}"), "wrong"],
  ["tools/required, one tool", called('{"city":"Zq', "length"), "honoured, cut"],
  ["tools/required, one tool", called(oslo, "stop"), "wrong"],
  ["tools/required, one tool", called(oslo, "tool_calls", { id: undefined }), "wrong"],
  [
    "tools/required, one tool",
    called(oslo, "tool_calls", { function: { name: "delete", arguments: "{}" } }),
    "ignored",
  ],
  ["tools/required, one tool", said("It is sunny."), "ignored"],
  ["tools/named, the first", called(oslo, "stop"), "honoured"],
  ["tools/none", called(oslo), "ignored"],
  ["extensions/guided_choice", said("zq-kappa"), "honoured"],
  ["extensions/guided_choice", said("zq-kappa "), "ignored"],
  ["errors/top_p: 2", said("Yes."), "ignored"],
  ["errors/top_p: 2", reply({}, { status: 400, text: '{"error":{"message":"top_p"}}' }), "honoured"],
  ["errors/top_p: 2", reply({}, { status: 400, text: html }), "wrong"],
  ["stop/one letter", said("th", "stop"), "honoured"],
  ["stop/one letter", said("the", "length"), "ignored"],
  ["choices/n: 3", said("a"), "ignored"],
])("%s: %#", (id, got, expected) => {
  const found = cases.find((each) => idOf(each) === id)!.judge([got])
  const { verdict, truncated, why } = found
  const shown = `${verdict}${truncated ? ", cut" : verdict === "honoured" && expected.includes(",") ? `, ${why}` : ""}`
  expect(shown, why).toBe(expected)
})

test("a streamed reply is judged by its joined deltas", () => {
  const each = cases.find(({ area }) => area === "json_schema, streamed")!
  const chunk = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`
  const stream = (...texts: string[]) => ({
    ...reply({}, { sent: '{"stream":true}', contentType: "text/event-stream; charset=utf-8" }),
    text: `${texts.join("")}${chunk({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`,
  })
  const good = [
    chunk({ delta: { role: "assistant", content: '{"v' } }),
    chunk({ delta: { content: '":"text"}' } }),
  ]
  expect(each.judge([stream(...good)])).toMatchObject({ verdict: "honoured" })
  expect(each.judge([stream(good[0])]).verdict).toBe("ignored")
  expect(each.judge([{ ...stream(...good), contentType: "application/json" }]).verdict).toBe("wrong")
  expect(each.judge([{ ...stream(...good), text: good.join("") }]).verdict).toBe("wrong")
})

test("the table has a line for each area and one for all", () => {
  const row = { why: "", samples: 1, ms: 1, status: 200, request: "", answer: "" }
  const results: ApiResult[] = [
    { ...row, id: "a/x", area: "a", verdict: "honoured", truncated: true },
    { ...row, id: "a/y", area: "a", verdict: "ignored", truncated: false },
    { ...row, id: "long name/z", area: "long name", verdict: "refused", truncated: false },
  ]
  expect(apiTable(summarizeApi(results, "http://x", "m"))).toBe(
    [
      "area       cases  honoured  ignored  wrong  refused  error  skipped",
      "a              2     1 (1)        1      -        -      -        -",
      "long name      1         -        -      -        1      -        -",
      "all            3     1 (1)        1      -        1      -        -",
      "",
    ].join("\n"),
  )
})

test.each([-1, 1_001, 2 ** 32 - 2])("a streamed call with the index %i is a problem", (index) => {
  const delta = {
    tool_calls: [{ index, id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
  }
  const chunk = { choices: [{ index: 0, delta, finish_reason: "tool_calls" }] }
  const text = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`
  const { choices, problems } = readStream({ ...reply({}), contentType: "text/event-stream", text })
  expect(problems).toEqual([expect.stringContaining(`index is ${index}`)])
  expect(choices[0].calls).toHaveLength(0)
})

test("a request that the end of the run cuts off is skipped, as one that was not sent", async () => {
  const silent = await against(() => {}, firsts.slice(0, 2), 20_000, 300)
  const begun = await against((_, response) => response.write("{"), firsts.slice(0, 2), 20_000, 300)
  for (const { verdict, why } of [...silent, ...begun])
    expect([verdict, why]).toEqual(["skipped", "the time of the run is up"])
})
