import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { distribution } from "../../../server/cli/bench.ts"
import { outcome, start, tokenrail } from "../../support/program.ts"

test("the shares of a distribution", () => {
  const values = Array.from({ length: 1000 }, (_, i) => 999 - i)
  expect(distribution(values)).toEqual({
    n: 1000,
    avg: 499.5,
    p50: 500,
    p90: 900,
    p99: 990,
    p999: 999,
    max: 999,
  })
  expect(distribution([])).toMatchObject({ n: 0, avg: 0, p50: 0 })
})

test("prints the rows that the comparison with other engines reads, then the summary", async () => {
  const directory = mkdtempSync(join(tmpdir(), "bench-"))
  const file = join(directory, "rows.jsonl")
  const rows = [
    { id: "a", schema: { type: "boolean" }, tests: [{ valid: true, tokens: [] }] },
    { id: "b", schema: { type: "objct" }, tests: [] },
  ]
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join("\n"))
  const html = join(directory, "bench.html")
  const { code, out } = await tokenrail([
    "bench",
    file,
    "--vocab",
    "runtime/embedded",
    "--json",
    "--html",
    html,
  ])
  expect(readFileSync(html, "utf8")).toMatch(/2 schemas of rows\.jsonl, 1 refused[\s\S]*<svg/)
  const [a, b, last] = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(a).toEqual({
    id: "a",
    ttfm_us: expect.any(Number),
    tests: [{ valid: true, accepted: false }],
    us: [],
  })
  expect(b).toEqual({ id: "b", refused: expect.stringMatching(/^syntax /) })
  expect(last.summary).toMatchObject({ schemas: 2, refused: 1, first_mask_us: { n: 1 } })
  expect(code).toBe(0)
})

test("--what server: streams of an own server, beside the bare engine", async () => {
  const args = ["bench", "--what", "server", "--streams", "1,2", "--tokens", "8", "--rounds", "1", "--json"]
  const html = join(mkdtempSync(join(tmpdir(), "bench-")), "bench.html")
  const { code, out, err } = await tokenrail([...args, "--html", html])
  expect(code, err).toBe(0)
  expect(readFileSync(html, "utf8").match(/<svg/g)).toHaveLength(4)
  const [one, two, last] = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect([one.streams, one.tokens, two.streams, two.tokens]).toEqual([1, 8, 2, 16])
  for (const { tokens_per_s, first_token_ms, gap_ms, http_us_per_token } of [one, two]) {
    expect(tokens_per_s).toBeGreaterThan(0)
    expect(first_token_ms.p99).toBeGreaterThanOrEqual(first_token_ms.p50)
    expect(gap_ms.p99).toBeGreaterThanOrEqual(gap_ms.p50)
    expect(http_us_per_token).toEqual(expect.any(Number))
  }
  expect(last.machine).toMatch(/node v/)
})

test("--what server: the own server takes no settings from the environment", async () => {
  const directory = join(mkdtempSync(join(tmpdir(), "bench-")), "data")
  const env = { TOKENRAIL_DATA_DIR: directory, TOKENRAIL_MODEL: "no/such/model", TOKENRAIL_API_KEY: "k" }
  const args = ["bench", "--what", "server", "--streams", "1", "--tokens", "2", "--rounds", "1"]
  const { code, err } = await outcome(start(args, env))
  expect([code, existsSync(directory)], err).toEqual([0, false])
})

test.each<[string, string[], number, RegExp]>([
  ["a server that is not there", ["--url", "http://127.0.0.1:1/v1"], 2, /no server answers/],
  ["a file", ["rows.jsonl"], 2, /takes no file/],
  ["no number of streams", ["--streams", "x"], 2, /--streams x/],
  [
    "a missing model",
    ["--model", "no/such/model", "--streams", "1"],
    4,
    /the server ended with code 4.*no\/such\/model/s,
  ],
])("--what server: %s is refused", async (_, args, code, message) => {
  const run = await tokenrail(["bench", "--what", "server", ...args])
  expect([run.code, run.err]).toEqual([code, expect.stringMatching(message)])
})
