/**
 * Runs the JSON-Schema-Test-Suite as a test of languages: checks whether an instance is accepted in
 * every spelling.
 *
 * Three spellings are read byte by byte: as in the file, without white space, and with every
 * character of every string and key as `\uXXXX`. All three must agree. `"mixed"` means that they
 * differ, which is always a failure.
 */
import { readdir, readFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { compile, type Grammar, type JsonNode, readJson } from "../../runtime/index.ts"
import { byteMachine, TextChecker } from "./checker.ts"
import { describeError } from "./maskbench.ts"
import { CorpusError, filesOf, isDirectory } from "./rows.ts"

export interface SuiteGroup {
  file: string
  group: string
  schema: string
  /** The member `data` of each test, as it is spelt in the file. */
  tests: { test: string; valid: boolean; data: JsonNode; source: string }[]
}

export type SuiteResult = { file: string; group: string; test: string; valid: boolean } & (
  | { accepted: boolean | "mixed" }
  | { refused: string }
)

export interface Suite {
  draft: string
  /** Ordered by the names of the files; the groups of a file keep its order. */
  groups: SuiteGroup[]
  /** The documents that the suite's schemas may refer to: URI → text. */
  documents: Record<string, string>
}

/**
 * Reads `<directory>/tests/<draft>` and `<directory>/remotes`. `draft` is `draft2020-12` or
 * `2020-12`.
 */
export async function readSuite(directory: string, draft: string): Promise<Suite> {
  const name = draft.startsWith("draft") ? draft : `draft${draft}`
  const root = join(directory, "tests", name)
  const groups: SuiteGroup[] = []
  for await (const { text, place, name } of filesOf(root)) groups.push(...parsed(`${name}.json`, text, place))
  const documents: Record<string, string> = {}
  const remotes = join(directory, "remotes")
  const isThere = await isDirectory(remotes).catch(() => false)
  for (const entry of !isThere ? [] : await readdir(remotes, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".json")) continue
    const path = join(entry.parentPath, entry.name)
    documents[`http://localhost:1234/${relative(remotes, path)}`] = await readFile(path, "utf8")
  }
  return { draft: name, groups, documents }
}

/** Returns the groups of a file. Throws `CorpusError` that names the file. */
function parsed(file: string, text: string, place: string): SuiteGroup[] {
  try {
    return parseFile(file, text)
  } catch (error) {
    throw new CorpusError(`${place}: ${(error as Error).message}`)
  }
}

/** Runs all tests of one group. */
export function runSuiteGroup(group: SuiteGroup, suite: Suite): SuiteResult[] {
  const head = (test: SuiteGroup["tests"][number]) => ({
    file: group.file,
    group: group.group,
    test: test.test,
    valid: test.valid,
  })
  let checker: TextChecker
  try {
    checker = new TextChecker(byteMachine(compileGroup(group, suite)))
  } catch (error) {
    return group.tests.map((test) => ({ ...head(test), refused: describeError(error) }))
  }
  return group.tests.map((test) => {
    try {
      const spellings = [test.source, spell(test.data, JSON.stringify), spell(test.data, escapeAll)]
      const verdicts = new Set(spellings.map((text) => checker.check(text).accepted))
      return { ...head(test), accepted: verdicts.size === 1 ? verdicts.has(true) : ("mixed" as const) }
    } catch (error) {
      return { ...head(test), refused: describeError(error) }
    }
  })
}

function compileGroup({ file, schema }: SuiteGroup, { draft, documents }: Suite): Grammar {
  const formats = file.startsWith(join("optional", "format")) ? "assert" : "annotate"
  const options = {
    surface: "conform",
    unsatisfiable: "empty",
    formats,
    dialect: dialects[draft],
    documents,
  } as const
  return compile({ kind: "json", schema }, options).grammar
}

const dialects: Record<string, string> = {
  draft4: "http://json-schema.org/draft-04/schema#",
  draft6: "http://json-schema.org/draft-06/schema#",
  draft7: "http://json-schema.org/draft-07/schema#",
  "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

function parseFile(file: string, text: string): SuiteGroup[] {
  const plain = JSON.parse(text) as {
    description: string
    tests: { description: string; valid: boolean }[]
  }[]
  const root = readJson(text)
  return items(root).map((group, i) => ({
    file,
    group: plain[i].description,
    schema: slice(text, member(group, "schema")),
    tests: items(member(group, "tests")).map((test, j) => {
      const data = member(test, "data")
      const { description, valid } = plain[i].tests[j]
      return { test: description, valid, data, source: slice(text, data) }
    }),
  }))
}

/** Returns the value without white space, with strings and keys written by `quote`. */
function spell(node: JsonNode, quote: (text: string) => string): string {
  switch (node.kind) {
    case "number":
      return node.text
    case "string":
      return quote(node.value)
    case "array":
      return `[${node.items.map((item) => spell(item, quote)).join(",")}]`
    case "object":
      return `{${[...node.members].map(([key, value]) => `${quote(key)}:${spell(value, quote)}`).join(",")}}`
    default:
      return node.kind
  }
}

function escapeAll(text: string): string {
  let escaped = ""
  for (let at = 0; at < text.length; at++)
    escaped += `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`
  return `"${escaped}"`
}

function items(node: JsonNode): readonly JsonNode[] {
  if (node.kind !== "array") throw new TypeError("the suite has no array here")
  return node.items
}

function member(node: JsonNode, name: string): JsonNode {
  const value = node.kind === "object" ? node.members.get(name) : undefined
  if (value === undefined) throw new TypeError(`the suite has no member ${name} here`)
  return value
}

function slice(text: string, { start, end }: { start: number; end: number }): string {
  return text.slice(start, end)
}
