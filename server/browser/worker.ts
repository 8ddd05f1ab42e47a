/**
 * The worker of a page: it has the engine, its model and the application, and answers the calls of
 * `index.ts`. The build bundles it into one file, with the JavaScript of onnxruntime-web.
 *
 * The engine and the application are those of Node. They are together in the worker, so that a
 * request to the application costs no more than a call, and the page's thread only passes messages
 * on.
 */

import * as ort from "onnxruntime-web/wasm"
import type { Engine } from "../../runtime/engine/engine.ts"
import type { GenerateResult } from "../../runtime/engine/result.ts"
import { packError } from "../../runtime/page/errors.ts"
import { openInPage } from "../../runtime/page/open.ts"
import { type App, createApp } from "../app.ts"
import {
  type Answer,
  abortMessage,
  type Call,
  type CallMessage,
  type OpenMessage,
  type PlainRequest,
  type ReplyHead,
  type Said,
} from "./messages.ts"

// If there is a Float16Array, onnxruntime makes tensors of it; the sessions expect the bits of
// halves in a Uint16Array, as in Node.
Reflect.deleteProperty(globalThis, "Float16Array")

// Pages that are no secure contexts have random bytes, but no function that makes ids of them.
if (!("randomUUID" in crypto)) Object.defineProperty(crypto, "randomUUID", { value: randomId })

/** Returns a random UUID of version 4 (RFC 9562). */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

interface Opened {
  readonly engine: Engine
  readonly app: App
}

let opened: Opened | undefined

addEventListener("message", ({ data }: MessageEvent<OpenMessage | CallMessage>) => {
  if (data.kind === "open") void open(data)
  else answer(data)
})

function say(said: Said): void {
  postMessage(said)
}

async function open({ options, app, embedded, wasm }: OpenMessage): Promise<void> {
  try {
    const engine = await openInPage(options, {
      ...{ ort, embedded, wasm },
      onDownload: (progress) => say({ kind: "progress", progress }),
      log: (line) => say({ kind: "log", line }),
    })
    opened = { engine, app: createApp(engine, app) }
    say({ kind: "opened", model: engine.model })
  } catch (error) {
    say({ kind: "failed", error: packError(error) })
  }
}

function answer({ call, port }: CallMessage): void {
  const ends = new AbortController()
  port.onmessage = ({ data }) => {
    if (data === abortMessage) ends.abort()
  }
  const tell = (said: Answer, transfer: ArrayBuffer[] = []): void => port.postMessage(said, transfer)
  const emit = (event: unknown, transfer?: ArrayBuffer[]): void => tell({ kind: "event", event }, transfer)
  resultOf(call, ends.signal, emit)
    .then((result) => tell({ kind: "done", result }))
    .catch((error: unknown) => tell({ kind: "failed", error: packError(error) }))
    .finally(() => port.close())
}

type Emit = (event: unknown, transfer?: ArrayBuffer[]) => void

async function resultOf(call: Call, signal: AbortSignal, emit: Emit): Promise<unknown> {
  if (!opened) throw new Error("internal: a call before the engine is open")
  const { engine, app } = opened
  switch (call.method) {
    case "generate":
      return plain(await engine.generate(call.prompt, { ...call.options, signal }), call.options.report)
    case "stream":
      for await (const event of engine.stream(call.prompt, { ...call.options, signal })) emit(event)
      return undefined
    case "tokenize":
      return [...(await engine.tokenize(call.prompt, { ...call.options, signal }))]
    case "decide":
      return engine.decide(call.input, call.questions, { ...call.options, signal })
    case "score":
      return engine.score(call.prompt, call.texts, { ...call.options, signal })
    case "extract":
      return engine.extract(call.text, call.schema, { ...call.options, signal })
    case "fetch":
      return reply(app, call.request, signal, emit)
    case "close":
      return engine.close()
    default:
      return call satisfies never
  }
}

/** Returns a result as plain data. Its report is made from the schema when it is read. */
function plain(result: GenerateResult, wantsReport: boolean | null | undefined): object {
  const { report } = result
  return { ...result, report: wantsReport && report ? JSON.parse(JSON.stringify(report)) : null }
}

/** Emits the head of the application's reply, then the pieces of its body. */
async function reply(
  app: App,
  { url, method, headers, body }: PlainRequest,
  signal: AbortSignal,
  emit: Emit,
): Promise<void> {
  const request = new Request(url, { method, headers: headers.map(([...pair]) => pair), body, signal })
  const response = await app.fetch(request)
  const { status, statusText } = response
  emit({ status, statusText, headers: [...response.headers] } satisfies ReplyHead)
  const reader = response.body?.getReader()
  signal.addEventListener("abort", () => void reader?.cancel().catch(() => {}), { once: true })
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    const piece = new Uint8Array(read.value)
    emit(piece, [piece.buffer])
  }
}
