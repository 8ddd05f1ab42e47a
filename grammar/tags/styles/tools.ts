/**
 * Reads the tools of a request: OpenAI's tool objects and `tool_choice` become the tools that may
 * be called and the number of calls. Paths of errors are pointers into `tools`, or the name of the
 * field.
 */
import { checkLimit, fixedBounds, GrammarError } from "../../errors.ts"
import { groupOf } from "../../regex/read.ts"

export interface Tool {
  readonly name: string
  /** The schema of the arguments; null if there are none. */
  readonly schema: unknown
  /** Place of that schema, or of the grammar of a custom tool. */
  readonly path: string
  /** Whether this is a custom tool, whose one argument is a text. */
  readonly isCustom: boolean
  /** The grammar of this text in Lark; null if there is none or the schema expresses it. */
  readonly lark: string | null
}

/** The calls that a turn may have. */
export interface Calls {
  readonly tools: readonly Tool[]
  /** Whether the turn consists of calls only. */
  readonly isRequired: boolean
  readonly max: number
}

/**
 * The characters that no style needs for its own marks, so that every style can write such a name.
 */
const namePattern = /^[\p{L}\p{M}\p{N}_.:/@#$+~-]{1,128}$/u

/** Description of a tool's name, for messages. */
export const toolNameForm = "1 to 128 letters, digits and _ . - : / @ # $ + ~"

/** Returns whether calls in every style can have this name. */
export function isToolName(name: unknown): name is string {
  return typeof name === "string" && namePattern.test(name)
}

type Fields = Readonly<Record<string, unknown>>

/** The only argument of a custom tool. */
export const CustomArgument = "input"

/**
 * Returns the tools of a request. Throws `syntax` with the tool's pointer, and `unsupported` for
 * what no grammar can honour.
 */
export function readTools(tools: unknown): Tool[] {
  if (!Array.isArray(tools)) throw new GrammarError("syntax", "tools", "tools are a list. Write [] for none")
  checkLimit(fixedBounds, "tools", tools.length)
  const names = new Map<string, string>()
  return Array.from(tools, (value: unknown, i) => {
    const tool = readTool(value, `/${i}`)
    const place = `${tool.path.slice(0, tool.path.lastIndexOf("/"))}/name`
    const known = names.get(tool.name)
    if (known !== undefined)
      throw new GrammarError(
        "syntax",
        place,
        `the tool "${tool.name}" is already at ${known}. Rename one of them`,
      )
    names.set(tool.name, place)
    return tool
  })
}

function readTool(value: unknown, path: string): Tool {
  const tool = fieldsOf(value, path, "a tool")
  if (tool.type !== "function" && tool.type !== "custom") {
    const type = JSON.stringify(tool.type) ?? "nothing"
    throw new GrammarError(
      "unsupported",
      `${path}/type`,
      `tools of type ${type} are not run here. Use function or custom`,
    )
  }
  const at = `${path}/${tool.type}`
  if (tool[tool.type] === undefined && typeof tool.name === "string") {
    throw new GrammarError("syntax", path, `a flat tool object. Put its fields under "${tool.type}"`)
  }
  const inner = fieldsOf(tool[tool.type], at, `the ${tool.type} of a tool`)
  for (const fields of [tool, inner]) refuseHosted(fields, fields === tool ? path : at)
  const { name } = inner
  if (!isToolName(name)) {
    const said = JSON.stringify(name) ?? "nothing"
    throw new GrammarError("syntax", `${at}/name`, `${said} is no name of a tool: ${toolNameForm}`)
  }
  if (tool.type !== "custom") {
    return { name, schema: inner.parameters ?? null, path: `${at}/parameters`, isCustom: false, lark: null }
  }
  return { name, isCustom: true, ...readFormat(inner.format, `${at}/format`, name) }
}

/**
 * Refuses calls that the model does not make itself, or that wait for no answer: they need more
 * than a grammar.
 */
function refuseHosted(fields: Fields, path: string): void {
  if (fields.async === true) {
    throw new GrammarError("unsupported", `${path}/async`, "calls are synchronous. Leave async out")
  }
  const callers = fields.allowed_callers
  if (Array.isArray(callers) && callers.some((caller) => caller !== "direct")) {
    throw new GrammarError(
      "unsupported",
      `${path}/allowed_callers`,
      'no program calls tools here. Use ["direct"]',
    )
  }
}

/** Reads the format of a custom tool's text: none, a regular expression, or a grammar. */
function readFormat(format: unknown, path: string, name: string): Pick<Tool, "schema" | "lark" | "path"> {
  const schema = (input: Fields) => ({
    type: "object",
    properties: { [CustomArgument]: { type: "string", ...input } },
    required: [CustomArgument],
    additionalProperties: false,
  })
  if (format === undefined || format === null) return { schema: schema({}), lark: null, path }
  const { type, grammar, ...flat } = fieldsOf(format, path, "the format of a custom tool")
  if (type === "text") return { schema: schema({}), lark: null, path }
  if (type !== "grammar") throw new GrammarError("syntax", `${path}/type`, "a format is text or grammar")
  const { syntax, definition } =
    grammar === undefined ? flat : fieldsOf(grammar, `${path}/grammar`, "a grammar")
  const at = grammar === undefined ? path : `${path}/grammar`
  const place = `${at}/definition`
  if (typeof definition !== "string") {
    throw new GrammarError("syntax", place, "the definition of a grammar is a text")
  }
  if (syntax === "regex") {
    const pattern = `^${patternGroup(definition, place, name)}$`
    return { schema: schema({ pattern }), lark: null, path: place }
  }
  if (syntax === "lark") return { schema: schema({}), lark: definition, path: place }
  throw new GrammarError(
    "syntax",
    `${at}/syntax`,
    `${JSON.stringify(syntax) ?? "nothing"}: a grammar is lark or regex`,
  )
}

/**
 * Returns the pattern as a group. `a)|(b` is not a pattern by itself, and must not become two in a
 * group.
 */
function patternGroup(pattern: string, path: string, name: string): string {
  try {
    return groupOf(pattern, "", "")
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    throw new GrammarError(error.kind, path, `the tool "${name}": ${error.message}`)
  }
}

/**
 * Returns the calls that `tool_choice` and related fields allow. Throws `syntax` with the name of
 * the field.
 */
export function readChoice(
  choice: unknown,
  tools: readonly Tool[],
  parallel: boolean | null | undefined,
  maxCalls: number | null | undefined,
): Calls {
  const most = maxCalls ?? Number.POSITIVE_INFINITY
  if (most !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(most) && most >= 1)) {
    throw new GrammarError("syntax", "max_tool_calls", `${most} is no number of calls: an integer from 1 on`)
  }
  const max = parallel === false ? 1 : most
  if (choice === undefined || choice === null || choice === "auto") return { tools, isRequired: false, max }
  if (choice === "none") return { tools: [], isRequired: false, max }
  if (choice === "required") return { tools: needed(tools), isRequired: true, max }
  const path = "tool_choice"
  const fields = fieldsOf(choice, path, "tool_choice other than auto, required and none")
  if (fields.type === "function" || fields.type === "custom") {
    return { tools: [named(fields, tools, path)], isRequired: true, max: 1 }
  }
  if (fields.type !== "allowed_tools") {
    throw new GrammarError(
      "syntax",
      path,
      `${JSON.stringify(choice)}: use auto, required, none, a tool by its name, or allowed_tools`,
    )
  }
  const nested = fields.allowed_tools
  const { mode, tools: listed } = nested === undefined ? fields : fieldsOf(nested, path, "allowed_tools")
  if ((mode !== "auto" && mode !== "required") || !Array.isArray(listed)) {
    throw new GrammarError("syntax", path, "allowed_tools has a mode, auto or required, and a list of tools")
  }
  const allowed = new Set(listed.map((each) => named(fieldsOf(each, path, "an allowed tool"), tools, path)))
  const kept = tools.filter((tool) => allowed.has(tool))
  return mode === "auto"
    ? { tools: kept, isRequired: false, max }
    : { tools: needed(kept), isRequired: true, max }
}

function named(fields: Fields, tools: readonly Tool[], path: string): Tool {
  const inner = fields[fields.type === "custom" ? "custom" : "function"]
  const { name } = inner === undefined ? fields : fieldsOf(inner, path, "a choice")
  const tool = tools.find((each) => each.name === name)
  if (tool === undefined) {
    const known = tools.map((each) => each.name).join(", ")
    throw new GrammarError("syntax", path, `no tool is named ${JSON.stringify(name)}. There are: ${known}`)
  }
  return tool
}

function needed(tools: readonly Tool[]): readonly Tool[] {
  if (tools.length > 0) return tools
  throw new GrammarError(
    "syntax",
    "tool_choice",
    "a call is required and there is no tool. Send tools, or auto",
  )
}

function fieldsOf(value: unknown, path: string, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields
  throw new GrammarError("syntax", path, `${what} is an object`)
}
