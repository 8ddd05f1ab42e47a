/**
 * Random JSON Schemas from the part that every engine of this package supports, as the API's clients would write them.
 *
 * All are satisfiable by construction: required names are declared, bounds are ordered, recursion has a way out.
 */

export type RandomSchema = Record<string, unknown>

/** The schema of a seed: always the same. */
export function randomSchema(seed: number): RandomSchema {
  const random = mulberry32(seed)
  const schema = object(random, 3)
  const recursive = random() < 0.25
  if (!recursive) return schema
  const properties = {
    value: scalar(random),
    children: { type: "array", items: { $ref: "#/$defs/node" }, maxItems: 2 },
  }
  return {
    $defs: { node: { type: "object", properties, required: ["value"], additionalProperties: false } },
    type: "object",
    properties: { ...(schema.properties as object), tree: { $ref: "#/$defs/node" } },
    required: [...(schema.required as string[]), ...(random() < 0.5 ? ["tree"] : [])],
    additionalProperties: false,
  }
}

type Random = () => number
const below = (random: Random, bound: number) => Math.floor(random() * bound)
const pick = <T>(random: Random, values: readonly T[]): T => values[below(random, values.length)]

function any(random: Random, depth: number): RandomSchema {
  const kind = below(random, depth > 0 ? 10 : 6)
  if (kind < 6) return scalar(random)
  if (kind === 6) return { anyOf: [any(random, depth - 1), { type: "null" }] }
  if (kind === 7) return array(random, depth - 1)
  return object(random, depth - 1)
}

function object(random: Random, depth: number): RandomSchema {
  const names = ["id", "name", "größe", "a b", "10", "2", 'quo"te', "_", "tags", "nested"]
  const count = 1 + below(random, 4)
  const chosen = [...new Set(Array.from({ length: count }, () => pick(random, names)))]
  const required = chosen.filter(() => random() < 0.7)
  const closed = random() < 0.8
  return {
    type: "object",
    properties: Object.fromEntries(chosen.map((name) => [name, any(random, depth)])),
    required,
    additionalProperties: closed ? false : { type: "boolean" },
  }
}

function array(random: Random, depth: number): RandomSchema {
  const minItems = below(random, 3)
  const maxItems = minItems + below(random, 3)
  if (random() < 0.3) {
    const prefixItems = [any(random, depth), any(random, depth)]
    return { type: "array", prefixItems, items: false, minItems: 2 }
  }
  return { type: "array", items: any(random, depth), minItems, maxItems }
}

function scalar(random: Random): RandomSchema {
  switch (below(random, 8)) {
    case 0:
      return { type: "boolean" }
    case 1:
      return { type: ["null", "integer"], minimum: -5, maximum: 1000 }
    case 2: {
      const minimum = below(random, 200) - 100
      return { type: "integer", minimum, maximum: minimum + below(random, 10_000) }
    }
    case 3:
      return { enum: ["red", "green", 7, null, { a: [1] }, "blau\n"].slice(below(random, 5)) }
    case 4:
      return { const: pick<unknown>(random, ["x", 0, true, ["a", 1], "ünï"]) }
    case 5: {
      const minLength = below(random, 4)
      return { type: "string", minLength, maxLength: minLength + below(random, 12) }
    }
    case 6:
      return {
        type: "string",
        pattern: pick(random, ["^[a-z]{1,8}$", "^\\d{3}-\\d{4}$", "^(foo|ba[rz])+$", "^.{0,5}$"]),
        maxLength: 12,
      }
    default:
      return { type: "integer", minimum: 0, maximum: 9 }
  }
}

/** Mulberry32 of Tommy Ettinger: 32 bits of state are enough to name a test case. */
function mulberry32(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
