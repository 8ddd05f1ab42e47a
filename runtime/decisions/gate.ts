/** Lets at most `width` tasks run at once, first come, first served. */
export class Gate {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(width: number) {
    this.free = width
  }

  /** Runs the task when its turn comes. Rejects as the task does. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
    try {
      return await task()
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.free++
    }
  }
}
