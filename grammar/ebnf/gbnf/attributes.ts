/**
 * Attributes of a rule: `name[capture="n", lazy, greedy, max_tokens=, max_chars=, temperature=] ::= …`.
 *
 * `lazy` and `greedy` say where the one lexeme ends that the rule is, so the rule must be regular. The others are about
 * whatever the rule reads.
 */
import type { Mistakes } from "../source.ts"
import type { Attribute, GbnfRule } from "./tree.ts"

export interface RuleAttributes {
  readonly ending: "any" | "lazy" | "greedy"
  /** Null where nothing is said. */
  readonly capture: string | null
  readonly maxChars: number | null
  readonly maxTokens: number | null
  readonly temperature: number | null
}

/** What an attribute takes. */
const takes: ReadonlyMap<string, "nothing" | "name" | "count" | "number"> = new Map([
  ["capture", "name"],
  ["lazy", "nothing"],
  ["greedy", "nothing"],
  ["max_tokens", "count"],
  ["max_chars", "count"],
  ["temperature", "number"],
])

/** What the attributes of `rule` say. What is wrong is reported, and the rest read. */
export function readAttributes({ name, attributes }: GbnfRule, mistakes: Mistakes): RuleAttributes {
  const given = new Map<string, Attribute>()
  for (const attribute of attributes) {
    if (!takes.has(attribute.name)) {
      const known = [...takes.keys()].join(", ")
      const message = `unknown attribute ${attribute.name}. Known are ${known}`
      mistakes.add("syntax", attribute.offset, message)
    } else if (given.has(attribute.name)) {
      mistakes.add("syntax", attribute.offset, `the attribute ${attribute.name} is given twice`)
    } else if (isWellValued(attribute, mistakes)) given.set(attribute.name, attribute)
  }
  const [lazy, greedy] = [given.get("lazy"), given.get("greedy")]
  if (lazy !== undefined && greedy !== undefined) {
    mistakes.add("syntax", greedy.offset, "lazy and greedy exclude each other. Keep one")
  }
  const capture = given.get("capture")
  return {
    ending: greedy !== undefined ? "greedy" : lazy !== undefined ? "lazy" : "any",
    capture: capture === undefined ? null : capture.value?.kind === "string" ? capture.value.text : name,
    maxChars: numberOf(given.get("max_chars")),
    maxTokens: numberOf(given.get("max_tokens")),
    temperature: numberOf(given.get("temperature")),
  }
}

function isWellValued({ name, value, offset }: Attribute, mistakes: Mistakes): boolean {
  const refuse = (expected: string) => {
    mistakes.add("syntax", value?.offset ?? offset, `${name} takes ${expected}`)
    return false
  }
  switch (takes.get(name)) {
    case "nothing":
      return value === null || refuse("no value")
    case "name":
      return value === null || (value.kind === "string" && value.text !== "") || refuse("a name in quotes")
    case "count":
      return (
        (value?.kind === "number" && Number.isSafeInteger(value.number) && value.number >= 0) ||
        refuse("a whole number from 0")
      )
    default:
      return (
        (value?.kind === "number" && Number.isFinite(value.number) && value.number >= 0) ||
        refuse("a finite number from 0")
      )
  }
}

function numberOf(attribute: Attribute | undefined): number | null {
  return attribute?.value?.kind === "number" ? attribute.value.number : null
}
