/**
 * Attributes of a rule: how its lexeme ends, its budgets, and its captures.
 *
 * `lazy`, `greedy`, `suffix` and `stop` are about one lexeme, so a rule that has them is read as a
 * terminal. The others apply to whatever the rule reads.
 */
import { type Attributes, noAttributes } from "../notation/dialect.ts"
import type { Refuse } from "../notation/source.ts"
import type { Attribute, Definition, Place, Value } from "../notation/tree.ts"
import { readLiteral } from "./literals.ts"

/** The names of all attributes. */
const names = [
  ...["lazy", "greedy", "suffix", "stop", "stop_capture", "capture"],
  ...["max_tokens", "max_chars", "temperature"],
]

/** Attributes that a rule with a number may not have, because it stands for many rules. */
const withoutNumber = ["lazy", "greedy", "suffix", "stop", "max_tokens", "temperature"]

/** Reads the attributes of `definition`. Refuses wrong ones and reads the others. */
export function readAttributes(definition: Definition, refuse: Refuse): Attributes {
  if (definition.attributes.length === 0) return noAttributes
  const given = new Map<string, Attribute>()
  for (const attribute of definition.attributes) {
    const { text, start } = attribute.name
    if (!names.includes(text))
      refuse("syntax", start, `unknown attribute ${text}. Known are ${names.join(", ")}`)
    else if (given.has(text)) refuse("syntax", start, `the attribute ${text} is given twice`)
    else if (definition.isParametric && withoutNumber.includes(text)) {
      refuse("unsupported", start, `${text} on a rule with a number. Put it on a rule that this one uses`)
    } else given.set(text, attribute)
  }
  const reader = new ValueReader(given, refuse)
  const suffix = reader.terminal("suffix")
  const stop = reader.terminal("stop")
  const made: Attributes = {
    ending: reader.has("greedy") ? "greedy" : reader.has("lazy") ? "lazy" : "any",
    suffix: suffix || stop || null,
    hidesSuffix: suffix === null,
    capture: reader.name("capture", definition.name.text),
    suffixCapture: reader.name("stop_capture", null),
    maxChars: reader.number("max_chars", "count"),
    maxTokens: reader.number("max_tokens", "count"),
  }
  reader.number("temperature", "number")
  reader.exclude("stop", "suffix")
  for (const other of ["lazy", "suffix", "stop"]) reader.exclude("greedy", other)
  if (made.suffixCapture !== null && made.suffix === null) {
    refuse(
      "syntax",
      given.get("stop_capture")!.name.start,
      "stop_capture names what suffix or stop reads: give one of them",
    )
  }
  return made
}

class ValueReader {
  private readonly given: ReadonlyMap<string, Attribute>
  private readonly refuse: Refuse

  constructor(given: ReadonlyMap<string, Attribute>, refuse: Refuse) {
    this.given = given
    this.refuse = refuse
  }

  has(name: string): boolean {
    const attribute = this.given.get(name)
    if (attribute !== undefined && attribute.value !== null)
      this.fail(attribute.value, `${name} takes no value`)
    return attribute !== undefined
  }

  /**
   * Returns the terminal of an attribute; `""` for the empty string of `stop`; null if there is
   * none.
   */
  terminal(name: string): Exclude<Value, { kind: "number" | "tuple" }> | "" | null {
    const attribute = this.given.get(name)
    if (attribute === undefined) return null
    const { value } = attribute
    if (value === null || value.kind === "number" || value.kind === "tuple") {
      this.fail(value ?? attribute.name, `${name} takes a string, a regular expression or a terminal`)
      return null
    }
    if (value.kind !== "literal" || value.text !== '""') return value
    if (name === "stop") return ""
    this.fail(value, `${name} is empty: nothing would end the lexeme. Leave it out, or use lazy`)
    return null
  }

  name(name: string, implied: string | null): string | null {
    const attribute = this.given.get(name)
    if (attribute === undefined) return null
    const { value } = attribute
    if (value === null && implied !== null) return implied
    if (value?.kind !== "literal") {
      this.fail(value ?? attribute.name, `${name} takes a string`)
      return null
    }
    const { value: text, ignoresCase } = readLiteral(value, this.refuse)
    if (ignoresCase) this.fail(value, `${name} is a name: it has no suffix i`)
    if (text === "") this.fail(value, `the name of ${name} is empty`)
    return text
  }

  number(name: string, kind: "count" | "number"): number | null {
    const attribute = this.given.get(name)
    if (attribute === undefined) return null
    const { value } = attribute
    const pattern = kind === "count" ? /^[0-9]+$/ : /^[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
    if (value?.kind === "number" && pattern.test(value.text) && Number.isFinite(Number(value.text)))
      return Number(value.text)
    this.fail(
      value ?? attribute.name,
      `${name} takes a ${kind === "count" ? "whole number" : "number"}, not below 0`,
    )
    return null
  }

  exclude(name: string, other: string): void {
    const attribute = this.given.get(name)
    if (attribute === undefined || !this.given.has(other)) return
    this.refuse("syntax", attribute.name.start, `${name} and ${other} exclude each other. Keep one`)
  }

  private fail({ start }: Place, message: string): void {
    this.refuse("syntax", start, message)
  }
}
