/** Two machines side by side: what one says at a state, the other must say. */
import { expect } from "vitest"
import { DeadState } from "../../grammar/state.ts"
import { isAllowed, Matcher, type TokenMachine } from "../../mask/index.ts"
import { randomOf } from "./oracle.ts"

/** What a request can see of a machine where it stands. */
export function viewOf(matcher: Matcher): unknown {
  const row = new Uint32Array(matcher.fsm.vocabulary.words)
  return {
    kind: matcher.fillMask(row),
    row: Array.from(row),
    isAccepting: matcher.isAccepting(),
    isExhausted: matcher.isExhausted(),
    shortest: matcher.isTerminated() || matcher.state === DeadState ? null : Array.from(matcher.shortest()),
    // A state is a set: its threads come in the order in which they were first met.
    explain: matcher
      .explain()
      .map((each) => JSON.stringify(each))
      .sort(),
  }
}

/** Walks both over tokens that the first allows, drawn at random, and expects them to say the same all along. */
export function expectSameWalks(
  a: TokenMachine,
  b: TokenMachine,
  { walks = 8, steps = 16 }: { walks?: number; steps?: number } = {},
): void {
  const { vocabulary } = a
  for (let seed = 1; seed <= walks; seed++) {
    const random = randomOf(seed)
    const [left, right] = [new Matcher(a), new Matcher(b)]
    const text: number[] = []
    for (let step = 0; step < steps && !left.isTerminated(); step++) {
      expect({ text, ...(viewOf(right) as object) }).toEqual({ text, ...(viewOf(left) as object) })
      const row = new Uint32Array(vocabulary.words)
      left.fillMask(row)
      const ids = Array.from({ length: vocabulary.width }, (_, id) => id)
      for (const id of ids) {
        const isTaken = right.fork().accept(id)
        if (isTaken !== isAllowed(row, id)) expect([text, id, isTaken]).toEqual([text, id, !isTaken])
      }
      const allowed = ids.filter((id) => isAllowed(row, id))
      if (allowed.length === 0) break
      const id = allowed[Math.floor(random() * allowed.length)]
      expect([left.accept(id), right.accept(id)]).toEqual([true, true])
      text.push(id)
    }
  }
}
