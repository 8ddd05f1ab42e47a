/**
 * Two keywords that contradict each other, for the message of an unsatisfiable schema.
 *
 * Pairs of keywords are tried: a pair contradicts itself if the schema of these two alone allows no
 * value. So the compiler itself is the judge, and no rule about keywords is written twice.
 */
import { toText } from "./read/reader.ts"
import type { SchemaNode } from "./refs/refs.ts"
import { cut } from "./words.ts"

/** Keywords that constrain a value without schemas of their own. */
const assertions: ReadonlySet<string> = new Set([
  ...["const", "enum", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems"],
  ...["minProperties", "maxProperties", "required"],
])
/** Maximum number of keywords that are tried, and of UTF-16 units of their values. */
const MostKeywords = 12
const MostUnits = 2_000

/** Returns whether some value satisfies all of these schemas, given as JSON texts. */
export type IsPossible = (schemas: readonly string[]) => boolean

interface Assertion {
  readonly place: string
  /** A schema with this keyword alone. */
  readonly schema: string
  /** The keyword with its value. */
  readonly said: string
}

/**
 * Returns a sentence about two keywords of `nodes`, all of which hold, that no value satisfies
 * together; null if there are none, or too many keywords to try.
 */
export function contradictionOf(nodes: readonly SchemaNode[], isPossible: IsPossible): string | null {
  const types = nodes.flatMap((node) => assertionsOf(node, (keyword) => keyword === "type"))
  const others = nodes.flatMap((node) => assertionsOf(node, (keyword) => assertions.has(keyword)))
  if (types.length + others.length > MostKeywords) return null
  if (types.some(({ schema }) => schema.length > MostUnits)) return null
  const tried = others.filter(({ schema }) => schema.length <= MostUnits)
  const find = (ones: readonly Assertion[], rest: readonly Assertion[], background: readonly Assertion[]) => {
    for (const [i, one] of ones.entries()) {
      const other = (ones === rest ? ones.slice(i + 1) : rest).find(
        (each) => !isPossible([one, each, ...background].map(({ schema }) => schema)),
      )
      if (other !== undefined) return [one, other] as const
    }
    return null
  }
  const impossible = tried.find(({ schema }) => !isPossible([schema]))
  if (impossible !== undefined) return `${inWords(impossible)} allows no value`
  const pair = find(types, types, []) ?? find(tried, types, []) ?? find(tried, tried, types)
  if (pair === null) return null
  const [one, other] = pair
  // Some pairs contradict each other only for integers.
  const integer = types.find(({ schema }) => schema.includes('"integer"'))
  const isOfIntegers = integer && isPossible([one.schema, other.schema, '{"type":"number"}'])
  const condition = isOfIntegers && other !== integer ? ` for ${inWords(integer)}` : ""
  return `${inWords(one)} contradicts ${inWords(other)}${condition}`
}

function inWords({ said, place }: Assertion): string {
  return `${said} at ${place}`
}

function assertionsOf({ value, pointer }: SchemaNode, isWanted: (keyword: string) => boolean): Assertion[] {
  if (value.kind !== "object") return []
  return value.keys.filter(isWanted).flatMap((keyword) => {
    const set = value.members.get(keyword)!
    // In draft 4 this is a switch of the bound beside it.
    if (keyword.startsWith("exclusive") && set.kind !== "number") return []
    const text = toText(set)
    const beside = value.members.get(keyword === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum")
    const isOpen = (keyword === "minimum" || keyword === "maximum") && beside?.kind === "true"
    const exclusive = isOpen ? `,"exclusive${keyword === "minimum" ? "Minimum" : "Maximum"}":true` : ""
    return [
      {
        place: `${pointer}/${keyword}`,
        schema: `{${JSON.stringify(keyword)}:${text}${exclusive}}`,
        said: `${keyword} ${cut(text)}${isOpen ? " (exclusive)" : ""}`,
      },
    ]
  })
}
