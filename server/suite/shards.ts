/**
 * Runs a suite on all cores: starts child processes, each of which takes every n-th job, and
 * supervises them.
 *
 * A job may hang or crash its process, which is a result too: the child is ended, the job is
 * reported as crashed, and a new child continues after it. A child prints one line for each job, in
 * order, so the parent always knows which job is running.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

export interface ShardOptions {
  jobCount: number
  /** Number of processes. */
  shardCount: number
  /** Time for one job; the first one of a child also loads the vocabulary. */
  jobMs: number
  loadMs: number
  /** Called after each job. */
  onJob?: () => void
  /**
   * Returns the arguments with which a child prints the lines of jobs `first`, `first + step`, …
   */
  args: (first: number, step: number) => string[]
}

/**
 * Returns the lines by job. A line that begins with `crashed` replaces the result of a job that
 * ended its process.
 */
export async function runShards(options: ShardOptions): Promise<string[]> {
  const lines: string[] = new Array(options.jobCount)
  const shards = Array.from({ length: options.shardCount }, (_, shard) => runShard(shard, lines, options))
  await Promise.all(shards)
  return lines
}

async function runShard(shard: number, lines: string[], options: ShardOptions): Promise<void> {
  const step = options.shardCount
  for (let next = shard; next < options.jobCount; ) {
    const reason = await new Promise<string>((resolve) => {
      const [program] = process.argv.slice(1, 2)
      const child = spawn(process.execPath, [program, ...options.args(next, step)], {
        stdio: ["ignore", "pipe", "inherit"],
      })
      let late = false
      const expire = () => {
        late = true
        child.kill("SIGKILL")
      }
      let timer = setTimeout(expire, options.loadMs)
      createInterface({ input: child.stdout }).on("line", (line) => {
        lines[next] = line
        next += step
        options.onJob?.()
        clearTimeout(timer)
        timer = setTimeout(expire, options.jobMs)
      })
      child.on("close", (code, signal) => {
        clearTimeout(timer)
        resolve(
          late ? `crashed: no result after ${options.jobMs} ms` : `crashed: ${signal ?? `exit ${code}`}`,
        )
      })
    })
    if (next >= options.jobCount) break
    lines[next] = reason
    next += step
    options.onJob?.()
  }
}
