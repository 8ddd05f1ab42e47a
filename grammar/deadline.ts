/**
 * The time that one compilation (`limits.compileMs`), one mask or one completion may take, for servers that must answer. All
 * other bounds count, and end at the same place on every machine; this one is the net below them. It is looked at where
 * alternatives are combined, satisfiability is tested, texts are searched for and masks are made; between two looks lies work
 * that is bounded by counts: of the tests' 338 schema bombs, given 0.1 s to compile, 8 take above 0.3 s and the slowest 0.7 s.
 * Node 20, two cores.
 */
import { GrammarError } from "./errors.ts"

/** Work between two looks at the clock, in questions of the smallest kind. */
const Stride = 64

/** A deadline that the first look at the clock sets: most masks and most tokens end before it, and need no clock. */
const Unset = Number.NEGATIVE_INFINITY

let deadline = Number.POSITIVE_INFINITY
let bound = 0
/** Milliseconds that this thread has waited for a core, if anybody knows; and by how much the deadline has been moved for it. */
let waited: () => number = () => 0
let excused = 0
/** Questions that were asked, and how many there are at the next look. */
let questions = 0
let nextLook = Stride
/** They begin anew above it: larger numbers would be kept elsewhere, at a cost. */
const MaxQuestions = 1 << 29

/** The refusal for time, which another machine, or the same one at another hour, might not give. */
export class TimeError extends GrammarError {}

/** What takes the time, for the refusal, and the option that raises its bound. */
export interface TimedWork {
  readonly what: string
  readonly option: string
}

const compilation: TimedWork = { what: "compiling takes", option: "limits.compileMs" }
let work = compilation

/**
 * What `run` returns. `checkTime` throws `limit` inside of it once `ms` milliseconds have passed, or those of the call that it is
 * a part of, whichever are over first. They are counted from the first look at the clock on.
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
 * What `run` returns. Within it a deadline moves by what `waitedMs` says: time in which others had the cores is no time of the
 * work. It is asked when a deadline is over, and counts from where `run` begins.
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
 * Asked in the loops of what may take long, with the `weight` of what is done between two of its questions: 1 for microseconds.
 * Throws `limit` when its time is over; else nearly free.
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
 * What `run` returns, and the weight of the questions that `checkTime` was asked meanwhile: the same on every machine, about
 * microseconds.
 */
export function weighed<T>(run: () => T): { result: T; weight: number } {
  const before = questions
  const result = run()
  return { result, weight: questions < before ? Number.POSITIVE_INFINITY : questions - before }
}
