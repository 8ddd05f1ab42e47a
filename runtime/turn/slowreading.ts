/**
 * Reads turns whose tools have slow schemas. They are read when they are complete, each in its own
 * thread, which is ended when its time is over.
 */
import { Worker } from "node:worker_threads"
import type { ReadTurn } from "../../grammar/tags/styles/read/events.ts"
import { ModelError } from "../errors.ts"
import { packageFile } from "../files.ts"
import { maxHeapMb, type PackedError, unpackError } from "../guides/protocol.ts"
import type { ApartReading, WholeText } from "./wholereading.ts"

export type SlowAnswer = { readonly read: ReadTurn } | { readonly error: PackedError }

/** Maximum milliseconds for one turn, including the start of its thread. */
const maxReadMs = 10_000
/** Maximum number of turns that are read at once. */
const maxThreads = 2

export class SlowReading implements ApartReading {
  private readonly workers = new Set<Worker>()
  private readonly waiting: (() => void)[] = []
  private running = 0
  private isClosed = false

  /**
   * Reads a turn. Rejects with the error of the reading, and with ModelError if it takes too long.
   */
  async read(text: WholeText): Promise<ReadTurn> {
    if (this.running === maxThreads) await new Promise<void>((resolve) => this.waiting.push(resolve))
    else this.running++
    try {
      if (this.isClosed) throw new ModelError("the engine was closed while a call was read back")
      return await this.readApart(text)
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.running--
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([...this.workers].map((worker) => worker.terminate()))
  }

  private async readApart(text: WholeText): Promise<ReadTurn> {
    const worker = new Worker(packageFile("dist/runtime/turn/slowworker.js"), {
      workerData: text,
      // Flags of this process are not passed on, since a thread refuses some of them.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    })
    this.workers.add(worker)
    worker.unref()
    let timer: ReturnType<typeof setTimeout> | undefined
    try {
      const answer = await new Promise<SlowAnswer>((resolve, reject) => {
        const lose = (why: string) => reject(new ModelError(`a call could not be read back: ${why}`))
        timer = setTimeout(() => lose(`it takes more than ${maxReadMs} ms`), maxReadMs)
        worker.on("message", resolve)
        worker.on("error", (error) => lose(error.message))
        worker.on("exit", (code) => lose(`its thread ended with code ${code}`))
      })
      if ("error" in answer) throw unpackError(answer.error)
      return answer.read
    } finally {
      clearTimeout(timer)
      this.workers.delete(worker)
      void worker.terminate()
    }
  }
}
