/** Conversations in this process: commands, traces, saved requests. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../../runtime/index.ts"
import { createApp } from "../../../../server/app.ts"
import { helpText, runCommand, type Session } from "../../../../server/cli/chat/commands.ts"
import { Conversation, type Host } from "../../../../server/cli/chat/conversation.ts"
import { History, historyFile } from "../../../../server/cli/chat/history.ts"
import { PipedLines } from "../../../../server/cli/chat/lines.ts"
import { traceOf } from "../../../../server/cli/chat/trace.ts"
import { ioOf } from "../../../support/io.ts"

const folder = mkdtempSync(join(tmpdir(), "chat-"))
let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu" })
})
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true })
})

const schema =
  '{"type":"object","properties":{"age":{"type":"integer","minimum":1,"maximum":99}},"required":["age"],"additionalProperties":false}'

/** A conversation whose commands print into `printed`. */
function opened(): { session: Session; said: () => string; conversation: Conversation } {
  let printed = ""
  const settings = { engine, sampling: { maxTokens: 40, temperature: 0.9 }, policies: {}, compileMs: 2_000 }
  const conversation = new Conversation(settings)
  const out = (text: string) => {
    printed += text
  }
  const said = () => {
    const text = printed
    printed = ""
    return text
  }
  return { session: { io: { ...ioOf(), out }, conversation, maskMs: 1_000 }, said, conversation }
}

function host(given: Partial<Host> = {}): Host {
  return {
    text: () => {},
    reasoning: () => {},
    resultOf: async () => null,
    signal: new AbortController().signal,
    ...given,
  }
}

test("a trace has as many forced tokens as the engine counted", async () => {
  const { conversation } = opened()
  conversation.constrain({ kind: "json", schema })
  conversation.seed = 7n
  const result = (await conversation.ask("How old?", host()))!
  const trace = await traceOf(conversation.last!, conversation.settings)
  expect(trace.map(({ id }) => id)).toEqual(result.tokens)
  expect(result.usage.forcedTokens).toBeGreaterThan(0)
  expect(trace.filter(({ kind }) => kind === "forced")).toHaveLength(result.usage.forcedTokens)
  for (const { allowed } of trace) expect(allowed).toBeGreaterThan(0)
  expect(trace.map(({ text }) => JSON.parse(text)).join("")).toBe(result.text)
})

test("a trace of a turn with tools has counts and kinds", async () => {
  const { conversation } = opened()
  const parameters = { type: "object", properties: { city: { enum: ["Rome", "Oslo"] } }, required: ["city"] }
  conversation.tools = [{ type: "function", function: { name: "weather", parameters } }]
  conversation.seed = 3n
  await conversation.ask("The weather?", host())
  const { result } = conversation.last!
  const trace = await traceOf(conversation.last!, conversation.settings)
  expect(trace.map(({ id }) => id)).toEqual(result.tokens)
  expect(trace.length).toBeGreaterThan(0)
  for (const { kind, allowed } of trace) {
    if (kind === "forced") expect(allowed).toBe(null)
    else expect(allowed).toBeGreaterThan(0)
  }
  expect(trace.some(({ kind }) => kind === "sampled")).toBe(true)
})

