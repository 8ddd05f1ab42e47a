/**
 * Tools of a response: flat on the wire, nested in a turn.
 *
 * The fields of a tool are checked, then converted to the form of a turn, which is that of chat.
 * Tools of a namespace join the others as `namespace.name`, so that different namespaces may use
 * the same names. A list of all tools in the form of the request is kept to map calls back.
 */
import { invalid } from "../../errors.ts"
import type { RequestBody } from "../../http/body.ts"
import { checkBound, wholeBounds } from "../request/bounds.ts"
import { isHosted, type LeftOut, toolLeftOut } from "../request/leftout.ts"
import { checkName, noTool, readParameters, refuseForeign, takeName } from "../request/tools.ts"
import { isFields } from "../request/wire.ts"

/** A tool in the form of the request. */
export interface FlatTool {
  name: string
  namespace: string | null
  /** Pointer into `tools`; for a tool that an input item adds, pointer into the request. */
  path: string
}

export interface FlatTools {
  /** The tools in the form of a turn. */
  nested: { type: "function" | "custom"; [fields: string]: unknown }[]
  /** The same tools in the form of the request, in the same order. */
  flat: FlatTool[]
}

type Path = readonly (string | number)[]
type Fields = Record<string, unknown>

/** Returns the name of a tool in a turn. */
export function turnName({
  name,
  namespace,
}: {
  name: string
  namespace?: string | null | undefined
}): string {
  return namespace === undefined || namespace === null ? name : `${namespace}.${name}`
}

/** Returns the tools of a request. Adds those that are left out to `leftOut`. Throws `Refusal`. */
export function readFlatTools(body: RequestBody, leftOut: LeftOut[] = []): FlatTools {
  const read: FlatTools = { nested: [], flat: [] }
  const scope: Scope = { body, read, leftOut, namespace: null, about: "", names: new Set() }
  const namespaces = new Set<string>()
  for (const [at, tools] of listsOf(body.value)) {
    if (!Array.isArray(tools)) {
      const param = fieldAt(at)
      throw invalid(param, "must be a list")
    }
    checkBound(wholeBounds.namespaces, read.nested.length + tools.length, fieldAt(at))
    for (const [i, tool] of tools.entries()) {
      const path = [...at, i]
      if (isFields(tool) && tool.type === "namespace") readNamespace(scope, tool, path, namespaces)
      else readFlatTool(scope, tool, path)
    }
  }
  checkTurnNames(read)
  return read
}

/** Yields the lists of tools: that of the request, and those that input items add. */
function* listsOf({ tools, input }: Readonly<Fields>): Generator<[at: Path, tools: unknown]> {
  if (tools !== undefined && tools !== null) yield [["tools"], tools]
  if (!Array.isArray(input)) return
  for (const [i, item] of input.entries()) {
    if (isFields(item) && item.type === "additional_tools") yield [["input", i, "tools"], item.tools]
  }
}

/** The values that the tools of one list share. */
interface Scope {
  body: RequestBody
  read: FlatTools
  leftOut: LeftOut[]
  namespace: string | null
  /** Description that applies to all tools of the list. */
  about: string
  names: Set<string>
}

function readNamespace(
  scope: Scope,
  { name, description, tools }: Fields,
  path: Path,
  known: Set<string>,
): void {
  const at = fieldAt(path)
  takeName(name, `${at}.name`, known)
  if (!Array.isArray(tools)) throw invalid(`${at}.tools`, "must be a list")
  checkBound(wholeBounds.namespaces, scope.read.nested.length + tools.length, `${at}.tools`)
  const about = typeof description === "string" ? description : ""
  const inner = { ...scope, namespace: name, about, names: new Set<string>() }
  for (const [i, tool] of tools.entries()) readFlatTool(inner, tool, [...path, "tools", i])
}

function readFlatTool(
  { body, read, leftOut, namespace, about, names }: Scope,
  tool: unknown,
  path: Path,
): void {
  const at = fieldAt(path)
  if (!isFields(tool)) throw invalid(at, "must be an object")
  const { type, name, description, strict, format } = tool
  if (isHosted(type)) {
    leftOut.push(toolLeftOut(type, at))
    return
  }
  if (type !== "function" && type !== "custom") throw noTool(type, `${at}.type`)
  if (name === undefined && isFields(tool[type])) {
    throw invalid(
      at,
      "is a nested tool, which /v1/chat/completions takes",
      `Put the fields of "${type}" beside its type: {"type": "${type}", "name": …}`,
    )
  }
  takeName(name, `${at}.name`, names)
  refuseForeign(tool, at)
  const parameters = type === "function" ? readParameters(body, tool, at, path) : null
  const texts = [about, description].filter((text) => typeof text === "string" && text !== "")
  read.flat.push({ name, namespace, path: pointer(path) })
  read.nested.push({
    type,
    [type]: {
      name: turnName({ name, namespace }),
      ...(texts.length > 0 && { description: texts.join("\n") }),
      ...(parameters !== null && { parameters }),
      ...(type === "custom" && format !== undefined && { format }),
      ...(typeof strict === "boolean" && { strict }),
    },
  })
}

/** Checks that names of different namespaces also differ in a turn and are valid there. */
function checkTurnNames({ flat }: FlatTools): void {
  const names = new Set<string>()
  for (const tool of flat) {
    const root = tool.path.startsWith("/input/") ? "" : "/tools"
    const place = `${root}${tool.path}`.slice(1)
    const param = `${place.replace(/\/(\d+)/g, "[$1]").replaceAll("/", ".")}.name`
    const name = turnName(tool)
    if (tool.namespace !== null) checkName(name, param)
    takeName(name, param, names)
  }
}

/**
 * Converts a path in the tools of a turn to the path in those of the request:
 * `/3/function/parameters` → `/1/tools/2/parameters`.
 */
export function requestPath(path: string, { flat }: FlatTools): string {
  const [, index, rest = ""] = /^\/(\d+)(?:\/(?:function|custom))?(\/.*)?$/.exec(path) ?? []
  const tool = flat[Number(index)]
  return tool === undefined ? path : `${tool.path}${rest}`
}

/** Returns a path in the notation of code: `["tools", 1, "tools", 0]` → `tools[1].tools[0]`. */
function fieldAt(path: Path): string {
  return path.reduce<string>(
    (field, step) =>
      typeof step === "number" ? `${field}[${step}]` : field === "" ? step : `${field}.${step}`,
    "",
  )
}

function pointer([first, ...path]: Path): string {
  return (first === "input" ? [first, ...path] : path).map((step) => `/${step}`).join("")
}

/**
 * Returns the tools as a response repeats them: each has all fields that OpenAI's responses have.
 */
export function echoedTools(tools: unknown): unknown[] {
  if (!Array.isArray(tools)) return []
  return tools.map((tool: Fields) => {
    if (tool.type !== "function") return tool
    return { ...tool, parameters: tool.parameters ?? null, strict: tool.strict ?? true }
  })
}
