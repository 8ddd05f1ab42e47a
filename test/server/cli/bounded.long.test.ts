/** Time that the commands give a constraint: the server's bounds, and flags that raise or lower them. */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { tokenrail } from "../../support/program.ts"

const directory = mkdtempSync(join(tmpdir(), "bounded-"))
const text = join(directory, "text.json")
writeFileSync(text, "[]")

/** Patterns whose automaton takes a good part of a second to close, on any machine. */
const patterns = ["^([a-z][0-9])+$", "((c1d3g3).{4,8}){6}", "(t|8){10}..$", "^z9.{100}z9$"]
const slow = JSON.stringify({ type: "string", allOf: patterns.map((pattern) => ({ pattern })) })
const schema = join(directory, "slow.json")
writeFileSync(schema, slow)

test.each([
  ["compile", []],
  ["check", [text]],
])(
  "%s refuses what takes longer to compile than --max-compile",
  { timeout: 60_000 },
  async (command, files) => {
    const { code, err } = await tokenrail([command, ...files, "--schema", schema, "--max-compile", "5"])
    expect([code, err]).toEqual([3, expect.stringMatching(/compiling takes .*more than the bound of 5 ms/)])
  },
)

test("generate refuses it too", { timeout: 60_000 }, async () => {
  const { code, err } = await tokenrail(["generate", "Hi", "--schema", schema, "--max-compile", "5"])
  expect([code, err]).toEqual([
    3,
    expect.stringMatching(/compiling (the constraint )?takes more than the bound of [\d.]+ ms/),
  ])
})

test("a source that is compiled again when it is read has the same bound", { timeout: 60_000 }, async () => {
  const out = join(directory, "slow.rail")
  const written = await tokenrail([
    ...["compile", "--schema", schema, "--out", out, "--form", "source", "--max-compile", "60000"],
    ...["--max-mask", "60000"],
  ])
  expect([written.code, written.err]).toEqual([0, ""])
  const { code, err } = await tokenrail(["check", text, "--compiled", out, "--max-compile", "5"])
  expect([code, err]).toEqual([3, expect.stringMatching(/more than the bound of 5 ms/)])
})

test.each(["compile", "check", "generate", "serve"])(
  "%s tells the bounds",
  { timeout: 60_000 },
  async (command) => {
    const { out } = await tokenrail([command, "--help"])
    expect(out).toMatch(/--max-compile <ms>[^-]*\(default:\s*2000\)/)
    expect(out).toMatch(/--max-mask <ms>[^-]*\(default:\s*1000\)/)
  },
)
