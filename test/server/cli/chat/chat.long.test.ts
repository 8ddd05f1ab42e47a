/** `tokenrail chat` as a person and as a script use it. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { outcome, start, tokenrail } from "../../../support/program.ts"
import { hasTerminals, Terminal } from "../../../support/terminal.ts"

const folder = mkdtempSync(join(tmpdir(), "chat-"))
afterAll(() => rmSync(folder, { recursive: true }))
const env = { XDG_CACHE_HOME: folder }
const history = join(folder, "tokenrail/chat_history")
const program = `${process.execPath} dist/server/main.js chat`

test("a pipe: lines in, answers out, nothing else", async () => {
  const { code, out, err } = await tokenrail(
    ["chat", "--seed", "3", "--choice", "red", "green"],
    'Pick one.\nAnd \\\nnow?\n"""\nAnd\nagain?\n"""\n',
  )
  expect(code, err).toBe(0)
  expect(out).toMatch(/^(red|green)\n(red|green)\n(red|green)\n$/)
  expect(err).not.toContain(">")
})

test.each<[string, string[], string, number, RegExp]>([
  ["a refused constraint", [], "/regex (a\nHello\n", 3, /group/],
  ["a wrong seed", [], "/seed x\nHello\n", 2, /64 bits/],
  ["a cut answer", ["--regex", "[a-z]{200}", "--max-tokens", "3"], "Hello\n", 5, /--max-tokens/],
  [
    "a tool without result",
    ["--tools", "TOOLS", "--seed", "1"],
    "What is the weather in Paris?\n",
    2,
    /result of/,
  ],
])("a pipe: %s ends with its exit code", async (_, args, input, code, message) => {
  const tools = join(folder, "tools.json")
  writeFileSync(tools, JSON.stringify([weather]))
  const run = await tokenrail(["chat", ...args.map((arg) => (arg === "TOOLS" ? tools : arg))], input)
  expect([run.code, run.err]).toEqual([code, expect.stringMatching(message)])
})

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object",
      properties: { city: { enum: ["Paris", "Rome"] } },
      required: ["city"],
      additionalProperties: false,
    },
  },
}

test("a pipe: an interrupt is 130", async () => {
  const child = start(["chat", "--regex", "[a-z]{100000}"])
  const ended = outcome(child)
  child.stdin!.write("Go\n")
  child.stdout!.once("data", () => child.kill("SIGINT"))
  expect((await ended).code).toBe(130)
})

describe.runIf(hasTerminals)("at a terminal (needs the command script)", () => {
  test("answers, keeps the history, and leaves at Ctrl-D", async () => {
    const terminal = new Terminal(program, { ...env, NO_COLOR: "1" })
    await terminal.until(/\/help.*\n> /)
    terminal.type("/regex [ab]{3}\r")
    await terminal.until(/regular expression\n> /)
    terminal.type("Say it.\r")
    await terminal.until(/\n[ab]{3}\n> /)
    terminal.type("/regex (a\r")
    await terminal.until(/tokenrail: .*\n> /)
    terminal.type("\u0004")
    expect(await terminal.code()).toBe(0)
    expect(terminal.raw).not.toContain("\u001b[1m")
    expect(readFileSync(history, "utf8")).toBe("/regex [ab]{3}\nSay it.\n/regex (a\n")
    expect(statSync(history).mode & 0o777).toBe(0o600)
    // The next conversation has it, and --no-history leaves it alone.
    const next = new Terminal(program, env)
    await next.until(/> /)
    next.type("\u001b[A\u001b[A")
    await next.until(/Say it\./)
    next.type("\u0003")
    await next.until(/\^C/)
    next.type("\u0004")
    expect(await next.code()).toBe(0)
    const without = new Terminal(`${program} --no-history`, env)
    await without.until(/> /)
    without.type("Secret.\r")
    await without.until(/> /)
    without.type("/quit\r")
    expect(await without.code()).toBe(0)
    expect(readFileSync(history, "utf8")).not.toContain("Secret")
  })

  test("Ctrl-C stops the answer, which stays, marked; twice at an empty prompt is 130", async () => {
    const terminal = new Terminal(`${program} --no-history --regex [a-z]{100000}`, env)
    await terminal.until(/> /)
    terminal.type("Go\r")
    await terminal.until(/[a-z]{20}/)
    terminal.type("\u0003")
    await terminal.until(/stopped: the conversation keeps the answer/)
    await terminal.until(/> /)
    const saved = join(folder, "stopped.json")
    terminal.type(`/save ${saved}\r`)
    await terminal.until(/saved to/)
    const { messages } = JSON.parse(readFileSync(saved, "utf8"))
    expect(messages).toMatchObject([
      { role: "user", content: "Go" },
      { role: "assistant", content: expect.stringMatching(/^[a-z]{20,}$/), stopped: true },
    ])
    terminal.type("half a line\u0003")
    await terminal.until(/\^C/)
    terminal.type("\u0003")
    await terminal.until(/leaves/)
    terminal.type("\u0003")
    expect(await terminal.code()).toBe(130)
  })

  test("what is typed during an answer is the next message", async () => {
    const terminal = new Terminal(`${program} --no-history --regex [ab]{300}`, env)
    await terminal.until(/> /)
    terminal.type("Go\r")
    await terminal.until(/[ab]{20}/)
    terminal.type("/free\r")
    await terminal.until(/[ab]\n.*> .*\/free\nanswers are free text/)
    terminal.type("\u0004")
    expect(await terminal.code()).toBe(0)
  })

  test("tools: the user types the result, or forgets the question", async () => {
    const tools = join(folder, "typed.json")
    writeFileSync(tools, JSON.stringify({ tools: [weather] }))
    const terminal = new Terminal(`${program} --no-history --tools ${tools} --seed 1`, env)
    await terminal.until(/> /)
    terminal.type("What is the weather in Paris?\r")
    await terminal.until(/get_weather\(\{"city": ?"(Paris|Rome)"\}\)\n.*result of get_weather> /)
    terminal.type('{"temperature": 21}\r')
    // The answer, or another call, whose question is then forgotten.
    await terminal.until(/\n.*> /)
    terminal.type("\u0003")
    await terminal.until(/\n> /)
    terminal.type("\u0004")
    expect(await terminal.code()).toBe(0)
  })
})
