/**
 * An answer in Ollama's form: lines with pieces of text, thoughts and whole calls, and a last line
 * with the reason of the end, counts and durations. A reply that is not a stream is one such line.
 *
 * `/api/chat` has the pieces in `message`, `/api/generate` has them in the line itself. Lines are
 * made as texts, because arguments of calls are copied as they were written: numbers keep their
 * spelling, and keys their order.
 */
import type {
  GenerateResult,
  Generation,
  GenerationEvent,
  TokenLogprobs,
  Vocabulary,
} from "../../runtime/index.ts"
import { closedOf, refuseFailure, warningsOf } from "../openai/reply/finish.ts"
import { logprobRows } from "../openai/reply/logprobs.ts"
import { spellSeed } from "../openai/reply/seed.ts"
import type { EndpointWords } from "../overflow.ts"
import type { OllamaRequest } from "./fields.ts"

export type Kind = "chat" | "generate"

/** The pieces of one line. `calls` are JSON texts. */
interface Pieces {
  text?: string
  thoughts?: string
  calls?: readonly string[]
  logprobs?: readonly TokenLogprobs[] | null | undefined
}

/** The first members of every line. */
function headOf(model: string): object {
  return { model, created_at: new Date().toISOString() }
}

/** Returns the pieces as members of a line. */
function contentOf(kind: Kind, { text = "", thoughts = "", calls = [] }: Pieces): string {
  const thinking = thoughts === "" ? {} : { thinking: thoughts }
  const content = kind === "chat" ? { role: "assistant", content: text } : { response: text }
  const members = JSON.stringify({ ...content, ...thinking }).slice(1, -1)
  const made = calls.length > 0 ? `,"tool_calls":[${calls.join(",")}]` : ""
  return kind === "chat" ? `"message":{${members}${made}}` : `${members}${made}`
}

/** Returns a line: head, pieces, then the members of `rest`. */
function lineOf(head: object, content: string, rest: object): string {
  return `${JSON.stringify(head).slice(0, -1)},${content},${JSON.stringify(rest).slice(1)}`
}

/** Returns the reply to a request that only asks that the model be loaded. */
export function loadedLine(kind: Kind, model: string): string {
  return lineOf(headOf(model), contentOf(kind, {}), { done: true, done_reason: "load" })
}

interface ReplyParts {
  kind: Kind
  request: OllamaRequest
  generation: Generation
  vocabulary: Vocabulary
  words: EndpointWords
  seed: bigint
  /** performance.now() when the request came, and when the engine had admitted it. */
  begunAt: number
  admittedAt: number
}

/** Renders a generation as one line or as a stream of lines. */
export class Reply {
  private readonly parts: ReplyParts

  constructor(parts: ReplyParts) {
    this.parts = parts
  }

  /** Returns the whole reply. Throws the error of a failed answer. */
  async whole(): Promise<string> {
    const { generation, kind } = this.parts
    const result = await generation.result
    const [choice] = result.choices
    refuseFailure(choice)
    const calls = choice.toolCalls
      .filter(({ isComplete }) => isComplete)
      .map((call, index) => callText(call.id, index, call.name, call.arguments))
    const pieces = { text: choice.text, thoughts: choice.reasoning, calls }
    const { finishReason: reason, logprobs } = choice
    const rest = { ...this.rows(logprobs), ...this.ending(result, reason) }
    return lineOf(this.head, contentOf(kind, pieces), rest)
  }

  async *lines(): AsyncGenerator<string> {
    const { generation } = this.parts
    const calls = new Calls()
    let reason = "stop"
    for await (const event of generation) {
      if (event.type === "finish") {
        refuseFailure(event)
        reason = event.finishReason
        continue
      }
      const pieces = { ...piecesOf(event, calls), logprobs: event.logprobs }
      const isEmpty = !pieces.text && !pieces.thoughts && !pieces.calls && !pieces.logprobs?.length
      if (!isEmpty) yield this.line(pieces, { done: false })
    }
    yield this.line({}, this.ending(await generation.result, reason))
  }

  private get head(): object {
    return headOf(this.parts.request.model)
  }

  private line(pieces: Pieces, rest: object): string {
    return lineOf(this.head, contentOf(this.parts.kind, pieces), { ...this.rows(pieces.logprobs), ...rest })
  }

  private rows(logprobs: Pieces["logprobs"]): object {
    if (this.parts.request.topLogprobs === null || !logprobs?.length) return {}
    return { logprobs: logprobRows(logprobs, this.parts.vocabulary) }
  }

  /** Returns the members of the last line. Durations are in nanoseconds. */
  private ending(result: GenerateResult, reason: string): object {
    const { request, words, seed, begunAt, admittedAt, generation } = this.parts
    const now = performance.now()
    const { promptTokens, completionTokens, ttftMs } = result.usage
    const told = {
      seed: spellSeed(seed),
      ...(request.report && { report: generation.report }),
      ...warningsOf(result, request, words),
      ...closedOf(result.choices),
    }
    return {
      done: true,
      done_reason: reason,
      total_duration: nanoseconds(now - begunAt),
      // The model is loaded before the first request.
      load_duration: 0,
      prompt_eval_count: promptTokens,
      prompt_eval_duration: nanoseconds(ttftMs),
      eval_count: completionTokens,
      eval_duration: nanoseconds(now - admittedAt - ttftMs),
      tokenrail: told,
    }
  }
}

/** The calls of a stream, whose arguments come in parts. */
class Calls {
  private readonly calls: { id: string; name: string; text: string }[] = []

  begin(index: number, id: string, name: string): void {
    this.calls[index] = { id, name, text: "" }
  }

  append(index: number, text: string): void {
    this.calls[index].text += text
  }

  text(index: number): string {
    const { id, name, text } = this.calls[index]
    return callText(id, index, name, text)
  }
}

/** Returns the pieces that an event adds. A call is told as a whole. */
function piecesOf(event: Exclude<GenerationEvent, { type: "finish" }>, calls: Calls): Pieces {
  switch (event.type) {
    case "text":
      return { text: event.text }
    case "reasoning":
      return { thoughts: event.text }
    case "call":
      calls.begin(event.index, event.id, event.name)
      return {}
    case "arguments":
      calls.append(event.index, event.text)
      return {}
    case "called":
      return { calls: [calls.text(event.index)] }
    default:
      return event satisfies never
  }
}

/** Returns a call as JSON in one line: a line feed in JSON is white space between its tokens. */
export function callText(id: string, index: number, name: string, args: string): string {
  const head = JSON.stringify({ index, name }).slice(0, -1)
  return `{"id":${JSON.stringify(id)},"function":${head},"arguments":${args.replace(/[\r\n]/g, " ")}}}`
}

function nanoseconds(ms: number): number {
  return Math.max(0, Math.round(ms * 1_000_000))
}
