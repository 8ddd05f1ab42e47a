/**
 * Tools of a chat request: from the wire to what the engine is told of a turn.
 *
 * The shape is checked here, so that each mistake is named by its field; what a tool's schema says is read by the compiler, from
 * the body's text, in which number spelling and key order survive. What any shape of a tool holds (a name of its own, a schema)
 * is checked by functions that /v1/responses shares, whose tools are flat.
 */
import type { TurnOptions } from "../../../runtime/index.ts"
import { Refusal } from "../../errors.ts"
import type { RequestBody } from "../../http/body.ts"
import { quote } from "../../http/quote.ts"
import { isFields } from "./wire.ts"

/** Kinds of tools that a hosted service runs itself, or that need a program here. */
const hosted =
  /^(?:web_search|file_search|code_interpreter|computer|image_generation|mcp|local_shell|shell|apply_patch|tool_search|programmatic_tool_calling)/

const namePattern = /^[A-Za-z0-9_.-]{1,128}$/

/** The fields of a turn that chat requests have. Throws `Refusal`. */
export function readTools(body: RequestBody): TurnOptions {
  const { tools, tool_choice, parallel_tool_calls, max_tool_calls } = body.value
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) {
    throw new Refusal("invalid_value", "tools must be a list", { param: "tools" })
  }
  const list: readonly unknown[] = tools ?? []
  const names = new Set<string>()
  const read = list.map((tool, i) => readTool(body, tool, i, names))
  return {
    tools: read.length > 0 ? read : null,
    toolChoice: readChoice(tool_choice, list),
    parallelToolCalls: parallel_tool_calls as boolean | null | undefined,
    maxToolCalls: max_tool_calls as number | null | undefined,
  }
}

function readTool(body: RequestBody, tool: unknown, i: number, names: Set<string>): unknown {
  const at = `tools[${i}]`
  if (!isFields(tool)) throw new Refusal("invalid_value", `${at} must be an object`, { param: at })
  const { type } = tool
  if (type !== "function" && type !== "custom") throw noTool(type, `${at}.type`)
  const inner = tool[type]
  if (inner === undefined && typeof tool.name === "string") {
    throw new Refusal("invalid_value", `${at} is a flat tool, which /v1/responses takes`, {
      param: at,
      hint: `Put its fields under "${type}": {"type": "${type}", "${type}": {"name": …}}`,
    })
  }
  if (!isFields(inner)) {
    throw new Refusal("missing_required_parameter", `${at}.${type} is missing`, { param: `${at}.${type}` })
  }
  takeName(inner.name, `${at}.${type}.name`, names)
  refuseForeign(tool, at)
  refuseForeign(inner, `${at}.${type}`)
  if (type === "custom") return tool
  const parameters = readParameters(body, inner, `${at}.function`, ["tools", i, "function"])
  return parameters === null ? tool : { ...tool, function: { ...inner, parameters } }
}

/** A name that no other tool has. Throws `Refusal`. */
export function takeName(name: unknown, param: string, names: Set<string>): asserts name is string {
  checkName(name, param)
  if (names.has(name)) {
    throw new Refusal("invalid_value", `${param}: ${quote(name)} is the name of another tool too`, {
      param,
      hint: "Rename one of them",
    })
  }
  names.add(name)
}

/** The text of a function's schema, which stands in the body at `path`; null: it takes no arguments. Throws `Refusal`. */
export function readParameters(
  body: RequestBody,
  { parameters }: Record<string, unknown>,
  at: string,
  path: readonly (string | number)[],
): string | null {
  if (parameters === undefined || parameters === null) return null
  if (!isFields(parameters)) {
    const param = `${at}.parameters`
    throw new Refusal("invalid_value", `${param} must be a JSON Schema: an object`, { param })
  }
  return body.text([...path, "parameters"])
}

/** Throws `Refusal` for a kind of tool that is not called by the model's text. */
export function noTool(type: unknown, param: string): Refusal {
  const said = type === undefined ? "missing" : quote(type)
  const isHosted = typeof type === "string" && hosted.test(type)
  const what = isHosted ? `${said}: no tool is run here` : `${said}: a tool is of type function or custom`
  return new Refusal("invalid_value", `${param} is ${what}`, {
    param,
    hint: isHosted ? "Describe it as a function and run it yourself" : "Use function",
  })
}

