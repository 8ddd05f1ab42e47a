/**
 * Where files and batches are kept: the interface between the routes, the runner and a store.
 *
 * The truth of a batch is its input file and the outcomes that have been recorded; everything else
 * can be computed from them. A line is claimed before it runs, and its outcome is appended once. A
 * store of one process claims a line that has no outcome; a store that several processes share
 * would also claim it for one of them. `directory.ts` keeps everything in a directory.
 *
 * Files and batches belong to the owner that made them: a digest of its API key.
 */

import { Refusal } from "../errors.ts"

export const maxFileBytes = 200 << 20
export const maxLines = 50_000
export const maxLineBytes = 1 << 20
/** Maximum UTF-16 units of a `custom_id`. */
export const maxCustomIdUnits = 512
/** Maximum errors that a batch lists. */
export const maxLineErrors = 100
/** Maximum batches that run at once; further ones wait. */
export const maxOpenBatches = 8
/** Seconds after which an unfinished batch expires. */
export const windowSeconds = 86_400
/** Bounds of the seconds after which a file expires, as OpenAI's API has them. */
export const expirySeconds = { least: 3_600, most: 2_592_000 } as const

/** The fields of a file that its uploader gives. */
export interface FileFields {
  owner: string
  filename: string
  purpose: string
  /** Seconds after its creation from which on the file does not exist. Default: none. */
  expires_after_seconds?: number | undefined
}

/** A file without its content. */
export interface StoredFile extends FileFields {
  id: string
  bytes: number
  /** Seconds since 1970, as all times here. */
  created_at: number
}

/** The state of a batch, by OpenAI's names. */
export type BatchStatus =
  | "validating"
  | "failed"
  | "in_progress"
  | "finalizing"
  | "completed"
  | "expired"
  | "cancelling"
  | "cancelled"

/** Why a batch failed, in OpenAI's form. `line` counts from 1. */
export interface BatchError {
  code: string
  message: string
  param: string | null
  line: number | null
}

/** The tokens of a batch, in OpenAI's form. */
export interface BatchUsage {
  input_tokens: number
  input_tokens_details: { cached_tokens: number }
  output_tokens: number
  output_tokens_details: { reasoning_tokens: number }
  total_tokens: number
}

/** A batch as it is on the wire, but for its owner and the expiry of its outcomes. */
export interface StoredBatch {
  owner: string
  /** Seconds after their creation from which on the files of its outcomes do not exist. */
  output_expires_seconds?: number | undefined
  /** The name of the model that answers. */
  model?: string
  /** The tokens of the outcomes. */
  usage?: BatchUsage
  id: string
  object: "batch"
  endpoint: string
  errors: { object: "list"; data: BatchError[] } | null
  input_file_id: string
  completion_window: string
  status: BatchStatus
  output_file_id: string | null
  error_file_id: string | null
  created_at: number
  in_progress_at: number | null
  expires_at: number
  finalizing_at: number | null
  completed_at: number | null
  failed_at: number | null
  expired_at: number | null
  cancelling_at: number | null
  cancelled_at: number | null
  request_counts: { total: number; completed: number; failed: number }
  metadata: object | null
}

const openStatuses: ReadonlySet<BatchStatus> = new Set([
  ...(["validating", "in_progress", "finalizing", "cancelling"] as const),
])

/** Returns whether a batch has not ended. */
export function isOpenBatch({ status }: Pick<StoredBatch, "status">): boolean {
  return openStatuses.has(status)
}

/** The result of one line. */
export interface Outcome {
  customId: string
  /** Whether it belongs into the error file. */
  isFailed: boolean
  /** The line of the output or error file, without its end. */
  text: string
}

/** Returns whether a file has expired. Its content may still be there. */
export function isExpired({ created_at, expires_after_seconds: seconds }: StoredFile): boolean {
  return seconds !== undefined && nowSeconds() >= created_at + seconds
}

export const noTokens: BatchUsage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}

/** Returns the sum of two usages. */
export function sumOf(a: BatchUsage, b: BatchUsage): BatchUsage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    input_tokens_details: {
      cached_tokens: a.input_tokens_details.cached_tokens + b.input_tokens_details.cached_tokens,
    },
    output_tokens: a.output_tokens + b.output_tokens,
    output_tokens_details: {
      reasoning_tokens: a.output_tokens_details.reasoning_tokens + b.output_tokens_details.reasoning_tokens,
    },
    total_tokens: a.total_tokens + b.total_tokens,
  }
}

/** The outcomes of one batch while it runs. */
export interface Outcomes {
  readonly counts: { completed: number; failed: number }
  /** The tokens of all outcomes, if the store counts them (`usageOf` in usage.ts). */
  readonly usage?: BatchUsage
  /** Claims a line. Returns false if it has an outcome, or if another process runs it. */
  claim(customId: string): boolean | Promise<boolean>
  /**
   * Records outcomes. They are durable when it resolves. Rejects with the system's error if nothing
   * was recorded; it may then be called again.
   */
  append(outcomes: readonly Outcome[]): Promise<void>
  /** Ends the recording. Resolves to the ids of the files that the outcomes have become. */
  finish(): Promise<{ outputFileId: string | null; errorFileId: string | null }>
  close(): Promise<void>
}

/**
 * Keeps files, batches and outcomes. Every method may reject with an error of the system; ENOSPC
 * and EDQUOT mean that it may be called again later.
 */
export interface BatchStore {
  /**
   * Fires when another process has taken the store. Then this process runs no more batches and
   * records nothing, and requests for files and batches are refused with 503.
   */
  readonly lost?: AbortSignal
  /**
   * Stores a file. `fields` is called when the content has ended; if either rejects, nothing is
   * stored.
   */
  putFile(content: AsyncIterable<Uint8Array>, fields: () => Promise<FileFields>): Promise<StoredFile>
  getFile(id: string): Promise<StoredFile | undefined>
  /** Returns all files, in the order in which they were made. */
  listFiles(): Promise<readonly StoredFile[]>
  readFile(id: string): AsyncIterable<Uint8Array>
  deleteFile(id: string): Promise<void>
  /** Stores a batch under its id, in place of the one that was there. */
  putBatch(batch: StoredBatch): Promise<void>
  getBatch(id: string): Promise<StoredBatch | undefined>
  /** Returns all batches, in the order in which they were made. */
  listBatches(): Promise<readonly StoredBatch[]>
  /** Opens the outcomes of a batch that have been recorded. */
  openOutcomes(batch: StoredBatch): Promise<Outcomes>
}

/** Throws `Refusal` (503) if another process has taken the store. */
export function refuseLost({ lost }: Pick<BatchStore, "lost">): void {
  if (lost?.aborted) {
    throw new Refusal("overloaded", "another server has taken the data directory", {
      hint: "Send the request to that one",
    })
  }
}

/** Returns the present time in seconds. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

let lastStamp = 0

/** Returns a new id. Ids sort in the order in which they were made. */
export function newId(prefix: string): string {
  lastStamp = Math.max(Date.now(), lastStamp + 1)
  const random = crypto.randomUUID().replaceAll("-", "").slice(0, 12)
  return `${prefix}${lastStamp.toString(16).padStart(12, "0")}${random}`
}
