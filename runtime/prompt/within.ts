/**
 * Work in this thread that is ended when its time is over, even within one regular expression.
 * Templates and tokenizers come with untrusted models, so their cost is unknown, and most cost too
 * little for a message to a thread.
 *
 * Node can end scripts, and everything that they call, in this way; it takes some 0.05 ms. Ended
 * work may leave its own tables half written. Ours are written entry by entry, so at most an entry
 * is missing.
 */
import { createContext, Script } from "node:vm"

/** Thrown by work whose time is over. */
export class OutOfTimeError extends Error {}

const script = new Script("work()")
const context = createContext({ work: undefined })

/** Returns or throws what `work` does. Throws OutOfTimeError after `ms` milliseconds. */
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
