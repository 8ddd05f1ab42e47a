/**
 * Asks the worker about a constraint and a text. Only the latest question matters: a worker that is
 * busy with an older one for too long is replaced.
 */
import type { CompileOptions } from "../../grammar/compiler.ts"
import type { Kind } from "./setup.ts"
import type { KeywordRow } from "./wire.ts"

export interface Question {
  id: number
  kind: Kind
  text: string
  options: CompileOptions
  /** The text to check; null for none. */
  check: string | null
}

export interface TextVerdict {
  accepted: boolean
  /** Whether the whole text is the beginning of an accepted one. */
  prefix: boolean
  /** Units of UTF-16 that the constraint accepts. */
  at: number
  line: number
  column: number
  expected: { what: string; example: string; path: string }[]
}

/** Why a constraint is refused, and where. */
interface GrammarRefusal {
  kind: string
  path: string
  message: string
}

export interface Judgement {
  id: number
  report: {
    keywords: KeywordRow[]
    counts: { exact: number; annotation: number; relaxed: number }
  } | null
  refusal: GrammarRefusal | null
  verdict: TextVerdict | null
  /** A shortest accepted text; null if it is too long to be found quickly. */
  shortest: string | null
  ms: number
}

/** Milliseconds after which a worker that still computes an older answer is replaced. */
const patienceMs = 4_000

/** Keeps the worker, and calls `tell` with each answer to the latest question. */
export class Judge {
  private worker: Worker | null = null
  private askedAt = 0
  private latest = 0
  private isBusy = false
  private waiting: Question | null = null
  private readonly tell: (judgement: Judgement) => void

  constructor(tell: (judgement: Judgement) => void) {
    this.tell = tell
  }

  ask(question: Omit<Question, "id">): void {
    this.waiting = { ...question, id: ++this.latest }
    if (this.isBusy && performance.now() - this.askedAt > patienceMs) this.close()
    this.next()
  }

  close(): void {
    this.worker?.terminate()
    this.worker = null
    this.isBusy = false
  }

  private next(): void {
    if (this.isBusy || this.waiting === null) return
    const question = this.waiting
    this.waiting = null
    this.isBusy = true
    this.askedAt = performance.now()
    this.worker ??= this.start()
    this.worker.postMessage(question)
  }

  private start(): Worker {
    const worker = new Worker(new URL("./judge.ts", import.meta.url), { type: "module", name: "judge" })
    worker.addEventListener("message", ({ data }: MessageEvent<Judgement>) => {
      this.isBusy = false
      if (data.id === this.latest) this.tell(data)
      this.next()
    })
    worker.addEventListener("error", (event) => {
      this.close()
      const refusal = { kind: "limit", path: "", message: `the check failed: ${event.message}` }
      this.tell({ id: this.latest, report: null, refusal, verdict: null, shortest: null, ms: 0 })
      this.next()
    })
    return worker
  }
}
