/**
 * A server with witnesses: who polls it and who streams from it while it is attacked.
 *
 * `during` runs one attack and says what it did to the others: gaps, broken streams, memory, a server that is dead, that
 * hangs or that keeps slots. After each of the last three the server is started again, so that the next attack meets a
 * sound one.
 */
import { setTimeout } from "node:timers/promises"
import type { HealthFigures } from "./health.ts"
import type { NeighbourFigures } from "./neighbours.ts"
import { send } from "./requests.ts"
import { AttackedServer, type ServerOptions } from "./server.ts"
import { Thread } from "./thread.ts"

/** After an attack, so that what it left behind shows. */
const afterMs = 150
/** A server that leaves a health check open for longer hangs. */
const hangMs = 20_000
const settleMs = 20_000
/** So many answers in a row take at most that long when nothing is left to do. */
const quietCount = 4
const quietMs = 250
const maxMiB = 6_000

export interface WatchOptions extends ServerOptions {
  neighbours?: number
}

export interface Damage {
  health: HealthFigures
  neighbours: NeighbourFigures
  /** How the server ended, or null. */
  death: string | null
  /** Slots and places in the line that were not free again after the attack. */
  slotsKept: number
}

export class Watch {
  readonly server: AttackedServer
  private readonly neighbourCount: number
  private readonly health = new Thread(new URL("./health.js", import.meta.url))
  private readonly neighbours = new Thread(new URL("./neighbours.js", import.meta.url))

  private constructor(options: WatchOptions) {
    this.server = new AttackedServer(options)
    this.neighbourCount = options.neighbours ?? 4
  }

  static async open(options: WatchOptions = {}): Promise<Watch> {
    const watch = new Watch(options)
    await watch.begin()
    return watch
  }

  get port(): number {
    return this.server.port
  }

  async close(): Promise<void> {
    await this.health.call("stop")
    await this.neighbours.call("stop")
    await this.server.stop()
    await Promise.all([this.health.end(), this.neighbours.end()])
  }

  /** Runs `attack` and returns what it returned, and what it did. */
  async during<T>(attack: (port: number) => Promise<T>): Promise<{ value: T; damage: Damage }> {
    await Promise.all([this.health.call("mark"), this.neighbours.call("mark")])
    let isOver = false
    const guard = this.guard(() => isOver)
    const value = await attack(this.port)
    await setTimeout(afterMs)
    const slotsKept = await this.settle()
    isOver = true
    await guard
    const health = await this.health.call<HealthFigures>("read")
    const neighbours = await this.neighbours.call<NeighbourFigures>("read")
    const death = this.server.diedOf
    if (death !== null) await this.restart()
    else if (slotsKept > 0) {
      await this.server.stop()
      await this.restart()
    }
    return { value, damage: { health, neighbours, death, slotsKept } }
  }

  /** Kills a server that hangs, or that takes so much memory that the machine would suffer. */
  private async guard(isOver: () => boolean): Promise<void> {
    while (!isOver() && this.server.diedOf === null) {
      const { openMs, peakMiB } = await this.health.call<HealthFigures>("read")
      if (openMs > hangMs) await this.server.kill(`killed: no answer to /health for ${hangMs / 1000} s`)
      if (peakMiB > maxMiB) await this.server.kill(`killed: it holds ${Math.round(peakMiB)} MiB`)
      await setTimeout(50)
    }
  }

  /**
   * Waits until only the neighbours are left and answers come at once; returns how many others are not. A server that
   * works on for nobody is ended.
   */
  private async settle(): Promise<number> {
    const end = performance.now() + settleMs
    let kept = 0
    let quietAnswers = 0
    while (performance.now() < end && this.server.diedOf === null) {
      const { status, text, ms } = await send(this.port, {
        method: "GET",
        path: "/load",
        timeoutMs: settleMs,
      })
      if (status === 200) {
        const { running, waiting } = JSON.parse(text)
        kept = Math.max(0, running + waiting - this.neighbourCount)
      }
      quietAnswers = status === 200 && kept === 0 && ms < quietMs ? quietAnswers + 1 : 0
      if (quietAnswers === quietCount) return 0
      await setTimeout(20)
    }
    if (kept === 0) await this.server.kill(`killed: still at work ${settleMs / 1000} s after the attack`)
    return this.server.diedOf === null ? kept : 0
  }

  private async restart(): Promise<void> {
    await this.health.call("stop")
    await this.neighbours.call("stop")
    await this.begin()
  }

  private async begin(): Promise<void> {
    await this.server.start()
    await this.health.call("start", this.port, this.server.pid)
    await this.neighbours.call("start", this.port, this.neighbourCount)
  }
}
