/**
 * The tool loop: the model answers, its calls are run, and it answers again, until an answer has no
 * calls.
 *
 * The calls of a turn run at the same time. An error of a tool is sent to the model as the tool's
 * result, so that it can correct the call. Arguments satisfy the tool's schema, and have passed its
 * own validator.
 */
import { checkOptions, type Fields, OptionError } from "../../grammar/options.ts"
import type { GenerateOptions } from "../engine/request.ts"
import { generateAliases, generateFields } from "../engine/requestfields.ts"
import type { GenerateResult } from "../engine/result.ts"
import { withJson } from "../engine/result.ts"
import { wrong } from "../errors.ts"
import type { Message } from "../model/template.ts"
import { readConstraint, type SchemaValue } from "../schema.ts"
import type { ToolCall } from "./options.ts"

/** A tool as a function: its description, its arguments' schema, and the function to run. */
export interface RunTool {
  readonly description?: string
  /**
   * Schema of the arguments, in any form that `schema` of `generate` may have. Default: there are
   * no arguments.
   */
  readonly schema?: unknown
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are typed where the tool is written
  execute(args: any): unknown
}

/** A tool whose arguments have the type of its schema. */
export interface TypedTool<Schema> {
  readonly description?: string
  readonly schema?: Schema
  execute(args: ToolArguments<Schema>): unknown
}

/** The type of a tool's arguments; without a schema there are none. */
export type ToolArguments<Schema> = unknown extends Schema ? Record<string, never> : SchemaValue<Schema>

/** Defines a tool. The type of its arguments follows from its schema. */
export function tool<const Schema>(made: TypedTool<Schema>): RunTool {
  return made
}

/** Options of a run. */
export interface RunOptions extends Omit<GenerateOptions, "tools" | "n"> {
  readonly tools: Readonly<Record<string, RunTool>>
  /** Maximum number of the model's turns; the last one may not call. Default 8. */
  readonly maxSteps?: number
}

/** Options of a run, with the schemas of its tools and of its answer as types. */
export interface TypedRunOptions<Schemas, Schema> extends Omit<RunOptions, "tools" | "schema"> {
  readonly tools: { readonly [Name in keyof Schemas]: TypedTool<Schemas[Name]> }
  schema?: Schema
}

const { n: _, ...loopFields } = generateFields
const runFields = {
  ...loopFields,
  tools: "object",
  maxSteps: "number",
} as const satisfies Fields<RunOptions>

const toolFields = {
  description: "text",
  schema: "any",
  execute: "function",
} as const satisfies Fields<RunTool>

/** The last answer, with the conversation that led to it. */
export interface RunResult<Value = unknown> extends GenerateResult<Value> {
  /** The conversation with all calls, results and the answer. */
  readonly messages: readonly Message[]
  readonly steps: number
}

/** The part of an engine that answers. */
interface Answering {
  generate(messages: readonly Message[], options: GenerateOptions): Promise<GenerateResult>
}

/**
 * Runs the loop. Rejects as `generate` does, and with RequestError if `maxSteps` is not a valid
 * number.
 */
export async function run(
  engine: Answering,
  prompt: string | readonly Message[],
  asked: RunOptions,
): Promise<RunResult> {
  checkOptions(asked, runFields, { aliases: generateAliases })
  const { tools, maxSteps = 8, ...options } = asked
  if (tools === undefined || tools === null)
    throw new OptionError("tools", "it is missing: run calls the tools that it names")
  for (const [name, each] of Object.entries(tools)) checkTool(name, each)
  if (!Number.isSafeInteger(maxSteps) || maxSteps < 1)
    throw wrong("maxSteps", `${maxSteps} is not an integer from 1 on`)
  const messages: Message[] = typeof prompt === "string" ? [{ role: "user", content: prompt }] : [...prompt]
  const described = Object.entries(tools).map(([name, { description, schema }]) => ({
    type: "function",
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(schema !== undefined && { parameters: schemaOf(schema) }),
    },
  }))
  for (let steps = 1; ; steps++) {
    // A tool choice applies to the first turn only: with a required call the loop would never end.
    const toolChoice = steps === maxSteps ? "none" : steps === 1 ? options.toolChoice : "auto"
    const result = await engine.generate(messages, { ...options, tools: described, toolChoice })
    const { text, toolCalls } = result
    messages.push(assistantMessage(text, toolCalls))
    // The last turn may not call, so its answer is the end.
    if (toolCalls.length === 0 || steps === maxSteps) return withJson({ ...result, messages, steps })
    messages.push(...(await Promise.all(toolCalls.map((call) => answerOf(call, tools)))))
  }
}

/** Throws OptionError for a tool without a function, or for an unknown field. */
function checkTool(name: string, given: RunTool): void {
  const within = `tools.${name}`
  checkOptions(given, toolFields, {
    within,
    aliases: { parameters: "schema", inputSchema: "schema", run: "execute" },
  })
  if (given.execute === undefined)
    throw new OptionError(`${within}.execute`, "the tool has no function to run")
  if ("schema" in given && given.schema === undefined)
    throw new OptionError(
      `${within}.schema`,
      "it is undefined. Give a schema, or leave it out where there are no arguments",
    )
}

function schemaOf(schema: unknown): unknown {
  const { input } = readConstraint({ schema })!
  return "kind" in input && input.kind === "json" ? input.schema : schema
}

/** Returns the answer of a turn as a message of the conversation. */
export function assistantMessage(text: string, calls: readonly ToolCall[]): Message {
  if (calls.length === 0) return { role: "assistant", content: text }
  return {
    role: "assistant",
    content: text,
    tool_calls: calls.map(({ id, name, arguments: args }) => {
      return { id, type: "function", function: { name, arguments: args } }
    }),
  }
}

/** Returns the result of a call as the model gets it. */
async function answerOf(
  { id, name, arguments: args }: ToolCall,
  tools: RunOptions["tools"],
): Promise<Message> {
  let content: string
  try {
    const { schema, execute } = tools[name]
    const value = schema === undefined ? JSON.parse(args) : await readConstraint({ schema })!.validate(args)
    const said = await execute(value)
    content = typeof said === "string" ? said : (JSON.stringify(said) ?? "")
  } catch (error) {
    content = `error: ${(error as Error).message}`
  }
  return { role: "tool", tool_call_id: id, name, content }
}
