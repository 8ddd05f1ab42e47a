/**
 * The pages of docs/ as their reader meets them: the programs of masks.md run together and print what stands below them, the
 * programs of other pages run alone, files that a page names are there, tests.md knows every suite, and tool-styles.md every style.
 * The pages of the dialects hold tables of constraints: each accepts, rejects or refuses what its row says.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve, sep } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { sections } from "../docs/.vitepress/sections.ts"
import { compile } from "../grammar/compile.ts"
import { isFormat } from "../grammar/format/names.ts"
import type { GrammarInput } from "../grammar/input.ts"
import { metaschemaText } from "../grammar/json/refs/metaschemas.ts"
import { styles } from "../grammar/tags/styles/all.ts"
import { bindGrammar, Matcher, Vocabulary } from "../mask/index.ts"
import { type Engine, open } from "../runtime/index.ts"
import { helpText } from "../server/cli/chat/commands.ts"
import { createApp, type RunningServer, serve } from "../server/index.ts"
import { shell } from "./support/program.ts"

// Inside the package, so that its name is known there.
const folder = mkdtempSync(resolve("dist/docs-"))
let engine: Engine
let server: RunningServer
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  server = await serve(createApp(engine, { ollama: true }), { port: 0 })
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.close()
  await engine.close()
})

const read = (name: string) => readFileSync(`docs/${name}`, "utf8")

/** Blocks of one language, in their order. */
const blocks = (text: string, language: string) =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter((found) => found[1] === language)
    .map((found) => found[2])

test("the programs of masks.md print what it says", async () => {
  const page = read("masks.md")
  const source = blocks(page, "js").join("\n")
  // What is imported must stand first once they are one file.
  const imports = source.match(/^import .*$/gm)!.join("\n")
  const file = join(folder, "masks.mjs")
  writeFileSync(file, `${imports}\n${source.replace(/^import .*$/gm, "")}`)
  const { code, out, err } = await shell(`node ${file}`)
  expect(code, err).toBe(0)
  const trimmed = (text: string) => text.replace(/ +$/gm, "")
  expect(trimmed(out)).toBe(trimmed(blocks(page, "text").join("")))
})

test.each<[page: string, prints: RegExp]>([
  ["batches.md", /^completed 2\n.*"custom_id":"water".*\n$/s],
  ["decisions.md", /^billing [01]\.\d{3}\n$/],
  ["extraction.md", /^2024-05-06 2024-05-06 true 0\n$/],
  ["messages.md", /^\{"wet":\s*(true|false)\}\n$/],
  ["ollama.md", /^\{"wet":\s*(true|false)\}\n$/],
  ["openapi.md", /^3\.1\.1 \[\n? *'schema',.*\]\n$/s],
  ["responses.md", /^\{ wet: (true|false) \}\n$/],
  ["tools.md", /^get_weather \{ city: '.*' \}\n\/city .*\n.*\n[1-3] steps\n$/s],
])("the program of %s runs as it stands", async (page, prints) => {
  const [program, ...others] = blocks(read(page), "js")
  expect(others).toEqual([])
  const file = join(folder, page.replace(".md", ".mjs"))
  writeFileSync(file, program.replaceAll("http://127.0.0.1:8080", server.url))
  const { code, out, err } = await shell(`node ${file}`)
  expect(code, err).toBe(0)
  expect(out).toMatch(prints)
})

/** How each page of a dialect reads the constraints of its tables. */
const dialects: [page: string, input: (text: string) => GrammarInput][] = [
  ["gbnf.md", (text) => ({ kind: "gbnf", text })],
  ["lark.md", (text) => ({ kind: "lark", text })],
  ["json-schema.md", (schema) => ({ kind: "json", schema })],
  ["structural-tags.md", (format) => ({ kind: "tag", format })],
]

/** Returns the rows of the tables under this first column: the code of each cell. */
function rowsUnder(page: string, first: string): string[][][] {
  const tables = page.split(`\n| ${first} |`).slice(1)
  const rows = tables
    .flatMap((rest) => rest.split("\n\n")[0].split("\n").slice(2))
    .filter((row) => row.startsWith("| "))
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) =>
        [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code.replaceAll("\\|", "|").replaceAll("⏎", "\n")),
      ),
  )
}

const everyByte = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const bytes = Vocabulary.fromBytes([...everyByte, null], { endIds: [256] })

function isAccepted(input: GrammarInput, text: string): boolean {
  const matcher = new Matcher(bindGrammar(compile(input).grammar, bytes))
  return [...new TextEncoder().encode(text)].every((byte) => matcher.accept(byte)) && matcher.isAccepting()
}

test.each(dialects)("the constraints of %s accept and reject what it says", (page, input) => {
  const rows = rowsUnder(read(page), "Construct")
  expect(rows.length).toBeGreaterThan(9)
  for (const [, [constraint], accepted, rejected] of rows) {
    const found = [...accepted, ...rejected].map((text) => [
      constraint,
      text,
      isAccepted(input(constraint), text),
    ])
    const said = (texts: string[], verdict: boolean) => texts.map((text) => [constraint, text, verdict])
    expect(found).toEqual([...said(accepted, true), ...said(rejected, false)])
  }
})

/** The metaschemas of all drafts; of those from 2019-09 on, their parts too. */
const metaschemas = [
  ...["04", "06", "07"].map((draft) => `http://json-schema.org/draft-${draft}/schema`),
  ...["2019-09", "2020-12"].flatMap((draft) => [
    `https://json-schema.org/draft/${draft}/schema`,
    ...["core", "applicator", "validation", "meta-data", "content"].map(
      (part) => `https://json-schema.org/draft/${draft}/meta/${part}`,
    ),
  ]),
  "https://json-schema.org/draft/2019-09/meta/format",
  "https://json-schema.org/draft/2020-12/meta/format-annotation",
  "https://json-schema.org/draft/2020-12/meta/unevaluated",
]

