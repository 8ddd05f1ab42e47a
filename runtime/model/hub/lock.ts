/**
 * File locks, so that only one process at a time downloads a file: two would write into the same
 * partial file. A lock is a file that contains the name of its holder, which updates the file's
 * time while it runs. A lock is stale if its process has ended, or if its time is more than a
 * minute old.
 */
import { lstat, open, readFile, rm, utimes } from "node:fs/promises"
import { hostname } from "node:os"
import { setTimeout } from "node:timers/promises"
import { ModelError } from "../../errors.ts"

const touchMs = 10_000
const staleMs = 60_000
const lookMs = 100

/** Locks of this process. */
const held = new Set<string>()

/**
 * Runs `work` while holding the lock at `path`. Waits for the lock without a time limit, and calls
 * `onWait` if it has to wait. Throws errors of the file system, and ModelError if another kind of
 * file is there.
 */
export async function withLock<Result>(
  path: string,
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
  onWait?: () => void,
): Promise<Result> {
  for (let tries = 0; !(await take(path)); tries++) {
    // The first try may have removed the stale lock of a dead process. Then there is no wait to
    // report.
    if (tries === 1) onWait?.()
    await setTimeout(tries === 0 ? 0 : lookMs, undefined, { signal })
  }
  return hold(path, work)
}

/** Runs `work` under the lock at `path` unless another process holds it. */
export async function ifUnlocked(path: string, work: () => Promise<void>): Promise<void> {
  if ((await take(path)) || (await take(path))) await hold(path, work)
}

/** Runs `work` while holding the lock that was acquired, and then releases it. */
async function hold<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const touching = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => {})
  }, touchMs)
  touching.unref()
  try {
    return await work()
  } finally {
    clearInterval(touching)
    held.delete(path)
    await rm(path, { force: true })
  }
}

async function take(path: string): Promise<boolean> {
  if (held.has(path)) return false
  try {
    const file = await open(path, "wx")
    held.add(path)
    // On a full disk even an empty lock file locks, because its holder updates its time.
    await file.writeFile(`${hostname()} ${process.pid}`).catch(() => {})
    await file.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    if (!held.has(path) && (await isNobodys(path))) await rm(path, { force: true })
    return false
  }
}

async function isNobodys(path: string): Promise<boolean> {
  try {
    const found = await lstat(path)
    // A folder must not be removed, and reading a pipe would never end.
    if (!found.isFile())
      throw new ModelError(`${path} is not a file, and a lock file is needed there. Remove it`)
    if (Date.now() - found.mtimeMs > staleMs) return true
    const [host, pid] = (await readFile(path, "utf8")).split(" ")
    // The holder has created the file and not yet written its name.
    if (pid === undefined || host !== hostname()) return false
    if (Number(pid) === process.pid) return true
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    if (error instanceof ModelError) throw error
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}
