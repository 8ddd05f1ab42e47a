/**
 * How a command ends: with one exit code and one line for each kind of failure.
 *
 * Exit codes: 0 ok · 1 a check failed · 2 wrong usage or an unreadable file · 3 the constraint was
 * refused · 4 the model or device failed · 5 the output is incomplete · 130, 143 interrupted by
 * SIGINT, SIGTERM.
 */
import { writeFile } from "node:fs/promises"
import type { Readable, Writable } from "node:stream"
import { CommanderError } from "commander"
import {
  GrammarError,
  ModelError,
  OptionError,
  RequestError,
  SamplingError,
  StoreError,
} from "../../runtime/index.ts"
import { Refusal } from "../errors.ts"
import { ListenError } from "../serve.ts"
import { CorpusError } from "../suite/rows.ts"

export const Exit = {
  Ok: 0,
  Rejected: 1,
  Usage: 2,
  Refused: 3,
  Model: 4,
  Incomplete: 5,
  Interrupt: 130,
  Terminate: 143,
} as const

/**
 * Wrong usage that commander cannot detect: an unreadable file, or flags that exclude each other.
 */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/** Writes a file, or appends to it. Throws `UsageError` if that fails. */
export async function writeText(
  path: string,
  text: string | Uint8Array,
  flag: "w" | "a" = "w",
): Promise<void> {
  try {
    await writeFile(path, text, { flag })
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${(error as Error).message}`)
  }
}

/** The parts of the process that a command may use. */
export interface Io {
  /** Reads standard input to its end. */
  stdin(): Promise<string>
  out(text: string): void
  err(text: string): void
  /** Lets the command continue from now on if its output has no reader or cannot be written. */
  outliveReader?(): void
  /** For a command that reads line by line: standard input, and the screen of `err`. */
  streams: { input: Readable & { isTTY?: boolean }; screen: Writable & { columns?: number } }
  /** Whether a person reads what `err` prints. */
  isTerminal: boolean
  /** Whether a person reads what `out` prints. */
  isOutTerminal: boolean
  /** Fires on the first SIGINT or SIGTERM. */
  signal: AbortSignal
  env: Readonly<Record<string, string | undefined>>
}

/**
 * Describes a refusal by its kind and its message, which begins with the path and ends with the
 * remedy.
 */
export function describeRefusal({ kind, message }: GrammarError): string {
  return `${kind}: ${message}`
}

/** Returns a text of a model or of another server without characters that control a terminal. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, "?")
}

/** Prints a text that a model wrote: whole to a file or program, printable to a terminal. */
export function outText(text: string, { out, isOutTerminal }: Pick<Io, "out" | "isOutTerminal">): void {
  out(isOutTerminal ? printable(text) : text)
}

/** Writes the line of a failure to standard error and returns the exit code. */
export function exitCode(error: unknown, io: Io): number {
  if (io.signal.aborted) return io.signal.reason === "SIGTERM" ? Exit.Terminate : Exit.Interrupt
  if (error instanceof CommanderError) {
    // Commander has already printed its message.
    return error.exitCode === 0 ? Exit.Ok : Exit.Usage
  }
  const message = printable(error instanceof Error ? error.message : String(error))
  io.err(`tokenrail: ${message}\n`)
  if (error instanceof GrammarError) return Exit.Refused
  if (error instanceof ModelError) return Exit.Model
  const usage = [
    UsageError,
    CorpusError,
    OptionError,
    Refusal,
    SamplingError,
    RequestError,
    ListenError,
    StoreError,
  ]
  if (usage.some((kind) => error instanceof kind)) return Exit.Usage
  if (error instanceof Error && error.stack) io.err(`${printable(error.stack)}\n`)
  return Exit.Model
}
