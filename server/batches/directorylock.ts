/**
 * Keeps two servers from running the same batches: one of them holds the directory.
 *
 * On Linux the lock is a socket without a file, which the system removes with its process, however
 * that ends. A file would survive a process that is killed. Other systems have no such socket, and
 * there is no lock.
 */
import { createHash } from "node:crypto"
import { realpathSync } from "node:fs"
import { createServer } from "node:net"

/** Takes the directory for this process. Rejects if another process has it. */
export async function lockDirectory(directory: string): Promise<void> {
  if (process.platform !== "linux") return
  const name = createHash("sha256").update(realpathSync(directory)).digest("hex").slice(0, 32)
  const server = createServer()
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(error.code === "EADDRINUSE" ? new Error("another server uses it") : error)
    })
    server.listen(`\0tokenrail-${name}`, resolve)
  })
}
