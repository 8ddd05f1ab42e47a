/**
 * Runs work in this thread that is ended when its time is over, even within one regular expression.
 * Templates and tokenizers come with untrusted models, so their cost is unknown; but most take too
 * little time to justify a message to another thread.
 *
 * Node can end scripts, and everything that they call, in this way; it takes about 0.05 ms. If the
 * work is ended while it writes to a table of ours, at most one entry is missing, since tables are
 * written entry by entry.
 */
import { createContext, Script } from "node:vm"
import { OutOfTimeError } from "./encoder.ts"

const script = new Script("work()")
const context = createContext({ work: undefined })

/** Calls `work` and returns its result. Throws OutOfTimeError after `ms` milliseconds. */
export function within<Result>(ms: number, work: () => Result): Result {
  const outer = context.work
  context.work = work
  try {
    return script.runInContext(context, { timeout: ms }) as Result
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
      throw new OutOfTimeError(`more than ${ms} ms`)
    throw error
  } finally {
    context.work = outer
  }
}
