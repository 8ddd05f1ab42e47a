/**
 * Tools that a service would run, and their traces in a conversation. They are left out, and the
 * request continues without them.
 *
 * Agents offer such tools with every request, and most turns call none. The model cannot call a
 * tool that it does not see, so the rest of the request is unchanged, and the reply reports the
 * tools that were left out. A request that needs such a tool is refused; a strict server refuses
 * every request with one.
 */
import { Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"

/** A part of a request without effect, and its refusal by a strict server. */
export interface LeftOut {
  /** The text for `tokenrail.warnings`. */
  readonly warning: string
  readonly param: string
  readonly hint: string
}

/** Kinds of tools that a service runs itself, or whose schema only the models of a service know. */
const hostedTool = new RegExp(
  `^(?:${[
    ...["web_search", "web_fetch", "file_search", "code_interpreter", "code_execution", "computer"],
    ...["image_generation", "mcp", "local_shell", "shell", "apply_patch", "tool_search", "memory", "bash"],
    ...["text_editor", "programmatic_tool_calling", "x_search", "browser_search", "collections_search"],
    ...["advisor", "google_search", "url_context"],
  ].join("|")})(?:$|_)`,
)

/** Anthropic adds a date to the types of the tools that it defines. */
const datedTool = /^[a-z][a-z_]*_\d{8}$/

/** Returns whether a service runs tools of this type. */
export function isHosted(type: unknown): type is string {
  return typeof type === "string" && (hostedTool.test(type) || datedTool.test(type))
}

/** Items of responses and blocks of Anthropic's messages that record the use of such tools. */
const hostedItems: ReadonlySet<string> = new Set([
  ...["web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"],
  ...["computer_call", "computer_call_output", "local_shell_call", "local_shell_call_output"],
  ...["shell_call", "shell_call_output", "apply_patch_call", "apply_patch_call_output"],
  ...["mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "mcp_call"],
  ...["tool_search_call", "tool_search_output", "program", "program_output"],
  ...["server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "tool_search_tool_result"],
  ...["code_execution_tool_result", "bash_code_execution_tool_result"],
  ...["text_editor_code_execution_tool_result", "mcp_tool_use", "mcp_tool_result", "advisor_tool_result"],
])

/** Returns whether an item or a block of this type records the use of a service's tool. */
export function isHostedItem(type: unknown): type is string {
  return typeof type === "string" && hostedItems.has(type)
}

const runIt = "Describe it as a function and run it yourself"

/** Returns the record of a tool that is left out. `at` is its field. */
export function toolLeftOut(type: string, at: string): LeftOut {
  return {
    warning: `${at}: ${quote(type)} is left out, no tool is run here. ${runIt}`,
    param: `${at}.type`,
    hint: runIt,
  }
}

/** `mcp_servers` of Anthropic's requests, whose tools Anthropic's service would run. */
export const serversLeftOut: LeftOut = {
  warning: `mcp_servers is left out, no tool is run here. ${runIt}`,
  param: "mcp_servers",
  hint: runIt,
}

/** Returns the record of an item or a block that is left out. `at` is its field. */
export function itemLeftOut(type: string, at: string): LeftOut {
  return {
    warning: `${at}: ${quote(type)} is left out, because it records the use of a tool that is not run here`,
    param: `${at}.type`,
    hint: "Leave it out",
  }
}

/** Throws `Refusal` if any part was left out. */
export function refuseLeftOut([first]: readonly LeftOut[]): void {
  if (first === undefined) return
  const { warning, param, hint } = first
  const [what] = warning.split(". ")
  throw new Refusal("invalid_value", `${what.replace("is left out, ", "is refused: ")}`, { param, hint })
}
