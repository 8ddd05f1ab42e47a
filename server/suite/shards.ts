/**
 * A suite over all cores: child processes that each take every n-th job, watched from here.
 *
 * A job may hang or bring its process down, and that is a result too: the child is ended, the job
 * is reported as crashed, and a new child goes on after it. A child prints one line a job, in
 * order, so the parent always knows which job is running.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

export interface ShardOptions {
  jobCount: number
  /** Processes at once. */
  shardCount: number
  /** Time for one job; the first one of a child also loads the vocabulary. */
  jobMs: number
  loadMs: number
  /** Called for each job that is done. */
  onJob?: () => void
  /** Arguments with which the child prints the lines of jobs `first`, `first + step`, … */
  args: (first: number, step: number) => string[]
}

/** Lines by job; a string that begins with `crashed` stands for a job that ended its process. */
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
