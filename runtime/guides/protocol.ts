/**
 * The messages between the engine's thread and a thread of walks, and the words of memory that they
 * share.
 *
 * Questions and answers travel through a message port. The thread of walks does not use its event
 * loop: it sleeps on a shared word until a message wakes it, within a few microseconds. While it
 * works, shared words contain what it works on, so that the engine can see which work takes too
 * long without asking.
 */
import type { MessagePort } from "node:worker_threads"
import type { TimedWork } from "../../grammar/deadline.ts"
import {
  compile,
  GrammarError,
  type GrammarErrorKind,
  type KeywordNote,
  makeReport,
  type Report,
} from "../../grammar/index.ts"
import { type ContextOverflow, RequestError, type RequestErrorCode } from "../errors.ts"
import type { DraftedTokens } from "./draft.ts"
import type { Opening, WalkRequest } from "./opening.ts"
import type { Glimpse, Misfit, Outlook, Verdict } from "./walk.ts"

/** Index in `signal` of a word that is incremented with every question. */
export const Asked = 0
/** Index of a word that is incremented with every answer. */
export const Answered = 1
/** Index of the count of pieces of work; the word is 0 while the thread sleeps. */
export const Unit = 2
/** Index of the owner of the current work: the request of its guides. */
export const UnitOwner = 3
/** Index of the kind of the current work, an index of `unitKinds`. */
export const UnitKind = 4
/**
 * Index of the number of states of the thread's machines, updated when a walk is opened or left.
 */
export const StateCount = 5
export const signalWords = 8

/** Index in `shared`, which all threads have: the number of machine ids given out. */
export const MachineCount = 0
/**
 * Index of a word that is incremented when the first request begins to be prepared and when the
 * last one has finished, so it is odd while there are requests. A thread warms up only while it is
 * even.
 */
export const BusyTurn = 1
export const sharedWords = 8

/** Maximum megabytes of one thread's heap. */
export const maxHeapMb = 2_048

/** Maximum milliseconds of one piece of work, after which it is stopped. */
export interface WorkLimits {
  /** One compilation. Default 2,000. */
  compileMs: number
  /** One mask, including the forced tokens before it. Default 1,000. */
  maskMs: number
  /** One completion of a text that must close in its budget, including its mask. Default 1,000. */
  completionMs: number
}

export const defaultWorkLimits: Readonly<WorkLimits> = {
  compileMs: 2_000,
  maskMs: 1_000,
  completionMs: 1_000,
}

/** The kinds of work. Each has its own time limit. */
export const unitKinds = ["compile", "mask", "completion"] as const
/** The error for each kind of work that exceeds its limit. */
export const timedWork: Readonly<Record<UnitKindName, TimedWork>> = {
  compile: { what: "compiling the constraint takes", option: "compileMs" },
  mask: { what: "finding the tokens that may come next takes", option: "maskMs" },
  completion: { what: "finding a completion that fits into the budget takes", option: "completionMs" },
}
export type UnitKindName = (typeof unitKinds)[number]

/** @internal */
export interface ThreadData {
  readonly port: MessagePort
  readonly signal: SharedArrayBuffer
  readonly shared: SharedArrayBuffer
  /** Masks by slot. Shape [slots, W]. */
  readonly rows: SharedArrayBuffer
  /** The model's directory, from which the thread reads the tokenizer itself. */
  readonly model: string
  readonly dtype: string | undefined
  readonly width: number
  /** Whether the thread warms up with samples during pauses. */
  readonly warms: boolean
  /** Whether the thread has a low priority. */
  readonly isPatient: boolean
  /** Maximum milliseconds for one mask, and for one completion. */
  readonly maskMs: number
  readonly completionMs: number
}

/**
 * One walk of a request that is being opened. It may have accepted tokens already, in another
 * thread.
 */
export interface GuidePlace {
  readonly guide: number
  readonly slot: number
  /** Tokens that the walk has accepted. */
  readonly walked: readonly number[]
  /**
   * Its open questions: a token to accept, an outlook to find. `seen`: whether the engine already
   * has its outlook and mask.
   */
  readonly token?: number | undefined
  readonly ahead: number
  readonly next: "look" | "seen" | "none"
}

