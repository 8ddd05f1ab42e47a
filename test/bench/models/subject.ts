/** One runtime of a model in a process of its own: what the bench asks of it, and what it answers. */

/** What is measured; each by itself, on a runtime that is loaded. */
export type Task =
  /** Greedy decoding of `tokens` tokens for each of `rows` prompts at once; `schema`: bound by it. Tokens a second, first ones apart. */
  | { kind: "decode"; prompts: string[]; tokens: number; schema?: object }
  /** Milliseconds from the prompt to its first token. */
  | { kind: "first"; prompt: number[] | string }
  | { kind: "close" }

export interface Answer {
  value: number
  /** The text of the first row. */
  text?: string
}

/** What a subject says once it is loaded. */
export interface Loaded {
  ms: number
  rssMiB: number
}

export interface Subject {
  decode(task: Extract<Task, { kind: "decode" }>): Promise<Answer | null>
  first(task: Extract<Task, { kind: "first" }>): Promise<Answer>
  close(): Promise<void>
}

/** Serves `load`'s subject to the parent process. */
export async function serve(load: () => Promise<Subject>): Promise<void> {
  const begin = performance.now()
  const subject = await load()
  process.on("message", async (task: Task) => {
    switch (task.kind) {
      case "decode":
        process.send!(await subject.decode(task))
        return
      case "first":
        process.send!(await subject.first(task))
        return
      case "close":
        await subject.close()
        process.exit(0)
    }
  })
  const loaded: Loaded = { ms: performance.now() - begin, rssMiB: process.memoryUsage.rss() / 2 ** 20 }
  process.send!(loaded)
}

/**
 * Tokens a second of rows whose tokens came at these times, while all of them run: the first of each row is the prompt's, and an answer that is
 * complete sooner than the others ends the count.
 */
export function rateOf(rows: readonly (readonly number[])[]): number {
  const first = Math.max(...rows.map((times) => times[0]))
  const last = Math.min(...rows.map((times) => times[times.length - 1]))
  const counted = rows.flatMap((times) => times.filter((time) => time > first && time <= last))
  return (1000 * counted.length) / (last - first)
}
