import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../server/index.ts"
import { HubServer } from "./support/hubserver.ts"
import { shell } from "./support/program.ts"

/** Every block of the README is run as it stands; only the server's port is another. */

interface Block {
  language: string
  text: string
  /** The `text` block behind it, if there is one: what it prints. */
  output: string | null
}

const readme = readFileSync("README.md", "utf8")
const scripts = JSON.parse(readFileSync("package.json", "utf8"))
const blocks = readBlocks()
const commands = blocks
  .filter(({ language }) => language === "sh")
  .flatMap(({ text, output }) => splitCommands(text).map((command) => ({ command, output })))
const programs = blocks.filter(({ language }) => language === "js")
const folder = "dist/readme"

let engine: Engine
let server: RunningServer
/** A tiny model, by the name that the README has one of the hub by. */
const hub = new HubServer(
  [{ path: "SmolLM2-135M-Instruct-Q4_K_M.gguf", content: readFileSync("test/decoders/llama.gguf") }],
  "bartowski/SmolLM2-135M-Instruct-GGUF",
)
const cache = mkdtempSync(join(tmpdir(), "hub-"))
beforeAll(async () => {
  await hub.start()
  engine = await open({ device: "cpu" })
  server = await serve(createApp(engine), { port: 0 })
  mkdirSync(folder, { recursive: true })
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  rmSync("month.rail", { force: true })
  rmSync(cache, { recursive: true })
  await hub.close()
  await server.close()
  await engine.close()
})

function readBlocks(): Block[] {
  const found = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language,
    text,
  }))
  return found.map((block, at) => ({
    ...block,
    output: found[at + 1]?.language === "text" ? found[at + 1].text : null,
  }))
}

/** Commands of a block: a line that leaves a quote open goes on in the next. */
function splitCommands(text: string): string[] {
  const lines: string[] = []
  for (const line of text.trim().split("\n")) {
    const open = lines.length > 0 && (lines.at(-1)!.match(/'/g)?.length ?? 0) % 2 === 1
    if (open) lines[lines.length - 1] += `\n${line}`
    else lines.push(line)
  }
  return lines
}

const here = (text: string) => text.replaceAll("http://127.0.0.1:8080", server.url)

test("every block is one that is run, and none is left to be filled in", () => {
  expect(
    blocks.map(({ language }) => language).filter((language) => !["sh", "js", "text"].includes(language)),
  ).toEqual([])
  expect([programs.length, commands.length]).toEqual([4, 18])
  expect(readme.match(/‹.*?›|TODO|TBD/g) ?? []).toEqual([])
})

test("the two commands name scripts of the package", () => {
  const [start, all] = commands.map(({ command }) => /^npm ci && npm (\w+) /.exec(command)?.[1])
  expect([start, all]).toEqual(["start", "test"])
  expect(scripts.scripts).toHaveProperty("start", expect.stringMatching(/dist\/server\/main\.js serve$/))
  expect(scripts.scripts).toHaveProperty("test", expect.stringMatching(/vitest run --project core /))
  expect(scripts.bin.tokenrail).toBe("dist/server/main.js")
})

const content = (part: object) => ({ messages: [{ role: "user", content: [part] }] })
const schema = (value: object) => ({ structured_outputs: { json: value } })
test.each<[what: string, fields: object]>([
  ["references to documents", schema({ $ref: "http://example.com/other" })],
  ["back-references", { structured_outputs: { regex: "(a|b)\\1" } }],
  ["tools that a service runs itself", { tools: [{ type: "web_search" }], tool_choice: "required" }],
  ["image", content({ type: "image_url", image_url: { url: "data:," } })],
  ["audio", content({ type: "input_audio", input_audio: { data: "", format: "wav" } })],
])("not supported, and refused: %s", async (what, fields) => {
  expect(readme).toContain(what)
  const messages = [{ role: "user", content: "Hi" }]
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "tokenrail-embedded", messages, max_tokens: 1, ...fields }),
  })
  const { error } = await response.json()
  expect([response.status, error.type]).toEqual([400, "invalid_request_error"])
})

