/**
 * The worker of the page: compiles the constraint and reads the text against it, without a server
 * and without a model. The last grammar is kept, so typing in the text compiles nothing.
 */
import { compile } from "../../grammar/compile.ts"
import { GrammarError } from "../../grammar/errors.ts"
import type { GrammarInput } from "../../grammar/input.ts"
import { byteMachine, TextChecker } from "../suite/checker.ts"
import type { Judgement, Question, TextVerdict } from "./judgement.ts"

let last: {
  key: string
  checker: TextChecker
  report: Judgement["report"]
  shortest: string | null
  ms: number
} | null = null

function inputOf({ kind, text }: Question): GrammarInput {
  switch (kind) {
    case "json":
      return { kind: "json", schema: text }
    case "regex":
      return { kind: "regex", pattern: text }
    case "gbnf":
    case "lark":
      return { kind, text }
    case "tag":
      return { kind: "tag", format: text }
    case "choice":
      return { kind: "choice", options: text.split(/\r?\n/).filter((line) => line !== "") }
    case "tools":
      return { kind: "tools", style: "hermes", tools: toolsOf(text), tool_choice: "required" }
    case "none":
      throw new Error("internal: no constraint")
    default:
      return kind satisfies never
  }
}

function toolsOf(text: string): unknown[] {
  // The reader of schemas names line and column of what is not JSON.
  compile({ kind: "json", schema: `{"const": ${text}\n}` })
  const tools: unknown = JSON.parse(text)
  if (!Array.isArray(tools)) throw new GrammarError("syntax", "", "tools must be a list")
  return tools
}

/** Texts may use every spelling of JSON, as with `tokenrail check`. */
const reading = { surface: "conform", unsatisfiable: "error" } as const

function judge(question: Question): Judgement {
  const { id, kind, text, options, check } = question
  if (kind === "none") return { id, report: null, refusal: null, verdict: null, shortest: null, ms: 0 }
  const key = JSON.stringify([kind, text, options])
  const startedAt = performance.now()
  try {
    if (last?.key !== key) {
      last = null
      const { grammar, report } = compile(inputOf(question), { ...reading, ...options })
      const checker = new TextChecker(byteMachine(grammar))
      const { keywords, counts } = report
      last = {
        key,
        checker,
        report: { keywords, counts },
        shortest: shortestOf(checker),
        ms: performance.now() - startedAt,
      }
    }
    const { checker, report, shortest, ms } = last
    return {
      id,
      report,
      refusal: null,
      verdict: check === null ? null : verdictOf(checker, check),
      shortest,
      ms,
    }
  } catch (error) {
    const ms = performance.now() - startedAt
    const none = { id, report: null, verdict: null, shortest: null, ms }
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof GrammarError) {
      return { ...none, refusal: { kind: error.kind, path: error.path, message } }
    }
    return { ...none, refusal: { kind: "syntax", path: "", message } }
  }
}

/** Returns a shortest accepted text; null if it is not found in time, or is long. */
function shortestOf(checker: TextChecker): string | null {
  try {
    const text = checker.shortest()
    return text.length <= 400 ? text : null
  } catch {
    return null
  }
}

/** Returns the verdict with its place in UTF-16 units, as the editor counts. */
function verdictOf(checker: TextChecker, text: string): TextVerdict {
  const { accepted, prefix, offset, line, column, expected } = checker.check(text)
  const bytes = new TextEncoder().encode(text).subarray(0, offset)
  const at = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replace(/\ufffd$/, "").length
  return { accepted, prefix, at, line, column, expected: expected.slice(0, 12) }
}

addEventListener("message", ({ data }: MessageEvent<Question>) => postMessage(judge(data)))
