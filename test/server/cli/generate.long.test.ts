import { cpSync, mkdtempSync, readdirSync, truncateSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { outcome, start, tokenrail } from "../../support/program.ts"

const schema =
  '{"type": "object", "properties": {"age": {"type": "integer", "minimum": 0, "maximum": 99}}, "required": ["age"], "additionalProperties": false}'

test("the text alone is on standard output", async () => {
  const { code, out } = await tokenrail(["generate", "How old?", "--schema", schema, "--seed", "1"])
  expect(code).toBe(0)
  expect(JSON.parse(out).age).toBeLessThan(100)
  expect(out.endsWith("}\n")).toBe(true)
})

test("--json adds value, finish reason and usage; standard input is a prompt", async () => {
  const { out } = await tokenrail(["generate", "-", "--regex", "[ab]{3}", "--json", "--n", "2"], "Say it.")
  const answers = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(answers).toHaveLength(2)
  for (const answer of answers) {
    expect(answer.text).toMatch(/^[ab]{3}$/)
    expect(answer).toMatchObject({ finishReason: "stop", usage: { promptTokens: expect.any(Number) } })
  }
})

test("--stream prints the same text as it comes", async () => {
  const args = ["generate", "Go", "--regex", "[a-z]{20}", "--seed", "4", "--temperature", "1.5"]
  const [whole, streamed] = [await tokenrail(args), await tokenrail([...args, "--stream"])]
  expect(streamed.out).toBe(whole.out)
})

test("--heal takes back what a longer token could cover: a token less of the prompt, the same text", async () => {
  const args = [
    "generate",
    '{"name":"Anna"',
    "--raw",
    "--regex",
    ',"age":"3[0-9]"\\}',
    "--temperature",
    "0",
    "--json",
  ]
  const [plain, healed] = [await tokenrail(args), await tokenrail([...args, "--heal"])].map(({ out }) =>
    JSON.parse(out),
  )
  expect(healed.text).toMatch(/^,"age":"3\d"\}$/)
  expect(healed.usage.promptTokens).toBe(plain.usage.promptTokens - 1)
})

test("a constrained text that is cut off is 5", async () => {
  const { code, err } = await tokenrail(["generate", "Go", "--regex", "[a-z]{200}", "--max-tokens", "3"])
  expect([code, err]).toEqual([5, expect.stringContaining("--max-tokens")])
})

test.each<[string, string[], number, RegExp]>([
  ["two constraints", ["--regex", "a", "--choice", "b"], 2, /--regex and --choice/],
  ["a flag that is no number", ["--temperature", "hot"], 2, /number/],
  ["a temperature out of range", ["--temperature", "-1"], 2, /temperature/],
  ["healing without a constraint", ["--raw", "--heal"], 2, /heal: true rewrites/],
  ["a missing schema file", ["--schema", "none.json"], 2, /none\.json/],
  ["a broken schema", ["--schema", '{"type": "objct"}'], 3, /type/],
  ["a missing model", ["--model", "no/such/model"], 4, /no\/such\/model/],
])("%s is refused by exit code and message", async (_, args, code, message) => {
  const outcome = await tokenrail(["generate", "Go", ...args])
  expect([outcome.code, outcome.out]).toEqual([code, ""])
  expect(outcome.err).toMatch(message)
})

test("a truncated graph is 4 and names the file", async () => {
  const directory = mkdtempSync(join(tmpdir(), "model-"))
  cpSync("runtime/embedded", directory, { recursive: true })
  const graph = readdirSync(join(directory, "onnx")).find((name) => name.endsWith(".onnx"))!
  truncateSync(join(directory, "onnx", graph), 5000)
  const { code, out, err } = await tokenrail(["generate", "Go", "--model", directory])
  expect([code, out]).toEqual([4, ""])
  expect(err).toContain(graph)
})

test("an interrupt ends it by 130", async () => {
  const child = start(["generate", "Go", "--regex", "[a-z]{100000}", "--stream"])
  const ended = outcome(child)
  child.stdout!.once("data", () => child.kill("SIGINT"))
  expect((await ended).code).toBe(130)
})
