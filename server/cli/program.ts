/**
 * The program `tokenrail`. Only this file uses the arguments, environment, streams and signals of
 * the process.
 */
import { closeGates } from "../../runtime/model/ort/gate.ts"
import { createProgram } from "./commands.ts"
import { Exit, exitCode, type Io } from "./exit.ts"

const interrupt = new AbortController()
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.on(name, () => {
    // The second signal ends the process at once.
    if (interrupt.signal.aborted) exitNow(name === "SIGINT" ? Exit.Interrupt : Exit.Terminate, name)
    interrupt.abort(name)
  })
}
/** Whether the command serves clients, and so continues when the reader of its output is gone. */
let outlivesReader = false
// A reader that stops reading (`| head`) is not a failure. A server continues without a reader, and
// also if the disk of its log is full.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (!outlivesReader) exitNow(error.code === "EPIPE" ? Exit.Ok : Exit.Usage, "SIGTERM")
})
process.stderr.on("error", () => {})

const io: Io = {
  async stdin() {
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(chunk)
    return Buffer.concat(chunks).toString("utf8")
  },
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  outliveReader: () => {
    outlivesReader = true
  },
  // Node opens standard input when it is first read.
  get streams() {
    return { input: process.stdin, screen: process.stderr }
  },
  isTerminal: process.stderr.isTTY === true,
  isOutTerminal: process.stdout.isTTY === true,
  signal: interrupt.signal,
  env: process.env,
}

let code: number = Exit.Ok
const done = (value: number) => {
  code = value
}
const program = createProgram(io, done)
try {
  await program.parseAsync(process.argv)
} catch (error) {
  code = exitCode(error, io)
}
process.exitCode = code
// If the process ended in the ordinary way, it would no longer catch a second signal, which would
// then set the exit code.
if (interrupt.signal.aborted) exitNow(code, interrupt.signal.reason)

/** Ends the process at once, or within two seconds, whatever it is doing. */
function exitNow(value: number, signal: NodeJS.Signals): void {
  if (!closeGates(2_000)) {
    // While a thread runs native code, `exit` would abort the process. So the process sends itself
    // the signal, which ends it at once and makes a shell report 128 plus the number of the signal.
    // Process 1 of a container ignores such signals and ends by the timer below.
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  }
  process.exit(value)
}
