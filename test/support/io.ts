/** What a command is given in tests: standard input is a text, and what is printed is kept. */
import { PassThrough, Readable } from "node:stream"
import { Command } from "commander"
import type { Io } from "../../server/cli/exit.ts"

export function ioOf({
  input = "",
  signal,
  isTerminal = false,
  env = {},
}: Partial<Pick<Io, "isTerminal" | "env">> & {
  input?: string
  signal?: string
} = {}): Io & { printed: string } {
  const controller = new AbortController()
  if (signal !== undefined) controller.abort(signal)
  const io = {
    printed: "",
    stdin: async () => input,
    streams: { input: Readable.from([input]), screen: new PassThrough() },
    out: () => {},
    err: (text: string) => {
      io.printed += text
    },
    signal: controller.signal,
    isTerminal,
    isOutTerminal: isTerminal,
    env,
  }
  return io
}

/** The flags that `add` puts on a command, as it reads `args`. */
export function flagsOf<Flags extends object>(
  add: (command: Command) => Command,
  args: readonly string[],
): Flags {
  const command = add(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
  return command.parse(args, { from: "user" }).opts<Flags>()
}
