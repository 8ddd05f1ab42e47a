/**
 * Two settings take effect only at the start of a process, so the program restarts itself if they
 * help.
 *
 * *One core.* V8's helper threads compile and collect beside the program; on one core they only
 * take turns with the thread that they help, in slices of milliseconds each of which falls on some
 * token. With `--single-threaded` V8 does the same work in less time (per token 0.39 instead of
 * 0.46 of llguidance's average on MaskBench, p99.9 half; Node 20, one core).
 *
 * *A server's memory.* glibc gives each thread a heap of its own, and once a large array has been
 * given back it keeps up to 64 MB at the end of each of them: after half an hour of distinct
 * schemas 418 MB of 953 lay in such heaps. With two heaps for all threads, and arrays that are
 * returned to the system at once, the total was 710 MB, including the second process that waits (44
 * MB).
 */
import { spawn } from "node:child_process"
import { constants } from "node:os"
import { setFlagsFromString } from "node:v8"

const Flag = "--single-threaded"
const Threshold = "MALLOC_MMAP_THRESHOLD_"

/** Facts of this process and its machine that decide about a restart. */
export interface Start {
  readonly cores: number
  readonly platform: string
  /** Flags of Node itself. */
  readonly execArgv: readonly string[]
  /** The program's arguments, the command first. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Flags and variables that a restart adds. */
export interface BetterStart {
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * Returns null if a restart would not help. Variables of malloc that are already set stay as they
 * are.
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
 * Runs this program again with these flags, and returns its exit code. Signals are forwarded; those
 * from a terminal reach it anyway.
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
 * In a process that may be the one that `restart` began: settles it, and ends it when the one that
 * began it has ended. That one ends first only where it was ended at once, as by SIGKILL, and
 * whoever did so means both: a server that went on would hold the port.
 */
export function settle(): void {
  const isOneCore = process.execArgv.includes(Flag)
  if (isOneCore) {
    // Compilation is waited for: with this, and `compileEarly`, it takes 0.7 instead of 1.5 s of a
    // MaskBench run.
    setFlagsFromString("--max-inlined-bytecode-size-cumulative=300")
    setFlagsFromString("--max-inlined-bytecode-size=200")
    setFlagsFromString("--no-turbo-inline-array-builtins")
    // What the warm-up keeps tells nothing of what a request keeps: two fifths less time in
    // scavenges, p99.9 a token 0.7 ×.
    setFlagsFromString("--no-allocation-site-pretenuring")
  }
  if (process.channel === undefined || (!isOneCore && process.env[Threshold] === undefined)) return
  process.channel.unref()
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"))
}

/**
 * Whether V8 optimises what was run half as often as it asks for by itself, or what was run four
 * times as often. Early is for a warm-up; behind it what is hot has been compiled, and each
 * function that is not costs some token 10 to 40 ms. A token of MaskBench takes a tenth less on
 * average then, its p99.9 a fifth, the p99 of first masks 8 instead of 13 ms (three pairs of runs;
 * Node 20, one core). On several cores V8 compiles beside the program, and nothing changes. A
 * server's threads warm up at times of their own, and compile by V8's measure.
 */
export function compileEarly(isEarly: boolean): void {
  if (process.execArgv.includes(Flag)) setFlagsFromString(`--interrupt-budget=${isEarly ? 30_000 : 270_000}`)
}
