/** Which server and which key `conformance --suite api` and `bench --url` take, and interrupts. */
import { mkdtempSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { type ApiFlags, apiFlags, runApi, targetOf } from "../../../server/cli/conformanceapi.ts"
import { flagsOf, ioOf } from "../../support/io.ts"

const env = { TOKENRAIL_API_KEY: "own" }
const both = { ...env, TOKENRAIL_TARGET_KEY: "target" }

test.each<[host: string, env: Record<string, string>, flag: string | undefined, key: string | undefined]>([
  ["localhost:8080", env, undefined, "own"],
  ["[::1]:8080", env, undefined, "own"],
  ["127.0.0.1", both, undefined, "target"],
  ["127.0.0.1", both, "flag", "flag"],
  ["api.example.com", env, undefined, undefined],
  ["127.0.0.1.example.com", env, undefined, undefined],
  ["localhost@api.example.com", env, undefined, undefined],
  ["api.example.com", both, undefined, "target"],
  ["api.example.com", { ...env, TOKENRAIL_TARGET_KEY: "" }, undefined, undefined],
  ["api.example.com", both, "flag", "flag"],
])("the key for %s with %j and the flag %s", (host, env, flag, key) => {
  const flags = { url: `http://${host}/v1`, timeout: 1, time: 1, ...(flag && { apiKey: flag }) }
  expect(targetOf(flags, ioOf({ env })).apiKey).toBe(key)
})

test("an interrupt keeps the results that there are", async () => {
  const interrupt = new AbortController()
  let requests = 0
  const server = createServer((request, response) => {
    request.resume()
    if (++requests > 1) interrupt.abort("SIGINT")
    else response.writeHead(500).end("{}")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const junit = join(mkdtempSync(join(tmpdir(), "interrupt-")), "run.xml")
  const args = [
    "--url",
    `http://127.0.0.1:${port}`,
    "--model",
    "m",
    "--area",
    "json_object",
    "--junit",
    junit,
  ]
  const io = { ...ioOf(), signal: interrupt.signal }
  const flags = { ...flagsOf<ApiFlags>(apiFlags, args), every: 1, parallel: 1 }
  await expect(runApi(flags, io)).rejects.toBe("SIGINT")
  const written = readFileSync(junit, "utf8")
  expect(written).toMatch(/errors="1" skipped="5"/)
  const whys = [...written.matchAll(/<skipped message="([^"]*)"/g)].map(([, why]) => why)
  expect([whys[0], new Set(whys.slice(1))]).toEqual([
    "stopped before the reply had ended",
    new Set(["not sent (stopped)"]),
  ])
  server.closeAllConnections()
  server.close()
})
