/**
 * What is thrown in the middle of a table's growth or of a compilation leaves nothing half-done behind. The tables are
 * held to a model while any of their allocations fails; `test/mask/survives.test.ts` holds whole grammars to a process
 * that has just started.
 */
import { beforeAll, describe, expect, test } from "vitest"
import { type Engine, failAt, freshEngine } from "../support/failures.ts"
import { randomOf } from "../support/oracle.ts"
import { type Survivor, survivors } from "../support/survivors.ts"

let engine: Engine

beforeAll(async () => {
  engine = await freshEngine()
})

/** Runs `action` again and again, with the first, the second, the third of its allocations failing, until none does. */
function persistently<T>(action: () => T): T {
  let value: T | undefined
  const run = () => {
    value = action()
  }
  for (let at = 1; failAt(engine, "arrays", at, run); at++);
  return value as T
}

describe("tables whose allocations fail keep what they have, and give each entry one id", () => {
  const rounds = 3_000

  test("TupleTable and QuadTable", () => {
    const random = randomOf(1)
    const [tuples, quads] = [new engine.TupleTable(), new engine.QuadTable()]
    const ids = [new Map<string, number>(), new Map<string, number>()]
    for (let i = 0; i < rounds; i++) {
      const tuple = Array.from({ length: 4 }, () => Math.floor(random() * 7))
      const [a, b, c, d] = tuple
      const made = [persistently(() => tuples.intern(tuple)), persistently(() => quads.intern(a, b, c, d))]
      for (const [k, id] of made.entries()) {
        expect(id).toBe(ids[k].get(tuple.join()) ?? ids[k].size)
        ids[k].set(tuple.join(), id)
      }
      expect([[...tuples.view(made[0])], [...quads.view(made[1])]]).toEqual([tuple, tuple])
    }
    expect([tuples.count, quads.count]).toEqual([ids[0].size, ids[1].size])
  })

  test("PairMap and TripleMap", () => {
    const random = randomOf(2)
    const [pairs, triples, set] = [new engine.PairMap(), new engine.TripleMap(), new engine.TripleMap()]
    const [values, seen] = [new Map<string, number>(), new Set<string>()]
    for (let i = 0; i < rounds; i++) {
      const [a, b] = [Math.floor(random() * 40), Math.floor(random() * 40)]
      persistently(() => pairs.set(a, b, i))
      values.set(`${a} ${b}`, i)
      persistently(() => triples.set(a, b, 1, i))
      expect(persistently(() => set.add(a, b, 1))).toBe(!seen.has(`${a} ${b}`))
      seen.add(`${a} ${b}`)
    }
    expect(pairs.size).toBe(values.size)
    for (let a = 0; a < 40; a++)
      for (let b = 0; b < 40; b++) {
        const value = values.get(`${a} ${b}`) ?? -1
        expect([pairs.get(a, b), triples.get(a, b, 1), triples.get(a, b, 2)]).toEqual([value, value, -1])
      }
    expect([...set].map(([a, b]) => `${a} ${b}`).sort()).toEqual([...seen].sort())
    persistently(() => pairs.clear())
    triples.clear()
    expect([pairs.size, pairs.get(1, 1), triples.get(1, 1, 1)]).toEqual([0, -1, -1])
  })

  test("StackTable", () => {
    const { StackTable } = engine
    const frames = Array.from({ length: 30 }, (_, id) => ({
      id,
      needsText: id % 3 === 0,
      isSymbolic: id === 29,
    }))
    const stacks = new StackTable()
    let stack = 0
    for (let depth = 1; depth <= 300; depth++) {
      const frame = frames[depth % 30] as never
      const below = stack
      stack = persistently(() => stacks.push(below, frame))
      expect(stacks.push(below, frame)).toBe(stack)
      expect([stacks.pop(stack), stacks.depth(stack), stacks.top[stack]]).toEqual([below, depth, frame])
      expect([stacks.isSymbolic(stack), stacks.captureCount(stack)]).toEqual([
        depth >= 29,
        Math.floor(depth / 3),
      ])
    }
    const siblings = frames.map((frame) => persistently(() => stacks.push(0, frame as never)))
    expect(frames.map((frame) => stacks.push(0, frame as never))).toEqual(siblings)
    expect(new Set(siblings).size).toBe(frames.length)
  })
})

test("a compilation whose time is over at any look at the clock leaves nothing behind", async () => {
  let [looks, over] = [0, 0]
  const late = await freshEngine(() => {
    if (++looks === over) throw new late.GrammarError("limit", "", "compiling takes more than its time")
  })
  const outcome = ({ input, options }: Survivor, { compile }: Engine) => {
    try {
      return JSON.stringify(compile(input, options).report)
    } catch (error) {
      return String(error)
    }
  }
  let most = 0
  for (const survivor of survivors) {
    for (over = 1; ; over++) {
      looks = 0
      outcome(survivor, late)
      if (looks < over) break
    }
    most = Math.max(most, over)
  }
  expect(most).toBeGreaterThan(10)
  over = 0
  for (const survivor of survivors) expect(outcome(survivor, late)).toBe(outcome(survivor, engine))
})
