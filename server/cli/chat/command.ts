/**
 * `tokenrail chat`: a conversation with a model, at a terminal or through a pipe.
 *
 * Standard output has the answers and what commands show; prompts and notices go to standard error.
 * At a terminal an error is shown and the conversation continues. Without a terminal the first
 * error ends the program with its exit code, so that no later line is answered without the
 * constraint that failed.
 */
import type { Command } from "commander"
import type { GenerateResult, ToolCall } from "../../../runtime/index.ts"
import { type ConstraintFlags, constraintFlags, readConstraint, spelling } from "../constraint.ts"
import { Exit, exitCode, type Io, outText, printable, UsageError } from "../exit.ts"
import { examples, groups } from "../helptext.ts"
import { type ModelFlags, modelFlags, openModel } from "../model.ts"
import { type SamplingFlags, samplingFlags, samplingOptions } from "../sampling.ts"
import { readToolsFile, runCommand, type Session } from "./commands.ts"
import { Conversation, stoppable } from "./conversation.ts"
import { History } from "./history.ts"
import { type Lines, PipedLines, TerminalLines } from "./lines.ts"

interface ChatFlags extends ConstraintFlags, ModelFlags, SamplingFlags {
  system?: string
  tools?: string
  history: boolean
}

export function chatCommand(program: Command, io: Io, done: (code: number) => void): void {
  const command = program
    .command("chat")
    .description("talk with a model: each line is a message, /help lists commands")
  samplingFlags(modelFlags(constraintFlags(command)))
    .optionsGroup(groups.prompt)
    .option("--system <text>", "system message")
    .option("--tools <file>", "tools that the model may call, as in OpenAI's chat requests")
    .option("--no-history", "do not keep the lines for later conversations")
    .addHelpText("after", examples("chat", 'chat --system "Answer in one sentence." --temperature 0'))
    .action(async (flags: ChatFlags) => done(await run(flags, io)))
}

async function run(flags: ChatFlags, io: Io): Promise<number> {
  const { seed, ...sampling } = flags
  const input = await readConstraint(flags, io)
  const limits = { compileMs: flags.maxCompile, maskMs: flags.maxMask }
  const tools = flags.tools === undefined ? null : await readToolsFile(flags.tools)
  const engine = await openModel(flags, io, { limits })
  try {
    const conversation = new Conversation({
      ...{ engine, sampling: samplingOptions(sampling), policies: spelling(flags) },
      compileMs: flags.maxCompile,
    })
    conversation.constrain(input)
    conversation.system = flags.system ?? null
    conversation.tools = tools
    conversation.seed = seed ?? null
    return await new Chat({ io, conversation, maskMs: flags.maxMask }, flags.history).run()
  } finally {
    await engine.close()
  }
}

class Chat {
  private readonly io: Io
  private readonly session: Session
  private readonly keepsHistory: boolean
  /** Whether a person types and reads. */
  private readonly isTerminal: boolean
  private readonly hasColours: boolean
  /** Whether a constrained answer was cut. */
  private isIncomplete = false

  constructor(session: Session & { io: Io }, keepsHistory: boolean) {
    const { io } = session
    this.io = io
    this.keepsHistory = keepsHistory
    this.isTerminal = io.isTerminal && io.streams.input.isTTY === true
    this.hasColours = this.isTerminal && !io.env.NO_COLOR && io.env.TERM !== "dumb"
    this.session = { ...session, io: { stdin: io.stdin, err: io.err, out: (text) => outText(text, io) } }
  }

  async run(): Promise<number> {
    const lines = await this.open()
    const close = () => lines.close()
    this.io.signal.addEventListener("abort", close, { once: true })
    try {
      const code = await this.talk(lines)
      this.io.signal.throwIfAborted()
      return code
    } finally {
      this.io.signal.removeEventListener("abort", close)
      lines.close()
    }
  }

  private async open(): Promise<Lines> {
    const { io, keepsHistory } = this
    const { input, screen } = io.streams
    if (!this.isTerminal) return new PipedLines(input)
    this.note(`${this.session.conversation.settings.engine.model.id}. /help lists the commands\n`)
    const history = keepsHistory ? await History.open(io) : History.none()
    return new TerminalLines({
      ...{ input, screen, history: history.lines },
      onLine: (line) => history.add(line),
    })
  }

