/**
 * Cuts a lazy lexeme in two for captures: the part before the mark that ends it, and the mark.
 *
 * The lexeme is part of B·M. Where its text may be cut depends on the state that its automaton has
 * reached: a text of B that leads to state q may be followed by the marks that q reads to its end.
 * There are finitely many sets of such marks, and for each the texts of B that lead there are
 * regular, so the lexeme is a finite union of products.
 */
import { type Limits, limitError } from "../../errors.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { owned } from "../../tables.ts"

/** Texts before a mark; each may be followed by any of the marks. */
export interface Cut {
  readonly body: ExprId
  readonly mark: ExprId
}

interface Cuts {
  readonly cuts: readonly Cut[]
  /** Number of states of the lexeme that were visited. */
  readonly stateCount: number
}

/** By lexeme, body and mark. Cuts are never freed, so equal ones are made once. */
const known = owned("suffixes", { cuts: new Map<string, Cuts>() }, { entryBytes: 500 })

/**
 * Returns the texts of `lexeme`, each of which is one of `body` and one of `mark`, as products.
 * Throws `limit` if there are too many states.
 */
export function cutsOf(lexeme: ExprId, body: ExprId, mark: ExprId, limits: Limits): readonly Cut[] {
  const key = `${lexeme} ${body} ${mark}`
  let found = known.cuts.get(key)
  if (found === undefined || found.stateCount > limits.suffixStates) {
    found = makeCuts(lexeme, body, mark, limits)
    known.cuts.set(key, found)
  }
  return found.cuts
}

function makeCuts(lexeme: ExprId, body: ExprId, mark: ExprId, limits: Limits): Cuts {
  const states = new Map<ExprId, number>([[lexeme, 0]])
  /** Ranges `lo | hi << 8` and target states, by state. */
  const rows: number[][] = []
  /** By the marks: the states from which they are read. */
  const byMarks = new Map<ExprId, Set<number>>()
  for (const [expr, state] of states) {
    const marks = exprs.and([expr, mark])
    if (!exprs.isNever(marks)) {
      const group = byMarks.get(marks)
      if (group === undefined) byMarks.set(marks, new Set([state]))
      else group.add(state)
    }
    const targets = Array.from(exprs.row(expr))
    const row: number[] = []
    for (let i = 0; i < targets.length; i += 2) {
      if (exprs.isNever(targets[i + 1])) continue
      let target = states.get(targets[i + 1])
      if (target === undefined) {
        target = states.size
        states.set(targets[i + 1], target)
      }
      row.push(targets[i], target)
    }
    rows[state] = row
    if (states.size > limits.suffixStates) {
      throw limitError(limits, "suffixStates", states.size)
    }
  }
  const cuts = [...byMarks].flatMap(([marks, ends]) => {
    const before = exprs.and([body, leadingTo(ends, rows)])
    return exprs.isNever(before) ? [] : [{ body: before, mark: marks }]
  })
  return { cuts, stateCount: states.size }
}

/** Returns the texts that lead from state 0 to one of `ends`. */
function leadingTo(ends: ReadonlySet<number>, rows: readonly (readonly number[])[]): ExprId {
  const before = rows.map((): number[] => [])
  for (const [state, row] of rows.entries())
    for (let i = 1; i < row.length; i += 2) before[row[i]].push(state)
  const live = new Set(ends)
  for (const state of live) for (const each of before[state]) live.add(each)
  if (!live.has(0)) return exprs.or([])
  const trimmed = rows.map((row) => row.filter((_, i) => live.has(row[i | 1])))
  return exprs.machine({
    start: 0,
    isAccepting: (state) => ends.has(state),
    row: (state) => trimmed[state],
  })
}
