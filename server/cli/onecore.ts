/**
 * V8's helper threads compile and collect beside the program. Where there is one core they only take turns with the
 * thread that they help, in slices of milliseconds each of which falls on some token: with `--single-threaded`, V8 does
 * the same work in less time (per token 0.39 instead of 0.46 of llguidance's average on MaskBench, p99.9 half; Node 20,
 * one core). The flag counts from the start of a process alone, so the program starts itself again.
 */
import { spawn } from "node:child_process"
import { constants } from "node:os"
import { setFlagsFromString } from "node:v8"

const Flag = "--single-threaded"
/** glibc: large arrays that tables have grown out of go back to the system (400 → 385 MB at the peak of MaskBench). */
const memory = { MALLOC_MMAP_THRESHOLD_: "1048576", MALLOC_ARENA_MAX: "1" }

/** Whether the program should start again: one core, and V8 would use helper threads. */
export function isBetterRestarted(cores: number, execArgv: readonly string[]): boolean {
  return cores === 1 && !execArgv.includes(Flag)
}

/**
 * Runs this program once more, with the flag, and takes over its exit code. Signals go on to it; those from a terminal
 * reach it anyway.
 */
export async function restart(): Promise<number> {
  const args = [...process.execArgv, Flag, ...process.argv.slice(1)]
  const env = { ...memory, ...process.env }
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

/** In the process that `restart` began: settles it for one core, and ends it when the one that began it has ended. */
export function settle(): void {
  if (!process.execArgv.includes(Flag)) return
  // Compilation is waited for: with less inlined it takes 0.8 instead of 1.4 s of a MaskBench run.
  setFlagsFromString("--max-inlined-bytecode-size-cumulative=300")
  // What the warm-up keeps tells nothing of what a request keeps: two fifths less time in scavenges, p99.9 a token 0.7 ×.
  setFlagsFromString("--no-allocation-site-pretenuring")
  if (process.channel === undefined) return
  process.channel.unref()
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"))
}
