/**
 * Tools and the choice among them: from Anthropic's names to the engine's options of a turn.
 *
 * A tool is `{name, description, input_schema}`. Its schema is taken from the text of the body,
 * which preserves number spelling and key order. A tool with a type of its own is run by a service,
 * or has a schema that only Anthropic's models know.
 */
import type { TurnOptions } from "../../runtime/index.ts"
import { invalid, unsupported } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import { quote } from "../http/quote.ts"
import { isHosted, type LeftOut, toolLeftOut } from "../openai/request/leftout.ts"
import {
  checkName,
  needsTools,
  noSuchTool,
  noTool,
  refuseForeign,
  takeName,
} from "../openai/request/tools.ts"
import { isFields } from "../openai/request/wire.ts"

/**
 * Returns the turn options of a request. Adds tools that are left out to `leftOut`. Throws
 * `Refusal`.
 */
export function readTools(body: RequestBody, leftOut: LeftOut[] = []): TurnOptions {
  const { tools, tool_choice: choice } = body.value
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) throw invalid("tools", "must be a list")
  const names = new Set<string>()
  const list: readonly unknown[] = tools ?? []
  const hosted = new Set<unknown>()
  const read = list.flatMap((tool, i) => {
    if (!isFields(tool) || !isHosted(tool.type)) return [readTool(body, tool, i, names)]
    leftOut.push(toolLeftOut(tool.type, `tools[${i}]`))
    hosted.add(tool.name)
    return []
  })
  return { tools: read.length > 0 ? read : null, ...readChoice(choice, { names, hosted, leftOut }) }
}

function readTool(body: RequestBody, tool: unknown, i: number, names: Set<string>): unknown {
  const at = `tools[${i}]`
  if (!isFields(tool)) throw invalid(at, "must be an object")
  refuseTyped(tool, at)
  const { name, description, strict, input_schema: schema } = tool
  takeName(name, `${at}.name`, names)
  refuseForeign(tool, at)
  if (schema !== undefined && schema !== null && !isFields(schema)) {
    const param = `${at}.input_schema`
    throw invalid(param, "must be a JSON Schema: an object")
  }
  return {
    type: "function",
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(strict !== undefined && { strict }),
      ...(schema && { parameters: body.text(["tools", i, "input_schema"]) }),
    },
  }
}

/** Throws `Refusal` for a tool that the caller does not run. */
function refuseTyped({ type, parameters, input_schema: schema }: Record<string, unknown>, at: string): void {
  const hint = 'Send {"name": …, "description": …, "input_schema": {"type": "object", …}}'
  if (type === "function") throw invalid(at, "is a tool in the shape of /v1/chat/completions", hint)
  if (parameters !== undefined && schema === undefined) {
    const param = `${at}.parameters`
    throw unsupported(param, "is input_schema here", hint)
  }
  if (type === undefined || type === null || type === "custom") return
  const param = `${at}.type`
  throw invalid(
    param,
    `is ${quote(type)}: this server neither runs nor knows such tools`,
    "Describe it by an input_schema and run it yourself",
  )
}

const kinds = ["auto", "any", "tool", "none"]

/** The names of the offered tools, and the tools that are left out. */
interface Offered {
  names: ReadonlySet<string>
  hosted: ReadonlySet<unknown>
  leftOut: readonly LeftOut[]
}

/** Returns `tool_choice` after checking it against the names of the tools. Throws `Refusal`. */
function readChoice(choice: unknown, { names, hosted, leftOut }: Offered): TurnOptions {
  const param = "tool_choice"
  if (choice === undefined || choice === null) return {}
  if (!isFields(choice)) {
    throw invalid(
      param,
      "must be an object",
      'Send {"type": "auto"}, "any" or "none", or {"type": "tool", "name": …}',
    )
  }
  const { type, name, disable_parallel_tool_use: isSingle } = choice
  if (typeof type !== "string" || !kinds.includes(type)) {
    const said = type === undefined ? "missing" : quote(type)
    throw invalid(`${param}.type`, `is ${said}, it must be ${kinds.join(", ")}`)
  }
  if (isSingle !== undefined && isSingle !== null && typeof isSingle !== "boolean") {
    const field = `${param}.disable_parallel_tool_use`
    throw invalid(field, "must be true or false")
  }
  const turn = isSingle ? { parallelToolCalls: false } : {}
  if (type === "auto" || type === "none") return { ...turn, toolChoice: type }
  if (names.size === 0) throw needsTools(leftOut)
  if (type === "any") return { ...turn, toolChoice: "required" }
  if (hosted.has(name)) throw noTool(name, `${param}.name`)
  checkName(name, `${param}.name`)
  if (!names.has(name)) throw noSuchTool(name, `${param}.name`, [...names])
  return { ...turn, toolChoice: { type: "function", function: { name } } }
}
