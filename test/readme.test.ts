import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import initSqlJs from "sql.js"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../server/index.ts"
import { type DocBlock, readBlocks, splitCommands } from "./support/docblocks.ts"
import { HubServer } from "./support/hubserver.ts"
import { shell } from "./support/program.ts"

/**
 * The blocks of the README and of the pages of docs/ that have no table of constraints: programs
 * and commands run as they stand, and only the server's port is another. `docs.test.ts` runs the
 * rest. A block that is not run says why in a comment before it.
 */

const readme = readFileSync("README.md", "utf8")
const scripts = JSON.parse(readFileSync("package.json", "utf8"))
const folder = "dist/readme"

/** What each program of a page prints, in their order: a form, or exactly its `text` block. */
const person = /^\{ name: '.{0,12}', age: \d{1,3} \}\n$/
const programs: Record<string, (RegExp | "exactly")[]> = {
  "README.md": [/^\{ name: '[A-Z][a-z]{2,9}', age: ([2-9]\d|1[89]) \}\n$/],
  "docs/index.md": [/^(19|20)\d\d-(0[1-9]|1[0-2])\n$/],
  "docs/server.md": [/^\{ answer: '(yes|no|it depends)', confidence: ([0-9]|10) \}\n$/],
  "docs/library.md": [
    /^[A-Z][a-z]{2,9} \d+\n\{"city":"(Oslo|Rome)","celsius":4\}\n$/,
    /^\d( \d){4} \{ status: 'ok' \}\n$/,
  ],
  "docs/own-engine.md": ["exactly"],
  "docs/sql.md": [/^SELECT [\s\S]*\n$/],
  "docs/clients.md": [person, person, person, /^.{0,12} \d{1,3}\n$/, person],
  "docs/adapters.md": [person, /^\{ rating: [0-5].* \}\n[\d\n]+$/],
  "docs/lint.md": ["exactly"],
  "docs/masks-package.md": [/^true\n$/],
  "docs/sampler.md": [/^false\n$/],
  "docs/trace.md": [/^((sampled|forced|draft|closing) [\d-]+\n)+$/],
}

const pages = [
  "README.md",
  ...readdirSync("docs")
    // Its blocks are declarations of types, which the compiler writes.
    .filter((name) => name.endsWith(".md") && name !== "api.md")
    .map((name) => `docs/${name}`),
]
const blocks = pages.flatMap(readBlocks)
const ran = (page: string, language: string): DocBlock[] =>
  blocks.filter((block) => block.page === page && block.language === language && block.notRun === null)

let engine: Engine
let server: RunningServer
/** A tiny model, by the name that the pages have one of the hub by. */
const hub = new HubServer(
  [{ path: "SmolLM2-135M-Instruct-Q4_K_M.gguf", content: readFileSync("test/decoders/llama.gguf") }],
  "bartowski/SmolLM2-135M-Instruct-GGUF",
)
const cache = mkdtempSync(join(tmpdir(), "hub-"))
const written = ["month.rail", "month.svg", "vocabulary.bin"]
beforeAll(async () => {
  await hub.start()
  engine = await open({ device: "cpu" })
  // Strings of the clients' schemas are bounded by their budget too.
  server = await serve(createApp(engine, { onLength: "close" }), { port: 0 })
  mkdirSync(folder, { recursive: true })
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  for (const file of written) rmSync(file, { force: true })
  rmSync(cache, { recursive: true })
  await hub.close()
  await server.close()
  await engine.close()
})

/** A text of a page, with what is another here: the server, and the version of `ai` that is newest. */
const here = (text: string, page = "") => {
  const own = text.replaceAll("http://127.0.0.1:8080", server.url)
  return page === "docs/adapters.md" ? own.replace('from "ai"', 'from "ai7"') : own
}

/** Pages whose blocks `docs.test.ts` runs, by language. */
const elsewhere: Record<string, string[]> = {
  ...Object.fromEntries(
    ["gbnf", "json-schema", "lark", "structural-tags"].map((name) => [`docs/${name}.md`, ["js", "sh"]]),
  ),
  ...Object.fromEntries(
    [
      "batches",
      "decisions",
      "extraction",
      "masks",
      "messages",
      "ollama",
      "openapi",
      "responses",
      "tools",
    ].map((name) => [`docs/${name}.md`, ["js"]]),
  ),
}

