/**
 * Checks the disk space before many bytes are written, and describes a write that failed for lack
 * of it.
 */
import { mkdir, stat, statfs } from "node:fs/promises"
import { dirname } from "node:path"
import { ModelError } from "../errors.ts"

/**
 * The folder of a large file, and the way to choose another one, in words: "set HF_HUB_CACHE to
 * another folder".
 */
export interface Disk {
  readonly folder: string
  readonly way: string
}

/**
 * Makes a folder and its parents. Throws errors of the file system. Node's own `recursive` never
 * returns if an existing folder accepts no new one (`/proc/1`), and then the process does not end
 * either.
 */
export async function makeFolder(path: string): Promise<void> {
  const isThere = async (folder: string) => (await stat(folder).catch(() => null))?.isDirectory() ?? false
  if (await isThere(path)) return
  if (dirname(path) !== path) await makeFolder(dirname(path))
  await mkdir(path).catch(async (error) => {
    // Another process may have made it in the meantime.
    if (!(await isThere(path))) throw error
  })
}

/**
 * Throws ModelError if the disk has no room for this many bytes. `what` is the beginning of the
 * error message.
 */
export async function checkRoom(what: string, { folder, way }: Disk, bytes: number): Promise<void> {
  const disk = await statfs(folder).catch(() => undefined)
  if (disk === undefined || !(bytes > disk.bavail * disk.bsize)) return
  throw new ModelError(
    `${what} takes ${megabytes(bytes)} MB, and ${folder} has ${megabytes(disk.bavail * disk.bsize)} MB left. Make room, or ${way}`,
  )
}

/**
 * Describes a failed write, with the free space. `bytes`: number of bytes that were still to be
 * written.
 */
export async function unwritten(
  what: string,
  { folder, way }: Disk,
  bytes: number,
  cause: Error,
): Promise<ModelError> {
  const free = await statfs(folder).then(
    ({ bavail, bsize }) =>
      ` ${folder} has ${megabytes(bavail * bsize)} MB left, ${megabytes(bytes)} are to come.`,
    () => "",
  )
  const isFull = ["ENOSPC", "EDQUOT"].includes((cause as NodeJS.ErrnoException).code ?? "")
  return new ModelError(
    `${what} cannot be written: ${cause.message}.${free} ${isFull ? "Make room" : "See to it"}, or ${way}`,
    { cause },
  )
}

export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)
}
