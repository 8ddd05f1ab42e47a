/** The built program, run as a user runs it. */
import { type ChildProcess, spawn } from "node:child_process"

export interface Outcome {
  code: number | null
  out: string
  err: string
}

/** Runs `tokenrail …args` to its end. */
export async function tokenrail(args: string[], input = ""): Promise<Outcome> {
  const child = start(args)
  child.stdin!.end(input)
  return outcome(child)
}

/** Runs any command line to its end, in a shell; `env` is added to this process's environment. */
export function shell(command: string, env: Record<string, string> = {}): Promise<Outcome> {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"]
  return outcome(spawn("sh", ["-c", command], { stdio, env: { ...process.env, ...env } }))
}

/** Starts it and leaves it running; `env` is added to this process's environment. */
export function start(args: string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, ["dist/server/main.js", ...args], {
    stdio: "pipe",
    env: { ...process.env, ...env },
  })
}

/** Waits for the end. */
export async function outcome(child: ChildProcess): Promise<Outcome> {
  let out = ""
  let err = ""
  child.stdout!.on("data", (chunk) => {
    out += chunk
  })
  child.stderr!.on("data", (chunk) => {
    err += chunk
  })
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve))
  return { code, out, err }
}
