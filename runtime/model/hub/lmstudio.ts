/**
 * Finds a model of LM Studio on this machine: a folder `<publisher>/<repo>` of GGUF files, or of
 * safetensors.
 */
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { ModelError } from "../../errors.ts"

export interface LmStudioName {
  /** `<publisher>/<repo>` */
  readonly name: string
  readonly label: string | undefined
}

const word = "[A-Za-z0-9_][A-Za-z0-9 ._-]{0,199}"
const namePattern = new RegExp(`^(${word}/${word})(?::([A-Za-z0-9][A-Za-z0-9 ._/-]{0,199}))?$`)

/** Reads `publisher/repo[:label]`. Throws ModelError for any other text. */
export function readLmStudioName(text: string): LmStudioName {
  const found = namePattern.exec(text)
  if (found === null || text.includes(".."))
    throw new ModelError(
      `lmstudio:${text} is not the name of a model of LM Studio: lmstudio:publisher/repo[:label], as \`lms ls\` and its folders have it`,
    )
  return { name: found[1], label: found[2] }
}

/**
 * Returns the folder of a model, in the first of `folders` that has it. Throws ModelError naming
 * the existing ones.
 */
export async function locateLmStudio({ name }: LmStudioName, folders: readonly string[]): Promise<string> {
  for (const folder of folders) {
    const path = join(folder, name)
    if ((await stat(path).catch(() => null))?.isDirectory()) return path
  }
  const known = (await listLmStudio(folders)).map((model) => `lmstudio:${model.name}`)
  const there = known.length === 0 ? "no model is there" : `there is ${known.slice(0, 24).join(", ")}`
  throw new ModelError(
    `lmstudio:${name} is not in ${folders.join(" or ")}: ${there}. Download it with LM Studio, or give the path of the file`,
  )
}

/**
 * Returns all folders of models, by name; if several folders have a name, the first of `folders`
 * counts.
 */
export async function listLmStudio(folders: readonly string[]): Promise<{ name: string; path: string }[]> {
  const models = new Map<string, string>()
  for (const folder of folders) {
    for (const publisher of await foldersIn(folder)) {
      for (const repo of await foldersIn(join(folder, publisher))) {
        const name = `${publisher}/${repo}`
        if (namePattern.test(name) && !models.has(name)) models.set(name, join(folder, publisher, repo))
      }
    }
  }
  return [...models].map(([name, path]) => ({ name, path })).sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function foldersIn(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const name of (await readdir(folder).catch(() => [])).sort())
    if ((await stat(join(folder, name)).catch(() => null))?.isDirectory()) found.push(name)
  return found
}