export type ToThread =
  | {
      kind: "open"
      /** Identifies the request, for everything that its guides share. */
      owner: number
      places: readonly GuidePlace[]
      request: WalkRequest
      /** Equal keys mean equal constraints; undefined: the constraint is not cached. */
      key: string | undefined
      /** Maximum milliseconds for the compilation. */
      compileMs: number
    }
  | { kind: "begin"; guide: number; slot: number }
  | {
      kind: "step"
      accepts: readonly (readonly [guide: number, token: number, ahead: number])[]
      looks: readonly number[]
    }
  | { kind: "draft"; ask: number; guide: number; proposed: readonly number[]; bound: number }
  | { kind: "glimpse"; ask: number; guide: number; tokens: readonly number[] }
  | { kind: "release"; guides: readonly number[] }

export type FromThread =
  /** `systemThread`: see priority.ts. */
  | { kind: "ready"; systemThread: number }
  /** `bytes`: memory that the thread holds. */
  | { kind: "opened"; owner: number; opening: PlainOpening; bytes: number }
  /** `isLate`: the compilation did not end in its time. */
  | { kind: "refused"; owner: number; error: PackedError; isLate: boolean }
  | { kind: "failed"; guide: number; error: PackedError }
  | { kind: "verdicts"; entries: readonly (readonly [guide: number, Verdict | Misfit])[] }
  | { kind: "outlooks"; entries: readonly (readonly [guide: number, Outlook])[] }
  | { kind: "drafted"; ask: number; drafted: DraftedTokens }
  | { kind: "glimpsed"; ask: number; glimpse: Glimpse }

export interface PlainOpening extends Omit<Opening, "report"> {
  readonly report: PlainReport | null
}

/** A report as plain data, with its keywords if they were requested. */
interface PlainReport {
  readonly reason: Report["reason"]
  readonly keywords: KeywordNote[] | undefined
}

export function packOpening({ report, ...opening }: Opening, wantsReport: boolean): PlainOpening {
  const keywords = wantsReport ? report?.keywords : undefined
  return { ...opening, report: report && { reason: report.reason, keywords } }
}

/**
 * Returns an opening with a report that finds its keywords when they are read, unless they came
 * with the message. Finding them takes as long as the compilation.
 */
export function unpackOpening({ report, ...opening }: PlainOpening, request: WalkRequest): Opening {
  if (!report) return { ...opening, report: null }
  const notes = (): KeywordNote[] => report.keywords ?? notesOf(request)
  return { ...opening, report: makeReport(notes, report.reason) }
}

function notesOf({ constraint }: WalkRequest): KeywordNote[] {
  // Only schemas have keywords, including the schemas of tools.
  if (!constraint || !("kind" in constraint.input)) return []
  if (constraint.input.kind !== "json" && constraint.input.kind !== "tools") return []
  return compile(constraint.input, { surface: "generate", ...constraint.policies }).report.keywords
}

/** An error as plain data, since messages between threads drop classes. */
export interface PackedError {
  readonly message: string
  readonly grammar?: { readonly kind: GrammarErrorKind; readonly path: string }
  readonly request?: {
    readonly code: RequestErrorCode
    readonly param: string | undefined
    readonly overflow: ContextOverflow | undefined
  }
}

export function packError(error: unknown): PackedError {
  if (error instanceof GrammarError) {
    const { message, kind, path } = error
    return { message, grammar: { kind, path } }
  }
  if (error instanceof RequestError) {
    const { message, code, param, overflow } = error
    return { message, request: { code, param, overflow } }
  }
  return { message: error instanceof Error ? error.message : String(error) }
}

export function unpackError({ message, grammar, request }: PackedError): Error {
  if (grammar) {
    // The message already contains the path.
    const bare = message.startsWith(`${grammar.path}: `) ? message.slice(grammar.path.length + 2) : message
    return new GrammarError(grammar.kind, grammar.path, bare)
  }
  if (request) return new RequestError(request.code, message, request.param, request.overflow)
  return new Error(message)
}
