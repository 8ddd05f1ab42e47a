/** A program in a pseudo-terminal of 80 columns, which `script` of util-linux makes. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"

/** Whether this machine has the `script` command with the options that are used here. */
export const hasTerminals =
  spawnSync("script", ["-qfec", "true", "/dev/null"], { stdio: ["ignore", "ignore", "ignore"] }).status === 0

/** A wait that is longer than any step takes: the program hangs. */
const hangMs = 100_000

export class Terminal {
  /** All bytes that the program has written, as text. */
  raw = ""
  readonly child: ChildProcess
  private readonly ended: Promise<number | null>
  /** Where the next `until` begins to search in `shown`. */
  private seen = 0

  constructor(command: string, env: Record<string, string> = {}) {
    this.child = spawn("script", ["-qfec", `stty cols 80 rows 24; exec ${command}`, "/dev/null"], {
      env: { ...process.env, TERM: "xterm", ...env },
    })
    this.child.stdout!.on("data", (chunk) => {
      this.raw += chunk
    })
    this.ended = once(this.child, "close").then(([code]) => code as number | null)
  }

  /** What the screen has shown so far, without control sequences and returns of the carriage. */
  get shown(): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
    return this.raw.replace(/\u001b(\[[0-9;?]*([A-Za-z]|$)|$)|\r/g, "")
  }

  type(keys: string): void {
    this.child.stdin!.write(keys)
  }

  /** Waits until the text after the last match matches. */
  async until(pattern: RegExp): Promise<void> {
    const deadline = AbortSignal.timeout(hangMs)
    for (;;) {
      const found = pattern.exec(this.shown.slice(this.seen))
      if (found) {
        this.seen += found.index + found[0].length
        return
      }
      const more = once(this.child.stdout!, "data", { signal: deadline }).then(
        () => "more",
        () => "hangs",
      )
      const next = await Promise.race([more, this.ended.then(() => "ended")])
      if (next === "more") continue
      this.child.kill()
      throw new Error(`${next} before ${pattern}: ${JSON.stringify(this.raw)}`)
    }
  }

  /** The exit code of the program. */
  code(): Promise<number | null> {
    return this.ended
  }
}
