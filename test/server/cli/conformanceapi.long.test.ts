/** `conformance --suite api` as a user runs it, against this server and against servers that are none. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../../../server/index.ts"
import { tokenrail } from "../../support/program.ts"

let engine: Engine
let server: RunningServer
const folder = mkdtempSync(join(tmpdir(), "api-suite-"))
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 2048 })
  server = await serve(createApp(engine, { apiKeys: ["k-1"] }), { port: 0 })
})
afterAll(async () => {
  await server.close()
  await engine.close()
})
const run = (...args: string[]) => tokenrail(["conformance", "--suite", "api", ...args])
const own = (...args: string[]) => run("--url", `${server.url}/v1/`, "--api-key", "k-1", ...args)

test("the table, and the same as JSON to compare with", async () => {
  const { code, out, err } = await own("--area", "json_object", "--samples", "1")
  expect([code, /ignored|wrong|refused/.test(err)]).toEqual([0, false])
  expect(out.split("\n")[0]).toMatch(/^area +cases +honoured +ignored/)
  const json = await own("--area", "json_object", "--samples", "1", "--json")
  const rows = json.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(rows.slice(0, -1).every(({ verdict }) => verdict === "honoured")).toBe(true)
  expect(rows.at(-1).summary).toMatchObject({ suite: "api", honoured: rows.length - 1, ignored: 0 })
  expect(json.out).not.toContain("k-1")
  const before = join(folder, "before.jsonl")
  writeFileSync(before, json.out)
  expect((await own("--area", "json_object", "--samples", "1", "--against", before)).code).toBe(0)
})

test("a server that ignores what it is asked is exit code 1, and so is what was right before", async () => {
  const deaf = createServer((request, response) => {
    request.resume()
    const message = { role: "assistant", content: "The sea." }
    const body = { data: [{ id: "deaf" }], choices: [{ index: 0, message, finish_reason: "stop" }] }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}/v1`
  const [xml, html] = [join(folder, "deaf.xml"), join(folder, "deaf.html")]
  const before = join(folder, "right.jsonl")
  writeFileSync(before, '{"id":"json_object/a poem","verdict":"honoured"}\n')
  const { code, err, out } = await run(
    "--url",
    url,
    "--area",
    "json_object",
    "--against",
    before,
    "--junit",
    xml,
    "--html",
    html,
  )
  expect(code).toBe(1)
  expect(readFileSync(xml, "utf8")).toContain('failures="6"')
  expect(readFileSync(html, "utf8")).toContain("ignored (8)")
  expect(out).toMatch(/^json_object +6 +- +6/m)
  expect(err).toMatch(/^ignored: json_object\/a poem: the answer leaves the constraint/m)
  expect(err).toMatch(/^lost since .*: json_object\/a poem$/m)
  deaf.closeAllConnections()
  deaf.close()
})

test.each<[what: string, args: string[], message: RegExp]>([
  ["no URL", [], /--url/],
  ["a URL that is none", ["--url", "localhost"], /not the URL of a server/],
  ["no server", ["--url", "http://127.0.0.1:1/v1"], /no server answers at/],
  [
    "a corpus that is not there",
    ["--url", "http://127.0.0.1:1/v1", "--model", "m", "--sample-from", "nowhere"],
    /nowhere/,
  ],
  [
    "a page that cannot be written",
    ["--url", "http://127.0.0.1:1/v1", "--model", "m", "--html", "/none/x"],
    /\/none\/x/,
  ],
  ["a file", ["rows.jsonl", "--url", "http://127.0.0.1:1/v1"], /reads no file/],
  [
    "a baseline that is not there",
    ["--url", "http://127.0.0.1:1/v1", "--against", "nowhere"],
    /cannot read nowhere/,
  ],
])("%s is wrong usage", async (_, args, message) => {
  const { code, err } = await run(...args)
  expect([code, err]).toEqual([2, expect.stringMatching(message)])
})

test("no key, no case of a name, and a path that is no API are wrong usage", async () => {
  expect(await run("--url", `${server.url}/v1`)).toMatchObject({
    code: 2,
    err: expect.stringContaining("--api-key"),
  })
  expect(await own("--area", "zzz")).toMatchObject({ code: 2, err: expect.stringContaining("no case") })
  const root = await run("--url", server.url, "--api-key", "k-1")
  expect(root).toMatchObject({ code: 2, err: expect.stringContaining("lists no model") })
})