export function checkName(name: unknown, param: string): asserts name is string {
  if (name === undefined) {
    throw new Refusal("missing_required_parameter", `${param} is missing`, { param })
  }
  if (typeof name === "string" && namePattern.test(name)) return
  throw new Refusal("invalid_value", `${param}: ${quote(name)} is no name of a tool`, {
    param,
    hint: "Use 1 to 128 of A-Z a-z 0-9 _ . -",
  })
}

/** Calls that are not the model's own, or that nobody waits for, need more than a grammar. Throws `Refusal`. */
export function refuseForeign(fields: Record<string, unknown>, at: string): void {
  if (fields.async === true) {
    const param = `${at}.async`
    throw new Refusal("unsupported_parameter", `${param}: calls are synchronous here`, {
      param,
      hint: "Leave it out",
    })
  }
  const callers = fields.allowed_callers
  if (Array.isArray(callers) && callers.some((caller) => caller !== "direct")) {
    const param = `${at}.allowed_callers`
    throw new Refusal("unsupported_parameter", `${param}: no program calls tools here`, {
      param,
      hint: 'Use ["direct"]',
    })
  }
}

/** The choices that name no tool. */
export const choices: readonly unknown[] = ["auto", "none", "required"]

/** `tool_choice`, checked against the tools. Throws `Refusal`. */
function readChoice(choice: unknown, tools: readonly unknown[]): unknown {
  const param = "tool_choice"
  if (choice === undefined || choice === null) return null
  if (typeof choice === "string") {
    if (!choices.includes(choice)) {
      throw new Refusal("invalid_value", `${param}: ${quote(choice)} is not auto, none or required`, {
        param,
        hint: 'A tool is named by {"type": "function", "function": {"name": …}}',
      })
    }
    if (choice === "required" && tools.length === 0) throw needsTools()
    return choice
  }
  if (!isFields(choice)) {
    throw new Refusal("invalid_value", `${param} must be a string or an object`, { param })
  }
  if (tools.length === 0) throw needsTools()
  const known = new Set(tools.map(nameOf))
  for (const [name, at] of namesIn(choice)) {
    checkName(name, at)
    if (!known.has(name)) throw noSuchTool(name, at, [...known])
  }
  return choice
}

export function noSuchTool(name: string, param: string, known: readonly unknown[]): Refusal {
  return new Refusal("invalid_value", `${param}: no tool is named ${quote(name)}`, {
    param,
    hint: `There are: ${known.slice(0, 20).join(", ")}`,
  })
}

export function needsTools(): Refusal {
  return new Refusal("invalid_value", "tool_choice needs tools", {
    param: "tool_choice",
    hint: "Send some, or leave it out",
  })
}

function nameOf(tool: unknown): unknown {
  const { type, ...fields } = tool as Record<string, Record<string, unknown>>
  return fields[String(type)]?.name
}

/** The names that a choice holds, each with its field. Throws `Refusal` where it is none. */
function namesIn(choice: Record<string, unknown>): [name: unknown, field: string][] {
  const param = "tool_choice"
  const { type } = choice
  if (type === "function" || type === "custom") {
    const inner = choice[type]
    return [isFields(inner) ? [inner.name, `${param}.${type}.name`] : [choice.name, `${param}.${type}.name`]]
  }
  if (type === "allowed_tools") {
    const inner = isFields(choice.allowed_tools) ? choice.allowed_tools : choice
    const { mode, tools } = inner
    if (mode !== "auto" && mode !== "required") {
      const at = `${param}.allowed_tools.mode`
      throw new Refusal("invalid_value", `${at} must be auto or required`, { param: at })
    }
    if (!Array.isArray(tools)) {
      const at = `${param}.allowed_tools.tools`
      throw new Refusal("invalid_value", `${at} must be a list of tools`, { param: at })
    }
    return tools.flatMap((each, i) =>
      isFields(each)
        ? namesIn(each).map(([name]) => [name, `${param}.allowed_tools.tools[${i}]`] as [unknown, string])
        : [],
    )
  }
  const at = `${param}.type`
  const said = type === undefined ? "missing" : quote(type)
  throw new Refusal("invalid_value", `${at} is ${said}, it must be function, custom or allowed_tools`, {
    param: at,
  })
}
