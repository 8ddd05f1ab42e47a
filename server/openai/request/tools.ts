/**
 * Tools of a chat request: from the wire to the engine's options of a turn.
 *
 * The form is checked here, so that each mistake is reported by its field. The compiler reads a
 * tool's schema from the text of the body, which preserves number spelling and key order. The
 * checks that apply to all forms of a tool (a unique name, a schema) are functions that
 * /v1/responses uses too; its tools are flat.
 */
import { isToolName, type TurnOptions, toolNameForm } from "../../../runtime/index.ts"
import { invalid, missing, type Refusal, unsupported } from "../../errors.ts"
import type { RequestBody } from "../../http/body.ts"
import { quote } from "../../http/quote.ts"
import { isHosted, type LeftOut, toolLeftOut } from "./leftout.ts"
import { isFields } from "./wire.ts"

/**
 * Returns the turn options of a chat request. Adds tools that are left out to `leftOut`. Throws
 * `Refusal`.
 */
export function readTools(body: RequestBody, leftOut: LeftOut[] = []): TurnOptions {
  const { tools, tool_choice, parallel_tool_calls, max_tool_calls } = body.value
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) throw invalid("tools", "must be a list")
  const list: readonly unknown[] = tools ?? []
  const names = new Set<string>()
  const read = list.flatMap((tool, i) => {
    if (!isFields(tool) || !isHosted(tool.type)) return [readTool(body, tool, i, names)]
    leftOut.push(toolLeftOut(tool.type, `tools[${i}]`))
    return []
  })
  return {
    tools: read.length > 0 ? read : null,
    toolChoice: readChoice(tool_choice, read, leftOut),
    parallelToolCalls: parallel_tool_calls as boolean | null | undefined,
    maxToolCalls: max_tool_calls as number | null | undefined,
  }
}

function readTool(body: RequestBody, tool: unknown, i: number, names: Set<string>): unknown {
  const at = `tools[${i}]`
  if (!isFields(tool)) throw invalid(at, "must be an object")
  const { type } = tool
  if (type !== "function" && type !== "custom") throw noTool(type, `${at}.type`)
  const inner = tool[type]
  if (inner === undefined && typeof tool.name === "string") {
    throw invalid(
      at,
      "is a flat tool, which /v1/responses takes",
      `Put its fields under "${type}": {"type": "${type}", "${type}": {"name": …}}`,
    )
  }
  if (!isFields(inner)) throw missing(`${at}.${type}`)
  takeName(inner.name, `${at}.${type}.name`, names)
  refuseForeign(tool, at)
  refuseForeign(inner, `${at}.${type}`)
  if (type === "custom") return tool
  const parameters = readParameters(body, inner, `${at}.function`, ["tools", i, "function"])
  return parameters === null ? tool : { ...tool, function: { ...inner, parameters } }
}

/** Adds a name to `names`. Throws `Refusal` if it is invalid or taken by another tool. */
export function takeName(name: unknown, param: string, names: Set<string>): asserts name is string {
  checkName(name, param)
  if (names.has(name)) {
    throw invalid(param, `: ${quote(name)} is the name of another tool too`, "Rename one of them")
  }
  names.add(name)
}

/**
 * Returns the text of a function's schema, which is in the body at `path`, or null if the function
 * takes no arguments. Throws `Refusal`.
 */
export function readParameters(
  body: RequestBody,
  { parameters }: Record<string, unknown>,
  at: string,
  path: readonly (string | number)[],
): string | null {
  if (parameters === undefined || parameters === null) return null
  if (!isFields(parameters)) {
    const param = `${at}.parameters`
    throw invalid(param, "must be a JSON Schema: an object")
  }
  return body.text([...path, "parameters"])
}

/** Returns the refusal of a kind of tool that a model's text cannot call. */
export function noTool(type: unknown, param: string): Refusal {
  const said = type === undefined ? "missing" : quote(type)
  const isRun = isHosted(type)
  const what = isRun ? `${said}: no tool is run here` : `${said}: a tool is of type function or custom`
  return invalid(
    param,
    `is ${what}`,
    isRun ? "Describe it as a function and run it yourself" : "Use function",
  )
}

export function checkName(name: unknown, param: string): asserts name is string {
  if (name === undefined) throw missing(param)
  if (isToolName(name)) return
  throw invalid(param, `: ${quote(name)} is no name of a tool`, `Use ${toolNameForm}`)
}

/**
 * Throws `Refusal` for calls by other programs and for calls without a waiting caller: both need
 * more than a grammar.
 */
export function refuseForeign(fields: Record<string, unknown>, at: string): void {
  if (fields.async === true) {
    const param = `${at}.async`
    throw unsupported(param, ": calls are synchronous here", "Leave it out")
  }
  const callers = fields.allowed_callers
  if (Array.isArray(callers) && callers.some((caller) => caller !== "direct")) {
    const param = `${at}.allowed_callers`
    throw unsupported(param, ": no program calls tools here", 'Use ["direct"]')
  }
}

