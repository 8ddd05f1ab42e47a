/** The description of an application, and the schemas of its replies as checks. */
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js"
import type { App } from "../../server/app.ts"

type Json = Record<string, unknown>

export interface DescribedOperation {
  operationId: string
  tags: string[]
  parameters?: { name: string; in: string }[]
  security?: object[]
  requestBody?: {
    content: Record<string, { schema: Json; examples?: Record<string, { summary: string; value: Json }> }>
  }
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }> }>
}

export interface Document {
  openapi: string
  tags: { name: string }[]
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, Json>; securitySchemes?: Json }
  security?: object[]
}

export async function documentOf(app: App): Promise<Document> {
  return (await app.request("/openapi.json")).json()
}

/** Adds to each object that names its members that it has no others, so that a missing description shows. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== "object" || schema === null) return schema
  const members = Object.entries(schema).map(([key, value]) => {
    if (key !== "properties") return [key, closed(value)]
    return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]))]
  })
  const isOpen = !("properties" in schema) || "additionalProperties" in schema
  return { ...Object.fromEntries(members), ...(!isOpen && { additionalProperties: false }) }
}

/**
 * Checks of a document: whether a reply is as described, with no member more, and whether a request
 * is. They return what is wrong.
 */
export function checksOf(document: Document): {
  reply: (operation: DescribedOperation, status: number, type: string, value: unknown) => string[]
  request: (operation: DescribedOperation, value: unknown) => string[]
} {
  const compile = (close: (schema: unknown) => unknown) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: "doc", components: close(document.components) as Json })
    const known = new Map<Json, ReturnType<typeof ajv.compile>>()
    return (schema: Json, value: unknown): string[] => {
      const text = JSON.stringify(close(schema)).replaceAll('"#/components/', '"doc#/components/')
      const validate = known.get(schema) ?? ajv.compile(JSON.parse(text))
      known.set(schema, validate)
      return validate(value) ? [] : (validate.errors ?? []).map(spell)
    }
  }
  const replies = compile(closed)
  const requests = compile((schema) => schema)
  return {
    reply: ({ responses }, status, type, value) => {
      const schema = responses[status]?.content?.[type]?.schema
      return schema === undefined ? [`no reply ${status} ${type} is described`] : replies(schema, value)
    },
    request: ({ requestBody }, value) => requests(requestBody!.content["application/json"].schema, value),
  }
}

function spell({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath} ${message} ${JSON.stringify(params)}`
}

/** The values of a reply, as its media type has them. */
export async function valuesOf(response: Response): Promise<{ type: string; values: unknown[] }> {
  const type = (response.headers.get("content-type") ?? "").split(";")[0]
  const text = await response.text()
  switch (type) {
    case "text/event-stream": {
      const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, each]) => each)
      return { type, values: data.filter((each) => each !== "[DONE]").map((each) => JSON.parse(each)) }
    }
    case "application/x-ndjson":
      return {
        type,
        values: text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
      }
    case "application/json":
      return { type, values: [JSON.parse(text)] }
    default:
      return { type, values: [text] }
  }
}
