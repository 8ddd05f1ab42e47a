/**
 * A worker thread whose methods are called from the main thread, one message a call.
 *
 * What is measured here is measured in threads of its own: the main thread builds bodies of sixteen megabytes, and
 * its own stalls must not be taken for the server's.
 */
import { parentPort, Worker } from "node:worker_threads"

interface Call {
  id: number
  method: string
  args: unknown[]
}

interface Reply {
  id: number
  value?: unknown
  error?: string
}

/** The main thread's end. */
export class Thread {
  private readonly worker: Worker
  private readonly pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  private nextId = 0

  constructor(url: URL) {
    this.worker = new Worker(url)
    this.worker.on("message", ({ id, value, error }: Reply) => {
      const call = this.pending.get(id)
      this.pending.delete(id)
      if (error === undefined) call?.resolve(value)
      else call?.reject(new Error(error))
    })
    this.worker.on("error", (error) => {
      for (const call of this.pending.values()) call.reject(error)
      this.pending.clear()
    })
  }

  call<T>(method: string, ...args: unknown[]): Promise<T> {
    const id = this.nextId++
    return new Promise<T>((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as (value: unknown) => void, reject })
      this.worker.postMessage({ id, method, args } satisfies Call)
    })
  }

  async end(): Promise<void> {
    await this.worker.terminate()
  }
}

/** The worker's end: answers calls by the methods of `target`. */
export function serveCalls(target: object): void {
  const methods = target as Record<string, (...args: unknown[]) => unknown>
  parentPort!.on("message", async ({ id, method, args }: Call) => {
    try {
      parentPort!.postMessage({ id, value: await methods[method](...args) } satisfies Reply)
    } catch (error) {
      parentPort!.postMessage({ id, error: (error as Error).message } satisfies Reply)
    }
  })
}