/**
 * The choices that name no tool, by their words. "any" is Mistral's and Anthropic's word for
 * required.
 */
const choiceWords = new Map<unknown, string>([
  ["auto", "auto"],
  ["none", "none"],
  ["required", "required"],
  ["any", "required"],
])

/**
 * Returns the choice of a word, `"auto"` or `{type: "auto"}`; null if `choice` is an object with
 * more fields. Throws `Refusal`.
 */
export function readChoiceWord(choice: unknown, hint: string): string | null {
  const param = "tool_choice"
  if (isFields(choice)) return choiceWords.get(choice.type) ?? null
  if (typeof choice !== "string") throw invalid(param, "must be a string or an object")
  const word = choiceWords.get(choice)
  if (word !== undefined) return word
  throw invalid(param, `: ${quote(choice)} is not auto, none or required`, hint)
}

/** Returns `tool_choice` after checking it against the remaining tools. Throws `Refusal`. */
function readChoice(choice: unknown, tools: readonly unknown[], leftOut: LeftOut[] = []): unknown {
  const param = "tool_choice"
  if (choice === undefined || choice === null) return null
  const word = readChoiceWord(choice, 'A tool is named by {"type": "function", "function": {"name": …}}')
  if (word === "required" && tools.length === 0) throw needsTools(leftOut)
  if (word !== null || !isFields(choice)) return word
  if (isHosted(choice.type)) throw noTool(choice.type, `${param}.type`)
  const left = withoutHosted(choice, leftOut)
  if (left === null) return "none"
  if (tools.length === 0) throw needsTools(leftOut)
  const known = new Set(tools.map(nameOf))
  for (const [name, at] of namesIn(left)) {
    checkName(name, at)
    if (!known.has(name)) throw noSuchTool(name, at, [...known])
  }
  return left
}

/**
 * Returns `allowed_tools` without the tools that are left out, or null if no callable tool remains.
 * Throws `Refusal`.
 */
function withoutHosted(
  choice: Record<string, unknown>,
  leftOut: LeftOut[] = [],
): Record<string, unknown> | null {
  const isNested = isFields(choice.allowed_tools)
  const inner = (isNested ? choice.allowed_tools : choice) as Record<string, unknown>
  if (choice.type !== "allowed_tools" || !Array.isArray(inner.tools)) return choice
  const tools = allowedTools(inner.tools, inner.mode, "tool_choice.allowed_tools.tools", leftOut)
  if (tools === null) return null
  return isNested ? { ...choice, allowed_tools: { ...inner, tools } } : { ...choice, tools }
}

/**
 * Returns the allowed tools that may be called, or null if all of them are left out and a call is
 * not required. Throws `Refusal`.
 */
export function allowedTools(
  tools: readonly unknown[],
  mode: unknown,
  at: string,
  leftOut: LeftOut[],
): readonly unknown[] | null {
  const left = tools.filter((tool, i) => {
    if (!isFields(tool) || !isHosted(tool.type)) return true
    leftOut.push(toolLeftOut(tool.type, `${at}[${i}]`))
    return false
  })
  if (left.length > 0 || tools.length === 0) return left
  if (mode === "required") throw needsTools(leftOut)
  return null
}

export function noSuchTool(name: string, param: string, known: readonly unknown[]): Refusal {
  return invalid(param, `: no tool is named ${quote(name)}`, `There are: ${known.slice(0, 20).join(", ")}`)
}

/** Returns the refusal of a required call for which no callable tool remains. */
export function needsTools([first]: readonly LeftOut[] = []): Refusal {
  const param = "tool_choice"
  if (first === undefined) return invalid(param, "needs tools", "Send some, or leave it out")
  const what = `asks for a call, and there is no other tool: ${first.warning.split(". ")[0]}`
  return invalid(param, what, first.hint)
}

function nameOf(tool: unknown): unknown {
  const { type, ...fields } = tool as Record<string, Record<string, unknown>>
  return fields[String(type)]?.name
}

/**
 * Returns the names in a choice, each with its field. Throws `Refusal` if the choice is malformed.
 */
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
      throw invalid(at, "must be auto or required")
    }
    if (!Array.isArray(tools)) {
      const at = `${param}.allowed_tools.tools`
      throw invalid(at, "must be a list of tools")
    }
    return tools.flatMap((each, i) =>
      isFields(each)
        ? namesIn(each).map(([name]) => [name, `${param}.allowed_tools.tools[${i}]`] as [unknown, string])
        : [],
    )
  }
  const at = `${param}.type`
  const said = type === undefined ? "missing" : quote(type)
  throw invalid(at, `is ${said}, it must be function, custom or allowed_tools`)
}
