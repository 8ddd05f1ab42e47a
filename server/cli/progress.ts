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
    if (!io.isTerminal) io.err(`${text}\n`)
    else io.err(isLast ? clearedLine : `\r${text}${toEndOfLine}`)
  }
}

/** Control sequence that clears the rest of the line, and one that removes the line. */
const toEndOfLine = "\u001b[K"
const clearedLine = `\r${toEndOfLine}`

/**
 * Shows on a terminal that a task is running once it has taken a second, and for how long it has.
 * The returned functions: `aside` prints a text without mixing it with the line, `end` removes the
 * line.
 */
export function working(io: Pick<Io, "err" | "isTerminal">, what: string): Working {
  if (!io.isTerminal) return { aside: (text) => io.err(text), end: () => {} }
  const begunAt = performance.now()
  let isShown = false
  const timer = setInterval(() => {
    isShown = true
    io.err(`\r${what}: ${Math.round((performance.now() - begunAt) / 1000)} s${toEndOfLine}`)
  }, 1_000)
  timer.unref()
  const clear = () => {
    if (isShown) io.err(clearedLine)
    isShown = false
  }
  return {
    aside: (text) => {
      clear()
      io.err(text)
    },
    end: () => {
      clearInterval(timer)
      clear()
    },
  }
}

export interface Working {
  aside(text: string): void
  end(): void
}

/**
 * Runs a task that blocks this thread. If it may take over a second, a terminal shows its name
 * meanwhile.
 */
export async function named<T>(
  io: Pick<Io, "err" | "isTerminal">,
  what: string,
  isLong: boolean,
  run: () => T | Promise<T>,
): Promise<T> {
  if (!io.isTerminal || !isLong) return run()
  io.err(`${what} …`)
  try {
    return await run()
  } finally {
    io.err(clearedLine)
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
