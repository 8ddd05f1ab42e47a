/**
 * Attributes of a rule: `name[capture="n", lazy, greedy, max_tokens=, max_chars=, temperature=] ::=
 * …`.
 *
 * `lazy` and `greedy` determine where a lexeme ends, so a rule that has them is one lexeme and must
 * be regular. The others apply to whatever the rule reads.
 */
import { type Attributes, noAttributes } from "../notation/dialect.ts"
import type { Refuse } from "../notation/source.ts"
import type { Attribute, Definition, Value } from "../notation/tree.ts"

/** By attribute: a description of its value, and a test for it. */
const takes: Readonly<Record<string, { what: string; isTaken(value: Value | null): boolean }>> = {
  capture: {
    what: "a name in quotes",
    isTaken: (value) => value === null || (value.kind === "text" && value.text !== ""),
  },
  lazy: { what: "no value", isTaken: (value) => value === null },
  greedy: { what: "no value", isTaken: (value) => value === null },
  max_tokens: { what: "a whole number from 0", isTaken: (value) => Number.isSafeInteger(numberOf(value)) },
  max_chars: { what: "a whole number from 0", isTaken: (value) => Number.isSafeInteger(numberOf(value)) },
  temperature: { what: "a finite number from 0", isTaken: (value) => Number.isFinite(numberOf(value)) },
}

/** Returns the attributes of `definition`. Refuses wrong ones and reads the others. */
export function readAttributes({ name, attributes }: Definition, refuse: Refuse): Attributes {
  if (attributes.length === 0) return noAttributes
  const given = new Map<string, Attribute>()
  for (const attribute of attributes) {
    const { text, start } = attribute.name
    if (!Object.hasOwn(takes, text))
      refuse("syntax", start, `unknown attribute ${text}. Known are ${Object.keys(takes).join(", ")}`)
    else if (given.has(text)) refuse("syntax", start, `the attribute ${text} is given twice`)
    else if (takes[text].isTaken(attribute.value)) given.set(text, attribute)
    else refuse("syntax", attribute.value?.start ?? start, `${text} takes ${takes[text].what}`)
  }
  const [capture, lazy, greedy] = [given.get("capture"), given.get("lazy"), given.get("greedy")]
  if (lazy !== undefined && greedy !== undefined)
    refuse("syntax", greedy.name.start, "lazy and greedy exclude each other. Keep one")
  return {
    ...noAttributes,
    ending: greedy !== undefined ? "greedy" : lazy !== undefined ? "lazy" : "any",
    capture: capture === undefined ? null : capture.value?.kind === "text" ? capture.value.text : name.text,
    maxChars: numberOf(given.get("max_chars")?.value),
    maxTokens: numberOf(given.get("max_tokens")?.value),
  }
}

/** Returns the number of a value that is a number from 0 up; else null. */
function numberOf(value: Value | null | undefined): number | null {
  const number = value?.kind === "number" ? Number(value.text) : -1
  return number >= 0 ? number : null
}
