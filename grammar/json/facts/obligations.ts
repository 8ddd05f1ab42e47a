/**
 * Obligations: clauses of a branch that an object meets key by key, so that they need not be
 * multiplied out.
 *
 * A clause is an obligation if each of its alternatives is about a single key: the property is
 * absent, or it is present and its value satisfies a fact, or some property of a class has such a
 * value. The object frame keeps the set of obligations that are not met yet. So `not` over many
 * properties, `oneOf` over overlapping objects and the like cost one bit per clause.
 */
import { type Alternative, type Conjunctions, type Names, namesKey } from "./conjunction.ts"

/** How one key can meet an obligation. */
export type Event =
  | { readonly kind: "absent"; readonly name: string }
  | { readonly kind: "value"; readonly name: string; readonly fact: number }
  | { readonly kind: "some"; readonly names: Names; readonly fact: number }

/** Any one of these events meets the obligation. */
export type Obligation = readonly Event[]

/** Returns the clause as an obligation, or null if an alternative is about more than one key. */
export function obligationOf(all: Conjunctions, clause: readonly Alternative[]): Obligation | null {
  const events: Event[] = []
  for (const alternative of clause) {
    const facts = alternative.map((id) => all.facts[id])
    const [first, second] = facts
    if (facts.length === 1 && first.kind === "absent") events.push({ kind: "absent", name: first.name })
    else if (facts.length === 1 && first.kind === "some") events.push(first)
    else if (facts.length === 1 && first.kind === "present")
      events.push({ kind: "value", name: first.name, fact: all.anything })
    else if (facts.length === 1 && first.kind === "property")
      events.push({ kind: "absent", name: first.name }, { kind: "value", name: first.name, fact: first.fact })
    else if (
      facts.length === 2 &&
      first.kind === "present" &&
      second.kind === "property" &&
      first.name === second.name
    )
      events.push({ kind: "value", name: first.name, fact: second.fact })
    else return null
  }
  return events
}

/** Returns each of the events once. */
export function distinctEvents(events: Obligation): Obligation {
  if (events.length < 2) return events
  const distinct = new Map<string, Event>()
  for (const event of events) distinct.set(keyOf(event), event)
  return distinct.size === events.length ? events : [...distinct.values()]
}

function keyOf(event: Event): string {
  if (event.kind === "absent") return `- ${event.name}`
  return event.kind === "value" ? `=${event.fact} ${event.name}` : `e${event.fact} ${namesKey(event.names)}`
}
