/** `tokenrail bench --what compile | sampler | engine`: tables with units, JSON, and refused flags. */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { tokenrail } from "../../support/program.ts"

const lines = (out: string) => out.trim().split("\n")

test.each<[string, string[], RegExp, number, string[]]>([
  ["compile", [], /^constraint +first, ms +p50, ms +p99, ms$/, 7, ["first_ms", "p50_ms", "p99_ms"]],
  ["sampler", [], /^one row of 128256 logits +p50, µs +p99, µs$/, 6, ["p50_us", "p99_us"]],
  [
    "engine",
    ["--streams", "1,2", "--tokens", "8"],
    /^streams +tokens +tokens\/s +first token p50, ms .* gap p99, ms$/,
    2,
    ["tokens_per_s", "first_token_p50_ms", "gap_p99_ms"],
  ],
])("--what %s", async (what, args, head, count, keys) => {
  const command = ["bench", "--what", what, "--rounds", "1", ...args]
  const table = await tokenrail(command)
  expect(table.code, table.err).toBe(0)
  const [columns, ...rows] = lines(table.out)
  expect(columns).toMatch(head)
  expect(rows.length).toBe(count + 1)
  for (const row of rows.slice(0, count)) expect(row).toMatch(/ +[0-9.]+$/)
  const json = await tokenrail([...command, "--json"])
  const objects = lines(json.out).map((line) => JSON.parse(line))
  expect(objects.pop().machine).toMatch(/node v/)
  expect(objects.length).toBe(count)
  for (const object of objects) for (const key of keys) expect(object[key]).toBeGreaterThan(0)
})

test("compile takes a schema of the caller", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "bench-")), "schema.json")
  writeFileSync(file, '{"type": "integer"}')
  const { code, out } = await tokenrail(["bench", file, "--what", "compile", "--rounds", "1"])
  expect(code).toBe(0)
  expect(lines(out)[1]).toMatch(/schema\.json +[0-9.]+ +[0-9.]+ +[0-9.]+$/)
  writeFileSync(file, '{"type": "intege"}')
  const refused = await tokenrail(["bench", file, "--what", "compile"])
  expect([refused.code, refused.out]).toEqual([3, ""])
  expect(refused.err).toMatch(/\/type/)
})

test.each<[string[], RegExp]>([
  [["rows.jsonl", "--what", "sampler"], /--what sampler takes no file/],
  [["--what", "compile", "--rounds", "0"], /--rounds 0/],
  [["--what", "engine", "--csv"], /--csv is for --what mask/],
  [["--what", "engine", "--html", "x.html"], /--html is for --what mask/],
  [["--what", "engine", "--streams", "x"], /--streams x/],
  [["no/such/file", "--what", "compile"], /no\/such\/file/],
  [["--what", "nothing"], /mask, server, compile, sampler, engine/],
])("refused: %j", async (args, message) => {
  const { code, out, err } = await tokenrail(["bench", ...args])
  expect([code, out]).toEqual([2, ""])
  expect(err).toMatch(message)
})
