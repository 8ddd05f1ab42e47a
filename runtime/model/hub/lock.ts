/**
 * One process brings a file at a time: two would write into the same half of it. A lock is a file that names its holder, who touches it
 * while he lives; one whose process is gone, or that nobody has touched for a minute, is nobody's.
 */
import { open, readFile, rm, stat, utimes } from "node:fs/promises"
import { hostname } from "node:os"
import { setTimeout } from "node:timers/promises"

const touchMs = 10_000
const staleMs = 60_000
const lookMs = 100

/** Locks of this process. */
const held = new Set<string>()

/** Runs `work` while nobody else holds the lock at `path`. Waits for it as long as it takes. Throws what the file system says. */
export async function withLock<Result>(
  path: string,
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  while (!(await take(path))) await setTimeout(lookMs, undefined, { signal })
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
    // On a full disk a lock without a name still locks; it is his who touches it.
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
    if (Date.now() - (await stat(path)).mtimeMs > staleMs) return true
    const [host, pid] = (await readFile(path, "utf8")).split(" ")
    // Its holder is about to write his name.
    if (pid === undefined || host !== hostname()) return false
    if (Number(pid) === process.pid) return true
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}
