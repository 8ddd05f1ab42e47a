/**
 * The commands of a conversation: lines that begin with a slash.
 *
 * A command that fails changes nothing and throws; its error is shown like one of the command line.
 */
import { writeFile } from "node:fs/promises"
import type { GrammarInput } from "../../../runtime/index.ts"
import { defaultBodyLimits, parseBody } from "../../http/body.ts"
import { readTools } from "../../openai/request/tools.ts"
import { readConstraint, readText } from "../constraint.ts"
import { type Io, UsageError } from "../exit.ts"
import { describeFollows, whatFollows } from "../follows.ts"
import { integer64 } from "../sampling.ts"
import type { Conversation } from "./conversation.ts"
import { savedConversation } from "./saved.ts"
import { machineOf, printTrace, traceOf } from "./trace.ts"

/** What a command works on. */
export interface Session {
  readonly io: Pick<Io, "stdin" | "out" | "err">
  readonly conversation: Conversation
  readonly maskMs: number
}

interface ChatCommand {
  readonly name: string
  readonly argument: string
  readonly help: string
  run(session: Session, argument: string): Promise<void> | void
}

const commands: readonly ChatCommand[] = [
  {
    ...{ name: "schema", argument: "FILE|JSON", help: "answers satisfy this JSON Schema" },
    run: async (session, argument) => {
      constrain(session, await readConstraint({ schema: needed("schema", argument) }, fileIo))
    },
  },
  {
    ...{ name: "regex", argument: "PATTERN", help: "answers match this regular expression" },
    run: (session, argument) => constrain(session, { kind: "regex", pattern: needed("regex", argument) }),
  },
  {
    ...{ name: "grammar", argument: "FILE|TEXT", help: "answers satisfy this grammar, in GBNF or Lark" },
    run: async (session, argument) => {
      const source = needed("grammar", argument)
      const text = /::=|\n|^\w+\s*:\s/.test(source) ? source : await readText(source, fileIo)
      constrain(session, { kind: "grammar", text })
    },
  },
  {
    ...{ name: "free", argument: "", help: "answers are free text again" },
    run: (session) => constrain(session, null),
  },
  {
    ...{
      name: "tools",
      argument: "[FILE|none]",
      help: "tools to call; you type their results",
    },
    run: setTools,
  },
  {
    ...{ name: "system", argument: "[TEXT]", help: "set or remove the system message" },
    run: ({ conversation, io }, argument) => {
      conversation.system = argument === "" ? null : argument
      io.out(argument === "" ? "no system message\n" : "system message set\n")
    },
  },
  {
    ...{ name: "seed", argument: "[N]", help: "seed of all answers; none: each has its own" },
    run: ({ conversation, io }, argument) => {
      conversation.seed = argument === "" ? null : seedOf(argument)
      io.out(argument === "" ? "each answer has its own seed\n" : `seed ${conversation.seed}\n`)
    },
  },
  {
    ...{ name: "allowed", argument: "[PREFIX]", help: "what may follow the prefix, or the last answer" },
    run: showAllowed,
  },
  {
    ...{ name: "trace", argument: "", help: "the tokens of the last answer, one by one" },
    run: async ({ conversation, io }) => {
      const { last, settings } = conversation
      if (last === null) throw new UsageError("there is no answer yet")
      for (const line of printTrace(await traceOf(last, settings))) io.out(`${line}\n`)
    },
  },
  {
    ...{ name: "save", argument: "FILE", help: "write the messages and the last request" },
    run: save,
  },
  {
    ...{ name: "reset", argument: "", help: "forget the messages; the settings stay" },
    run: ({ conversation, io }) => {
      conversation.reset()
      io.out("conversation reset\n")
    },
  },
  {
    ...{ name: "help", argument: "", help: "this list" },
    run: ({ io }) => io.out(helpText()),
  },
]

/** Names that leave the conversation. */
const leaving = new Set(["quit", "exit"])

/**
 * Runs the command in a line. Returns false if it leaves the conversation. Throws `UsageError` for
 * an unknown command, and the errors of the commands.
 */
