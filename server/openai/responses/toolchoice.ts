/**
 * `tool_choice` of a response: flat on the wire, nested in a turn.
 *
 * A choice names a tool by its own name if that is unique, by its namespace and name, or by its
 * name in a turn, `namespace.name`.
 */
import { invalid, type Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import { isHosted, type LeftOut } from "../request/leftout.ts"
import { allowedTools, checkName, needsTools, noSuchTool, noTool, readChoiceWord } from "../request/tools.ts"
import { isFields } from "../request/wire.ts"
import { type FlatTools, turnName } from "./tools.ts"

const param = "tool_choice"

/** Returns the turn's tool choice. Adds tools that are left out to `leftOut`. Throws `Refusal`. */
export function readFlatChoice(choice: unknown, tools: FlatTools, leftOut: LeftOut[] = []): unknown {
  if (choice === undefined || choice === null) return null
  const word = readChoiceWord(choice, 'A tool is named by {"type": "function", "name": …}')
  if (word === "required" && tools.nested.length === 0) throw needsTools(leftOut)
  if (word !== null || !isFields(choice)) return word
  if (isHosted(choice.type)) throw noTool(choice.type, `${param}.type`)
  if (tools.nested.length === 0 && choice.type !== "allowed_tools") throw needsTools(leftOut)
  if (choice.type !== "allowed_tools") return namedTool(choice, tools, param)
  const { mode, tools: listed } = choice
  if (mode === undefined && isFields(choice.allowed_tools)) throw nested(param, "allowed_tools")
  if (mode !== "auto" && mode !== "required") throw invalid(`${param}.mode`, "must be auto or required")
  if (!Array.isArray(listed)) {
    const at = `${param}.tools`
    throw invalid(at, "must be a list of tools")
  }
  const left = allowedTools(listed, mode, `${param}.tools`, leftOut)
  if (left === null) return "none"
  if (tools.nested.length === 0) throw needsTools(leftOut)
  const allowed = left.map((each) => namedTool(each, tools, `${param}.tools[${listed.indexOf(each)}]`))
  return { type: "allowed_tools", allowed_tools: { mode, tools: allowed } }
}

/**
 * Converts `{type: "function", name}` to `{type: "function", function: {name}}`. The tool must
 * exist.
 */
function namedTool(each: unknown, { nested: all, flat }: FlatTools, at: string): object {
  if (!isFields(each)) throw invalid(at, "must be an object")
  const { type, name, namespace } = each
  if (type !== "function" && type !== "custom") {
    if (type === undefined) {
      throw invalid(`${at}.type`, "is missing, it must be function, custom or allowed_tools")
    }
    throw noTool(type, `${at}.type`)
  }
  if (name === undefined && isFields(each[type])) throw nested(at, type)
  checkName(name, `${at}.name`)
  const own = all.map((tool, i) => ({ tool, ...flat[i] })).filter(({ tool }) => tool.type === type)
  const full = typeof namespace === "string" ? turnName({ name, namespace }) : name
  const exact = own.find((tool) => turnName(tool) === full)
  const bare = typeof namespace === "string" ? [] : own.filter((tool) => tool.name === name)
  const found = exact ?? (bare.length === 1 ? bare[0] : undefined)
  if (found !== undefined) return { type, [type]: { name: turnName(found) } }
  if (bare.length > 1) {
    throw invalid(
      `${at}.name`,
      `: ${bare.length} tools are named ${quote(name)}`,
      `Use ${bare.map(turnName).slice(0, 20).join(" or ")}`,
    )
  }
  throw noSuchTool(name, `${at}.name`, own.map(turnName))
}

function nested(at: string, type: string): Refusal {
  return invalid(
    at,
    "is a nested choice, which /v1/chat/completions takes",
    `Put the fields of "${type}" beside its type`,
  )
}
