/** Every bad request is 400 in JSON, before the first byte of a stream: it names the field and a way out. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"
import { badRequests, goodRequests } from "./badrequests.ts"

let engine: Engine
let app: ReturnType<typeof createApp>
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 1024 })
  app = createApp(engine)
})
afterAll(() => engine.close())

function post(path: string, fields: object): Promise<Response> {
  const body = JSON.stringify({ model: engine.model.id, ...goodRequests[path], ...fields })
  const headers = { "content-type": "application/json" }
  return Promise.resolve(app.request(path, { method: "POST", headers, body }))
}

/** Words that say what to send instead. */
const wayOut =
  /\b(use|send|give|leave|remove|raise|lower|shorten|set|write|put|add|rename|describe|define|let|look|pass|end with|did you mean|known keys|there are|must|needs|expected|only|is not|is missing|outside|at most|is named|is no)\b/i

test("there are more than 300, and what they are made of is good", async () => {
  expect(badRequests.length).toBeGreaterThan(300)
  for (const path of Object.keys(goodRequests))
    expect([path, (await post(path, {})).status]).toEqual([path, 200])
})

describe.each(Object.keys(goodRequests))("%s refuses", (path) => {
  const own = badRequests.filter(([, each]) => each === path)
  const canStream = !/tokens|tokenize|decisions|score|compile/.test(path)
  test.each(own.map(([what, , fields, param]) => [what, fields, param] as const))(
    "%s",
    async (_, fields, param) => {
      const forms = canStream && !("stream" in fields) ? [{}, { stream: true }] : [{}]
      for (const form of forms) {
        const response = await post(path, { ...fields, ...form })
        const text = await response.text()
        expect([response.status, response.headers.get("content-type")], text).toEqual([
          400,
          expect.stringMatching(/^application\/json/),
        ])
        const { error } = JSON.parse(text)
        const named = typeof param === "string" ? new RegExp(`^${param.replace(/[.[\]]/g, "\\$&")}`) : param
        expect(error.param, text).toMatch(named)
        // What is no schema, pattern or grammar at all may be told by its place alone.
        const isPlaced =
          error.kind === "syntax" && /^\/|line \d|offset \d/.test(`${error.path} ${error.message}`)
        if (!isPlaced && !/offset \d/.test(error.message)) expect(error.message, text).toMatch(wayOut)
      }
    },
  )
})