/** Every name that a metaschema describes, in any draft. */
function standardKeywords(): string[] {
  const names = metaschemas.flatMap((uri) => Object.keys(JSON.parse(metaschemaText(uri)!).properties ?? {}))
  return [...new Set(names)].sort()
}

test("json-schema.md has a row for every keyword, which accepts and rejects what it says", () => {
  const rows = rowsUnder(read("json-schema.md"), "Keyword")
  expect(rows.map(([[keyword]]) => keyword).sort()).toEqual(standardKeywords())
  for (const [[keyword], , , [schema], accepted, rejected] of rows) {
    expect(schema).toContain(`"${keyword}":`)
    const verdicts = [...accepted, ...rejected].map((text) => [
      text,
      isAccepted({ kind: "json", schema }, text),
    ])
    const said = [...accepted.map((text) => [text, true]), ...rejected.map((text) => [text, false])]
    expect([keyword, verdicts]).toEqual([keyword, said])
    expect([keyword, accepted.length > 0, rejected.length > 0]).toEqual([keyword, true, true])
  }
})

test("every format that json-schema.md lists is asserted: no format accepts every string", () => {
  const names = rowsUnder(read("json-schema.md"), "Formats").flatMap(([formats]) => formats)
  expect(names.length).toBe(19)
  for (const format of names) {
    expect(isFormat(format), format).toBe(true)
    expect(isAccepted({ kind: "json", schema: { type: "string", format } }, '"%{ ["'), format).toBe(false)
  }
})

test.each(dialects)("the constraints that %s calls refused have its messages", (page, input) => {
  const rows = rowsUnder(read(page), "Refused")
  expect(rows.length).toBeGreaterThan(9)
  for (const [[constraint], [kind], [message]] of rows) {
    expect(() => compile(input(constraint)), constraint).toThrow(expect.objectContaining({ kind }))
    expect(() => compile(input(constraint)), constraint).toThrow(message)
  }
})

test.each(dialects)("the commands of %s print what it says", async (page) => {
  const [command, ...others] = blocks(read(page), "sh")
  expect(others).toEqual([])
  const { out, err } = await shell(command.replaceAll("npx tokenrail", "node dist/server/main.js"))
  expect(out, err).toBe(blocks(read(page), "text")[0])
})

test.each(dialects)("the program of %s prints what it says", async (page) => {
  const file = join(folder, page.replace(".md", ".mjs"))
  writeFileSync(file, blocks(read(page), "js")[0])
  const { out, err } = await shell(`node ${file}`)
  expect(out, err).toBe(blocks(read(page), "text")[1])
})

const pages = readdirSync("docs").filter((name) => name.endsWith(".md"))
const topPages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
test.each([...pages.map((name) => `docs/${name}`), ...topPages])("%s names files that are there", (page) => {
  const text = readFileSync(page, "utf8").replace(/^```.*?^```$/gms, "")
  const named = [
    ...text.matchAll(/`((?:grammar|mask|sampler|runtime|server|test|docs|examples)\/[\w./-]*)`/g),
  ]
  const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => join(dirname(page), path))
  const missing = [...named.map(([, path]) => path), ...linked].filter(
    (path) => !existsSync(path) && !existsSync(join("test", path)),
  )
  expect(missing).toEqual([])
})

test("every page is in the menu of the site once", () => {
  const listed = Object.values(sections).flat()
  expect(listed.map((name) => `${name}.md`).sort()).toEqual([...pages].sort())
})

/** The anchors of a page: those of its headings, as GitHub and the site make them. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(page, "utf8").replace(/^```.*?^```$/gms, "")
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replaceAll("`", "")
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  )
}

test.each([...pages.map((name) => `docs/${name}`), "README.md"])(
  "the anchors that %s links to are there",
  (page) => {
    const text = readFileSync(page, "utf8").replace(/^```.*?^```$/gms, "")
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
    const missing = links.filter(([, path, anchor]) => {
      const target = path === "" ? page : join(dirname(page), path)
      return target.endsWith(".md") && !anchorsOf(target).includes(anchor)
    })
    expect(missing.map(([link]) => link)).toEqual([])
  },
)

test("cli.md lists the commands of a conversation", () => {
  const page = read("cli.md")
  const named = [...helpText().matchAll(/^\/(\w+)/gm)].map(([, name]) => name)
  expect(named.filter((name) => !page.includes(`\`/${name}`))).toEqual([])
})

test("tool-styles.md lists every style", () => {
  const page = read("tool-styles.md")
  expect(styles.map(({ name }) => name).filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

test("tests.md lists every suite that npm test leaves out, and every folder of tests", () => {
  const page = read("tests.md")
  const suites = readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => path.endsWith(".test.ts"))
  const isExtra = (path: string) => /\.(?:long|full)\./.test(path)
  const named = [...page.matchAll(/`([\w/]+(?:\.\w+)*\.test\.ts)`/g)].map(([, path]) => path)
  expect(named.filter(isExtra).sort()).toEqual(suites.filter(isExtra).sort())
  const rest = suites.filter((path) => !isExtra(path)).map((path) => path.replace(/\/.*/, "/"))
  expect([...new Set(rest)].filter((name) => !page.includes(`\`${name}`))).toEqual([])
})
