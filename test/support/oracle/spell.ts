/**
 * Every legal spelling of a JSON value, drawn at random: key order, white space, escapes, number forms (RFC 8259).
 *
 * The value stays the same but for one thing, which draft-04 sees: `integer` there is a spelling. Who judges such texts
 * asks the reference about each of them.
 */
import type { JsonNode } from "../../../grammar/json/read/reader.ts"

type Random = () => number

/** How much is changed; each is a chance from 0 to 1, at every place. */
export interface Spelling {
  /** An object's keys in another order. */
  order: number
  /** White space in a gap. */
  space: number
  /** A character escaped that need not be. */
  escape: number
  /** A number in another form. */
  number: number
}

const short = new Map([
  ...[
    ['"', '\\"'],
    ["\\", "\\\\"],
    ["/", "\\/"],
  ],
  ...[
    ["\b", "\\b"],
    ["\f", "\\f"],
    ["\n", "\\n"],
    ["\r", "\\r"],
    ["\t", "\\t"],
  ],
] as [string, string][])

export function spellAtRandom(node: JsonNode, random: Random, spelling: Spelling): string {
  const gap = () => {
    let space = ""
    while (random() < spelling.space) space += " \n\t\r"[Math.floor(4 * random())]
    return space
  }
  const string = (value: string) =>
    `"${[...value].map((point) => character(point, random, spelling)).join("")}"`
  const list = (parts: string[]) => parts.map((part) => gap() + part + gap()).join(",") || gap()
  const write = (value: JsonNode): string => {
    switch (value.kind) {
      case "string":
        return string(value.value)
      case "number":
        return random() < spelling.number ? respellNumber(value.text, random) : value.text
      case "array":
        return `[${list(value.items.map(write))}]`
      case "object": {
        const keys = random() < spelling.order ? shuffled(value.keys, random) : value.keys
        const member = (key: string) =>
          `${string(key)}${gap()}:${gap()}${write(value.members.get(key) as JsonNode)}`
        return `{${list(keys.map(member))}}`
      }
      default:
        return value.kind
    }
  }
  return gap() + write(node) + gap()
}

function character(point: string, random: Random, spelling: Spelling): string {
  const must = point < " " || point === '"' || point === "\\"
  if (!must && random() >= spelling.escape) return point
  const letter = short.get(point)
  return letter !== undefined && random() < 0.5 ? letter : escaped(point, random)
}

function escaped(point: string, random: Random): string {
  const unit = (i: number) => {
    const hex = point.charCodeAt(i).toString(16).padStart(4, "0")
    return `\\u${[...hex].map((digit) => (random() < 0.5 ? digit.toUpperCase() : digit)).join("")}`
  }
  return Array.from({ length: point.length }, (_, i) => unit(i)).join("")
}

/** Another text of the same number: trailing zeros, an exponent, the point moved under it. */
function respellNumber(text: string, random: Random): string {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(
    text,
  ) as RegExpExecArray
  const zeros = "0".repeat(Math.floor(3 * random()))
  const digits = whole + fraction + zeros
  // The value is digits · 10^(power − length), with the point after `power` digits for exponent 0.
  const power = BigInt(whole.length) + BigInt(exponent)
  const canBePlain = power > -20n && power < 40n
  if (canBePlain && random() < 0.4) {
    const at = Number(power)
    const padded = at <= 0 ? "0".repeat(1 - at) + digits : digits.padEnd(at, "0")
    const point = at <= 0 ? 1 : at
    return sign + joined(padded.slice(0, point), padded.slice(point))
  }
  const at = 1 + Math.floor(random() * Math.min(digits.length, 25))
  const left = power - BigInt(at)
  const mark = random() < 0.5 ? "e" : "E"
  const leading = random() < 0.2 ? "00" : ""
  const plus = left < 0n ? "-" : random() < 0.3 ? "+" : ""
  return `${sign}${joined(digits.slice(0, at), digits.slice(at))}${mark}${plus}${leading}${left < 0n ? -left : left}`
}

/** Integer digits without leading zeros, and a fraction if there is one. */
function joined(whole: string, fraction: string): string {
  const least = whole.replace(/^0+(?=\d)/, "")
  return fraction === "" ? least : `${least}.${fraction}`
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const result = [...list]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[result[i], result[j]] = [result[j], result[i]]
  }
  return result
}
