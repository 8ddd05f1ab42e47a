/**
 * Other clients of the attacked server: streams one after the other, some free, some under small schemas.
 *
 * A seed makes an answer the same in any batch, so each neighbour knows by an answer in quiet what it must read: a
 * stream is whole when it has that text, to the letter, and its end. Every gap between two events of a stream is
 * measured; a gap that is still open counts with its length so far. The wait for a stream's first token is apart: a
 * place in the line is nobody's fault.
 *
 * This file is the main module of a worker thread.
 */
import { request } from "node:http"
import { setTimeout } from "node:timers/promises"
import { EventReader } from "./events.ts"
import { chatBody } from "./requests.ts"
import { serveCalls } from "./thread.ts"

const streamTimeoutMs = 90_000

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 3, maxLength: 12 },
    age: { type: "integer", minimum: 0, maximum: 120 },
    tags: { type: "array", items: { enum: ["red", "green", "blue"] }, minItems: 6, maxItems: 12 },
  },
  required: ["name", "age", "tags"],
  additionalProperties: false,
}
const numbers = {
  type: "array",
  items: { type: "integer", minimum: -999, maximum: 999 },
  minItems: 20,
  maxItems: 30,
}
const recipes: readonly object[] = [
  { max_tokens: 150, ignore_eos: true },
  { max_tokens: 120, structured_outputs: { json: person } },
  { max_tokens: 100, ignore_eos: true, temperature: 0.7, top_p: 0.9 },
  { max_tokens: 120, structured_outputs: { json: numbers }, tokenrail: { on_length: "close" } },
]

export interface NeighbourFigures {
  /** Longest time between two events of a stream. */
  gapMs: number
  /** Longest time until a first token. */
  waitMs: number
  wholeStreams: number
  tokens: number
  /** What was wrong, stream by stream. */
  broken: string[]
}

interface Stream {
  text: string
  events: number
  finish: string | null
  /** Of the last event; null before the first token. */
  lastAt: number | null
}

class Neighbours {
  private port = 0
  /** Each start has its own streams; older ones end when they see that the number has moved. */
  private run = 0
  private leave = new AbortController()
  private references: string[] = []
  private readonly open = new Set<Stream>()
  private figures = zero()

  /** Reads what each neighbour should read, then begins; resolves when all of them have begun to read. */
  async start(port: number, count: number): Promise<void> {
    this.port = port
    const run = ++this.run
    this.leave = new AbortController()
    const quiet = await Promise.all(Array.from({ length: count }, (_, i) => this.stream(i, null)))
    this.references = quiet.map(({ text }) => text)
    this.mark()
    for (let i = 0; i < count; i++) void this.loop(i, run)
    for (let tries = 0; tries < 200 && this.open.size < count; tries++) await setTimeout(25)
    await setTimeout(100)
    this.mark()
  }

  stop(): void {
    this.run++
    this.leave.abort()
  }

  /** Forgets what was measured so far. */
  mark(): void {
    this.figures = zero()
    const now = performance.now()
    for (const stream of this.open) if (stream.lastAt !== null) stream.lastAt = now
  }

  read(): NeighbourFigures {
    const now = performance.now()
    const openGaps = [...this.open].flatMap(({ lastAt }) => (lastAt === null ? [] : [now - lastAt]))
    return { ...this.figures, gapMs: Math.max(this.figures.gapMs, ...openGaps) }
  }

  private async loop(index: number, run: number): Promise<void> {
    while (run === this.run) {
      try {
        const stream = await this.stream(index, this.references[index])
        if (run !== this.run) return
        if (stream.finish === null) throw new Error("it has no end")
        if (stream.text !== this.references[index])
          throw new Error(`it ends after ${stream.text.length} characters`)
        this.figures.wholeStreams++
      } catch (error) {
        if (run !== this.run) return
        const message = (error as Error).message
        // A full line is an answer: the neighbour comes again.
        if (!/^status (429|503)/.test(message)) this.figures.broken.push(`neighbour ${index}: ${message}`)
        await setTimeout(200)
      }
    }
  }

  /** One stream to its end. Throws when it is cut, when it holds an error, and when it leaves the expected text. */
  private stream(index: number, expected: string | null): Promise<Stream> {
    const fields = { ...recipes[index % recipes.length], stream: true, seed: 100 + index }
    const begin = performance.now()
    const stream: Stream = { text: "", events: 0, finish: null, lastAt: null }
    const signal = this.leave.signal
    return new Promise<Stream>((resolve, reject) => {
      const timer = globalThis.setTimeout(
        () => outgoing.destroy(new Error("no end in time")),
        streamTimeoutMs,
      )
      const fail = (error: Error) => {
        globalThis.clearTimeout(timer)
        this.open.delete(stream)
        outgoing.destroy()
        reject(error)
      }
      const outgoing = request(
        {
          host: "127.0.0.1",
          port: this.port,
          method: "POST",
          path: "/v1/chat/completions",
          headers: { "content-type": "application/json" },
          agent: false,
          signal,
        },
        (response) => {
          if (response.statusCode !== 200) fail(new Error(`status ${response.statusCode}`))
          const reader = new EventReader()
          let isDone = false
          response.on("data", (bytes: Uint8Array) => {
            try {
              for (const { value } of reader.push(bytes)) {
                this.take(stream, begin)
                if (value === null) isDone = true
                else if (value.error) throw new Error(`error event: ${value.error.message}`)
                else
                  for (const { delta, finish_reason } of value.choices ?? []) {
                    stream.text += delta?.content ?? ""
                    stream.finish = finish_reason ?? stream.finish
                  }
              }
              if (expected !== null && !expected.startsWith(stream.text)) {
                throw new Error(`foreign text: ${JSON.stringify(stream.text.slice(-40))}`)
              }
            } catch (error) {
              fail(error as Error)
            }
          })
          response.on("end", () => {
            if (!isDone) return fail(new Error("it ends without [DONE]"))
            globalThis.clearTimeout(timer)
            this.open.delete(stream)
            resolve(stream)
          })
          response.on("error", fail)
        },
      )
      outgoing.on("error", fail)
      outgoing.end(chatBody(fields))
    })
  }

  /** Counts an event. The first is the role, which comes at once; the second is the first token. */
  private take(stream: Stream, begin: number): void {
    const now = performance.now()
    stream.events++
    if (stream.events === 1) return
    this.figures.tokens++
    if (stream.lastAt === null) {
      this.figures.waitMs = Math.max(this.figures.waitMs, now - begin)
      this.open.add(stream)
    } else this.figures.gapMs = Math.max(this.figures.gapMs, now - stream.lastAt)
    stream.lastAt = now
  }
}

function zero(): NeighbourFigures {
  return { gapMs: 0, waitMs: 0, wholeStreams: 0, tokens: 0, broken: [] }
}

serveCalls(new Neighbours())
