/**
 * The messages between the engine's thread and a thread of walks, and the words that they share.
 *
 * Questions and answers travel through a message port. The thread of walks does not use its event
 * loop: it sleeps on a shared word until a message wakes it, within a few microseconds. While it
 * works, shared words say on what, so that the engine can see which work takes too long without
 * asking.
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

/** Word of `signal`: raised with every question. */
export const Asked = 0
/** Raised with every answer. */
export const Answered = 1
/** Counts pieces of work; 0 = it sleeps. */
export const Unit = 2
/** Whose work the unit is: the owner of the guides. */
export const UnitOwner = 3
/** What kind of work: an index of `unitKinds`. */
export const UnitKind = 4
/** States of the machines that the thread keeps, counted when a walk is opened or left. */
export const StateCount = 5
export const signalWords = 8

/** Word of `shared`, which all threads have: ids of machines given out. */
export const MachineCount = 0
/**
 * Raised when the first request begins to be prepared and when the last one has run, so it is odd
 * while there are some. A thread warms up only while it is even.
 */
export const BusyTurn = 1
export const sharedWords = 8

/** Each kind has a bound in time of its own. */
export const unitKinds = ["compile", "mask", "completion"] as const
/** The error of each kind of work above its bound. */
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
  /** The model's directory, whose tokenizer is read again here. */
  readonly model: string
  readonly dtype: string | undefined
  readonly width: number
  /** Write samples through in pauses. */
  readonly warms: boolean
  /** The thread has a low priority. */
  readonly isPatient: boolean
  /** Milliseconds for one mask, and for one completion. */
  readonly maskMs: number
  readonly completionMs: number
}

/** One walk of a request that is opened, perhaps somewhere on its way. */
export interface GuidePlace {
  readonly guide: number
  readonly slot: number
  /** Tokens that it has accepted. */
  readonly walked: readonly number[]
  /**
   * Its open questions: a token to accept, an outlook; `seen`: its outlook and the mask behind it
   * are known.
   */
  readonly token?: number | undefined
  readonly ahead: number
  readonly next: "look" | "seen" | "none"
}

export type ToThread =
  | {
      kind: "open"
      /** The request, for everything that its guides share. */
      owner: number
      places: readonly GuidePlace[]
      request: WalkRequest
      /** Equal keys mean equal constraints; undefined: not kept. */
      key: string | undefined
      /** Milliseconds for the compilation. */
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

/** A report as plain data; its keywords where they were asked for. */
interface PlainReport {
  readonly reason: Report["reason"]
  readonly keywords: KeywordNote[] | undefined
}

export function packOpening({ report, ...opening }: Opening, wantsReport: boolean): PlainOpening {
  const keywords = wantsReport ? report?.keywords : undefined
  return { ...opening, report: report && { reason: report.reason, keywords } }
}

/** A report without keywords finds them when it is read, at the cost of the compilation. */
export function unpackOpening({ report, ...opening }: PlainOpening, request: WalkRequest): Opening {
  if (!report) return { ...opening, report: null }
  const notes = (): KeywordNote[] => report.keywords ?? notesOf(request)
  return { ...opening, report: makeReport(notes, report.reason) }
}

function notesOf({ constraint }: WalkRequest): KeywordNote[] {
  // Only schemas have keywords, tools their schemas included.
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
    // The message names the path already.
    const bare = message.startsWith(`${grammar.path}: `) ? message.slice(grammar.path.length + 2) : message
    return new GrammarError(grammar.kind, grammar.path, bare)
  }
  if (request) return new RequestError(request.code, message, request.param, request.overflow)
  return new Error(message)
}
