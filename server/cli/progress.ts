/** Progress of a long command on standard error, and tables as CSV. */
import type { Io } from "./exit.ts"

/**
 * Milliseconds between two updates: a terminal shows one changing line, and a log gets few lines.
 */
const everyMs = { terminal: 500, log: 10_000 }

interface ProgressOptions {
  /** Number of parts that were finished before. */
  done?: number
  /** Returns what each update says besides; if it is given, the time that is left follows. */
  note?: () => string
}

/** Returns a function to call after each finished part. */
export function progress(io: Io, what: string, total: number, options: ProgressOptions = {}): () => void {
  const { done: before = 0, note } = options
  const begunAt = performance.now()
  let done = before
  let told = begunAt
  let isOpen = false
  let width = 0
  return () => {
    done++
    const now = performance.now()
    const isLast = done === total
    if (now - told < (io.isTerminal ? everyMs.terminal : everyMs.log) && !(isLast && isOpen)) return
    told = now
    isOpen = true
    const leftMs = ((now - begunAt) / (done - before)) * (total - done)
    const noted = note ? `, ${note()}, ${duration(leftMs)} left` : ""
    const text = `${what}: ${done} of ${total}${noted}`
    // The end of a longer text before it is overwritten.
    io.err(io.isTerminal ? `\r${text.padEnd(width)}${isLast ? "\n" : ""}` : `${text}\n`)
    width = text.length
  }
}

/** Returns a time in words, such as `2 h 5 min`. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Returns one line of a table. */
export function csvLine(cells: readonly (string | number)[]): string {
  const quoted = cells.map((cell) =>
    /[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : cell,
  )
  return `${quoted.join(",")}\n`
}
