/**
 * A conversation as JSON: its messages, and the request for POST /v1/chat/completions that gives
 * the last answer again.
 */
import type { CompileOptions, GenerateOptions, GrammarInput } from "../../../runtime/index.ts"
import { spellSeed } from "../../openai/reply/seed.ts"
import { UsageError } from "../exit.ts"
import type { Answer, Conversation } from "./conversation.ts"

/** Returns the conversation. Throws `UsageError` if no request can express the constraint. */
export function savedConversation(conversation: Conversation): Record<string, unknown> {
  const { last } = conversation
  const request = last === null ? null : requestOf(last, conversation)
  return { messages: conversation.messages(), request }
}

function requestOf(
  { result, sent, constraint, tools }: Answer,
  { settings: { engine, sampling, policies } }: Conversation,
): Record<string, unknown> {
  const { onLength, ...drawn } = sampling
  const tokenrail = { ...policyFields(policies), ...(onLength && { on_length: onLength }) }
  return {
    model: engine.model.id,
    messages: sent,
    ...samplingFields(drawn),
    seed: spellSeed(result.seed),
    ...(constraint && constraintField(constraint)),
    ...(tools && { tools: tools.map(withPlainSchema) }),
    ...(Object.keys(tokenrail).length > 0 && { tokenrail }),
  }
}

function samplingFields(options: GenerateOptions): Record<string, unknown> {
  const { temperature, topP, topK, minP, maxTokens, stop, stopRegex, stopWhen } = options
  return {
    ...{ temperature, top_p: topP, top_k: topK, min_p: minP, max_tokens: maxTokens },
    ...{ stop, stop_regex: stopRegex, stop_when: stopWhen },
  }
}

function policyFields({ openObjects, ...others }: CompileOptions): Record<string, unknown> {
  return { ...others, ...(openObjects && { open_objects: openObjects }) }
}

function constraintField(input: GrammarInput): Record<string, unknown> {
  switch (input.kind) {
    case "json":
      return {
        response_format: { type: "json_schema", json_schema: { name: "answer", schema: input.schema } },
      }
    case "regex":
      return { structured_outputs: { regex: input.pattern } }
    case "choice":
      return { structured_outputs: { choice: input.options } }
    case "tag":
      return { structured_outputs: { structural_tag: input.format } }
    case "gbnf":
    case "grammar":
      if (input.root === undefined) return { structured_outputs: { grammar: input.text } }
      break
    case "lark":
      if (input.start === undefined) return { structured_outputs: { grammar: input.text } }
      break
  }
  throw new UsageError(
    `no request can hold a constraint of --${input.kind}${input.kind === "substring" ? "" : " with --root"}: /reset the conversation, or use another constraint`,
  )
}

/** Returns the tool with its schema as a value: it was read as the text of the file. */
function withPlainSchema(tool: unknown): unknown {
  const { function: inner } = tool as { function?: { parameters?: unknown } }
  if (typeof inner?.parameters !== "string") return tool
  return { ...(tool as object), function: { ...inner, parameters: JSON.parse(inner.parameters) } }
}
