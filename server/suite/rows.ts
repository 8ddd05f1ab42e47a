/**
 * The rows of a corpus: one JSON object for each line of a `.jsonl` or `.jsonl.gz` file. An error
 * in a row is reported with the file, the line and the row's name, before anything runs.
 */
import { createReadStream } from "node:fs"
import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { createGunzip } from "node:zlib"
import { type JsonNode, readJson } from "../../runtime/index.ts"

/** Thrown for a corpus, or a row of it, that cannot be read. */
export class CorpusError extends Error {
  override readonly name = "CorpusError"
}

/** Thrown for rows with texts if there is no tokenizer to encode them. */
export class UnsplitError extends CorpusError {}

/** A line with its file and number, for errors. */
export interface Row {
  readonly text: string
  readonly place: string
}

/** Yields the non-empty lines of a text file, compressed or not. Throws `CorpusError`. */
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

/** Returns whether the path is a directory. Throws `CorpusError` if it does not exist. */
export async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    throw new CorpusError(`cannot read ${path}: ${(error as Error).message}`)
  }
}

/** Yields the JSON files below a directory, by name. Throws `CorpusError` if there is none. */
export async function* filesOf(directory: string): AsyncGenerator<Row & { readonly name: string }> {
  const names = await readdir(directory, { recursive: true }).catch((error: Error) => {
    throw new CorpusError(`cannot read ${directory}: ${error.message}`)
  })
  const files = names.filter((name) => name.endsWith(".json")).sort()
  if (files.length === 0) throw new CorpusError(`${directory} has no .json file`)
  for (const name of files) {
    const place = join(directory, name)
    yield { text: await readFile(place, "utf8"), place, name: name.slice(0, -".json".length) }
  }
}

/** Returns the members of a row. The compiler judges repeated keys in it. Throws `CorpusError`. */
export function membersOf({ text, place }: Row): ReadonlyMap<string, JsonNode> {
  let root: JsonNode
  try {
    root = readJson(text, { duplicateKeys: "last" })
  } catch (error) {
    throw new CorpusError(`${place}: the row is not JSON: ${(error as Error).message}`)
  }
  if (root.kind !== "object") throw new CorpusError(`${place}: the row is not a JSON object`)
  return root.members
}
