/** Rules that several engines share. */
import { takesQuote } from "../patterns.ts"
import type { Position } from "../position.ts"
import type { Rule } from "../rules.ts"
import { areDisjoint } from "../shapes.ts"

/** Whether a schema is one of objects, by its type or by declaring properties. */
export function isObject(at: Position): boolean {
  return at.types?.includes("object") === true || (at.types === null && at.has("properties"))
}

export const oneOfAsAnyOf: Rule = {
  id: "oneOf",
  keywords: "oneOf",
  when: (at) => !areDisjoint(at, "oneOf", "standard"),
  verdict: "wrong",
  note: "read as anyOf: a value may satisfy several branches",
}

export const undeclared: Rule = {
  id: "undeclared",
  keywords: "required",
  when: (at) => at.names("required").some((name) => !at.names("properties").includes(name)),
  verdict: "dropped",
  note: "ignored for names that properties does not declare",
}

export const patternQuote: Rule = {
  id: "patternQuote",
  keywords: "pattern",
  when: (at) => takesQuote(at.text("pattern") ?? ""),
  verdict: "wrong",
  note: "`.` and negated classes also match an unescaped quote or backslash, so the text may be no JSON",
}

export const closed: Rule = {
  id: "closed",
  keywords: "additionalProperties",
  missing: true,
  when: isObject,
  verdict: "refused",
  note: "every object needs additionalProperties: false",
}

export const open: Rule = {
  id: "open",
  keywords: "additionalProperties",
  when: (at) => at.get("additionalProperties")?.kind !== "false",
  verdict: "refused",
  note: "every object needs additionalProperties: false",
}

export const listedItems: Rule = {
  id: "tuple",
  keywords: "items",
  when: (at) => at.get("items")?.kind === "array",
  verdict: "refused",
  note: "a list of schemas in items is not supported",
}

export const noTarget: Rule = {
  id: "reference",
  keywords: "$ref",
  when: (at) => at.target === null,
  verdict: "refused",
  note: "the reference has no target in this document",
}

export const integers: Rule = {
  id: "integer",
  keywords: "type",
  when: (at) => at.types?.includes("integer") === true,
  verdict: "narrowed",
  note: "integers have no fraction or exponent",
}

export const keyOrder: Rule = {
  id: "order",
  keywords: "properties",
  when: (at) => at.names("properties").length > 1,
  once: true,
  verdict: "narrowed",
  note: "keys are accepted in the order of the schema only",
}
