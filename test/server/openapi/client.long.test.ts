/**
 * A client that openapi-typescript generates from /openapi.json: it compiles in strict mode, and a
 * program that uses it compiles exactly if its bodies fit. The generator needs a version of
 * TypeScript with an API for programs, so both are installed apart from the tree; without a
 * registry these tests are skipped and say so.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"
import { documentOf } from "../../support/openapi.ts"

const packages = ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3"]
const folder = mkdtempSync(join(tmpdir(), "client-"))
let unreachable: string | undefined

beforeAll(async () => {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--fetch-retries=0"]
  const { status, stderr } = spawnSync("npm", ["install", ...flags, ...packages], {
    cwd: folder,
    encoding: "utf8",
  })
  if (status !== 0) unreachable = `${packages.join(", ")} could not be installed: ${stderr.split("\n")[0]}`
  const engine = await open({ device: "cpu" })
  const document = await documentOf(createApp(engine, { ollama: true, apiKeys: ["k"] }))
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(document))
  await engine.close()
}, 240_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a program of the folder; its exit status and output. */
function run(name: string, args: string[]): [number | null, string] {
  const binary = join(folder, "node_modules/.bin", name)
  const { status, stdout, stderr } = spawnSync(binary, args, { cwd: folder, encoding: "utf8" })
  return [status, stdout + stderr]
}

const program = (request: string) => `
  import createClient from "openapi-fetch"
  import type { paths } from "./client.ts"
  const client = createClient<paths>({ baseUrl: "http://127.0.0.1:8080" })
  const { data, error } = await client.POST("/v1/chat/completions", { body: ${request} })
  if (data === undefined) throw new Error(error.error.message)
  if (!("service_tier" in data)) throw new Error("a stream, which the body did not ask for")
  const content: string | null | undefined = data.choices[0]?.message.content
  const { data: file } = await client.GET("/v1/files/{id}", { params: { path: { id: "file-1" } } })
  const bytes: number | undefined = file?.bytes
  console.log(content, bytes)
`

test("the generated client compiles in strict mode, and checks bodies", ({ skip }) => {
  if (unreachable !== undefined) return skip(unreachable)
  const [status, output] = run("openapi-typescript", ["openapi.json", "-o", "client.ts"])
  expect([status, output]).toEqual([0, expect.stringContaining("client.ts")])
  const compiled = (request: string): [number | null, string] => {
    writeFileSync(join(folder, "program.ts"), program(request))
    const flags = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2023", "--skipLibCheck"]
    return run("tsc", [...flags, "--allowImportingTsExtensions", "program.ts"])
  }
  const messages = '[{ role: "user", content: "hi" }]'
  expect(compiled(`{ model: "m", messages: ${messages}, structured_outputs: { choice: ["a"] } }`)).toEqual([
    0,
    "",
  ])
  // The program's errors, each with the text that it stands at.
  const errorsOf = (request: string): string[] => {
    const lines = program(request).split("\n")
    return [...compiled(request)[1].matchAll(/^program\.ts\((\d+),(\d+)\): error (TS\d+)/gm)].map(
      ([, line, column, code]) =>
        `${code} ${/^\w+/.exec(lines[Number(line) - 1].slice(Number(column) - 1))?.[0]}`,
    )
  }
  expect(errorsOf(`{ model: "m", messages: ${messages}, temperature: "hot" }`)).toEqual([
    "TS2322 temperature",
  ])
  expect(errorsOf(`{ messages: ${messages} }`)).toEqual(["TS2322 body"])
  expect(compiled(`{ messages: ${messages} }`)[1]).toContain("'model' is missing")
}, 240_000)
