/**
 * What is lost where an engine writes the values of `enum` and `const` and ignores what stands
 * beside.
 */
import type { JsonNode } from "../../json/read/reader.ts"
import type { Position } from "../position.ts"

/** Whether one of the values is an array or object that is not empty. */
export function hasContainer(at: Position): boolean {
  return valuesOf(at).some(
    (value) =>
      (value.kind === "array" && value.items.length > 0) ||
      (value.kind === "object" && value.keys.length > 0),
  )
}

function valuesOf(at: Position): readonly JsonNode[] {
  const value = at.get("const")
  return value === undefined ? at.items("enum") : [value]
}

/**
 * Whether the keywords beside `enum` or `const` exclude some of its values, as far as types show
 * it.
 */
export function besideConstant(at: Position): boolean {
  if (!at.hasAny("enum", "const")) return false
  const others = [...at.members.keys()].filter((keyword) => {
    const role = at.known(keyword)?.role
    return role !== undefined && role !== "annotation" && role !== "identifier" && !at.isIdle(keyword)
  })
  const beyondType = others.some((keyword) => !["type", "enum", "const"].includes(keyword))
  return beyondType || (at.has("enum") && at.has("const")) || valuesOf(at).some((each) => !hasType(at, each))
}

function hasType(at: Position, value: JsonNode): boolean {
  switch (value.kind) {
    case "true":
    case "false":
      return at.allows("boolean")
    case "number":
      return at.allows("number") || (at.allows("integer") && /^-?[0-9]+(?:\.0+)?$/.test(value.text))
    default:
      return at.allows(value.kind)
  }
}
