/**
 * The time that one compilation (`limits.compileMs`), one mask or one completion may take, for
 * servers that must answer. All other bounds are counts, which end at the same place on every
 * machine; this one is the net below them. The clock is read where alternatives are combined,
 * satisfiability is tested, texts are searched for and masks are made. The work between two
 * readings is bounded by counts: of the 338 schema bombs of the tests, given 0.1 s to compile, 8
 * take above 0.3 s and the slowest 0.7 s. Node 20, two cores.
 */
import { GrammarError } from "./refusal.ts"

/** Work between two readings of the clock, in the weight of `checkTime`. */
const Stride = 64

/**
 * A deadline that the first reading of the clock sets. Most masks and most tokens end before it and
 * need no clock.
 */
const Unset = Number.NEGATIVE_INFINITY

let deadline = Number.POSITIVE_INFINITY
let bound = 0
/**
 * Milliseconds that this thread has waited for a core, if known; and by how much the deadline has
 * been moved for it.
 */
let waited: () => number = () => 0
let excused = 0
/** Weight of the calls of `checkTime` so far, and its value at the next reading of the clock. */
let questions = 0
let nextLook = Stride
/** The weight restarts above this value: V8 stores larger numbers elsewhere, at a cost. */
const MaxQuestions = 1 << 29

/** A refusal for time. Another machine, or the same one at another hour, might not refuse. */
export class TimeError extends GrammarError {}

/** The work that is timed, for the message, and the option that raises its bound. */
export interface TimedWork {
  readonly what: string
  readonly option: string
}

const compilation: TimedWork = { what: "compiling takes", option: "limits.compileMs" }
let work = compilation

/**
 * Returns the result of `run`. Within it, `checkTime` throws `limit` once `ms` milliseconds have
 * passed, or the deadline of an outer call, whichever comes first. The time starts at the first
 * reading of the clock.
 */
export function withinTime<T>(ms: number, run: () => T, timed = compilation): T {
  if (ms === Number.POSITIVE_INFINITY) return run()
  let end = Unset
  if (deadline !== Number.POSITIVE_INFINITY) {
    const now = performance.now()
    if (deadline === Unset) deadline = now + bound
    end = now + ms
    if (end >= deadline) return run()
  }
  const outer = { deadline, bound, work }
  deadline = end
  bound = ms
  nextLook = questions + Stride
  work = timed
  try {
    return run()
  } finally {
    ;({ deadline, bound, work } = outer)
  }
}

/**
 * Returns the result of `run`. Within it a deadline moves by the increase of `waitedMs`, so that
 * time in which other threads had the cores does not count. `waitedMs` is called when `run` begins
 * and when a deadline has passed.
 */
export function excusingWaits<T>(waitedMs: () => number, run: () => T): T {
  const outer = { waited, excused }
  waited = waitedMs
  excused = waitedMs()
  try {
    return run()
  } finally {
    ;({ waited, excused } = outer)
  }
}

/**
 * Throws `limit` if the time is over; otherwise nearly free. Called in loops that may take long,
 * with the `weight` of the work since the last call: 1 for microseconds.
 */
export function checkTime(weight = 1): void {
  questions += weight
  if (questions < nextLook) return
  if (questions > MaxQuestions) questions = 0
  nextLook = questions + Stride
  if (deadline === Number.POSITIVE_INFINITY) return
  const now = performance.now()
  if (deadline === Unset) deadline = now + bound
  if (now < deadline) return
  const more = waited() - excused
  excused += more
  deadline += more
  if (now < deadline) return
  throw new TimeError(
    "limit",
    "",
    `${work.what} more than the bound of ${bound} ms. Raise ${work.option} or make the input smaller`,
  )
}

/**
 * Returns the result of `run` and the weight of its calls of `checkTime`: the same on every
 * machine, about microseconds.
 */
export function weighed<T>(run: () => T): { result: T; weight: number } {
  const before = questions
  const result = run()
  return { result, weight: questions < before ? Number.POSITIVE_INFINITY : questions - before }
}
