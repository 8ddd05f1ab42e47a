/**
 * Polls /health every 15 ms: how long the server's event loop stood still.
 *
 * One question is open at a time, over one kept connection. A gap is what an answer took beyond the median of the
 * answers in quiet; an answer that is still open counts with the time that it has been open. The thread measures its own
 * timer as well: where that was late by as much, the machine was busy and the server is not to blame.
 *
 * This file is the main module of a worker thread.
 */
import { Agent, request } from "node:http"
import { setTimeout } from "node:timers/promises"
import { median } from "./figures.ts"
import { residentMiB } from "./server.ts"
import { serveCalls } from "./thread.ts"

const periodMs = 15
const quietPolls = 40

export interface HealthFigures {
  /** Longest answer beyond the normal one. */
  gapMs: number
  normalMs: number
  polls: number
  failures: number
  /** Greatest delay of this thread's own timer: what the machine adds. */
  lagMs: number
  /** How long the open question has been waiting. */
  openMs: number
  peakMiB: number
}

class HealthPoller {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 })
  private port = 0
  private pid = 0
  /** Each start has its own loop; an older one ends when it sees that the number has moved. */
  private run = 0
  private normalMs = 0
  private askedAt: number | null = null
  private figures = zero()

  /** Begins to poll; resolves once it knows how long an answer takes. */
  async start(port: number, pid: number): Promise<void> {
    this.port = port
    this.pid = pid
    const run = ++this.run
    const latencies: number[] = []
    for (let i = 0; i < quietPolls; i++) latencies.push((await this.ask()).ms)
    this.normalMs = median(latencies)
    this.mark()
    void this.poll(run)
  }

  stop(): void {
    this.run++
  }

  /** Forgets what was measured so far. */
  mark(): void {
    this.figures = zero()
  }

  read(): HealthFigures {
    const openMs = this.askedAt === null ? 0 : performance.now() - this.askedAt
    const gapMs = Math.max(this.figures.gapMs, openMs - this.normalMs)
    return { ...this.figures, gapMs, openMs, normalMs: this.normalMs }
  }

  private async poll(run: number): Promise<void> {
    for (let polls = 0; run === this.run; polls++) {
      const { ms, isOk } = await this.ask()
      if (run !== this.run) return
      this.figures.polls++
      if (!isOk) this.figures.failures++
      this.figures.gapMs = Math.max(this.figures.gapMs, ms - this.normalMs)
      if (polls % 10 === 0) this.figures.peakMiB = Math.max(this.figures.peakMiB, residentMiB(this.pid))
      const due = performance.now() + periodMs
      await setTimeout(periodMs)
      this.figures.lagMs = Math.max(this.figures.lagMs, performance.now() - due)
    }
  }

  private async ask(): Promise<{ ms: number; isOk: boolean }> {
    const begin = performance.now()
    this.askedAt = begin
    const isOk = await new Promise<boolean>((resolve) => {
      const options = { host: "127.0.0.1", port: this.port, path: "/health", agent: this.agent }
      request(options, (response) => {
        response.resume()
        response.on("end", () => resolve(response.statusCode === 200))
        response.on("error", () => resolve(false))
      })
        .on("error", () => resolve(false))
        .end()
    })
    this.askedAt = null
    return { ms: performance.now() - begin, isOk }
  }
}

function zero(): Omit<HealthFigures, "openMs" | "normalMs"> {
  return { gapMs: 0, polls: 0, failures: 0, lagMs: 0, peakMiB: 0 }
}

serveCalls(new HealthPoller())
