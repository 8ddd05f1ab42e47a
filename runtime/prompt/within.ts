/**
 * Work in this thread that is ended when it outlives its time, wherever it is: also within one
 * regular expression. Templates and tokenizers come with models from elsewhere, so what they cost
 * is not known, and most cost too little for a message to a thread.
 *
 * Node ends scripts so, and whatever they call. That takes some 0.05 ms. What was ended may have
 * left its own tables half written: ours hold what was computed before, entry by entry, so nothing
 * is left but an entry less.
 */
import { createContext, Script } from "node:vm"

/** Thrown in the place of what outlived its time. */
export class OutOfTimeError extends Error {}

const script = new Script("work()")
const context = createContext({ work: undefined })

/** What `work` returns or throws. Throws OutOfTimeError after `ms` milliseconds. */
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
