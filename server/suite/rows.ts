/**
 * The rows of a corpus: one JSON object a line of a `.jsonl` or `.jsonl.gz` file. Whatever is wrong
 * with one is told with the file, the line and the row's name, before anything runs.
 */
import { createReadStream } from "node:fs"
import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { createGunzip } from "node:zlib"
import { type JsonNode, readJson } from "../../runtime/index.ts"

/** A corpus that cannot be read, or a row of it. */
export class CorpusError extends Error {
  override readonly name = "CorpusError"
}

/** Rows whose texts nothing splits into tokens. */
export class UnsplitError extends CorpusError {}

/** A line with its place, for errors. */
export interface Row {
  readonly text: string
  readonly place: string
}

/** The lines of a text file, compressed or not, but empty ones. Throws `CorpusError`. */
export async function* rowsOf(path: string): AsyncGenerator<Row> {
  const file = createReadStream(path)
  const text = path.endsWith(".gz")
    ? file.once("error", (error) => text.destroy(error)).pipe(createGunzip())
    : file
  text.setEncoding("utf8")
  let rest = ""
  let line = 0
  const row = (text: string): Row => ({ text, place: `${path}, line ${line}` })
  try {
    for await (const chunk of text) {
      const lines = (rest + chunk).split("\n")
      rest = lines.pop() ?? ""
      for (const each of lines) {
        line++
        if (each.trim() !== "") yield row(each)
      }
    }
  } catch (error) {
    throw new CorpusError(`cannot read ${path}: ${(error as Error).message}`)
  }
  line++
  if (rest.trim() !== "") yield row(rest)
}

/** Whether the path is a directory. Throws `CorpusError` where nothing is. */
export async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    throw new CorpusError(`cannot read ${path}: ${(error as Error).message}`)
  }
}

/** The JSON files below a directory, by name. Throws `CorpusError` where there is none. */
export async function* filesOf(directory: string): AsyncGenerator<Row & { readonly name: string }> {
  const names = await readdir(directory, { recursive: true }).catch((error: Error) => {
    throw new CorpusError(`cannot read ${directory}: ${error.message}`)
  })
  const files = names.filter((name) => name.endsWith(".json")).sort()
  if (files.length === 0) throw new CorpusError(`${directory}: there is no .json file in it`)
  for (const name of files) {
    const place = join(directory, name)
    yield { text: await readFile(place, "utf8"), place, name: name.slice(0, -".json".length) }
  }
}

/** The members of a row. Equal keys in it are for the compiler to judge. Throws `CorpusError`. */
export function membersOf({ text, place }: Row): ReadonlyMap<string, JsonNode> {
  let root: JsonNode
  try {
    root = readJson(text, { duplicateKeys: "last" })
  } catch (error) {
    throw new CorpusError(`${place}: the row is no JSON: ${(error as Error).message}`)
  }
  if (root.kind !== "object") throw new CorpusError(`${place}: the row is no JSON object`)
  return root.members
}
