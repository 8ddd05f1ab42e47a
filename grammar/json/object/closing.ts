/**
 * Objects that take their declared names only (`facts/openobjects.ts`): specs without classes of
 * other names.
 *
 * Required names count as declared, since a schema would not require a name that it does not allow.
 * A branch is dropped if it cannot be finished with the declared names, because it needs more names
 * or another one. If all branches would be dropped, the object stays open: the policy makes nothing
 * unsatisfiable.
 */
import { matchesText } from "../../lexeme/expr/finite.ts"
import type { Branch } from "../facts/branches.ts"
import type { Conjunctions, Names } from "../facts/conjunction.ts"
import type { Obligation } from "../facts/obligations.ts"
import { declaredInForce } from "../facts/openobjects.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import { asserted, type ObjectSpec } from "./objectspec.ts"

/**
 * Returns the specs of the branches of `conjunction`, each unchanged or with the declared names
 * only.
 */
export function closeObjects(
  all: Conjunctions,
  reader: KeywordReader,
  conjunction: number,
  branches: readonly (readonly [Branch, ObjectSpec])[],
): readonly ObjectSpec[] {
  const roots = all.factsOf(conjunction).flatMap((id) => {
    const fact = all.facts[id]
    return fact.kind === "schema" && fact.positive ? [fact.node] : []
  })
  const closed = branches.flatMap(([branch, spec]) => {
    if (branch.facts.some((id) => isConstant(all, id))) return [spec]
    const isOpen =
      branch.verdicts.length > 0 ||
      branch.clauses.flat(2).some((id) => all.facts[id].kind === "schema" && !all.isNegative(id))
    const declared = declaredInForce(reader, roots, asserted(all, reader, branch.facts), isOpen)
    return declared === null ? [spec] : withNames(all, spec, declared, obligationsOf(all, branch))
  })
  return closed.length > 0 ? closed : branches.map(([, spec]) => spec)
}

/** Whether the fact determines the whole value, names included. */
function isConstant(all: Conjunctions, id: number): boolean {
  const fact = all.facts[id]
  return fact.kind === "equals" && fact.positive
}

function obligationsOf(all: Conjunctions, branch: Branch): Obligation[] {
  const obligations = [...branch.obligations]
  for (const id of branch.facts) {
    const fact = all.facts[id]
    if (fact.kind === "some") obligations.push([fact])
  }
  return obligations
}

function isOneOf(names: Names, name: string): boolean {
  return typeof names === "number" ? matchesText(names, name) : !names.has(name)
}

/** Returns the spec with these names only, or nothing if it needs others. */
function withNames(
  all: Conjunctions,
  spec: ObjectSpec,
  kept: ReadonlySet<string>,
  obligations: readonly Obligation[],
): ObjectSpec[] {
  const usable = spec.names.filter(({ name, value }) => kept.has(name) && !all.isFalse(value))
  const canBeMet = (obligation: Obligation) =>
    obligation.some((event) => {
      if (event.kind === "some") return usable.some(({ name }) => isOneOf(event.names, name))
      return event.kind === "absent" || kept.has(event.name)
    })
  if (spec.names.some(({ name, isRequired }) => isRequired && !kept.has(name))) return []
  if (spec.min > usable.length || !obligations.every(canBeMet)) return []
  const names = spec.names.map((each) =>
    kept.has(each.name) ? each : { ...each, value: all.never, chances: [] },
  )
  return [{ ...spec, names, classes: [] }]
}
