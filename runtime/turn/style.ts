/**
 * Finds out from a model's chat template in which style it writes tool calls and how it marks its
 * reasoning.
 *
 * A template shows the model the calls of earlier turns in the form in which it must write its own.
 * The forms are recognized by spellings that no other family uses.
 */
import { styleOf } from "../../grammar/tags/styles/all.ts"
import type { Reasoning } from "../../grammar/tags/styles/style.ts"

/** How a model writes its turns. */
export interface ModelStyle {
  /** The name of its tool-call style. */
  readonly style: string
  /** The section before the answer; null if it is unknown how the model writes its reasoning. */
  readonly reasoning: Reasoning | null
}

/** Styles with their spellings: the first whose spellings are all in a template is used. */
const signs: readonly (readonly [style: string, ...spellings: readonly RegExp[]])[] = [
  ["harmony", /<\|channel\|>/, /<\|message\|>/],
  ["muse", /<atem:function_calls>/],
  ["solar_open", /<\|tool_call:begin\|>/, /<\|tool_call:args\|>/],
  ["apertus", /<\|tools_prefix\|>/],
  ["gigachat3_1", /<\|function_call\|>/, /<\|role_sep\|>/],
  ["gigachat3", /'function call'/, /<\|role_sep\|>/],
  ["hy3", /<tool_sep:opensource>/],
  ["kimi_k3", /<\|open\|>/, /<\|sep\|>/],
  ["kimi_k2", /<\|tool_calls_section_begin\|>/],
  ["deepseek_v4_1", /｜DSML｜ calls/],
  ["deepseek_xml", /｜DSML｜/],
  ["deepseek_v3", /<｜tool▁calls▁begin｜>/, /```json/],
  ["deepseek_v3_1", /<｜tool▁calls▁begin｜>/],
  ["cohere2", /<\|START_ACTION\|>/, /<\|START_TEXT\|>/],
  ["cohere", /<\|START_ACTION\|>/],
  ["minimax_xml", /<minimax:tool_call>/],
  ["seed_oss", /<seed:tool_call>/],
  ["glm_xml", /<arg_key>/],
  ["mimo", /<tool_call><function=/],
  ["qwen_xml", /<tool_call>/, /<function=/],
  ["mistral", /\[TOOL_CALLS\]/],
  ["lfm2", /<\|tool_(?:call|list)_start\|>/],
  ["pythonic", /<\|python_start\|>/],
  ["apriel", /<tool_calls>\[/],
  ["minimax_m1", /<tool_calls>\\n/],
  ["nemotron_v2", /<TOOLCALL>\[/],
  ["exaone", /<tool_call>/, /\[\|assistant\|\]/],
  ["hermes", /<tool_call>/],
  ["functionary_v3_1", /<function=/, /<\/function>/],
  ["llama3_json", /<\|python_tag\|>/],
  ["llama3_json", /"parameters": /, /<\|start_header_id\|>/],
]

/** The style if a template contains no form of calls. */
const defaultStyle = "hermes"

/** Reads the texts of a model's chat templates, joined. */
export function styleOfTemplate(source: string): ModelStyle {
  const template = spelledOut(source)
  const found = signs.find(([, ...spellings]) => spellings.every((spelling) => spelling.test(template)))
  const style = found?.[0] ?? defaultStyle
  return { style, reasoning: reasoningOfTemplate(template, style) }
}

/**
 * Some templates set their tags once as variables and insert them with Python's `format`. Returns
 * the template with these tags inserted.
 */
function spelledOut(template: string): string {
  const variable = /'[^']*\{\}[^']*'\.format\((\w+)\)/.exec(template)?.[1]
  const mark = new RegExp(`set ${variable} = '([^']*)'`).exec(template)?.[1]
  return mark === undefined ? template : template.replaceAll("{}", mark)
}

/** Returns the tags that the template contains; those of its own style first. */
function reasoningOfTemplate(template: string, style: string): Reasoning | null {
  const own = styleOf(style).reasoning
  const known = [own, { begin: "<think>", end: "</think>" }, { begin: "[THINK]", end: "[/THINK]" }]
  return known.find((each) => each !== undefined && template.includes(each.end.trim())) ?? null
}

/**
 * Reads the option `--reasoning`: `auto`: as in the template; `none`; or `begin,end`. Throws
 * RangeError for any other text.
 */
export function readReasoning(said: string, template: ModelStyle): Reasoning | null {
  if (said === "auto") return template.reasoning
  if (said === "none") return null
  const [begin, end, ...rest] = said.split(",")
  if (begin && end && rest.length === 0) return { begin, end }
  throw new RangeError(
    `reasoning: ${JSON.stringify(said)} is not auto, none, or two tags with a comma between`,
  )
}
