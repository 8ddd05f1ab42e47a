/**
 * Two settings take effect only at the start of a process, so the program restarts itself if they
 * help.
 *
 * *One core.* V8's helper threads compile and collect garbage beside the program. On one core they
 * can only interrupt the program, for several milliseconds at a time, which delays some tokens.
 * With `--single-threaded` V8 does the same work in less time (per token 0.39 instead of 0.46 of
 * llguidance's average on MaskBench, p99.9 half; Node 20, one core).
 *
 * *A server's memory.* glibc gives each thread a heap of its own, and each heap keeps up to 64 MB
 * of freed memory at its end after a large array has been freed. After half an hour of distinct
 * schemas, 418 MB of 953 were in such heaps. With two heaps for all threads, and with arrays that
 * are returned to the system at once, the total was 710 MB, including the second process that waits
 * (44 MB).
 */
import { spawn } from "node:child_process"
import { constants } from "node:os"
import { setFlagsFromString } from "node:v8"

const Flag = "--single-threaded"
const Threshold = "MALLOC_MMAP_THRESHOLD_"

/** Facts about this process and its machine that decide whether to restart. */
export interface Start {
  readonly cores: number
  readonly platform: string
  /** Flags of Node itself. */
  readonly execArgv: readonly string[]
  /** Arguments of the program, the command first. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Flags and variables that a restart adds. */
export interface BetterStart {
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * Returns the settings of a restart, or null if it would not help. Variables of malloc that are
 * already set are kept.
 */
export function betterStart({ cores, platform, execArgv, args, env }: Start): BetterStart | null {
  const isOneCore = cores === 1 && !execArgv.includes(Flag)
  const isUnset = !Object.keys(env).some((name) => name.startsWith("MALLOC_"))
  const isInspected = execArgv.some((flag) => flag.startsWith("--inspect"))
  const isServer = platform === "linux" && args[0] === "serve" && isUnset && !isInspected
  if (!isOneCore && !isServer) return null
  const memory = { [Threshold]: "1048576", MALLOC_ARENA_MAX: cores === 1 ? "1" : "2" }
  return { flags: isOneCore ? [Flag] : [], env: isUnset ? memory : {} }
}

/**
 * Runs this program again with these flags, and returns its exit code. Forwards signals; those from
 * a terminal reach the child anyway.
 */
export async function restart(better: BetterStart): Promise<number> {
  const args = [...process.execArgv, ...better.flags, ...process.argv.slice(1)]
  const env = { ...process.env, ...better.env }
  const child = spawn(process.execPath, args, { env, stdio: ["inherit", "inherit", "inherit", "ipc"] })
  process.on("SIGTERM", () => child.kill("SIGTERM"))
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"))
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("exit", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    )
  })
}

/**
 * Applies V8 settings, and ends a process that `restart` began when its parent has ended. The
 * parent ends first only if it was killed, as by SIGKILL. The child must then end as well, since
 * otherwise its server would keep the port.
 */
export function settle(): void {
  const isOneCore = process.execArgv.includes(Flag)
  if (isOneCore) {
    // On one core the program waits for the compiler. With these bounds on inlining, and with
    // `compileEarly`, compilation takes 0.7 instead of 1.5 s of a MaskBench run.
    setFlagsFromString("--max-inlined-bytecode-size-cumulative=300")
    setFlagsFromString("--max-inlined-bytecode-size=200")
    setFlagsFromString("--no-turbo-inline-array-builtins")
    // Objects that survive the warm-up do not predict which objects of a request survive. Without
    // pretenuring, scavenges take two fifths less time, and p99.9 a token is 0.7 ×.
    setFlagsFromString("--no-allocation-site-pretenuring")
  }
  if (process.channel === undefined || (!isOneCore && process.env[Threshold] === undefined)) return
  process.channel.unref()
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"))
}

/**
 * Sets whether V8 optimises functions earlier or later than by default: after half as many runs, or
 * after four times as many. Early is for a warm-up. After it the hot functions are compiled, and
 * each compilation of another function would delay some token by 10 to 40 ms. With this, a token of
 * MaskBench takes a tenth less on average, its p99.9 a fifth less, and the p99 of first masks is 8
 * instead of 13 ms (three pairs of runs; Node 20, one core). On several cores V8 compiles beside
 * the program, and the setting changes nothing. The threads of a server warm up at different times
 * and keep V8's default.
 */
export function compileEarly(isEarly: boolean): void {
  if (process.execArgv.includes(Flag)) setFlagsFromString(`--interrupt-budget=${isEarly ? 30_000 : 270_000}`)
}
