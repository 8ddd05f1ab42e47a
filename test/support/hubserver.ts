/**
 * A server that speaks the hub's API for one model: what a revision is, its files page by page, and their content, which it
 * redirects to another address as the hub does. It can cut connections or let them stand still, forbid, be busy, and send what it did not promise.
 */
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface HubFile {
  readonly path: string
  readonly content: Uint8Array
}

export class HubServer {
  readonly name: string
  readonly files: HubFile[]
  /** Commits by revision. */
  readonly revisions = new Map([["main", "a".repeat(40)]])
  /** The token that the model is shown to; null: to everybody. */
  needsToken: string | null = null
  /** Tokens whose accounts have not accepted the terms. */
  readonly strangers = new Set<string>()
  /** Contents end after so many bytes, as often as it says. */
  cut: { after: number; times: number } | null = null
  /** Contents are refused with this status, as often as it says, and with how long to wait. */
  busy: { status: number; times: number; retryAfter?: string } | null = null
  /** Contents stand still after so many bytes, as often as it says. */
  stall: { after: number; times: number } | null = null
  /** Contents come from their beginning, whatever was asked for. */
  ignoresRanges = false
  /** A content that is not the promised one. */
  spoilt: string | null = null
  /** The address of the page of files behind those before `cursor`, where it is not what it should be; null: there is none. */
  next: ((cursor: number) => string | null) | null = null
  /** Spaces in front of a list of files. */
  padding = 0
  /** Those of them that were sent. */
  padded = 0
  /** What an entry of the list says in place of what is true. */
  lies: Readonly<Record<string, object>> = {}
  /** Paths of contents that were asked for, with the range. */
  readonly asked: string[] = []
  /** Bytes of contents that were sent. */
  sent = 0
  /** Whether the address of contents was sent a token. */
  hasLeaked = false
  /** Everything that was asked of the API. */
  requests = 0
  /** Pages of files that were asked for. */
  pages = 0
  private readonly api: Server
  private readonly contents: Server

  constructor(files: readonly HubFile[], name = "acme/tiny") {
    this.name = name
    this.files = [...files]
    this.api = createServer((request, response) => this.answer(request, response))
    this.contents = createServer((request, response) => this.send(request, response))
  }

  async start(): Promise<void> {
    for (const server of [this.api, this.contents])
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.api.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const server of [this.api, this.contents]) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests++
    const { pathname, searchParams } = new URL(request.url!, this.url)
    const json = (status: number, value: unknown, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(value))
    const token = request.headers.authorization?.replace("Bearer ", "")
    const [, , , , , what, rest] = /^\/(api\/models\/)?((\w+)\/([\w.-]+))\/(\w+)\/(.*)$/.exec(pathname) ?? []
    const isKnown = pathname.includes(`${this.name}/`)
    if (!isKnown || (this.needsToken !== null && token === undefined))
      json(401, { error: "Repository not found" })
    else if (this.needsToken !== null && token !== this.needsToken && !this.strangers.has(token!))
      json(401, { error: "Invalid credentials" })
    else if (this.strangers.has(token!)) json(403, { error: "Access to model is restricted" })
    else if (what === "revision") {
      const sha = this.revisions.get(decodeURIComponent(rest))
      if (sha === undefined) json(404, { error: "Invalid rev id" })
      else json(200, { _id: "1", id: this.name, sha, private: false, downloads: 0, likes: 0, gated: false })
    } else if (what === "tree") {
      // Three files a page.
      const at = Number(searchParams.get("cursor") ?? 0)
      const page = this.files.slice(at, at + 3).map((file) => ({ ...entryOf(file), ...this.lies[file.path] }))
      const own = `${this.url}${pathname}?recursive=true&cursor=${at + 3}`
      const next = this.next ? this.next(at + 3) : at + 3 < this.files.length ? own : null
      this.pages++
      if (this.padding > 0) this.pad(response)
      else json(200, page, next === null ? {} : { link: `<${next}>; rel="next"` })
    } else if (what === "resolve") {
      const { port } = this.contents.address() as AddressInfo
      const path = rest.slice(rest.indexOf("/") + 1)
      // Another host, to which no token goes.
      response.writeHead(302, { location: `http://localhost:${port}/${path}` }).end()
    } else json(404, { error: "Not found" })
  }

  /** Sends spaces and an empty list, as fast as they are read. */
  private pad(response: ServerResponse): void {
    const spaces = Buffer.alloc(2 ** 20, 32)
    const more = (): void => {
      while (this.padded < this.padding) {
        this.padded += spaces.length
        if (!response.write(spaces)) {
          response.once("drain", more)
          return
        }
      }
      response.end("[]")
    }
    more()
  }

  private send(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(request.url!.slice(1))
    const range = this.ignoresRanges ? undefined : request.headers.range
    this.asked.push(range === undefined ? path : `${path} ${range}`)
    if (request.headers.authorization !== undefined) this.hasLeaked = true
    const { busy } = this
    if (busy !== null && busy.times > 0) {
      busy.times--
      const { status, retryAfter } = busy
      response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end()
      return
    }
    const file = this.files.find((each) => each.path === path)
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    const content = this.spoilt === path ? file.content.map((byte) => byte ^ 1) : file.content
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0)
    if (range !== undefined && from >= content.length) {
      response.writeHead(416).end()
      return
    }
    const rest = content.subarray(from)
    response.writeHead(range === undefined ? 200 : 206, { "content-length": rest.length })
    const { cut, stall } = this
    if (stall !== null && stall.times > 0 && rest.length > stall.after) {
      stall.times--
      response.write(rest.subarray(0, stall.after))
      return
    }
    if (cut !== null && cut.times > 0 && rest.length > cut.after) {
      cut.times--
      this.sent += cut.after
      response.write(rest.subarray(0, cut.after), () => setTimeout(() => response.destroy(), 20))
      return
    }
    this.sent += rest.length
    response.end(rest)
  }
}

/** Large files are known by their SHA-256, small ones by the name that git gives them. */
function entryOf({ path, content }: HubFile): object {
  const oid = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex")
  const entry = { type: "file", path, size: content.length, oid }
  if (content.length < 1e6) return entry
  return {
    ...entry,
    lfs: { oid: createHash("sha256").update(content).digest("hex"), size: content.length, pointerSize: 130 },
  }
}
