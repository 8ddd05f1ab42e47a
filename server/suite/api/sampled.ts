/**
 * Cases of JSON Schemas that a corpus holds: the directory of the JSON Schema test suite, a
 * directory of such files or of MaskBench's, or a file of MaskBench rows.
 */
import { join } from "node:path"
import { readJson, toText } from "../../../runtime/index.ts"
import { CorpusError, filesOf, isDirectory, membersOf, rowsOf } from "../rows.ts"
import { readSuite } from "../schemasuite.ts"
import { Asker, type CaseOptions } from "./ask.ts"
import type { ApiCase } from "./case.ts"
import { schemaCase } from "./cases/schemas.ts"

interface Sampled {
  name: string
  /** JSON text. */
  schema: string
}

const prompt = "Answer with one sentence in plain text, without JSON."

/** Returns a case for every `step`-th schema of the corpus. Throws `CorpusError`. */
export async function sampledCases(path: string, step: number, options: CaseOptions): Promise<ApiCase[]> {
  const ask = new Asker(options)
  const all = await schemasOf(path)
  const chosen = all.filter((_, index) => index % Math.max(1, step) === 0)
  if (chosen.length === 0) throw new CorpusError(`${path} has no schema`)
  return chosen.map(({ name, schema }, at) => ({
    ...schemaCase(ask, { keyword: "", name, prompt, schema }, {}),
    // Names of a corpus may repeat.
    ...{ area: "sampled schemas", name: `${at * Math.max(1, step) + 1}, ${name}` },
  }))
}

async function schemasOf(path: string): Promise<Sampled[]> {
  if (!(await isDirectory(path))) {
    const rows: Sampled[] = []
    for await (const row of rowsOf(path)) rows.push(schemaOf(membersOf(row), row.place))
    return rows
  }
  if (await isDirectory(join(path, "tests")).catch(() => false)) {
    const { groups, draft } = await readSuite(path, "2020-12")
    return groups.map(({ file, group, schema }) => ({ name: `${draft}/${file}, ${group}`, schema }))
  }
  const found: Sampled[] = []
  for await (const { text, place, name } of filesOf(path)) {
    const { members } = asObject(text, place)
    found.push(...(members.has("schema") ? [schemaOf(members, place, name)] : [{ name, schema: text }]))
  }
  return found
}

function asObject(text: string, place: string) {
  try {
    const node = readJson(text, { duplicateKeys: "last" })
    if (node.kind === "object") return node
  } catch (error) {
    throw new CorpusError(`${place}: ${(error as Error).message}`)
  }
  throw new CorpusError(`${place}: the file is not a JSON object`)
}

function schemaOf(members: ReturnType<typeof membersOf>, place: string, fallback = place): Sampled {
  const schema = members.get("schema")
  const id = members.get("id")
  if (schema === undefined) throw new CorpusError(`${place}: the row has no schema`)
  return { name: id?.kind === "string" ? id.value : fallback, schema: toText(schema) }
}
