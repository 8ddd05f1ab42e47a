/**
 * A request that the context cannot hold, in the words by which clients recognise it.
 *
 * Clients shorten a conversation by themselves, or report its length, when they find one of a few
 * sentences in an error: OpenAI's and vLLM's on their endpoints, Anthropic's on /v1/messages. Some
 * clients read numbers out of it. So these sentences are copied exactly, and only the text behind
 * them is ours.
 */
import type { ContextOverflow } from "../runtime/index.ts"

/** Whose sentences the clients of an endpoint know, and how it names the fields. */
export interface EndpointWords {
  readonly api: "openai" | "anthropic"
  /** The field that holds the prompt. */
  readonly prompt: "messages" | "prompt" | "input"
  /** The field that holds the budget of the answer. */
  readonly maxTokens: "max_tokens" | "max_completion_tokens" | "max_output_tokens"
}

/** The engine's names of fields, as the endpoint has them. */
export function fieldNames({ prompt, maxTokens }: EndpointWords): Readonly<Record<string, string>> {
  return { max_tokens: maxTokens, messages: prompt, prompt }
}

/** The message, and the field that it is about. */
export function overflowTold(
  overflow: ContextOverflow,
  { api, prompt, maxTokens }: EndpointWords,
): { message: string; param: string } {
  const message = api === "anthropic" ? anthropicSentence(overflow) : openaiSentence(overflow, prompt)
  return { message, param: overflow.maxTokens === null ? prompt : maxTokens }
}

function openaiSentence(
  { contextLength, promptTokens, isCounted, maxTokens, answerTokens = 1 }: ContextOverflow,
  field: EndpointWords["prompt"],
): string {
  const prompt = field === "prompt" ? "prompt" : "messages"
  const bound = `This model's maximum context length is ${contextLength} tokens.`
  if (maxTokens !== null) {
    const sum = `you requested ${promptTokens + maxTokens} tokens (${promptTokens} in the ${prompt}, ${maxTokens} in the completion)`
    return `${bound} However, ${sum}. Please reduce the length of the ${prompt} or completion.`
  }
  const count = `${isCounted ? "" : "at least "}${promptTokens} tokens`
  const least = answerTokens === 1 ? "one" : answerTokens
  const room = promptTokens > contextLength ? "" : `, and the answer needs room for ${least}`
  return `${bound} However, your ${prompt} resulted in ${count}${room}. Please reduce the length of the ${prompt}.`
}

function anthropicSentence({
  contextLength,
  promptTokens,
  isCounted,
  maxTokens,
  answerTokens = 1,
}: ContextOverflow): string {
  if (maxTokens !== null) {
    return `input length and \`max_tokens\` exceed context limit: ${promptTokens} + ${maxTokens} > ${contextLength}, decrease input length or \`max_tokens\` and try again`
  }
  // The prompt fits, but leaves no room for an answer.
  const most = promptTokens > contextLength ? contextLength : contextLength - answerTokens
  return `prompt is too long: ${isCounted ? "" : "at least "}${promptTokens} tokens > ${most} maximum`
}