test("every block of code is run here or by docs.test.ts, or says why it is not", () => {
  const isCode = ({ language }: DocBlock) => ["js", "ts", "sh", "python", "bash"].includes(language)
  const isLeft = ({ page, language, notRun }: DocBlock) =>
    notRun === null &&
    !elsewhere[page]?.includes(language) &&
    !(language === "js" && (page in programs || page === "docs/streaming.md")) &&
    !(language === "sh" && expected.some((row) => row[0] === page))
  // A command of npm is run by its script's own test: here it must name a script.
  const isScript = (command: string) =>
    Object.hasOwn(scripts.scripts, /^npm run ([\w:]+)$/.exec(command)?.[1] ?? "")
  const isScripts = ({ language, text }: DocBlock) => language === "sh" && splitCommands(text).every(isScript)
  const left = blocks.filter((block) => isCode(block) && isLeft(block) && !isScripts(block))
  expect(left.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  expect(readme.match(/‹.*?›|TODO|TBD/g) ?? []).toEqual([])
  for (const [page, forms] of Object.entries(programs))
    expect([page, ran(page, "js").length]).toEqual([page, forms.length])
})

test("the two commands of the README name scripts of the package", () => {
  const [start, all] = splitCommands(ran("README.md", "sh")[0].text).map(
    (command) => /^npm ci && npm (\w+) /.exec(command)?.[1],
  )
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

const programRows = Object.entries(programs).flatMap(([page, forms]) =>
  forms.map((form, index) => [page, index, form] as const),
)
test.each(programRows)("the program of %s, %i", async (page, index, form) => {
  const { text, output } = ran(page, "js")[index]
  const file = `${folder}/${page.replaceAll("/", "-")}${index}.mjs`
  writeFileSync(file, here(text, page))
  const { code, out, err } = await shell(`node ${file}`)
  expect(code, err).toBe(0)
  // What a model writes is claimed as a form, what the masks do to the letter.
  if (form === "exactly") expect(out).toBe(output)
  else expect(out).toMatch(form)
  if (output !== null && form !== "exactly") expect(output).toMatch(form)
  if (page === "docs/sql.md") {
    const database = new (await initSqlJs()).Database()
    database.run(
      "CREATE TABLE customer (id INTEGER, city TEXT); CREATE TABLE orders (customer_id INTEGER, total REAL)",
    )
    database.prepare(out).free()
  }
})

test("the program of docs/streaming.md serves a page, and events that make up an answer", async () => {
  const file = `${folder}/streaming.mjs`
  writeFileSync(file, ran("docs/streaming.md", "js")[0].text)
  const child = spawn(process.execPath, [file], { env: { ...process.env, PORT: "0" }, stdio: "pipe" })
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (chunk) => resolve(String(chunk).trim()))
      child.once("exit", (code) => reject(new Error(`it ended with ${code}`)))
    })
    expect(await (await fetch(url)).text()).toContain("new EventSource")
    const events = await (await fetch(`${url}events`)).text()
    const found = [...events.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, name, data]) => [
      name,
      JSON.parse(data),
    ])
    const title = found.filter(([name]) => name === "title").map(([, piece]) => piece)
    expect(title.join("").length).toBeGreaterThan(2)
    const tags = found.filter(([name]) => name === "tag").map(([, tag]) => tag)
    expect(tags.length).toBeGreaterThan(0)
    for (const tag of tags) expect(["news", "sport", "art"]).toContain(tag)
    expect(found.at(-1)).toEqual(["end", null])
  } finally {
    child.kill()
  }
})

