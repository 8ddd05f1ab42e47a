/** PyTorch beside us: a process that samples one row at a time when it is asked to. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

export interface PlainOptions {
  temperature?: number
  topK?: number
  topP?: number
  minP?: number
  mask?: readonly number[]
}

export class Torch {
  private readonly process: ChildProcess
  private readonly lines: AsyncIterator<string>

  private constructor(process: ChildProcess, lines: AsyncIterator<string>) {
    this.process = process
    this.lines = lines
  }

  /** undefined where the Python of the environment variable PYTHON, or `python3`, has no torch. */
  static async open(logits: Float32Array): Promise<Torch | undefined> {
    const folder = mkdtempSync(join(tmpdir(), "sampler-"))
    const file = join(folder, "logits")
    writeFileSync(file, logits)
    const python = process.env.PYTHON ?? "python3"
    const child = spawn(python, ["test/bench/sampler_torch.py", file], { stdio: ["pipe", "pipe", "ignore"] })
    child.on("error", () => {})
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const { value } = await lines.next()
    rmSync(folder, { recursive: true })
    return value === "ready" ? new Torch(child, lines) : undefined
  }

  /** Microseconds of one row. */
  async time(options: PlainOptions): Promise<number> {
    this.process.stdin!.write(`${JSON.stringify(options)}\n`)
    const { value, done } = await this.lines.next()
    if (done) throw new Error("torch ended")
    return Number(value)
  }

  close(): void {
    this.process.stdin!.end()
  }
}
