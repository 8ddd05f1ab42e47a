/**
 * `tokenrail generate --batch in.jsonl --out out.jsonl`: runs the lines of a batch without a
 * server.
 *
 * A line is `{custom_id, method, url, body}` as in `/v1/batches`, and the application answers it in
 * this process. All outcomes, refusals too, are appended to one file. If the file is there, its
 * outcomes are kept, and only the other lines run: so an interrupted run is continued.
 */
import { createReadStream } from "node:fs"
import { type Engine, ModelError } from "../../runtime/index.ts"
import { createApp } from "../app.ts"
import { answerLine, Gate, Recorder, runLines } from "../batches/answering.ts"
import { checkInput, readInput } from "../batches/lines.ts"
import { OutcomeLog } from "../batches/outcomelog.ts"
import type { Outcome } from "../batches/store.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { type ModelFlags, openModel } from "./model.ts"
import { progress } from "./progress.ts"

interface BatchFlags extends ModelFlags {
  batch: string
  out: string
  maxCompile: number
  maxMask: number
}

/**
 * Runs the batch and returns the exit code: 0 if every line has an answer, 1 if one was refused or
 * failed. Throws UsageError if a line is broken or a file cannot be read or written.
 */
export async function runBatch(flags: BatchFlags, io: Io): Promise<number> {
  const customIds = await checkedIds(flags.batch)
  const total = customIds.size
  const done = new Set<string>()
  let failedCount = 0
  const found = (customId: string, text: string): void => {
    // The file may also have outcomes of other inputs.
    if (!customIds.has(customId) || done.has(customId)) return
    done.add(customId)
    if (!isAnswer(text)) failedCount++
  }
  const log = await writing(flags.out, OutcomeLog.open(flags.out, found))
  try {
    if (done.size < total) {
      const limits = { compileMs: flags.maxCompile, maskMs: flags.maxMask }
      const engine = await openModel(flags, io, { limits })
      try {
        await answerAll(engine, { flags, io, log, done, total }, ({ isFailed }) => {
          if (isFailed) failedCount++
        })
      } finally {
        await engine.close()
      }
    }
  } finally {
    await log.close()
  }
  io.signal.throwIfAborted()
  if (failedCount === 0) return Exit.Ok
  io.err(`tokenrail: ${failedCount} of ${total} lines were refused or failed: see ${flags.out}\n`)
  return Exit.Rejected
}

interface Run {
  flags: BatchFlags
  io: Io
  log: OutcomeLog
  /** The custom ids that had an outcome at the start. */
  done: ReadonlySet<string>
  total: number
}

/** Answers the lines without an outcome; `recorded` is called with each outcome that is durable. */
async function answerAll(
  engine: Engine,
  { flags, io, log, done, total }: Run,
  recorded: (outcome: Outcome) => void,
): Promise<void> {
  const app = createApp(engine, { anyModel: true, compileMs: flags.maxCompile })
  const answer = async (request: Request): Promise<Response> => {
    const response = await app.fetch(request)
    // On a server the line would wait for a restart.
    if (response.status === 503 && engine.isDead) throw new ModelError("the model is lost")
    return response
  }
  const tick = progress(io, "batch", total, { done: done.size, note: rateOf(engine) })
  const recorder = new Recorder((group) => writing(flags.out, log.append(group.map(({ text }) => text))))
  await runLines(readInput(createReadStream(flags.batch), null), {
    gate: new Gate(engine.batchWidth),
    signal: io.signal,
    claim: (customId) => !done.has(customId),
    answer: (line, number, signal) =>
      answerLine(line, { id: `batch_req_${number}`, key: null, signal }, answer),
    record: async (outcome) => {
      await recorder.add(outcome)
      recorded(outcome)
      tick()
    },
  })
}

/** Returns the function that says how many tokens a second the engine writes. */
function rateOf({ metrics }: Engine): () => string {
  const begunAt = performance.now()
  const before = metrics.completionTokens
  return () => {
    const seconds = (performance.now() - begunAt) / 1000
    return `${Math.round((metrics.completionTokens - before) / seconds)} tokens/s`
  }
}

/** Checks the whole input and returns the custom ids of its lines. */
async function checkedIds(path: string): Promise<ReadonlySet<string>> {
  const checked = checkInput(createReadStream(path), { endpoint: null, maxLines: Number.POSITIVE_INFINITY })
  const { customIds, errors } = await checked.catch((error: Error) => {
    throw new UsageError(`--batch ${path}: ${error.message}`)
  })
  const [first] = errors
  if (first === undefined) return customIds
  const place = first.line === null ? path : `${path}:${first.line}`
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more errors)` : ""
  throw new UsageError(`${place}: ${first.message}${more}`)
}

async function writing<T>(path: string, written: Promise<T>): Promise<T> {
  try {
    return await written
  } catch (error) {
    throw new UsageError(`--out ${path}: ${(error as Error).message}`)
  }
}

/** Returns whether an outcome is an answer, and not a refusal or a failure. */
function isAnswer(text: string): boolean {
  return /^\{"id":"[^"]*","custom_id":"(?:[^"\\]|\\.)*","response":\{"status_code":2/.test(text)
}
