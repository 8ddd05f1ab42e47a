/**
 * Makes the OpenAPI 3.1 document of an application from its table of routes.
 *
 * Each route names its operation (operations.ts), whose zod objects become JSON Schemas. So the
 * document has exactly the paths of the application. Examples get the name of the loaded model.
 * The cost is some 0.1 s, so a server makes the document once, for its first reader.
 *
 * Source: OpenAPI Specification 3.1.1, https://spec.openapis.org/oas/v3.1.1.html
 */
import { z } from "zod"
import { statuses } from "../errors.ts"
import { version } from "../version.ts"
import { type Example, namedSchemas, type Operation, type Parameter, tags } from "./operation.ts"
import { type OperationName, operations } from "./operations.ts"
import { errorOf } from "./replies.ts"

/** The part of a route that is described; see routes.ts. */
interface DescribedRoute {
  operation: OperationName | null
  isOpen?: boolean
}

export interface DocumentOptions {
  /** By path and method. */
  routes: Readonly<Record<string, Readonly<Record<string, DescribedRoute>>>>
  /** The name of the loaded model. */
  model: string
  hasKeys: boolean
}

type Json = Record<string, unknown>

const meanings: Readonly<Record<number, string>> = {
  400: "The request is refused.",
  401: "The API key is missing or wrong.",
  403: "The Host header is not allowed.",
  404: "There is no such model, id or path.",
  413: "The body is too large.",
  415: "The content-encoding cannot be decoded.",
  429: "The queue is full, or the rate limit of the key is reached.",
  500: "The server failed.",
  503: "The server takes no work at present.",
}

/** Returns the document, as a JSON value. */
export function openapiDocument({ routes, model, hasKeys }: DocumentOptions): Json {
  const writer = new SchemaWriter()
  const paths: Record<string, Json> = {}
  const usedNames = new Set<OperationName>()
  const usedTags = new Set<string>()
  for (const [path, methods] of Object.entries(routes)) {
    for (const [method, { operation: name, isOpen }] of Object.entries(methods)) {
      if (name === null) continue
      // The names of operations are unique. /v1/tokenize is that of /tokenize.
      const operationId = usedNames.has(name) ? `${name}Alias` : name
      usedNames.add(name)
      usedTags.add(operations[name].tag)
      const at = path.replace(/:(\w+)(\{[^}]*\})?/g, "{$1}")
      paths[at] ??= {}
      paths[at][method.toLowerCase()] = {
        operationId,
        ...described(operations[name], path, model, writer),
        ...(isOpen && hasKeys && { security: [] }),
      }
    }
  }
  return {
    openapi: "3.1.1",
    info,
    servers: [{ url: "." }],
    tags: Object.entries(tags)
      .filter(([name]) => usedTags.has(name))
      .map(([name, description]) => ({ name, description })),
    ...(hasKeys && { security: [{ bearer: [] }, { apiKey: [] }] }),
    paths,
    components: {
      schemas: writer.components(paths),
      ...(hasKeys && { securitySchemes }),
    },
  }
}

const info = {
  title: "Tokenrail",
  version,
  description:
    "A language model that writes only what a constraint allows. A constraint is enforced exactly, or the request is refused with 400 before the first token.",
  license: { name: "MIT", identifier: "MIT" },
}

const securitySchemes = {
  bearer: { type: "http", scheme: "bearer" },
  apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
}

function described(operation: Operation, path: string, model: string, writer: SchemaWriter): Json {
  const { tag, summary, description, body, id, query = {}, reply } = operation
  const parameters = [
    ...(id && path.includes(":id") ? [parameterOf("id", "path", id, writer)] : []),
    ...Object.entries(query).map(([name, parameter]) => parameterOf(name, "query", parameter, writer)),
  ]
  return {
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: bodyOf(body, model, writer) } }),
    responses: {
      200: { description: reply.description, content: contentOf(reply.content, writer) },
      ...refusalsOf(operation, path, writer),
    },
  }
}

function parameterOf(
  name: string,
  place: "path" | "query",
  { description, schema }: Parameter,
  writer: SchemaWriter,
): Json {
  return {
    name,
    in: place,
    description,
    required: place === "path",
    schema: writer.schema(schema),
  }
}

function bodyOf(
  { type = "application/json", schema, examples }: NonNullable<Operation["body"]>,
  model: string,
  writer: SchemaWriter,
): Json {
  const shown = Object.entries<Example>(examples).map(([name, { summary, value, status = 200 }]) => {
    const said = status === 200 ? summary : `${summary} (${status})`
    const needsModel = !("input_file_id" in value)
    return [name, { summary: said, value: { ...(needsModel && { model }), ...value } }]
  })
  return {
    [type]: {
      schema: writer.schema(schema),
      ...(shown.length > 0 && { examples: Object.fromEntries(shown) }),
    },
  }
}

function contentOf(content: Operation["reply"]["content"], writer: SchemaWriter): Json {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, { schema: writer.schema(schema) }]),
  )
}

/** The replies that are not 200: those of the operation, and those of its refusals. */
function refusalsOf({ refusals, also = {}, reply }: Operation, path: string, writer: SchemaWriter): Json {
  const error = errorOf(path)
  const told = [401, 403, ...refusals].map((status) => {
    const codes = Object.entries(statuses).filter(([, known]) => known === status)
    const description = `${meanings[status]} \`code\`: ${codes.map(([code]) => code).join(", ")}.`
    return [status, { description, content: contentOf({ "application/json": error }, writer) }]
  })
  const own = Object.entries(also).map(([status, description]) => [
    status,
    { description, content: contentOf(reply.content, writer) },
  ])
  return Object.fromEntries([...told, ...own])
}

/** Converts zod's schemas to JSON Schema, and collects the named ones that are used. */
class SchemaWriter {
  private readonly registry = z.registry<{ id: string }>()
  private readonly places = new Map<string, Json>()

  constructor() {
    for (const [schema, id] of namedSchemas) this.registry.add(schema, { id })
  }

  /** Returns the place of a schema, which `components` fills. */
  schema(schema: z.ZodType): Json {
    const id = namedSchemas.get(schema)
    if (id !== undefined) return { $ref: refTo(id) }
    const place: Json = {}
    const name = `place ${this.places.size}`
    // A copy: schemas that contain this one do not refer to the place.
    this.registry.add(schema.clone(), { id: name })
    this.places.set(name, place)
    return place
  }

  /** Fills the places, and returns the named schemas to which they and `paths` refer. */
  components(paths: Json): Json {
    const { schemas } = z.toJSONSchema(this.registry, {
      // Bodies are described as they are sent. Replies have no transforms, so both are the same.
      io: "input",
      unrepresentable: "any",
      uri: refTo,
    })
    const known = new Map(
      Object.entries(schemas).map(([id, { $id: _, $schema: __, ...schema }]) => [id, schema as Json]),
    )
    for (const [id, place] of this.places) Object.assign(place, known.get(id))
    const used = new Map<string, Json>()
    const follow = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return
      for (const [key, member] of Object.entries(value)) {
        if (key !== "$ref" || typeof member !== "string") follow(member)
        else {
          const id = member.slice(refTo("").length)
          const schema = known.get(id)
          if (schema === undefined || used.has(id)) continue
          used.set(id, schema)
          follow(schema)
        }
      }
    }
    follow(paths)
    return Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`
}