export async function runCommand(line: string, session: Session): Promise<boolean> {
  const [, name, argument] = /^\/(\S*)\s*([\s\S]*)$/.exec(line)!
  if (leaving.has(name)) return false
  const command = commands.find((each) => each.name === name)
  if (command === undefined)
    throw new UsageError(`there is no command /${name}: /help lists them; begin with // for a text`)
  if (command.argument === "" && argument.trim() !== "") throw new UsageError(`/${name} takes no argument`)
  await command.run(session, argument.trim())
  return true
}

export function helpText(): string {
  const rows = [
    ...commands.map(({ name, argument, help }): [string, string] => [`/${name} ${argument}`, help]),
    ["/quit", "leave, as Ctrl-D does"],
    ["//text", "a message that begins with a slash"],
    ['"""', "begins and ends several lines, as a final \\ does"],
    ["Ctrl-C", "stop the answer; twice at an empty prompt: leave"],
  ]
  return rows.map(([left, right]) => `${left.padEnd(20)} ${right}\n`).join("")
}

/** Throws `UsageError`: commander prints its own errors only for flags. */
function seedOf(text: string): bigint {
  try {
    return integer64(text)
  } catch (error) {
    throw new UsageError(`/seed ${text}: ${(error as Error).message}`)
  }
}

/** `-` is the conversation itself, so it names no file. */
const fileIo = {
  stdin: async (): Promise<string> => {
    throw new UsageError("standard input holds the conversation: give a file")
  },
}

function needed(name: string, argument: string): string {
  if (argument === "") throw new UsageError(`/${name} needs an argument: /help shows it`)
  return argument
}

function constrain({ conversation, io }: Session, input: GrammarInput | null): void {
  conversation.constrain(input)
  io.out(input === null ? "answers are free text\n" : `answers are constrained by ${nameOf(input)}\n`)
}

function nameOf({ kind }: GrammarInput): string {
  return kind === "json" ? "a JSON Schema" : kind === "regex" ? "a regular expression" : "a grammar"
}

async function setTools({ conversation, io }: Session, argument: string): Promise<void> {
  if (argument === "none") conversation.tools = null
  else if (argument !== "") conversation.tools = await readToolsFile(argument)
  const names = (conversation.tools ?? []).map(nameOfTool)
  io.out(names.length === 0 ? "no tools\n" : `tools: ${names.join(", ")}\n`)
}

function nameOfTool(tool: unknown): string {
  const { function: inner, custom } = tool as Record<string, { name: string } | undefined>
  return (inner ?? custom)?.name ?? ""
}

/**
 * Returns the tools of a file: a list of them as in OpenAI's chat requests, or an object with
 * `tools`. Throws `UsageError` and `Refusal`.
 */
export async function readToolsFile(file: string): Promise<readonly unknown[]> {
  const text = await readText(file, fileIo)
  const body = /^\s*\[/.test(text) ? `{"tools":${text}}` : text
  const { tools } = readTools(parseBody(new TextEncoder().encode(body), defaultBodyLimits))
  if (!tools?.length) throw new UsageError(`${file} has no tools: give a list of them, or {"tools": […]}`)
  return tools
}

async function showAllowed({ conversation, io, maskMs }: Session, argument: string): Promise<void> {
  const { last, input, settings } = conversation
  if (input === null) throw new UsageError("answers are free text, so any text may come: set a constraint")
  const prefix = argument !== "" ? argument : last?.constraint === input ? last.result.text : ""
  const follows = whatFollows(machineOf(input, settings), prefix, maskMs)
  for (const line of describeFollows(follows)) io.out(`${line}\n`)
}

async function save({ conversation, io }: Session, argument: string): Promise<void> {
  const file = needed("save", argument)
  const text = `${JSON.stringify(savedConversation(conversation), null, 2)}\n`
  try {
    await writeFile(file, text, { flag: "wx" })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(code === "EEXIST" ? `${file} exists: give another name` : `cannot save: ${message}`)
  }
  io.out(`saved to ${file}\n`)
}
