/**
 * The error for a request that the context cannot hold, in the words by which clients recognise it.
 *
 * Clients shorten a conversation by themselves, or report its length, if an error contains one of a
 * few sentences: OpenAI's and vLLM's on their endpoints, Anthropic's on /v1/messages. Some clients
 * read numbers out of it. So these sentences are copied exactly, and only the text after them is
 * ours.
 */
import type { ContextOverflow } from "../runtime/index.ts"

/** The API whose sentences the clients of an endpoint expect, and the endpoint's field names. */
export interface EndpointWords {
  readonly api: "openai" | "anthropic"
  /** The field that holds the prompt. */
  readonly prompt: "messages" | "prompt" | "input"
  /** The field that holds the budget of the answer. */
  readonly maxTokens: "max_tokens" | "max_completion_tokens" | "max_output_tokens" | "num_predict"
}

/** Returns the endpoint's names of fields by the engine's names. */
export function fieldNames({ prompt, maxTokens }: EndpointWords): Readonly<Record<string, string>> {
  return { max_tokens: maxTokens, messages: prompt, prompt }
}

/** Returns the message, and the field that it is about. */
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
  // If the prompt alone fits, it leaves no room for an answer.
  const most = promptTokens > contextLength ? contextLength : contextLength - answerTokens
  return `prompt is too long: ${isCounted ? "" : "at least "}${promptTokens} tokens > ${most} maximum`
}
