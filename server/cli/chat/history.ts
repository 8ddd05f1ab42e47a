/**
 * The lines that were typed in earlier conversations, in a file that only its owner can read:
 * `chat_history` beside the folder of built models.
 *
 * Each line is appended when it is typed, so that several conversations can share the file. It is
 * shortened when it is opened.
 */
import { appendFileSync } from "node:fs"
import { chmod, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readPlaces } from "../../../runtime/model/hub/places.ts"
import type { Io } from "../exit.ts"
import { historyLines } from "./lines.ts"

/** Longer lines are not kept. */
const maxLineUnits = 4_000
/** A larger file is replaced: it is not one that this program has written. */
const maxFileBytes = 32 << 20

export class History {
  /** The latest first. */
  readonly lines: readonly string[]
  private file: string | null

  private constructor(lines: readonly string[], file: string | null) {
    this.lines = lines
    this.file = file
  }

  /** Returns a history that keeps nothing. */
  static none(): History {
    return new History([], null)
  }

  /** Returns the history in the file. If the file is unusable, says so and keeps nothing. */
  static async open(io: Pick<Io, "env" | "err">): Promise<History> {
    const file = historyFile(io.env)
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      const lines = await readLines(file)
      // A new file is written beside the old one, so that the text is never half there.
      const fresh = `${file}.${process.pid}`
      await writeFile(fresh, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 })
      await chmod(fresh, 0o600)
      await rename(fresh, file)
      return new History(lines.reverse(), file)
    } catch (error) {
      io.err(`tokenrail: no history is kept: ${(error as Error).message}\n`)
      return History.none()
    }
  }

  /** Adds a line. If the file can no longer be written, later lines are not kept. */
  add(line: string): void {
    if (this.file === null || line.trim() === "" || line.length > maxLineUnits) return
    try {
      appendFileSync(this.file, `${line}\n`, { mode: 0o600 })
    } catch {
      this.file = null
    }
  }
}

/** Returns the path of the history's file. */
export function historyFile(env: Io["env"]): string {
  return join(dirname(readPlaces(env).built), "chat_history")
}

/** Returns the last lines of the file, the earliest first; none if there is no file. */
async function readLines(file: string): Promise<string[]> {
  try {
    if ((await stat(file)).size > maxFileBytes) return []
    const lines = (await readFile(file, "utf8")).split("\n")
    return lines.filter((line) => line !== "" && line.length <= maxLineUnits).slice(-historyLines)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
}
