/** Compiles a grammar again that is part of another one but of another world (`tables.ts`). */
import type { Grammar } from "./grammar.ts"
import { currentWorld, type World } from "./tables.ts"
import { compilation } from "./worlds.ts"

/** How a constraint is compiled again, and its grammars in other worlds. */
interface Source {
  readonly make: () => { readonly grammar: Grammar }
  made?: WeakMap<World, Grammar>
}

const sources = new WeakMap<Grammar, Source>()

/** Runs `make`, which compiles a whole constraint, and keeps it for `inThisWorld`. */
export function remembering<T extends { readonly grammar: Grammar }>(make: () => T): T {
  const made = compilation(make)
  sources.set(made.grammar, { make })
  return made
}

/** Returns the grammar of the same constraint in the current world: often `grammar` itself. */
export function inThisWorld(grammar: Grammar): Grammar {
  const world = currentWorld()
  if (world === grammar.world) return grammar
  const source = sources.get(grammar)
  if (source === undefined) throw new Error("internal: a part of a grammar cannot be compiled again")
  source.made ??= new WeakMap()
  const other = source.made.get(world) ?? remembering(source.make).grammar
  source.made.set(world, other)
  return other
}
