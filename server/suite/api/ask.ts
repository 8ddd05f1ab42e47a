/** Writes the requests of the cases. */
import { type ApiRequest, type JsonObject, RawJson } from "./case.ts"

/** The fields in which servers take a schema; the first one is OpenAI's. */
export const schemaForms = ["json_schema", "json_object", "structured_outputs", "guided_json"] as const
export type SchemaForm = (typeof schemaForms)[number]

export interface CaseOptions {
  /** The smallest budget of an answer whose length is not what its case is about. Default 96. */
  readonly maxTokens?: number
  /** The field that names the schema in the cases of JSON Schema. Default json_schema. */
  readonly schemaForm?: SchemaForm
}

const defaultMaxTokens = 96

export class Asker {
  private readonly options: CaseOptions

  constructor(options: CaseOptions) {
    this.options = options
  }

  /** The budget of an answer, at least `least`. */
  budget(least = 0): number {
    return Math.max(least, this.options.maxTokens ?? defaultMaxTokens)
  }

  /** A chat whose only message is `prompt`, unless `fields` has messages. */
  chat(prompt: string, fields: JsonObject = {}, least = 0): ApiRequest {
    const messages = [{ role: "user", content: prompt }]
    return { path: "/chat/completions", body: { messages, max_tokens: this.budget(least), ...fields } }
  }

  /** The fields that ask for a schema, which is a JSON text. */
  schema(text: string): JsonObject {
    const schema = new RawJson(text)
    switch (this.options.schemaForm ?? "json_schema") {
      case "json_schema":
        return jsonSchema(text)
      case "json_object":
        return { response_format: { type: "json_object", schema } }
      case "structured_outputs":
        return { structured_outputs: { json: schema } }
      case "guided_json":
        return { guided_json: schema }
    }
  }
}

export function jsonSchema(text: string): JsonObject {
  const json_schema = { name: "answer", strict: true, schema: new RawJson(text) }
  return { response_format: { type: "json_schema", json_schema } }
}

/** A function tool; `parameters` is a JSON text. */
export function tool(name: string, parameters: string, more: JsonObject = {}): JsonObject {
  const func = { name, description: `Records ${name}.`, parameters: new RawJson(parameters), ...more }
  return { type: "function", function: func }
}

export function named(name: string): JsonObject {
  return { type: "function", function: { name } }
}
