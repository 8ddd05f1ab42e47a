/**
 * The two public corpora as tables: the JSON-Schema-Test-Suite (required tests, optional ones, formats) with its remote
 * documents, and the development part of MaskBench. Absent data is `null`, and tests skip with that reason.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { type JsonNode, readJson } from "../../../grammar/json/read/reader.ts"

const suite = "../shared/data/json-schema-test-suite"
const maskbench = "../shared/data/maskbench-dev.jsonl.gz"
const hardSchemas = "../shared/data/hard-schemas.jsonl"

export const hasSuite = existsSync(suite)
export const hasMaskBench = existsSync(maskbench)

/** Directory of the suite and the name of the dialect that is its default. */
export const drafts = [
  ["draft4", "draft-04"],
  ["draft6", "draft-06"],
  ["draft7", "draft-07"],
  ["draft2019-09", "2019-09"],
  ["draft2020-12", "2020-12"],
] as const

export interface SuiteGroup {
  /** File within the draft's directory, e.g. "optional/format/date.json". */
  file: string
  description: string
  schema: JsonNode
  tests: { description: string; data: JsonNode; valid: boolean }[]
}

const member = (node: JsonNode, name: string) => (node.kind === "object" ? node.members.get(name) : undefined)
const textOf = (node: JsonNode | undefined) => (node?.kind === "string" ? node.value : "")
const itemsOf = (node: JsonNode | undefined) => (node?.kind === "array" ? node.items : [])

export function suiteGroups(draft: string, part: "required" | "optional" | "format"): SuiteGroup[] {
  const below = { required: "", optional: "optional/", format: "optional/format/" }[part]
  const groups: SuiteGroup[] = []
  for (const name of readdirSync(`${suite}/tests/${draft}/${below}`)) {
    if (!name.endsWith(".json")) continue
    const file = readJson(readFileSync(`${suite}/tests/${draft}/${below}${name}`, "utf8"))
    for (const group of itemsOf(file)) {
      groups.push({
        file: below + name,
        description: textOf(member(group, "description")),
        schema: member(group, "schema") as JsonNode,
        tests: itemsOf(member(group, "tests")).map((test) => ({
          description: textOf(member(test, "description")),
          data: member(test, "data") as JsonNode,
          valid: member(test, "valid")?.kind === "true",
        })),
      })
    }
  }
  return groups
}

/** Remote documents of the suite by URI. */
export function suiteDocuments(): Record<string, string> {
  const documents: Record<string, string> = {}
  for (const name of readdirSync(`${suite}/remotes`, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".json"))
      documents[`http://localhost:1234/${name}`] = readFileSync(`${suite}/remotes/${name}`, "utf8")
  }
  return documents
}

export interface MaskBenchLine {
  id: string
  schema: JsonNode
  tests: { valid: boolean; text: string }[]
}

export function* maskBenchLines(): Generator<MaskBenchLine> {
  yield* linesOf(gunzipSync(readFileSync(maskbench)).toString())
}

/** Schemas outside of dev that the engine once got wrong; none where they are absent. */
export function* hardLines(): Generator<MaskBenchLine> {
  if (existsSync(hardSchemas)) yield* linesOf(readFileSync(hardSchemas, "utf8"))
}

function* linesOf(text: string): Generator<MaskBenchLine> {
  for (const line of text.split("\n")) {
    if (line === "") continue
    const node = readJson(line)
    yield {
      id: textOf(member(node, "id")),
      schema: member(node, "schema") as JsonNode,
      tests: itemsOf(member(node, "tests")).map((test) => ({
        valid: member(test, "valid")?.kind === "true",
        text: textOf(member(test, "text")),
      })),
    }
  }
}
