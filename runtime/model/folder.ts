/** The files of a model on a disk, for `directory.ts`. */

import { readdir, readFile, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import { ModelError } from "../errors.ts"
import {
  checkSize,
  type FoundFile,
  type ModelDirectory,
  type ModelFiles,
  readModelFiles,
} from "./directory.ts"

/** Reads the directory. Throws ModelError naming the file that is missing or wrong. */
export async function readModelDirectory(path: string, dtype?: string): Promise<ModelDirectory> {
  const directory = resolve(path)
  if (!(await kindOf(directory))?.isDirectory()) {
    throw new ModelError(
      `${directory}: not a directory and not a GGUF file. A model is either, or a name: <org>/<name>[:label], ollama:<name>, lmstudio:<name>`,
    )
  }
  return readModelFiles(new FolderFiles(directory), dtype)
}

class FolderFiles implements ModelFiles {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  pathOf(file: string): string {
    return join(this.path, file)
  }

  async find(file: string): Promise<FoundFile | undefined> {
    const kind = await kindOf(this.pathOf(file))
    return kind?.isFile() ? { bytes: kind.size, writtenAt: kind.mtimeMs } : undefined
  }

  async read(file: string): Promise<string | undefined> {
    const path = this.pathOf(file)
    try {
      checkSize(path, (await stat(path)).size)
      return await readFile(path, "utf8")
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
      throw error
    }
  }

  async list(folder: string): Promise<readonly string[]> {
    const path = this.pathOf(folder)
    return (await kindOf(path))?.isDirectory() ? readdir(path) : []
  }
}

async function kindOf(path: string) {
  return stat(path).catch(() => undefined)
}
