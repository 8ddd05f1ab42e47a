/**
 * The written forms of a run: a page and JUnit XML, whatever a server sent; and cases that a corpus
 * gives.
 */
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { verdicts } from "../../../../server/suite/api/case.ts"
import { junit } from "../../../../server/suite/api/junit.ts"
import { page } from "../../../../server/suite/api/page.ts"
import type { ApiResult } from "../../../../server/suite/api/run.ts"
import { sampledCases } from "../../../../server/suite/api/sampled.ts"

const hostile = '</pre><script>alert("1")</script>&amp;\u0000\u001b[31m\ud800 ]]> \uffff'
const results: ApiResult[] = verdicts.map((verdict, i) => ({
  ...{
    id: `area <${i % 2}>/case "${i}"`,
    area: `area <${i % 2}>`,
    verdict,
    truncated: verdict === "honoured",
  },
  ...{ why: verdict === "honoured" ? "" : hostile, samples: 1, ms: 12, status: 200 },
  ...{ request: '{"a":1}', answer: hostile },
}))
const at = new Date("2026-11-30T12:00:00Z")

test("the page holds no markup of the server, no script and no address to load from", () => {
  const html = page(results, { url: "http://x/v1?<b>", model: hostile, at })
  expect(html).not.toMatch(/<script|<b>|javascript:|<link|<img|@import|url\(/)
  for (const forbidden of ["\u0000", "\u001b", "\ud800"]) expect(html).not.toContain(forbidden)
  // Tags that are opened are closed, in order.
  const open: string[] = []
  for (const [tag, close, name] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
    if (/^(?:meta|input)$/.test(name) || tag.endsWith("/>")) continue
    if (close) expect(open.pop()).toBe(name)
    else open.push(name)
  }
  expect(open).toEqual([])
  const [, style] = /<style>([\s\S]*?)<\/style>/.exec(html)!
  expect(html).toContain(`style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`)
  expect(html.match(/<details class="case/g)?.length).toBe(results.length)
  for (const verdict of verdicts)
    expect(html).toContain(`<input type="radio" name="shown" id="show-${verdict}"`)
})

test("JUnit XML: failures, errors and skipped cases are counted, and every character is permitted", () => {
  const xml = junit(results, "http://x/v1", "m")
  for (const forbidden of ["\u0000", "\u001b", "\ud800", "\uffff"]) expect(xml).not.toContain(forbidden)
  expect(xml.match(/<testcase /g)?.length).toBe(results.length)
  expect(xml).toContain(
    '<testsuite name="area &#60;0&#62;" tests="3" failures="1" errors="1" skipped="0" time="0.036">',
  )
  expect(xml).toContain(
    '<testsuite name="area &#60;1&#62;" tests="3" failures="1" errors="0" skipped="1" time="0.036">',
  )
  expect(xml.match(/<failure type="(?:ignored|wrong)"/g)?.length).toBe(2)
})

test("schemas of a suite's directory, of files and of rows are cases", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sampled-"))
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, ".."), { recursive: true })
    writeFileSync(join(folder, path), text)
    return join(folder, path)
  }
  const group = (type: string) => ({ description: type, schema: { type }, tests: [] })
  write("suite/tests/draft2020-12/type.json", JSON.stringify(["null", "integer", "array"].map(group)))
  write("plain/a.json", '{"type":"integer","maximum":9007199254740993}')
  write("plain/b.json", '{"schema":{"type":"null"},"tests":[]}')
  const rows = write(
    "rows.jsonl",
    '{"id":"r1","schema":{"type":"null"},"tests":[]}\n{"id":"r2","schema":true}\n',
  )
  const namesOf = async (path: string, step: number) =>
    (await sampledCases(path, step, {})).map(({ name }) => name)
  expect(await namesOf(join(folder, "suite"), 2)).toEqual([
    "1, draft2020-12/type.json, null",
    "3, draft2020-12/type.json, array",
  ])
  expect(await namesOf(join(folder, "plain"), 1)).toEqual(["1, a", "2, b"])
  expect(await namesOf(rows, 1)).toEqual(["1, r1", "2, r2"])
  await expect(sampledCases(join(folder, "none"), 1, {})).rejects.toThrow(/cannot read/)
  await expect(sampledCases(write("bad/c.json", "[1]"), 1, {})).rejects.toThrow(/c.json/)
  await expect(sampledCases(join(folder, "bad"), 1, {})).rejects.toThrow(/not a JSON object/)
})
