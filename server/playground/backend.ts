/**
 * Where the page sends its requests: the server that sent the page, or an engine in the page
 * itself. Both are one function from Request to Response with the paths of the server.
 */

/** Answers the requests of the page. */
export interface Backend {
  /** The URL that paths of the API are relative to. */
  readonly base: string
  fetch(request: Request): Promise<Response>
  /** Frees what the backend holds. Later requests fail. */
  close(): void
}

const keyName = "tokenrail-api-key"

/** Returns whether a text can be sent as a key: a header holds printable characters of ASCII. */
export function isKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

/** Returns the API key of this browser tab; "" if none was entered. */
export function savedKey(): string {
  try {
    const key = sessionStorage.getItem(keyName) ?? ""
    return isKey(key) ? key : ""
  } catch {
    return ""
  }
}

/** Keeps the API key as long as the tab is open. It is never part of an address. */
export function saveKey(key: string): void {
  try {
    sessionStorage.setItem(keyName, key)
  } catch {
    // Without storage the key lasts until the page is left.
  }
}

/** Returns the backend that sends requests to the server of this page, with the API key. */
export function serverBackend(key: () => string): Backend {
  return {
    base: document.baseURI,
    fetch(request) {
      const headers = new Headers(request.headers)
      if (key() !== "") headers.set("authorization", `Bearer ${key()}`)
      return fetch(new Request(request, { headers }))
    },
    close: () => {},
  }
}

/** A reply that is an error, in the words of the API. */
export class ApiError extends Error {
  readonly status: number
  readonly param: string | null
  readonly kind: string | null
  readonly path: string | null

  constructor(status: number, body: ErrorBody) {
    super(body.message)
    this.name = "ApiError"
    this.status = status
    this.param = body.param ?? null
    this.kind = body.kind ?? null
    this.path = body.path ?? null
  }
}

interface ErrorBody {
  message: string
  param?: string | null
  kind?: string | null
  path?: string | null
}

/** Sends a request. Rejects with ApiError if the reply is an error. */
export async function send(
  backend: Backend,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Response> {
  const init: RequestInit =
    body === undefined
      ? {}
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  const url = new URL(path, backend.base)
  const response = await replyOf(backend, new Request(url, { ...init, signal: signal ?? null }))
  if (response.ok) return response
  const text = await response.text()
  throw new ApiError(response.status, errorOf(text, response.status))
}

/** Returns the reply to a request. Says so if there is none: browsers only say that it failed. */
async function replyOf(backend: Backend, request: Request): Promise<Response> {
  try {
    return await backend.fetch(request)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new Error(`the server does not answer (${error.message})`, { cause: error })
  }
}

function errorOf(text: string, status: number): ErrorBody {
  try {
    const { error } = JSON.parse(text) as { error?: ErrorBody }
    if (typeof error?.message === "string") return error
  } catch {
    // A proxy may answer with a page of its own.
  }
  return { message: `the server answered with status ${status}` }
}
