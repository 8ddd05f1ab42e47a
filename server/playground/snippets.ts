/** The request of the page as programs: with curl, with clients, and with the library. */
import type { Setup } from "./setup.ts"

export const snippetNames = {
  ...{ curl: "curl", openaijs: "openai (JavaScript)", openaipy: "openai (Python)" },
  ...{ aisdk: "AI SDK", library: "Library" },
} as const

export type SnippetName = keyof typeof snippetNames

type Body = Record<string, unknown>

/** Fields of a body that OpenAI's clients do not know by type. */
const extensions = ["structured_outputs", "tokenrail"]

/**
 * Returns the program that sends `body` to the server at `base`, such as `http://localhost:8080`.
 */
export function snippetOf(name: SnippetName, base: string, body: Body, setup: Setup): string {
  switch (name) {
    case "curl":
      return curl(base, body)
    case "openaijs":
      return openaiJavaScript(base, body)
    case "openaipy":
      return openaiPython(base, body)
    case "aisdk":
      return aiSdk(base, body, setup)
    case "library":
      return library(body, setup)
    default:
      return name satisfies never
  }
}

function curl(base: string, body: Body): string {
  const data = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`)
  return `curl -s ${base}/v1/chat/completions \\
  -H 'content-type: application/json' \\
  -d '${data}'
`
}

function openaiJavaScript(base: string, body: Body): string {
  return `import OpenAI from "openai"

const client = new OpenAI({ baseURL: "${base}/v1", apiKey: "none" })
const completion = await client.chat.completions.create(${script(body)})
console.log(completion.choices[0].message)
`
}

function openaiPython(base: string, body: Body): string {
  const own = Object.entries(body).filter(([name]) => !extensions.includes(name))
  const extra = Object.fromEntries(extensions.flatMap((name) => (name in body ? [[name, body[name]]] : [])))
  const lines = own.map(([name, value]) => `    ${name}=${python(value, 1)},`)
  if (Object.keys(extra).length > 0) lines.push(`    extra_body=${python(extra, 1)},`)
  return `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="none")
completion = client.chat.completions.create(
${lines.join("\n")}
)
print(completion.choices[0].message)
`
}

function aiSdk(base: string, body: Body, { kind, options }: Setup): string {
  const schema = (body.response_format as { json_schema?: { schema?: unknown } } | undefined)?.json_schema
    ?.schema
  const hasTools = kind === "tools"
  const imports = [
    "generateText",
    ...(schema === undefined ? [] : ["jsonSchema", "Output"]),
    ...(hasTools ? ["jsonSchema", "tool"] : []),
  ]
  const provided = Object.fromEntries(
    extensions.flatMap((name) => (name in body ? [[name, body[name]]] : [])),
  )
  const lines = [
    `model: provider(${JSON.stringify(body.model)}),`,
    `messages: ${script(body.messages, 1)},`,
    ...(schema === undefined ? [] : [`output: Output.object({ schema: jsonSchema(${script(schema, 1)}) }),`]),
    ...(hasTools
      ? [`tools: ${toolsOf(body.tools)},`, `toolChoice: ${JSON.stringify(options.toolChoice)},`]
      : []),
    ...(Object.keys(provided).length > 0 ? [`providerOptions: { tokenrail: ${script(provided, 1)} },`] : []),
    `temperature: ${body.temperature},`,
    `maxOutputTokens: ${body.max_tokens},`,
    ...(body.seed === undefined ? [] : [`seed: ${body.seed},`]),
  ]
  const result = schema !== undefined ? "output" : hasTools ? "toolCalls" : "text"
  return `import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { ${imports.join(", ")} } from "ai"

const provider = createOpenAICompatible({
  name: "tokenrail",
  baseURL: "${base}/v1",
  supportsStructuredOutputs: true,
})
const { ${result} } = await generateText({
${lines.map((line) => `  ${line}`).join("\n")}
})
console.log(${result})
`
}

function toolsOf(tools: unknown): string {
  if (!Array.isArray(tools)) return "{}"
  const entries = tools.map((each) => {
    const { name, description, parameters } = (each as { function?: Body }).function ?? {}
    const about = description === undefined ? "" : `description: ${JSON.stringify(description)}, `
    return `    ${script(name)}: tool({ ${about}inputSchema: jsonSchema(${script(parameters, 2)}) }),`
  })
  return `{\n${entries.join("\n")}\n  }`
}

function library(body: Body, { kind, text, options }: Setup): string {
  const format = (body.response_format as { json_schema?: { schema?: unknown } } | undefined)?.json_schema
  const outputs = (body.structured_outputs ?? {}) as Body
  const constraint: Body = {
    ...(format && { schema: format.schema }),
    ...(kind === "regex" && { regex: text }),
    ...(outputs.grammar !== undefined && { grammar: outputs.grammar }),
    ...(outputs.structural_tag !== undefined && { structuralTag: outputs.structural_tag }),
    ...(outputs.choice !== undefined && { choice: outputs.choice }),
    ...(kind === "tools" && { tools: body.tools, toolChoice: options.toolChoice }),
  }
  const { whitespace, order, on_length, schema_in_prompt } = (body.tokenrail ?? {}) as Body
  const settings: Body = {
    ...constraint,
    ...{ temperature: body.temperature, maxTokens: body.max_tokens },
    ...(body.seed !== undefined && { seed: body.seed }),
    ...(whitespace !== undefined && { whitespace }),
    ...(order !== undefined && { order }),
    ...(on_length !== undefined && { onLength: on_length }),
    ...(schema_in_prompt !== undefined && { schemaInPrompt: true }),
  }
  const result = kind === "tools" ? "toolCalls" : kind === "json" ? "value" : "text"
  return `import { open } from "tokenrail"

const engine = await open()
const { ${result} } = await engine.generate(${script(body.messages)}, ${script(settings)})
console.log(${result})
await engine.close()
`
}

/** Returns a value as an expression of JavaScript, with names unquoted where they may be. */
function script(value: unknown, depth = 0): string {
  const text = JSON.stringify(value, null, 2) ?? "undefined"
  return text.replace(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, "$1$2:").replaceAll("\n", `\n${"  ".repeat(depth)}`)
}

/** Returns a value as an expression of Python. */
function python(value: unknown, depth: number): string {
  const inner = "    ".repeat(depth + 1)
  const end = "    ".repeat(depth)
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]"
    return `[\n${value.map((each) => `${inner}${python(each, depth + 1)},\n`).join("")}${end}]`
  }
  if (typeof value === "object") {
    const entries = Object.entries(value)
    if (entries.length === 0) return "{}"
    const lines = entries.map(
      ([key, each]) => `${inner}${JSON.stringify(key)}: ${python(each, depth + 1)},\n`,
    )
    return `{\n${lines.join("")}${end}}`
  }
  // Escapes of JSON strings mean the same in Python.
  return JSON.stringify(value)
}
