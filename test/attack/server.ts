/**
 * The server under attack: the built program as a child process on a free port of the loopback address.
 *
 * It may die at any time. Then `diedOf` says how, and `start` starts it again. It is started as it would start itself again, so that it
 * is one process: a signal, a profile and its memory are those of the server, and nothing is left of one that hangs.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { betterStart } from "../../server/cli/restart.ts"

/** A server that takes longer does not listen any more today. */
const startMs = 60_000

export interface ServerOptions {
  /** Further arguments of `serve`. */
  flags?: readonly string[]
  /** Arguments of Node itself, such as `--cpu-prof`. */
  nodeFlags?: readonly string[]
}

export class AttackedServer {
  private readonly options: ServerOptions
  private child: ChildProcess | null = null
  /** The last lines of its standard error. */
  private errors = ""
  port = 0
  /** How it ended, or null while it runs. */
  diedOf: string | null = null
  deathCount = 0

  constructor(options: ServerOptions = {}) {
    this.options = options
  }

  get pid(): number {
    return this.child?.pid ?? 0
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const { flags = [], nodeFlags = [] } = this.options
    const args = ["serve", "--port", "0", ...flags]
    const { platform, env } = process
    const better = betterStart({ cores: availableParallelism(), platform, execArgv: nodeFlags, args, env })
    const started = [...nodeFlags, ...(better?.flags ?? []), "dist/server/main.js", ...args]
    const child = spawn(process.execPath, started, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...env, ...better?.env },
    })
    this.child = child
    // A program that fails leaves no server behind.
    const end = () => child.kill("SIGKILL")
    process.once("exit", end)
    child.once("exit", () => process.off("exit", end))
    this.diedOf = null
    this.errors = ""
    child.stderr!.on("data", (chunk) => {
      this.errors = (this.errors + chunk).slice(-2_000)
    })
    this.port = await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("the server does not listen")), startMs)
      let text = ""
      child.stdout!.on("data", (chunk) => {
        text += chunk
        const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)
        if (!found) return
        clearTimeout(timer)
        resolve(Number(found[1]))
      })
      child.once("exit", (code, signal) => {
        clearTimeout(timer)
        if (this.child !== child) return
        const reason =
          /^.*(?:Error|FATAL|fatal).*$/m.exec(this.errors)?.[0] ?? this.errors.trim().split("\n").at(-1)!
        this.diedOf = `${signal ?? `exit ${code}`}${reason && `, ${reason.slice(0, 160)}`}`
        this.deathCount++
        reject(new Error(`the server ended: ${this.diedOf}\n${this.errors}`))
      })
    })
  }

  /** Ends it at once, because it hangs or because it holds too much; counts as its death. */
  async kill(reason: string): Promise<void> {
    const { child } = this
    if (!child || this.diedOf !== null) return
    this.child = null
    this.diedOf = reason
    this.deathCount++
    child.kill("SIGKILL")
    await exited(child)
  }

  /** Ends it as a user would, which writes a profile if one was asked for. */
  async stop(): Promise<void> {
    const { child } = this
    this.child = null
    if (!child || this.diedOf !== null) return
    child.kill("SIGTERM")
    const timer = setTimeout(() => child.kill("SIGKILL"), 40_000)
    // The second signal does not wait for running answers.
    const second = setTimeout(() => child.kill("SIGTERM"), 2_000)
    await exited(child)
    clearTimeout(timer)
    clearTimeout(second)
  }
}

function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once("exit", () => resolve()))
}

/** Resident memory of a process in MiB; 0 where there is no /proc, or no such process. */
export function residentMiB(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
