/**
 * Greedy lexemes: the tag at an end names the bytes that could continue the lexeme there, so that a
 * rule can forbid them.
 *
 * The automaton is that of the lexeme itself. It is read completely when a rule is compiled, to
 * find all ends, and the states from which the ends that a rule can use are reached.
 */

import { owned } from "../tables.ts"
import { byteSet, hasByte, NoBytes, sharedBytes } from "./bytesets.ts"
import { type CompletedKind, leastBytes } from "./completion.ts"
import { nonEmptyLexeme } from "./nonempty.ts"
import { Dead, lexemes } from "./table.ts"

/** Tags from here on are byte sets. Those of names and texts are lower. */
const FirstGuardTag = 1 << 29

/** Returns the tag of an end that the bytes of `guard` could continue. */
export function tagOf(guard: number): number {
  return guard + FirstGuardTag
}

const table = owned(
  "greedy lexemes",
  {
    /** The bytes that can continue each lexeme state. */
    sets: new Map<number, number>(),
    /** The ends by lexeme state, which are the same for every grammar. */
    ends: new Map<number, Ends>(),
    views: [] as View[],
  },
  { entryBytes: 1_000 },
)

/** Returns the bytes that can continue `lexemeState`. Memoized. */
export function bytesOn(lexemeState: number): number {
  let set = table.sets.get(lexemeState)
  if (set === undefined) {
    const bytes: number[] = []
    for (let byte = 0; byte < 256; byte++) if (lexemes.next(lexemeState, byte) !== Dead) bytes.push(byte)
    set = byteSet(bytes)
    table.sets.set(lexemeState, set)
  }
  return set
}

/**
 * Returns the ends of a lexeme. If they are not cached, it calls `count` for each state, which may
 * throw.
 */
export function endsOf(lexemeState: number, count: () => void): Ends {
  let ends = table.ends.get(lexemeState)
  if (ends === undefined) {
    ends = new Ends(lexemeState, count)
    table.ends.set(lexemeState, ends)
  }
  return ends
}

/** All states of one lexeme, and their predecessors. */
export class Ends {
  readonly start: number
  /** Byte set of each accepting state. */
  private readonly guards = new Map<number, number>()
  /** Predecessors of each state. */
  private readonly before = new Map<number, number[]>()
  private readonly views = new Map<string, number>()
  /** By the bytes that do not come first. */
  private readonly reachedGuards = new Map<number, ReadonlySet<number>>()

  constructor(start: number, count: () => void) {
    this.start = start
    const met = new Set([start])
    for (const state of met) {
      count()
      if (lexemes.tags[state] !== 0) this.guards.set(state, bytesOn(state))
      for (const target of targetsOf(state, NoBytes)) {
        const known = this.before.get(target)
        if (known === undefined) this.before.set(target, [state])
        else known.push(state)
        met.add(target)
      }
    }
  }

  /** Returns the guard of the empty text, which the lexeme accepts. */
  get emptyGuard(): number {
    return this.guards.get(this.start) as number
  }

  /** Returns the guards of the non-empty texts that do not begin with a byte of `firstNot`. */
  reached(firstNot: number): ReadonlySet<number> {
    const reached = this.reachedGuards.get(firstNot)
    if (reached !== undefined) return reached
    const guards = new Set<number>()
    const met = new Set(targetsOf(this.start, firstNot))
    for (const state of met) {
      const guard = this.guards.get(state)
      if (guard !== undefined) guards.add(guard)
      for (const target of targetsOf(state, NoBytes)) met.add(target)
    }
    this.reachedGuards.set(firstNot, guards)
    return guards
  }

  /**
   * Returns the non-empty texts that end with one of the `allowed` guards, which their tags name.
   */
  lexeme(allowed: ReadonlySet<number>): number {
    const key = [...allowed].sort((a, b) => a - b).join()
    let view = this.views.get(key)
    if (view === undefined) {
      const live = new Set<number>()
      for (const [state, guard] of this.guards) if (allowed.has(guard)) live.add(state)
      for (const state of live) for (const earlier of this.before.get(state) ?? []) live.add(earlier)
      view = table.views.push({ live, allowed: new Set(allowed), guards: this.guards }) - 1
      this.views.set(key, view)
    }
    const isEmpty = !targetsOf(this.start, NoBytes).some((target) =>
      table.views[view as number].live.has(target),
    )
    return isEmpty ? Dead : lexemes.state(GreedyKind, this.start, view, AtStart)
  }
}

/** A lexeme in which only some of the ends count. */
interface View {
  /** States from which one of them can be reached. */
  readonly live: ReadonlySet<number>
  readonly allowed: ReadonlySet<number>
  readonly guards: ReadonlyMap<number, number>
}

/** In a state: nothing has been read. */
const AtStart = 1

const GreedyKind = lexemes.register<CompletedKind>({
  // [lexeme state, view, 1 at the start, where it must not end]
  tag(state, view, isStart) {
    const guard = table.views[view].guards.get(state)
    return isStart === AtStart || guard === undefined || !table.views[view].allowed.has(guard)
      ? 0
      : tagOf(guard)
  },
  expand(state, view, _isStart, row) {
    const { live } = table.views[view]
    for (let byte = 0; byte < 256; byte++) {
      const target = lexemes.next(state, byte)
      if (live.has(target)) row.targets[byte] = lexemes.state(GreedyKind, target, view)
    }
  },
  least: (state) => leastBytes(state),
})

const FirstNotKind = lexemes.register<CompletedKind>({
  // [lexeme state, byte set]
  tag: () => 0,
  expand(state, set, _c, row) {
    for (let byte = 0; byte < 256; byte++)
      if (!hasByte(set, byte)) row.targets[byte] = lexemes.next(state, byte)
  },
  least: (state) => Math.max(1, leastBytes(state)),
})

/**
 * Returns the non-empty texts of `lexemeState` that do not begin with a byte of `set`; `Dead` if
 * there are none.
 */
export function firstNotLexeme(lexemeState: number, set: number): number {
  if (sharedBytes(bytesOn(lexemeState), set) === NoBytes) return nonEmptyLexeme(lexemeState)
  return targetsOf(lexemeState, set).length === 0 ? Dead : lexemes.state(FirstNotKind, lexemeState, set)
}

/**
 * Returns the tags with which `lexemeState` can end after bytes that do not begin with one of
 * `firstNot`. `count` is as in `endsOf`.
 */
export function tagsReached(lexemeState: number, firstNot: number, count: () => void): Set<number> {
  const tags = new Set<number>()
  const met = new Set(targetsOf(lexemeState, firstNot))
  for (const state of met) {
    count()
    if (lexemes.tags[state] !== 0) tags.add(lexemes.tags[state])
    for (const target of targetsOf(state, NoBytes)) met.add(target)
  }
  return tags
}

/** Returns the states after one byte that is not in `not`. */
function targetsOf(state: number, not: number): number[] {
  const targets = new Set<number>()
  for (let byte = 0; byte < 256; byte++) if (!hasByte(not, byte)) targets.add(lexemes.next(state, byte))
  targets.delete(Dead)
  return [...targets]
}