  /** Reads and answers messages until the input ends. Returns the exit code. */
  private async talk(lines: Lines): Promise<number> {
    let wasInterrupted = false
    for (;;) {
      const read = await readMessage(lines, this.bold("> "))
      if (read.kind === "end") break
      if (read.kind === "interrupt") {
        if (read.wasEmpty && wasInterrupted) return Exit.Interrupt
        if (read.wasEmpty) this.note("Ctrl-C again, or Ctrl-D, leaves\n")
        wasInterrupted = read.wasEmpty
        continue
      }
      wasInterrupted = false
      try {
        if (!(await this.handle(read.text, lines))) return this.ending()
      } catch (error) {
        const code = exitCode(error, this.io)
        if (!this.isTerminal || this.io.signal.aborted) return code
      }
    }
    if (this.isTerminal) this.io.err("\n")
    return this.ending()
  }

  private ending(): number {
    return this.isIncomplete && !this.isTerminal ? Exit.Incomplete : Exit.Ok
  }

  /** Handles a message or a command. Returns false if it leaves the conversation. */
  private async handle(text: string, lines: Lines): Promise<boolean> {
    if (text.trim() === "") return true
    if (text.startsWith("/") && !text.startsWith("//")) return runCommand(text, this.session)
    await this.ask(text.startsWith("//") ? text.slice(1) : text, lines)
    return true
  }

  private async ask(question: string, lines: Lines): Promise<void> {
    const { conversation } = this.session
    const { signal, stop, release } = stoppable(this.io.signal)
    /** What the line so far holds: the next text of another kind begins a new line. */
    let last: "text" | "reasoning" | null = null
    const show = (kind: "text" | "reasoning") => (text: string) => {
      if (last !== null && last !== kind) this.io.out("\n")
      last = kind
      if (kind === "text") outText(text, this.io)
      else this.note(text)
    }
    const endLine = () => {
      if (last !== null) this.io.out("\n")
      last = null
    }
    try {
      const answered = await lines.during(
        () =>
          conversation.ask(question, {
            ...{ text: show("text"), reasoning: show("reasoning"), signal },
            resultOf: (call) => {
              endLine()
              return this.readResult(call, lines)
            },
          }),
        stop,
      )
      endLine()
      this.tellEnd(answered)
    } finally {
      endLine()
      release()
    }
  }

  /** Says how the answer ended, unless it is whole. */
  private tellEnd(result: GenerateResult | null): void {
    this.io.signal.throwIfAborted()
    const { finishReason = null, warnings = [] } = result ?? {}
    if (finishReason === null) this.note("(stopped: the question is forgotten)\n")
    for (const warning of warnings) this.note(`(${warning})\n`)
    if (finishReason === "abort") this.note("(stopped: the conversation keeps the answer so far)\n")
    if (finishReason !== "length") return
    this.isIncomplete ||= this.session.conversation.last?.constraint !== null
    this.note("(cut at the end of its tokens: raise --max-tokens or --context, or /reset)\n")
  }

  /** Prints a call and reads its result. Returns null if the user gives none. */
  private async readResult({ name, arguments: args }: ToolCall, lines: Lines): Promise<string | null> {
    outText(`${name}(${args})\n`, this.io)
    const read = await readMessage(lines, this.bold(`result of ${printable(name)}> `))
    if (read.kind === "end" && !this.isTerminal)
      throw new UsageError(`the input ends before the result of ${name}: write it on the next line`)
    return read.kind === "line" ? read.text : null
  }

  private note(text: string): void {
    const shown = this.io.isTerminal ? printable(text) : text
    this.io.err(this.hasColours ? `\u001b[2m${shown}\u001b[0m` : shown)
  }

  private bold(text: string): string {
    return this.hasColours ? `\u001b[1m${text}\u001b[0m` : text
  }
}

type Message = Awaited<ReturnType<Lines["next"]>>

/**
 * Reads a message: a line, lines that end with a backslash and the one after them, or the lines
 * between two `"""`.
 */
async function readMessage(lines: Lines, prompt: string): Promise<Message> {
  const quote = '"""'
  const parts: string[] = []
  let isQuoted = false
  for (;;) {
    const read = await lines.next(parts.length === 0 && !isQuoted ? prompt : "... ")
    if (read.kind === "interrupt" && (parts.length > 0 || isQuoted)) return { ...read, wasEmpty: false }
    // An open message is not sent when the input ends.
    if (read.kind !== "line") return read
    let { text } = read
    if (parts.length === 0 && !isQuoted && text.trimStart().startsWith(quote)) {
      isQuoted = true
      text = text.trimStart().slice(quote.length)
      if (text === "") continue
    }
    if (isQuoted && text.trimEnd().endsWith(quote)) {
      const end = text.trimEnd().slice(0, -quote.length)
      return { kind: "line", text: [...parts, ...(end === "" ? [] : [end])].join("\n") }
    }
    const continues = !isQuoted && text.endsWith("\\")
    parts.push(continues ? text.slice(0, -1) : text)
    if (!isQuoted && !continues) return { kind: "line", text: parts.join("\n") }
  }
}
