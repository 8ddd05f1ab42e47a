/**
 * What clients publish of the replies that they read, as JSON Schemas. Their types are made from the descriptions of the API by
 * its makers; fields that those do not name are allowed.
 */
import { fileURLToPath } from "node:url"
import type Anthropic from "@anthropic-ai/sdk"
import { Ajv, type ValidateFunction } from "ajv"
import type OpenAI from "openai7"
import { createGenerator, type Schema } from "ts-json-schema-generator"

export type PublishedChat = OpenAI.Chat.ChatCompletion
export type PublishedChatChunk = OpenAI.Chat.ChatCompletionChunk
export type PublishedCompletion = OpenAI.Completion
export type PublishedResponse = OpenAI.Responses.Response
export type PublishedResponseEvent = OpenAI.Responses.ResponseStreamEvent
export type PublishedResponseItems = OpenAI.Responses.ResponseItemList
export type PublishedModels = { data: OpenAI.Model[]; object: "list" }
export type PublishedMessage = Anthropic.Message
export type PublishedMessageEvent = Anthropic.RawMessageStreamEvent
export type PublishedMessageCount = Anthropic.MessageTokensCount

/** What the types say and the APIs do not send, by definition. */
const unsent: Readonly<Record<string, readonly string[]>> = {
  // The client makes it.
  Response: ["output_text"],
  // Nobody asked for any, and the AI SDK takes no null there.
  TextBlock: ["citations"],
}
/** What is null although the types do not say so: before an answer has ended, and for the first token of a prompt. */
const nullable: Readonly<Record<string, readonly string[]>> = {
  Response: ["usage"],
  CompletionChoice: ["finish_reason"],
  "CompletionChoice.Logprobs": ["token_logprobs", "top_logprobs"],
}

/** Faults of a value of one of the types above, each with its place; empty: it is as published. Takes seconds to make. */
export function publishedFaults(): (type: string, value: unknown) => string[] {
  const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const generator = createGenerator({
    path: path("published.ts"),
    tsconfig: path("../../tsconfig.json"),
    skipTypeCheck: true,
    additionalProperties: true,
  })
  const ajv = new Ajv({ strict: false, allErrors: true })
  const validators = new Map<string, ValidateFunction>()
  return (type, value) => {
    const validate = validators.get(type) ?? ajv.compile(asSent(generator.createSchema(type)))
    validators.set(type, validate)
    validate(value)
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
}

function asSent({ definitions = {}, ...schema }: Schema): Schema {
  for (const [name, fields] of Object.entries(unsent)) {
    const definition = definitions[name] as Schema | undefined
    if (definition?.required) definition.required = definition.required.filter((key) => !fields.includes(key))
  }
  for (const [name, fields] of Object.entries(nullable)) {
    const properties = (definitions[name] as Schema | undefined)?.properties ?? {}
    for (const field of fields) {
      const property = properties[field] as Schema | undefined
      if (property?.type === "array") property.items = { anyOf: [property.items as Schema, { type: "null" }] }
      else if (property) properties[field] = { anyOf: [property, { type: "null" }] }
    }
  }
  return { ...schema, definitions }
}
