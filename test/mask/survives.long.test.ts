/**
 * What is thrown in the middle of a compilation or of a mask leaves nothing behind: once it has passed, the same grammar
 * and all others answer as in a process that has just started.
 */
import { beforeAll, expect, test } from "vitest"
import { longestNode } from "../../mask/spelling.ts"
import { type Engine, type Failure, failAt, freshEngine, runNearEnd } from "../support/failures.ts"
import { viewOf } from "../support/machines.ts"
import { type Survivor, survivors, vocabularyIn } from "../support/survivors.ts"

/** How an action is run: until it has not failed. */
type Attempt = <T>(action: () => T) => T

const once: Attempt = (action) => action()

/** Fails at the first call, then at a later one each time, until there are no more calls. */
function failing(engine: Engine, failure: Failure, next: (at: number) => number): Attempt {
  return <T>(action: () => T) => {
    let value: T | undefined
    for (let at = 1; failAt(engine, failure, at, () => (value = action())); at = next(at));
    return value as T
  }
}

/** As `failing`, with more and more of the stack left. */
function failingNearEnd(next: (frames: number) => number): Attempt {
  return <T>(action: () => T) => {
    let value: T | undefined
    for (let frames = 4; !runNearEnd(frames, () => (value = action())); frames = next(frames));
    return value as T
  }
}

/** A refusal is an answer, too. */
function answerOf(action: () => unknown): unknown {
  try {
    return action()
  } catch (error) {
    if (error instanceof Error && error.name === "GrammarError") return String(error)
    throw error
  }
}

/** All that can be seen of a constraint: the refusal, or the report and what may follow along its text. */
function answersTo(engine: Engine, { input, options, text }: Survivor, attempt: Attempt): unknown[] {
  const { compile, forcedBytes, LocalMasks, Matcher, shortcuts, TokenFsm } = engine
  let locals = localsOf.get(engine)
  if (locals === undefined) {
    // Small enough that tokens are taken by their characters, too.
    locals = new LocalMasks(vocabularyIn(engine), shortcuts({ minSliceNodes: 24 }))
    localsOf.set(engine, locals)
  }
  const shared = locals
  const { vocabulary } = shared
  const compiled = attempt(() => answerOf(() => compile(input, options))) as ReturnType<typeof compile>
  if (typeof compiled === "string") return [compiled]
  const matcher = attempt(() => new Matcher(new TokenFsm(compiled.grammar, vocabulary, { locals: shared })))
  const answers: unknown[] = [attempt(() => JSON.stringify(compiled.report))]
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; ; ) {
    answers.push(attempt(() => answerOf(() => viewOf(matcher))))
    answers.push(attempt(() => Array.from(forcedBytes(matcher))))
    if (at === bytes.length) return answers
    const node = longestNode(shared.trie, bytes, at)
    const { length: before } = matcher
    // What fails behind the last step of accept has moved on.
    if (!attempt(() => matcher.length > before || matcher.accept(shared.trie.token(node))))
      return [...answers, `stops at ${at}`]
    at += shared.trie.depth(node)
  }
}

const localsOf = new WeakMap<Engine, InstanceType<Engine["LocalMasks"]>>()

let expected: readonly unknown[][]

beforeAll(async () => {
  const engine = await freshEngine()
  expected = survivors.map((survivor) => answersTo(engine, survivor, once))
})

const isFull = process.env.TOKENRAIL_TESTS === "full"
/** Each failure comes later than the one before: by one at first, and then by a fifth or by a half. */
const densely = (at: number) => Math.max(at + 1, Math.floor(at * (isFull ? 1.02 : 1.2)))
const sparsely = (at: number) => Math.ceil(at * (isFull ? 1.03 : 1.6))

type Sweep = readonly [name: string, attempt: (engine: Engine) => Attempt]

const moreSweeps: readonly Sweep[] = [1, 2, 3].map((more) => [
  `other calls (${more})`,
  (engine) => failing(engine, "calls", (at) => sparsely(at) + more),
])

const sweeps: readonly Sweep[] = [
  ["arrays that cannot be allocated", (engine) => failing(engine, "arrays", densely)],
  ["calls that find no stack", (engine) => failing(engine, "calls", sparsely)],
  ["entries behind which something fails", (engine) => failing(engine, "entries", densely)],
  ["the end of the stack", () => failingNearEnd(sparsely)],
  ...(isFull ? moreSweeps : []),
]

// Each sweep begins with a process that has just started, and its tables go on from one constraint to the next.
test.each(sweeps)(
  "after %s, all answers are those of the first day",
  { timeout: 300_000 },
  async (_, attemptOf) => {
    const engine = await freshEngine()
    const attempt = attemptOf(engine)
    for (const [i, survivor] of survivors.entries()) {
      // What can be made again is forgotten now and then, if not all of it.
      failAt(engine, "arrays", 1 + (i % 8), () => engine.beginWorld())
      expect([survivor, answersTo(engine, survivor, attempt)]).toEqual([survivor, expected[i]])
    }
    for (const [i, survivor] of survivors.entries())
      expect([survivor, answersTo(engine, survivor, once)]).toEqual([survivor, expected[i]])
  },
)
