/**
 * A file of outcomes, one JSON line each, that survives the end of its process at any moment.
 *
 * A group of lines is written at once and then synchronised. If the process ends in between, the
 * file may end with part of a line: that part is cut off when the file is opened again, and its
 * line of the batch is run again. A last part that is not of an outcome is left alone: the file is
 * refused. If a write fails, the file is cut to the lines that were there.
 * The lines begin with the fields `id` and `custom_id`, so that they need not be parsed.
 */
import { type FileHandle, open } from "node:fs/promises"
import { linesOf } from "./lines.ts"

export class OutcomeLog {
  /** Number of lines. */
  count = 0
  private readonly file: FileHandle
  private byteCount = 0

  private constructor(file: FileHandle) {
    this.file = file
  }

  /** Opens or creates the file. `found` gets the custom id of each whole line. */
  static async open(path: string, found: (customId: string, text: string) => void): Promise<OutcomeLog> {
    const file = await open(path, "a+")
    const log = new OutcomeLog(file)
    try {
      const stream = file.createReadStream({ start: 0, autoClose: false })
      for await (const { text, byteCount, isWhole } of linesOf(stream)) {
        if (!isWhole && beginsAsOutcome(text)) break
        const customId = isWhole ? customIdOf(text) : undefined
        if (customId === undefined) throw new Error(`${path}: line ${log.count + 1} is not an outcome`)
        log.byteCount += byteCount
        log.count++
        found(customId, text)
      }
      await file.truncate(log.byteCount)
    } catch (error) {
      await file.close()
      throw error
    }
    return log
  }

  get size(): number {
    return this.byteCount
  }

  /** Appends lines. They are durable when it resolves; if it rejects, none of them is there. */
  async append(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    const bytes = Buffer.from(`${lines.join("\n")}\n`)
    try {
      await this.file.appendFile(bytes)
      await this.file.datasync()
    } catch (error) {
      await this.file.truncate(this.byteCount)
      throw error
    }
    this.byteCount += bytes.length
    this.count += lines.length
  }

  close(): Promise<void> {
    return this.file.close()
  }
}

/** Returns whether a text can be the first part of an outcome. */
function beginsAsOutcome(text: string): boolean {
  const start = '{"id":"batch_req_'
  return text.startsWith(start) || start.startsWith(text)
}

function customIdOf(text: string): string | undefined {
  const [, id] = /^\{"id":"[^"]*","custom_id":("(?:[^"\\]|\\.)*"),/.exec(text) ?? []
  return id === undefined ? undefined : JSON.parse(id)
}
