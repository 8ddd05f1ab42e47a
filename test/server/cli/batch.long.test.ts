import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { tokenrail } from "../../support/program.ts"

const folder = mkdtempSync(join(tmpdir(), "tokenrail-cli-batch-"))
afterAll(() => rmSync(folder, { recursive: true }))

const at = (name: string): string => join(folder, name)
const chat = (custom_id: string, fields: object = {}): string => {
  const body = { model: "gpt-4o", max_tokens: 3, messages: [{ role: "user", content: "hi" }], ...fields }
  return JSON.stringify({ custom_id, method: "POST", url: "/v1/chat/completions", body })
}
const write = (name: string, lines: readonly string[]): void =>
  writeFileSync(at(name), lines.map((line) => `${line}\n`).join(""))
const idsOf = (name: string): string[] =>
  readFileSync(at(name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).custom_id)
    .sort()
const run = (input: string, output: string, ...rest: string[]) =>
  tokenrail(["generate", "--batch", at(input), "--out", at(output), ...rest])

test("each line gets one outcome; what has one does not run again", async () => {
  const names = ["a", "b", "c", "d"]
  const messages = [{ role: "user", content: "hi" }]
  const body = { model: "any", max_tokens: 2, messages }
  const other = JSON.stringify({ custom_id: "e", method: "POST", url: "/v1/messages", body })
  write("in.jsonl", [...names.map((name) => chat(name)), other])
  const first = await run("in.jsonl", "out.jsonl")
  expect([first.code, first.out]).toEqual([0, ""])
  expect(idsOf("out.jsonl")).toEqual([...names, "e"])
  // Without the last line, and with a part of it.
  const lines = readFileSync(at("out.jsonl"), "utf8").split("\n")
  writeFileSync(at("out.jsonl"), `${lines.slice(0, 2).join("\n")}\n${lines[2].slice(0, 40)}`)
  expect((await run("in.jsonl", "out.jsonl")).code).toBe(0)
  expect(idsOf("out.jsonl")).toEqual([...names, "e"])
  expect(readFileSync(at("out.jsonl"), "utf8").split("\n").slice(0, 2)).toEqual(lines.slice(0, 2))
})

test("a refused line is an outcome too, and the exit code is 1", async () => {
  write("refused.jsonl", [chat("a"), chat("b", { top_p: 7 })])
  const { code, err } = await run("refused.jsonl", "refused-out.jsonl")
  expect(code).toBe(1)
  expect(err).toContain("1 of 2 lines were refused or failed")
  expect(idsOf("refused-out.jsonl")).toEqual(["a", "b"])
  // Nothing is left to run, and it is still told.
  expect((await run("refused.jsonl", "refused-out.jsonl")).code).toBe(1)
})

test("outcomes of another input do not count", async () => {
  write("one.jsonl", [chat("a"), chat("b", { top_p: 7 })])
  write("two.jsonl", [chat("c"), chat("d")])
  expect((await run("one.jsonl", "both.jsonl")).code).toBe(1)
  expect((await run("two.jsonl", "both.jsonl")).code).toBe(0)
  expect(idsOf("both.jsonl")).toEqual(["a", "b", "c", "d"])
})

test("wrong usage", async () => {
  write("broken.jsonl", [chat("a"), "{ broken"])
  write("whole.jsonl", [chat("a")])
  write("foreign.jsonl", ["no outcome"])
  const errors: [string[], string][] = [
    [["--batch", at("broken.jsonl"), "--out", at("x")], "broken.jsonl:2: the line is not JSON"],
    [["--batch", at("none.jsonl"), "--out", at("x")], "ENOENT"],
    [["--batch", at("whole.jsonl")], "--batch needs --out"],
    [["--out", at("x")], "--out needs --batch"],
    [["--batch", at("whole.jsonl"), "--out", at("x"), "--temperature", "1"], "--temperature has no effect"],
    [["--batch", at("whole.jsonl"), "--out", at("x"), "hi"], "a prompt has no effect"],
    [["--batch", at("whole.jsonl"), "--out", at("foreign.jsonl")], "line 1 is not an outcome"],
  ]
  for (const [args, message] of errors) {
    const { code, err } = await tokenrail(["generate", ...args])
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  }
  expect(readFileSync(at("foreign.jsonl"), "utf8")).toBe("no outcome\n")
})
