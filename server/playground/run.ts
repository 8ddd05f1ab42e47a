/**
 * One answer of the model, as far as it has come: the tokens and how they came about, the text, the
 * calls, the events of its values, and the log of the stream.
 */
import { type Backend, send } from "./backend.ts"
import { dataOf, readEvents } from "./sse.ts"
import type { Chunk, FieldRow, TraceRow, Usage } from "./wire.ts"

interface Call {
  id: string
  name: string
  args: string
}

export interface Run {
  state: "running" | "done" | "failed" | "stopped"
  trace: TraceRow[]
  /** Milliseconds from the start to the arrival of each token. */
  times: number[]
  text: string
  reasoning: string
  calls: Call[]
  fields: FieldRow[]
  /** The blocks of the stream, as they came. */
  log: string[]
  usage: Usage | null
  finish: string | null
  stopReason: string | number | null
  seed: string | null
  warnings: string[]
  error: string | null
}

export function emptyRun(): Run {
  return {
    ...{ state: "running", trace: [], times: [], text: "", reasoning: "", calls: [], fields: [], log: [] },
    ...{ usage: null, finish: null, stopReason: null, seed: null, warnings: [], error: null },
  }
}

/** Maximum number of blocks of the log. */
const maxLog = 2_000

/**
 * Sends a chat request and adds the events of its stream to `run`. `tell` is called after each
 * event. Never rejects: a failure is a state of the run.
 */
export async function follow(
  backend: Backend,
  body: object,
  { run, tell, signal }: { run: Run; tell: () => void; signal: AbortSignal },
): Promise<void> {
  const startedAt = performance.now()
  try {
    const response = await send(backend, "v1/chat/completions", body, signal)
    if (response.body === null) throw new Error("the reply has no body")
    for await (const block of readEvents(response.body)) {
      if (run.log.length < maxLog) run.log.push(block)
      const data = dataOf(block)
      if (data !== "" && data !== "[DONE]") add(run, JSON.parse(data) as Chunk, performance.now() - startedAt)
      tell()
    }
    if (run.state === "running") run.state = "done"
  } catch (error) {
    run.state = signal.aborted ? "stopped" : "failed"
    if (!signal.aborted) run.error = error instanceof Error ? error.message : String(error)
  }
  tell()
}

function add(run: Run, chunk: Chunk, ms: number): void {
  if (chunk.error) {
    run.state = "failed"
    run.error = chunk.error.message
    return
  }
  if (chunk.usage) run.usage = chunk.usage
  if (chunk.tokenrail?.seed !== undefined) run.seed = String(chunk.tokenrail.seed)
  if (chunk.tokenrail?.warnings) run.warnings = chunk.tokenrail.warnings
  for (const { delta, finish_reason, stop_reason, tokenrail } of chunk.choices ?? []) {
    run.text += delta.content ?? ""
    run.reasoning += delta.reasoning_content ?? ""
    for (const { index, id, function: fn, custom } of delta.tool_calls ?? []) {
      run.calls[index] ??= { id: id ?? "", name: "", args: "" }
      run.calls[index].name += fn?.name ?? custom?.name ?? ""
      run.calls[index].args += fn?.arguments ?? custom?.input ?? ""
    }
    for (const row of tokenrail?.trace ?? []) {
      run.trace.push(row)
      run.times.push(ms)
    }
    run.fields.push(...(tokenrail?.fields ?? []))
    if (finish_reason !== null) {
      run.finish = finish_reason
      run.stopReason = stop_reason ?? null
    }
  }
}
