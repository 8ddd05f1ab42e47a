/**
 * The models of the hub that are cached on this machine, in the layout that all its tools share:
 * each file is stored once in `blobs` under its digest, and `snapshots/<commit>` has links to it
 * under its names; `refs` records the commit of a branch or a tag
 * (https://huggingface.co/docs/huggingface_hub/guides/manage-cache).
 */
import { randomUUID } from "node:crypto"
import {
  constants,
  copyFile,
  link,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises"
import { basename, dirname, join, relative, sep } from "node:path"
import { makeFolder } from "../room.ts"
import type { HubName } from "./name.ts"

/** One commit of a model on this machine. */
export interface CachedModel {
  readonly name: string
  readonly commit: string
  /** Branches and tags that pointed to this commit when they were last requested. */
  readonly revisions: readonly string[]
  /** A model directory. */
  readonly path: string
  /** Its files, by their names with slashes. Ascending. */
  readonly files: readonly string[]
  readonly bytes: number
}

const commitPattern = /^[0-9a-f]{40}$/
const prefix = "models--"

export class HubCache {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  /**
   * Returns the commit of `revision` when it was last requested, or `revision` itself if it is a
   * commit; null if unknown.
   */
  async commitOf({ name, revision }: HubName): Promise<string | null> {
    if (commitPattern.test(revision)) return (await isThere(this.snapshot(name, revision))) ? revision : null
    const commit = await readFile(this.ref(name, revision), "utf8").catch(() => null)
    return commit === null ? null : commit.trim()
  }

  async setCommit({ name, revision }: HubName, commit: string): Promise<void> {
    if (revision === commit) return
    const path = this.ref(name, revision)
    await makeFolder(dirname(path))
    await writeFile(path, commit)
  }

  /** Returns the directory of a commit. */
  snapshot(name: string, commit: string): string {
    return join(this.folder(name), "snapshots", commit)
  }

  /** Returns the path of a file with this content. */
  blob(name: string, digest: string): string {
    return join(this.folder(name), "blobs", digest)
  }

  /** Returns whether this content is complete on this machine. */
  async hasBlob(name: string, digest: string, bytes: number): Promise<boolean> {
    return (await stat(this.blob(name, digest)).catch(() => null))?.size === bytes
  }

  /** Returns whether the commit has the complete file. */
  async has(name: string, commit: string, file: string): Promise<boolean> {
    return isThere(join(this.snapshot(name, commit), file))
  }

  /**
   * Links the file of a commit to a blob. `file` is a relative path without `..`. Windows lets few
   * users make symbolic links, so there it is a hard link, or a copy if that is not possible
   * either.
   */
  async link(name: string, commit: string, file: string, digest: string): Promise<void> {
    const blob = this.blob(name, digest)
    const folder = this.snapshot(name, commit)
    const path = join(folder, file)
    if (!path.startsWith(folder + sep)) throw new Error(`internal: ${path} is not in ${folder}`)
    await makeFolder(dirname(path))
    // The link is renamed into place, so that a concurrent reader finds the complete file or none.
    const fresh = `${path}.${randomUUID()}`
    await symlink(relative(dirname(path), blob), fresh)
      .catch(() => link(blob, fresh))
      .catch(() => copyFile(blob, fresh, constants.COPYFILE_FICLONE))
    await rename(fresh, path)
  }

  /** Returns all models, by name. */
  async models(): Promise<CachedModel[]> {
    const folders = await readdir(this.root).catch(() => [])
    const found: CachedModel[] = []
    for (const folder of folders.filter((each) => each.startsWith(prefix)).sort()) {
      const name = folder.slice(prefix.length).replace("--", "/")
      const refs = await this.refsOf(name)
      for (const commit of (await readdir(join(this.root, folder, "snapshots")).catch(() => [])).sort()) {
        const path = this.snapshot(name, commit)
        const files = await filesBelow(path)
        const revisions = refs.filter(([, of]) => of === commit).map(([revision]) => revision)
        const bytes = files.reduce((sum, [, size]) => sum + size, 0)
        found.push({ name, commit, revisions, path, files: files.map(([file]) => file), bytes })
      }
    }
    return found
  }

  private async refsOf(name: string): Promise<[revision: string, commit: string][]> {
    const folder = join(this.folder(name), "refs")
    const refs = (await filesBelow(folder)).map(([revision]) => revision)
    return Promise.all(
      refs.map(
        async (revision) => [revision, (await readFile(join(folder, revision), "utf8")).trim()] as const,
      ),
    ) as Promise<[string, string][]>
  }

  private folder(name: string): string {
    return join(this.root, prefix + name.replace("/", "--"))
  }

  private ref(name: string, revision: string): string {
    return join(this.folder(name), "refs", revision)
  }
}

/** Returns whether a file or folder exists, following links. */
async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}

/**
 * Returns the names below `folder`, with slashes, and their sizes. Ascending. Broken links are left
 * out.
 */
async function filesBelow(folder: string): Promise<[file: string, bytes: number][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files: [string, number][] = []
  for (const entry of entries) {
    if (entry.isDirectory()) continue
    const path = join(entry.parentPath ?? entry.path, basename(entry.name))
    const size = await stat(path)
      .then(({ size }) => size)
      .catch(() => null)
    if (size !== null) files.push([relative(folder, path).split(sep).join("/"), size])
  }
  return files.sort(([a], [b]) => (a < b ? -1 : 1))
}
