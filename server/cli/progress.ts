/** Progress of a long command on standard error, and tables as CSV. */
import type { Io } from "./exit.ts"

/**
 * Milliseconds between two updates: a terminal shows one changing line, and a log gets few lines.
 */
const everyMs = { terminal: 500, log: 10_000 }

/** Returns a function to call after each finished part. */
export function progress(io: Io, what: string, total: number): () => void {
  let done = 0
  let told = performance.now()
  let isOpen = false
  return () => {
    done++
    const now = performance.now()
    const isLast = done === total
    if (now - told < (io.isTerminal ? everyMs.terminal : everyMs.log) && !(isLast && isOpen)) return
    told = now
    isOpen = true
    io.err(
      io.isTerminal
        ? `\r${what}: ${done} of ${total}${isLast ? "\n" : ""}`
        : `${what}: ${done} of ${total}\n`,
    )
  }
}

/** Returns one line of a table. */
export function csvLine(cells: readonly (string | number)[]): string {
  const quoted = cells.map((cell) =>
    /[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : cell,
  )
  return `${quoted.join(",")}\n`
}
