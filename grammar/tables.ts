/**
 * The registry of everything that a process keeps for all grammars.
 *
 * Expressions, lexeme states, names and their like are integers, equal in all grammars that mean
 * the same. Their tables belong to no grammar, and no entry of them can be freed. They are freed as
 * a whole: a *world* is one set of contents for all tables, and a grammar keeps the world in which
 * it was compiled. When the tables are too large, a compilation begins a new world (`worlds.ts`). A
 * world that no grammar keeps is garbage. Whoever walks a grammar enters its world first (`enter`),
 * which is one comparison if it is the current one.
 */

/** How a table is measured and forgotten. */
export interface TableOptions {
  /** Bytes of one entry of its maps, sets and arrays, beyond those of a number. */
  readonly entryBytes?: number
  /** Returns further bytes. */
  readonly bytes?: () => number
  /** Forgets results that are computed again on demand, when its world is left for good. */
  readonly forget?: () => void
}

/** A table. */
export interface Owner extends TableOptions {
  readonly name: string
  /** The object whose fields are the contents in the current world. */
  readonly table: Record<string, unknown>
  readonly fields: readonly string[]
}

/** The contents of all tables, field by field. */
export type Contents = readonly (readonly unknown[])[]

const noContents: Contents = []

/** One set of contents for all tables. */
export class World {
  /** The contents while this is not the current world. */
  contents: Contents = noContents
}

export const owners: Owner[] = []
let current = new World()

/**
 * Registers `table` and returns it. Its fields are its contents: numbers, typed arrays, arrays,
 * maps and sets, and tables of classes whose constructor needs no arguments. The entries of its
 * arrays and maps must not depend on the world. A table of a module that may be loaded after a
 * compilation needs `forget`, which replaces its contents by those of an empty one.
 */
export function owned<T extends object>(name: string, table: T, options: TableOptions = {}): T {
  owners.push({ ...options, name, table: table as Record<string, unknown>, fields: Object.keys(table) })
  return table
}

/** Returns the world whose contents the tables hold. */
export function currentWorld(): World {
  return current
}

/** Fills the tables with the contents of `world`. One comparison if they have them already. */
export function enter(world: World): void {
  if (world !== current) exchange(world)
}

/** If this throws, nothing has changed. */
function exchange(world: World): void {
  const before = owners.map(({ table, fields }) => fields.map((field) => table[field]))
  // A table that was registered after its world was left.
  for (const { forget } of owners.slice(world.contents.length)) forget?.()
  // These are plain assignments: from here on nothing can throw.
  current.contents = before
  for (let index = 0; index < world.contents.length; index++) {
    const { table, fields } = owners[index]
    for (let i = 0; i < fields.length; i++) table[fields[i]] = world.contents[index][i]
  }
  world.contents = noContents
  current = world
}

/** Runs `run` in `world`, and returns to the current one. */
export function inWorld<T>(world: World, run: () => T): T {
  const before = current
  enter(world)
  try {
    return run()
  } finally {
    enter(before)
  }
}
