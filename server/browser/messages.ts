/**
 * Messages between a page and the worker that has its engine.
 *
 * The first message opens the engine. Each call has a port of its own: the worker sends the call's
 * events and its result through it, and the page an abort. Values are plain data, since messages
 * drop classes; errors get their class back.
 */

import type { DecideOptions } from "../../runtime/decisions/decide.ts"
import type { DecisionInput } from "../../runtime/decisions/prompt.ts"
import type { Question } from "../../runtime/decisions/questions.ts"
import type { ScoreOptions } from "../../runtime/decisions/score.ts"
import type { ModelInfo } from "../../runtime/engine/engine.ts"
import type { GenerateOptions, Prompt } from "../../runtime/engine/request.ts"
import type { ExtractOptions } from "../../runtime/extraction/extract.ts"
import type { PackedError } from "../../runtime/page/errors.ts"
import type { WebModel } from "../../runtime/page/files.ts"
import type { PageModelOptions } from "../../runtime/page/options.ts"
import type { FileProgress, StoredFile } from "../../runtime/page/store.ts"
import type { AppOptions } from "../app.ts"

/** Options of the application that are plain data. */
export type PageAppOptions = Omit<
  AppOptions,
  "reader" | "batches" | "dataDir" | "logger" | "metricsPublic" | "status"
>

export interface OpenMessage {
  readonly kind: "open"
  readonly options: PageModelOptions
  readonly app: PageAppOptions
  readonly embedded: Required<WebModel>
  readonly wasm: StoredFile
}

/** What the worker says of its start. */
export type Said =
  | { readonly kind: "progress"; readonly progress: FileProgress }
  | { readonly kind: "log"; readonly line: string }
  | { readonly kind: "opened"; readonly model: ModelInfo }
  | { readonly kind: "failed"; readonly error: PackedError }

/** A request to the application. */
export interface PlainRequest {
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: ArrayBuffer | null
}

/** The head of a reply. Its body follows in pieces. */
export interface ReplyHead {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export type Call =
  | { readonly method: "generate" | "stream"; readonly prompt: Prompt; readonly options: GenerateOptions }
  | { readonly method: "tokenize"; readonly prompt: Prompt; readonly options: GenerateOptions }
  | {
      readonly method: "decide"
      readonly input: DecisionInput
      readonly questions: readonly Question[]
      readonly options: DecideOptions
    }
  | {
      readonly method: "score"
      readonly prompt: Prompt
      readonly texts: readonly string[]
      readonly options: ScoreOptions
    }
  | {
      readonly method: "extract"
      readonly text: string
      readonly schema: unknown
      readonly options: ExtractOptions
    }
  | { readonly method: "fetch"; readonly request: PlainRequest }
  | { readonly method: "close" }

export interface CallMessage {
  readonly kind: "call"
  readonly call: Call
  readonly port: MessagePort
}

/** What the worker says of a call. */
export type Answer =
  | { readonly kind: "event"; readonly event: unknown }
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly error: PackedError }

/** The one message of a page to a call. */
export const abortMessage = "abort"
