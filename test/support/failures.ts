/**
 * What fails in the middle of something: a table that cannot grow, a stack that is at its end, a clock that runs out.
 *
 * The production code has no hook for this. While an action runs, the global constructors of typed arrays or the methods of
 * collections and tables are replaced by others that count their calls, and the call with a given number throws what the
 * host would throw there. `freshEngine` has the tables of a process that has just started.
 */
import { vi } from "vitest"

const deadline = "../../grammar/deadline.ts"

/**
 * The modules of a process that has just started. `checkTime` takes the place of the look at the clock in these modules alone:
 * other test files may run in this thread.
 */
export async function freshEngine(checkTime?: () => void) {
  vi.resetModules()
  if (checkTime) {
    const withinTime = (_ms: number, run: () => unknown) => run()
    vi.doMock(deadline, async (importOriginal) => ({
      ...(await importOriginal<object>()),
      checkTime,
      withinTime,
    }))
  }
  const modules = await Promise.all([
    import("../../grammar/errors.ts"),
    import("../../grammar/index.ts"),
    import("../../grammar/intern.ts"),
    import("../../grammar/lexeme/expr/nodes.ts"),
    import("../../grammar/lexeme/table.ts"),
    import("../../grammar/stack.ts"),
    import("../../grammar/state.ts"),
    import("../../grammar/worlds.ts"),
    import("../../mask/index.ts"),
    import("../../mask/local.ts"),
    import("../../mask/fast/shortcuts.ts"),
  ])
  if (checkTime) {
    vi.doUnmock(deadline)
    vi.resetModules()
  }
  const [errors, grammar, intern, nodes, table, stack, state, tables, mask, local, fast] = modules
  return {
    ...errors,
    ...grammar,
    ...intern,
    ...nodes,
    ...table,
    ...stack,
    ...state,
    ...tables,
    ...mask,
    ...local,
    ...fast,
  }
}

export type Engine = Awaited<ReturnType<typeof freshEngine>>

/**
 * What fails: typed arrays that cannot be allocated; calls that fill a table and find no stack left; or what comes right
 * behind such a call, where that made the first, second, fourth, … entry of its table.
 */
export type Failure = "arrays" | "calls" | "entries"

const arrayNames = ["Int32Array", "Uint32Array", "Uint16Array", "Uint8Array"]

/** The methods that put something into a collection or a table. */
function methodsOf(engine: Engine): (readonly [owner: object, name: string])[] {
  return [
    [Map.prototype, "set"],
    [WeakMap.prototype, "set"],
    [Set.prototype, "add"],
    [Array.prototype, "push"],
    [engine.TupleTable.prototype, "intern"],
    [engine.TupleTable.prototype, "append"],
    [engine.QuadTable.prototype, "intern"],
    [engine.PairMap.prototype, "set"],
    [engine.TripleMap.prototype, "add"],
    [engine.TripleMap.prototype, "set"],
    [engine.ExprMemo.prototype, "set"],
    [engine.LexemeTable.prototype, "state"],
    [engine.StackTable.prototype, "push"],
  ]
}

/** A collection or a table: `size`, `count` and `length` are how many entries it has. */
interface Table {
  readonly size?: number
  readonly count?: number
  readonly length?: number
}

function sizeOf({ size, count, length }: Table): number {
  return size ?? count ?? length ?? 0
}

/**
 * Runs `action`, in which the `at`-th call of what may fail does. Answers whether it came to that; what `action` throws
 * without it is thrown.
 */
export function failAt(engine: Engine, failure: Failure, at: number, action: () => void): boolean {
  let calls = 0
  const undo: (() => void)[] = []
  const replace = (owner: object, name: string, value: unknown) => {
    const before = Object.getOwnPropertyDescriptor(owner, name) as PropertyDescriptor
    Object.defineProperty(owner, name, { value, configurable: true, writable: true })
    undo[undo.length] = () => Object.defineProperty(owner, name, before)
  }
  try {
    if (failure === "arrays") {
      for (const name of arrayNames) {
        const construct = (target: object, args: unknown[]) => {
          if (++calls === at) throw new RangeError("Array buffer allocation failed")
          return Reflect.construct(target as new () => object, args)
        }
        replace(globalThis, name, new Proxy(Reflect.get(globalThis, name), { construct }))
      }
    } else {
      for (const [owner, name] of methodsOf(engine)) {
        const method = Reflect.get(owner, name)
        const fail = () => {
          if (++calls === at) throw new RangeError("Maximum call stack size exceeded")
        }
        replace(owner, name, function (this: Table, ...args: unknown[]) {
          if (failure === "calls") fail()
          const before = sizeOf(this)
          const result = Reflect.apply(method, this, args)
          const after = sizeOf(this)
          if (failure === "entries" && after > before && (after & before) === 0) fail()
          return result
        })
      }
    }
    action()
  } catch (error) {
    if (calls < at) throw error
  } finally {
    for (const restore of undo) restore()
  }
  return calls >= at
}

/** Runs `action` with about `frames` small calls left on the stack. Answers whether it ran to its end. */
export function runNearEnd(frames: number, action: () => void): boolean {
  let isDone = false
  /** Calls that are left below this one. */
  const descend = (): number => {
    let left: number
    try {
      left = descend() + 1
    } catch {
      return 0
    }
    if (left === frames) {
      try {
        action()
        isDone = true
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
      }
    }
    return left
  }
  if (descend() < frames) throw new Error(`the stack is no more than ${frames} calls deep`)
  return isDone
}