/** Of each command, in the order of the pages: its exit code and what it prints. */
const expected: [page: string, begins: string, code: number, check: (out: string) => void][] = [
  ["README.md", "npx tokenrail generate", 0, (out) => expect(out).toMatch(/^(red|green|blue)\n$/)],
  [
    "README.md",
    "npx tokenrail generate",
    0,
    (out) => expect(JSON.parse(out).text).toMatch(/^(19|20)\d\d-\d\d-\d\d$/),
  ],
  [
    "docs/index.md",
    "npx tokenrail generate",
    0,
    (out) => expect(out).toMatch(/^(19|20)\d\d-(0[1-9]|1[0-2])\n$/),
  ],
  [
    "docs/install.md",
    "npx tokenrail pull",
    0,
    (out) => expect(out).toMatch(/SmolLM2-135M-Instruct-Q4_K_M\.gguf\n$/),
  ],
  [
    "docs/install.md",
    "npx tokenrail models",
    0,
    (out) => expect(out).toMatch(/^bartowski\/SmolLM2-135M-Instruct-GGUF:Q4_K_M {2}gguf .*\.gguf\n/),
  ],
  ["docs/install.md", "npx tokenrail generate", 0, (out) => expect(out).toMatch(/^(red|green|blue)\n$/)],
  [
    "docs/server.md",
    "curl",
    0,
    (out) => {
      const { answer, confidence } = JSON.parse(JSON.parse(out).choices[0].message.content)
      expect(["yes", "no", "it depends"]).toContain(answer)
      expect(confidence).toBeLessThanOrEqual(10)
    },
  ],
  [
    "docs/server.md",
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
  ["docs/server.md", "curl", 0, (out) => expect(JSON.parse(out).output[0].input).toMatch(/^\d{3}-\d{4}$/)],
  ["docs/server.md", "curl", 0, (out) => expect(JSON.parse(out).choices.length).toBe(2)],
  [
    "docs/server.md",
    "curl",
    0,
    (out) => {
      const { content, stop_reason } = JSON.parse(out)
      expect([stop_reason, content[0].name]).toEqual(["tool_use", "get_weather"])
      expect(["c", "f"]).toContain(content[0].input.unit)
    },
  ],
  [
    "docs/server.md",
    "curl",
    0,
    (out) =>
      expect(JSON.parse(out).error).toMatchObject({ code: "invalid_json_schema", kind: "unsatisfiable" }),
  ],
  ["docs/cli.md", "npx tokenrail generate", 0, (out) => expect(out).toMatch(/^(red|green|blue)\n$/)],
  [
    "docs/cli.md",
    "npx tokenrail generate",
    0,
    (out) => expect(JSON.parse(out).text).toMatch(/^(19|20)\d\d-\d\d-\d\d$/),
  ],
  ["docs/cli.md", "npx tokenrail compile", 0, (out) => expect(out).toMatch(/maxItems +exact/)],
  [
    "docs/cli.md",
    "npx tokenrail generate",
    0,
    (out) => expect(out).toMatch(/^[1-9]\d{0,2}( \+ [1-9]\d{0,2}){1,3}\n$/),
  ],
  ["docs/cli.md", "echo", 1, () => {}],
  [
    "docs/cli.md",
    "npx tokenrail compile",
    0,
    (out) => expect(out).toMatch(/month\.rail: a machine of \d+ states/),
  ],
  [
    "docs/cli.md",
    "echo",
    1,
    (out) => expect(out).toMatch(/^-: rejected at byte 6, line 1, column 7: expected/),
  ],
  [
    "docs/cli.md",
    "npx tokenrail compile",
    0,
    () => expect(readFileSync("month.svg", "utf8")).toBe(readFileSync("docs/pictures/month.svg", "utf8")),
  ],
  ["docs/cli.md", "printf", 0, (out) => expect(out).toMatch(/^[1-9][0-9]\n[1-9][0-9]\n$/)],
  ["docs/masks.md", "echo", 0, (out) => expect(out).toContain("state")],
]

const commandsOf = (page: string) =>
  ran(page, "sh")
    .flatMap(({ text, output }) => splitCommands(text).map((command) => ({ command, output })))
    .filter(({ command }) => !command.startsWith("npm "))

test("no command of a page is left out", () => {
  for (const page of new Set(expected.map(([page]) => page)))
    expect([page, commandsOf(page).length]).toEqual([page, expected.filter((row) => row[0] === page).length])
})

test.each(expected.map((row, index) => [row[0], index, row] as const))(
  "command of %s, %i",
  async (page, index, [, begins, exitCode, check]) => {
    const { command, output } = commandsOf(page)[index - expected.findIndex((row) => row[0] === page)]
    expect(command.startsWith(begins), command).toBe(true)
    const { code, out, err } = await shell(
      here(command).replace("npx tokenrail", "node dist/server/main.js"),
      { HF_ENDPOINT: hub.url, HF_HUB_CACHE: cache, XDG_CACHE_HOME: cache },
    )
    expect(code, err).toBe(exitCode)
    check(out)
    // The report of a compilation has times; its last line is the claim.
    if (output !== null) expect(out.endsWith(output), out).toBe(true)
  },
)
