/**
 * Keeps two processes from running the same batches: one of them holds the directory.
 *
 * The file `lock` names its holder, who writes it anew every two seconds. It is removed at the end
 * of the process; a process that is killed leaves it. Then the next one may take the directory:
 *
 * - at once, if the holder was on the same machine. On Linux a holder also has a socket without a
 *   file, which the system removes with its process, however that ends. Its name is that of the
 *   directory in the file system, which is the same at every path and in every container;
 * - after ten seconds in which the file has not changed, if the holder was elsewhere, such as in
 *   another container with the same volume. No clocks are compared, since they may differ.
 *
 * A holder that finds another name in the file, or no file, has been suspended for so long that it
 * lost the directory. It reports this and stops writing.
 */
import { createHash, randomUUID } from "node:crypto"
import { readFileSync, readlinkSync, realpathSync, rmSync, statSync } from "node:fs"
import { open, readFile, rename, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:net"
import { join } from "node:path"

export interface LockOptions {
  /** Milliseconds between two writes of the holder. */
  beatMs?: number
  /** Milliseconds without a write after which a holder elsewhere counts as ended. */
  staleMs?: number
  /** Called when another process has taken the directory. */
  lost?: () => void
}

/**
 * Directories of this process, and what is called when one is taken. A second application of the
 * process may use them too.
 */
const held = new Map<string, (() => void)[]>()

/** Takes the directory, which exists, for this process. Rejects if another process has it. */
export async function lockDirectory(directory: string, options: LockOptions = {}): Promise<void> {
  const { beatMs = 2_000, staleMs = 10_000, lost } = options
  const path = realpathSync(directory)
  const known = held.get(path)
  if (known) {
    if (lost) known.push(lost)
    return
  }
  const callbacks = lost ? [lost] : []
  held.set(path, callbacks)
  try {
    const place = placeOf(path)
    const socket = await takeSocket(place)
    const file = join(path, "lock")
    const holder = { id: randomUUID(), machine: `${machine()} ${place}` }
    let beat = 0
    // All texts have one length, so that a write needs no more room on the disk.
    const text = (): string => JSON.stringify({ ...holder, beat: String(beat++).padStart(12, "0") })
    try {
      await takeFile(file, text, { holder, hasSocket: socket !== null, beatMs, staleMs })
    } catch (error) {
      socket?.close()
      throw error
    }
    const taken = (): void => {
      held.delete(path)
      socket?.close()
      for (const callback of callbacks) callback()
    }
    keep(file, text, { id: holder.id, beatMs, lost: taken })
  } catch (error) {
    held.delete(path)
    throw error
  }
}

interface Holder {
  id: string
  /** The machine, and the name of the directory there, by which the holder's socket is called. */
  machine: string
}

interface TakeOptions {
  holder: Holder
  /** Whether no process of this machine has the directory. */
  hasSocket: boolean
  beatMs: number
  staleMs: number
}

/** Writes the file, if it is not there or its holder has ended. */
async function takeFile(
  file: string,
  text: () => string,
  { holder, hasSocket, beatMs, staleMs }: TakeOptions,
): Promise<void> {
  try {
    await writeFile(file, text(), { flag: "wx" })
    return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  const before = await readFile(file, "utf8").catch(() => "")
  const hasEnded = hasSocket && holderOf(before)?.machine === holder.machine
  if (!hasEnded) await unchanged(file, before, { beatMs, staleMs })
  const own = `${file}.${holder.id}`
  await writeFile(own, text())
  await rename(own, file)
  // Of two processes that take it at the same time, the last one has it.
  await pause(hasEnded ? 0 : beatMs / 2)
  if (holderOf(await readFile(file, "utf8"))?.id !== holder.id) throw new DirectoryInUseError()
}

/** Resolves when the file has not changed for `staleMs`. Rejects if it changes. */
async function unchanged(
  file: string,
  before: string,
  { beatMs, staleMs }: { beatMs: number; staleMs: number },
): Promise<void> {
  for (let waited = 0; waited < staleMs; waited += beatMs / 2) {
    await pause(beatMs / 2)
    if ((await readFile(file, "utf8").catch(() => "")) !== before) throw new DirectoryInUseError()
  }
}

/** Writes the file again and again, and removes it at the end of the process. */
function keep(
  file: string,
  text: () => string,
  { id, beatMs, lost }: { id: string; beatMs: number; lost: () => void },
): void {
  let isBeating = false
  const timer = setInterval(async () => {
    // A slow file system may need longer than the time between two writes.
    if (isBeating) return
    isBeating = true
    const isTaken = await beatOnce(file, text(), id)
    isBeating = false
    if (!isTaken) return
    clearInterval(timer)
    lost()
  }, beatMs)
  timer.unref()
  process.once("exit", () => {
    try {
      if (holderOf(readFileSync(file, "utf8"))?.id === id) rmSync(file, { force: true })
    } catch {
      // The file stays, as after the end of a process that is killed.
    }
  })
}

/**
 * Writes the file, if it names this holder. Resolves to whether another process has taken the
 * directory: the file names another holder, or is gone. Any other error may pass until the next
 * write. Never rejects.
 */
async function beatOnce(file: string, text: string, id: string): Promise<boolean> {
  try {
    // Another process puts a file of its own in the place of this one, so that this handle does not
    // write into the other's.
    const handle = await open(file, "r+")
    try {
      const holder = holderOf(await handle.readFile("utf8"))
      if (holder?.id === id) await handle.write(text, 0)
      return holder !== null && holder.id !== id
    } finally {
      await handle.close()
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
  }
}

/**
 * Returns the server that holds the socket of a directory; null if the system has no such sockets.
 */
async function takeSocket(place: string): Promise<Server | null> {
  if (process.platform !== "linux") return null
  const name = createHash("sha256").update(place).digest("hex").slice(0, 32)
  const server = createServer()
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(error.code === "EADDRINUSE" ? new DirectoryInUseError() : error)
    })
    server.listen(`\0tokenrail-${name}`, resolve)
  })
  return server
}

/**
 * Names a directory by its device, inode and time of birth, which do not depend on its path. The
 * inode alone may be that of a removed directory whose holder still runs.
 */
function placeOf(path: string): string {
  const { dev, ino, birthtimeNs } = statSync(path, { bigint: true })
  return `${dev}:${ino}:${birthtimeNs}`
}

/** Names what shares sockets without a file: a boot of a machine, and its network namespace. */
function machine(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    return `${boot} ${readlinkSync("/proc/self/ns/net")}`
  } catch {
    return randomUUID()
  }
}

function holderOf(text: string): Holder | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Another process has the directory. */
export class DirectoryInUseError extends Error {
  constructor() {
    super("another server uses it")
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
