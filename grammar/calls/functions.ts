/**
 * The functions that a program may call, read from tools: OpenAI's tool objects, or their contents.
 *
 * A dotted name is a path of members, `files.read`. Names are identifiers of TypeScript, since they
 * are written unchanged.
 */
import { checkLimit, fixedBounds, GrammarError } from "../errors.ts"
import { Fields, shown } from "../tags/fields.ts"

/** A function that may be called. */
export interface CallTool {
  /** An identifier, or several separated by dots. */
  name: string
  description?: string
  /** The JSON Schema of its one argument, an object. If absent, it takes no argument. */
  parameters?: unknown
}

/** A function, and the places of its parts in the list of tools. */
export interface CallableFunction {
  readonly name: string
  readonly description: string
  /** Null if it takes no argument. */
  readonly schema: unknown
  readonly schemaPath: string
}

const segmentPattern = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u
/** Words that cannot name a variable of a module. After a dot they are ordinary names. */
const reserved = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false " +
    "finally for function if implements import in instanceof interface let new null package private protected public return " +
    "static super switch this throw true try typeof undefined var void while with yield"
  ).split(" "),
)

/** Returns the functions of `tools`. Throws GrammarError with the pointer to the mistake. */
export function readFunctions(tools: readonly unknown[]): CallableFunction[] {
  if (!Array.isArray(tools) || tools.length === 0)
    throw new GrammarError("syntax", "", `expected a list of tools, found ${shown(tools)}. Name one at least`)
  checkLimit(fixedBounds, "tools.functions", tools.length)
  const places = new Map<string, string>()
  return tools.map((value, i) => {
    const { read, path } = readFunction(value, `/${i}`)
    const known = places.get(read.name)
    if (known !== undefined) {
      const message = `the function ${shown(read.name)} is already at ${known}. Rename one of them`
      throw new GrammarError("syntax", `${path}/name`, message)
    }
    places.set(read.name, `${path}/name`)
    return read
  })
}

function readFunction(value: unknown, at: string): { read: CallableFunction; path: string } {
  const tool = new Fields({ value, path: at }, "a tool")
  const type = tool.at("type")
  if (tool.has("type") && type.value !== "function") {
    const message = `tools of type ${shown(type.value)} are no functions. Use function`
    throw new GrammarError("unsupported", type.path, message)
  }
  const inner = tool.has("function") ? new Fields(tool.at("function"), "a function") : tool
  const name = inner.text("name")
  checkName(name, inner.at("name").path)
  const description = inner.has("description") ? inner.text("description") : ""
  const { value: schema, path: schemaPath } = inner.at("parameters")
  if (inner.has("parameters")) checkParameters(schema, schemaPath)
  return { read: { name, description, schema: schema ?? null, schemaPath }, path: inner.path }
}

function checkName(name: string, path: string): void {
  const segments = name.split(".")
  const wrong = segments.find((segment) => !segmentPattern.test(segment))
  if (wrong !== undefined) {
    const message = `${shown(name)} is no name of a function: ${shown(wrong)} is no identifier of TypeScript. Rename it`
    throw new GrammarError("syntax", path, message)
  }
  if (reserved.has(segments[0])) {
    const message = `${shown(name)} begins with a reserved word of TypeScript. Rename it, or put it behind a name and a dot`
    throw new GrammarError("syntax", path, message)
  }
}

/** Checks that the one argument of a call is an object, by the type in its schema. */
function checkParameters(schema: unknown, path: string): void {
  const { value: type, path: at } = new Fields({ value: schema, path }, "the schema of an argument").at(
    "type",
  )
  if (type === "object") return
  const message = `the argument of a call is an object: expected "object", found ${shown(type)}`
  throw new GrammarError("unsupported", at, message)
}
