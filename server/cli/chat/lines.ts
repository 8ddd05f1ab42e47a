/**
 * Lines of a conversation: from a person at a terminal, who can edit them, or from a pipe.
 *
 * Two readers have one interface. The reader of a terminal uses node:readline in raw mode, so
 * Ctrl-C is a key here and not a signal. While an answer is written, its screen is muted: what is
 * typed then does not mix with the answer, and shows at the next prompt.
 */
import { createInterface, type Interface } from "node:readline"
import { type Readable, Writable } from "node:stream"
import { UsageError } from "../exit.ts"

/** What `next` returns: a line, the end of the input, or Ctrl-C. */
export type Read =
  | { kind: "line"; text: string }
  | { kind: "end" }
  /** `wasEmpty`: whether nothing had been typed. */
  | { kind: "interrupt"; wasEmpty: boolean }

export interface Lines {
  /** Returns the next line, without its line break. */
  next(prompt: string): Promise<Read>
  /** Runs `work`; Ctrl-C calls `stop`. */
  during<T>(work: () => Promise<T>, stop: () => void): Promise<T>
  close(): void
}

/** Maximum UTF-16 units of one line of a pipe. */
const maxLineUnits = 16 << 20

/** Reads the lines of a pipe or a file, without prompts. */
export class PipedLines implements Lines {
  private readonly lines: AsyncGenerator<string, void, undefined>
  private readonly input: Readable

  constructor(input: Readable) {
    this.input = input
    this.lines = linesOf(input)
  }

  async next(): Promise<Read> {
    const { done, value } = await this.lines.next()
    return done ? { kind: "end" } : { kind: "line", text: value ?? "" }
  }

  during<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  close(): void {
    this.input.destroy()
  }
}

/** Yields the lines of a stream. A last line needs no line break. Throws `UsageError`. */
async function* linesOf(input: Readable): AsyncGenerator<string, void, undefined> {
  input.setEncoding("utf8")
  let parts: string[] = []
  let length = 0
  try {
    for await (const chunk of input) {
      const [first, ...others] = String(chunk).split("\n")
      parts.push(first)
      length += first.length
      for (const other of others) {
        yield parts.join("").replace(/\r$/, "")
        parts = [other]
        length = other.length
      }
      if (length > maxLineUnits)
        throw new UsageError(`a line has more than ${maxLineUnits} characters: send it in shorter ones`)
    }
  } catch (error) {
    // The stream was closed while it was read.
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error
    return
  }
  if (length > 0) yield parts.join("").replace(/\r$/, "")
}

export interface TerminalOptions {
  input: Readable
  screen: Writable & { columns?: number }
  /** Earlier lines for the arrow keys, the latest first. */
  history: readonly string[]
  /** Called with every line that is typed. */
  onLine: (line: string) => void
}

/** Number of lines that the arrow keys reach. */
export const historyLines = 1_000

/** Reads lines that a person types and edits. */
export class TerminalLines implements Lines {
  private readonly rl: Interface
  private readonly screen: TerminalOptions["screen"]
  /** Lines that were typed while nothing waited for them. */
  private readonly early: string[] = []
  private waiting: ((read: Read) => void) | null = null
  private stop: (() => void) | null = null
  private isClosed = false

  constructor({ input, screen, history, onLine }: TerminalOptions) {
    this.screen = screen
    const shown = new Writable({
      write: (chunk, _, done) => {
        if (this.stop === null) screen.write(chunk)
        done()
      },
    })
    Object.defineProperty(shown, "columns", { get: () => screen.columns || 80 })
    screen.on("resize", () => shown.emit("resize"))
    this.rl = createInterface({
      ...{ input, output: shown, terminal: true, historySize: historyLines, removeHistoryDuplicates: true },
      history: [...history],
    })
    this.rl.on("line", (line) => {
      onLine(line)
      if (this.waiting === null) this.early.push(line)
      else this.give({ kind: "line", text: line })
    })
    this.rl.on("close", () => {
      this.isClosed = true
      this.give({ kind: "end" })
    })
    this.rl.on("SIGINT", () => this.interrupt())
  }

  async next(prompt: string): Promise<Read> {
    // A question within an answer, such as the result of a call, is shown and can be edited.
    const { stop } = this
    this.stop = null
    return this.read(prompt).finally(() => {
      this.stop = stop
    })
  }

  private async read(prompt: string): Promise<Read> {
    const line = this.early.shift()
    if (line !== undefined) {
      this.screen.write(`${prompt}${line}\n`)
      return { kind: "line", text: line }
    }
    if (this.isClosed) return { kind: "end" }
    this.rl.setPrompt(prompt)
    this.rl.prompt(true)
    return new Promise((resolve) => {
      this.waiting = resolve
    })
  }

  async during<T>(work: () => Promise<T>, stop: () => void): Promise<T> {
    this.stop = stop
    try {
      return await work()
    } finally {
      this.stop = null
    }
  }

  close(): void {
    this.rl.close()
  }

  private give(read: Read): void {
    const { waiting } = this
    this.waiting = null
    waiting?.(read)
  }

  private interrupt(): void {
    if (this.stop !== null) this.stop()
    if (this.stop !== null || this.waiting === null) return
    const wasEmpty = this.rl.line === ""
    // To the end of the line, and back to its beginning.
    this.rl.write(null, { ctrl: true, name: "e" })
    this.rl.write(null, { ctrl: true, name: "u" })
    this.screen.write("^C\n")
    this.give({ kind: "interrupt", wasEmpty })
  }
}