test.each(programs.map((block, index) => [index, block] as const))(
  "program %i",
  async (index, { text, output }) => {
    const file = `${folder}/${index}.mjs`
    writeFileSync(file, here(text))
    const { code, out, err } = await shell(`node ${file}`)
    expect(code, err).toBe(0)
    // What a model writes is claimed as a form, what the masks do to the letter.
    const forms = [
      /^\{ name: '[A-Z][a-z]{2,9}', age: ([2-9]\d|1[89]) \}\n$/,
      /^\{ answer: '(yes|no|it depends)', confidence: ([0-9]|10) \}\n$/,
      /^\d( \d){4} \{ status: 'ok' \}\n$/,
    ]
    if (index < forms.length) expect(out).toMatch(forms[index])
    else expect(out).toBe(output)
    if (index === 0) expect(output).toMatch(forms[0])
  },
)

/** Of each command after the first two: its exit code and what it prints. */
const expected: [begins: string, code: number, check: (out: string) => void][] = [
  ["npx tokenrail pull", 0, (out) => expect(out).toMatch(/SmolLM2-135M-Instruct-Q4_K_M\.gguf\n$/)],
  [
    "npx tokenrail models",
    0,
    (out) => expect(out).toMatch(/^bartowski\/SmolLM2-135M-Instruct-GGUF:Q4_K_M {2}gguf .*\.gguf\n/),
  ],
  ["npx tokenrail generate", 0, (out) => expect(out).toMatch(/^(red|green|blue)\n$/)],
  [
    "curl",
    0,
    (out) => {
      const { answer, confidence } = JSON.parse(JSON.parse(out).choices[0].message.content)
      expect(["yes", "no", "it depends"]).toContain(answer)
      expect(confidence).toBeLessThanOrEqual(10)
    },
  ],
  [
    "curl",
    0,
    (out) => {
      const [{ function: called }] = JSON.parse(out).choices[0].message.tool_calls
      expect([called.name, Object.keys(JSON.parse(called.arguments))]).toEqual([
        "get_weather",
        ["city", "unit"],
      ])
    },
  ],
  ["curl", 0, (out) => expect(JSON.parse(out).output[0].input).toMatch(/^\d{3}-\d{4}$/)],
  ["curl", 0, (out) => expect(JSON.parse(out).choices.length).toBe(2)],
  [
    "curl",
    0,
    (out) => {
      const { content, stop_reason } = JSON.parse(out)
      expect([stop_reason, content[0].name]).toEqual(["tool_use", "get_weather"])
      expect(["c", "f"]).toContain(content[0].input.unit)
    },
  ],
  [
    "curl",
    0,
    (out) =>
      expect(JSON.parse(out).error).toMatchObject({ code: "invalid_json_schema", kind: "unsatisfiable" }),
  ],
  ["npx tokenrail generate", 0, (out) => expect(out).toMatch(/^(red|green|blue)\n$/)],
  ["npx tokenrail generate", 0, (out) => expect(JSON.parse(out).text).toMatch(/^(19|20)\d\d-\d\d-\d\d$/)],
  ["npx tokenrail compile", 0, (out) => expect(out).toMatch(/maxItems +exact/)],
  ["npx tokenrail generate", 0, (out) => expect(out).toMatch(/^[1-9]\d{0,2}( \+ [1-9]\d{0,2}){1,3}\n$/)],
  ["echo", 1, () => {}],
  ["npx tokenrail compile", 0, (out) => expect(out).toMatch(/month\.rail: a machine of \d+ states/)],
  ["echo", 1, (out) => expect(out).toMatch(/^-: rejected at byte 6, line 1, column 7: expected/)],
]

test.each(expected.map((row, index) => [index, row] as const))(
  "command %i",
  async (index, [begins, exitCode, check]) => {
    const { command, output } = commands[index + 2]
    expect(command.startsWith(begins), command).toBe(true)
    const { code, out, err } = await shell(
      here(command).replace("npx tokenrail", "node dist/server/main.js"),
      { HF_ENDPOINT: hub.url, HF_HUB_CACHE: cache, XDG_CACHE_HOME: cache },
    )
    expect(code, err).toBe(exitCode)
    check(out)
    if (output !== null) expect(out).toBe(output)
  },
)
