/**
 * The description of one method of one path, from which /openapi.json is made.
 *
 * A body and a reply are described by zod objects. `named` gives one a name in the document's
 * components, so that every place that uses it refers to it. The descriptions are loaded with the
 * first request for the document, so they cost nothing at the start.
 */
import type { z } from "zod"

/** A JSON value of a request that the server accepts, with the given status. */
export interface Example {
  summary: string
  value: object
  /** Default 200. */
  status?: number
}

/** The groups of operations, in the order of the page. */
export const tags = {
  Chat: "OpenAI's chat completions and completions.",
  Responses: "OpenAI's Responses API.",
  Messages: "Anthropic's Messages API.",
  Decisions: "Exact probabilities of given options and texts.",
  Constraints: "What a constraint compiles to, and whether it accepts given texts.",
  Tokens: "The tokenizer.",
  Models: "The loaded model and its names.",
  Batches: "Files, and batches of requests that run in the background.",
  Ollama: "Ollama's API.",
  Server: "Health, load and metrics, and this description.",
} as const

/** A parameter of the query or of the path. */
export interface Parameter {
  description: string
  schema: z.ZodType
}

export interface Operation {
  tag: keyof typeof tags
  /** One sentence without its full stop. */
  summary: string
  description?: string
  body?: {
    /** Default application/json. */
    type?: "application/json" | "multipart/form-data"
    schema: z.ZodType
    /** By a short name. They are in the order in which they can be tried. */
    examples: Readonly<Record<string, Example>>
  }
  /** Meaning of the path's `id`. */
  id?: Parameter
  query?: Readonly<Record<string, Parameter>>
  reply: {
    description: string
    /** By media type. A stream's is the schema of one event or line. */
    content: Readonly<Record<string, z.ZodType>>
  }
  /** Statuses of other replies in the form of `reply`, with their meaning. */
  also?: Readonly<Record<number, string>>
  /** Statuses of refusals, besides those that every operation has. */
  refusals: readonly number[]
}

/** The named schemas and their names, which are the components of the document. */
export const namedSchemas = new Map<z.ZodType, string>()

/** Returns the schema with a description. It is a component of the document. */
export function named<Schema extends z.ZodType>(id: string, description: string, schema: Schema): Schema {
  const described = schema.describe(description)
  namedSchemas.set(described, id)
  return described
}

/** Returns the object with a description of each of its fields that `texts` names. */
export function withTexts(object: z.ZodObject, texts: Readonly<Record<string, string>>): z.ZodObject {
  const { shape } = object
  const described = Object.entries(texts).map(([name, text]) => {
    if (!(name in shape)) throw new Error(`internal: there is no field ${name} to describe`)
    return [name, (shape[name] as z.ZodType).describe(text)]
  })
  return object.extend(Object.fromEntries(described))
}

const json = "application/json"

/** A reply that is one JSON value. */
export function jsonReply(description: string, schema: z.ZodType): Operation["reply"] {
  return { description, content: { [json]: schema } }
}

/** A reply that is a stream of server-sent events if the request says `stream: true`. */
export function streamedReply(description: string, whole: z.ZodType, event: z.ZodType): Operation["reply"] {
  const told = `${description} With \`stream: true\` a stream of server-sent events; the schema is that of the data of one event.`
  return { description: told, content: { [json]: whole, "text/event-stream": event } }
}

/** Refusals of an operation with a JSON body. */
export const ofBody = [400, 404, 413, 415, 503] as const
/** Refusals of an operation that waits for a slot. */
export const ofAnswer = [...ofBody, 429, 500] as const