test("a saved request gives the last answer again, over HTTP", async () => {
  const { session, said, conversation } = opened()
  conversation.system = "Be brief."
  await runCommand(`/schema ${schema}`, session)
  await conversation.ask("How old?", host())
  const { text } = (await conversation.ask("And now?", host()))!
  const file = join(folder, "saved.json")
  await runCommand(`/save ${file}`, session)
  expect(said()).toContain(`saved to ${file}`)
  const { messages, request } = JSON.parse(readFileSync(file, "utf8"))
  expect(messages.map(({ role }: { role: string }) => role)).toEqual([
    ...["system", "user", "assistant", "user", "assistant"],
  ])
  const reply = await createApp(engine).request("/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  })
  const answer = await reply.json()
  expect(reply.status, JSON.stringify(answer)).toBe(200)
  expect(answer.choices[0].message.content).toBe(text)
  await expect(runCommand(`/save ${file}`, session)).rejects.toThrow(/exists: give another name/)
})

test("a stopped answer stays, marked, and the mark is not part of a prompt", async () => {
  const { conversation } = opened()
  conversation.constrain({ kind: "regex", pattern: "[a-z]{100000}" })
  const controller = new AbortController()
  const stops = host({ text: () => controller.abort(), signal: controller.signal })
  const stopped = await conversation.ask("Go", stops)
  expect(stopped?.finishReason).toBe("abort")
  expect(conversation.messages()).toMatchObject([{ role: "user" }, { role: "assistant", stopped: true }])
  conversation.constrain({ kind: "choice", options: ["yes"] })
  await conversation.ask("Go on", host())
  expect(conversation.last!.sent.every((message) => !("stopped" in message))).toBe(true)
  expect(conversation.messages()).toHaveLength(4)
})

test("a question that is stopped before its answer, or fails, is forgotten", async () => {
  const { conversation } = opened()
  const signal = AbortSignal.abort()
  expect(await conversation.ask("Go", host({ signal }))).toBe(null)
  expect(conversation.messages()).toEqual([])
  await expect(conversation.ask("long ".repeat(20_000), host())).rejects.toThrow(/context/)
  expect(conversation.messages()).toEqual([])
})

test("calls of tools: the result is a message, and giving up forgets the question", async () => {
  const { session, said, conversation } = opened()
  const file = join(folder, "tools.json")
  const parameters = { type: "object", properties: { city: { enum: ["Paris"] } }, required: ["city"] }
  writeFileSync(file, JSON.stringify([{ type: "function", function: { name: "weather", parameters } }]))
  await runCommand(`/tools ${file}`, session)
  expect(said()).toBe("tools: weather\n")
  conversation.seed = 1n
  expect(await conversation.ask("What is the weather in Paris?", host())).toBe(null)
  expect(conversation.messages()).toEqual([])
  const results = ["21 degrees"]
  await conversation.ask(
    "What is the weather in Paris?",
    host({ resultOf: async () => results.pop() ?? null }),
  )
  expect(results).toEqual([])
  await runCommand("/tools none", session)
  expect(said()).toBe("no tools\n")
})

test.each<[string, RegExp]>([
  ["/nothing", /no command \/nothing/],
  ["/", /no command \//],
  ["/schema", /needs an argument/],
  ["/schema none.json", /cannot read none\.json/],
  ["/schema -", /standard input holds the conversation/],
  ['/schema {"type":"objct"}', /type/],
  ["/regex (a", /group/],
  ["/grammar root ::= a", /rule/],
  ["/seed 1.5", /64 bits/],
  ["/seed 99999999999999999999999", /64 bits/],
  ["/tools package.json", /no tools/],
  ["/tools tsconfig.json", /JSON|tools/],
  ["/trace", /no answer yet/],
  ["/allowed", /set a constraint/],
  ["/reset now", /takes no argument/],
  ["/save /nowhere/x", /cannot save/],
])("%s is refused and changes nothing", async (line, message) => {
  const { session, conversation } = opened()
  conversation.constrain(null)
  await expect(runCommand(line, session)).rejects.toThrow(message)
  expect([conversation.input, conversation.tools, conversation.seed]).toEqual([null, null, null])
})

test("/allowed says what may follow a prefix, or where it fails", async () => {
  const { session, said } = opened()
  await runCommand(`/schema ${schema}`, session)
  said()
  await runCommand('/allowed {"age": 4', session)
  expect(said()).toMatch(/^may follow: /)
  await runCommand('/allowed {"b', session)
  expect(said()).toMatch(/^the prefix fails at byte 2, line 1, column 3/)
  await runCommand("/allowed", session)
  expect(said()).toMatch(/^may follow: an object/)
})

test("the help is at most 80 columns wide", () => {
  expect(
    helpText()
      .split("\n")
      .every((line) => line.length <= 80),
  ).toBe(true)
})

test("lines of a pipe: any line breaks and chunks, and a bound", async () => {
  const lines = new PipedLines(
    Readable.from(["on", "e\r\ntwo\n\nth", "ree"].map((text) => Buffer.from(text))),
  )
  const read: unknown[] = []
  for (let each = await lines.next(); each.kind === "line"; each = await lines.next()) read.push(each.text)
  expect(read).toEqual(["one", "two", "", "three"])
  const endless = new PipedLines(Readable.from(Array.from({ length: 40 }, () => "x".repeat(1 << 20))))
  await expect(endless.next()).rejects.toThrow(/more than 16777216 characters/)
})

test("the history is private, bounded, and may be unusable", async () => {
  const env = { XDG_CACHE_HOME: join(folder, "cache") }
  const io = ioOf({ env })
  const file = historyFile(env)
  const first = await History.open(io)
  first.add("one")
  first.add("  ")
  first.add("x".repeat(5_000))
  first.add("two")
  expect(readFileSync(file, "utf8")).toBe("one\ntwo\n")
  writeFileSync(file, Array.from({ length: 3_000 }, (_, at) => `line ${at}\n`).join(""))
  chmodSync(file, 0o644)
  const { lines } = await History.open(io)
  expect([lines.length, lines[0]]).toEqual([1_000, "line 2999"])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, "utf8").split("\n")).toHaveLength(1_001)
  const blocked = ioOf({ env: { XDG_CACHE_HOME: file } })
  const none = await History.open(blocked)
  none.add("three")
  expect([none.lines, blocked.printed]).toEqual([[], expect.stringContaining("no history is kept")])
  expect(existsSync(`${file}/tokenrail`)).toBe(false)
})
