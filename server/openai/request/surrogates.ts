/**
 * Refuses lone surrogates, which are not text: no tokenizer, header or stop string can hold one.
 *
 * JSON can spell a lone surrogate (`"\ud83d"`) and JavaScript can hold it, but conversion to a URI,
 * UTF-8 or a regular expression fails later. So it is refused first. Schemas are left to the
 * compiler, which handles it there.
 */
import { invalid, type Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"

/** Throws `Refusal` if a string or a key inside `value` holds half a surrogate pair. */
export function refuseHalfPairs(value: unknown, field: string): void {
  const place = placeOfHalfPair(value)
  if (place !== null) throw halfPair(`${field}${place}`)
}

/** Returns the refusal of the text at `place`. */
export function halfPair(place: string): Refusal {
  return invalid(
    place,
    "holds half of a surrogate pair, which is not a character",
    "Send both halves, or U+FFFD in its place",
  )
}

/**
 * Returns the path from the value to the string in the notation of code, or null if every string is
 * text.
 */
function placeOfHalfPair(value: unknown): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : ""
  if (typeof value !== "object" || value === null) return null
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) {
      const place = placeOfHalfPair(member)
      if (place !== null) return `[${index}]${place}`
    }
    return null
  }
  for (const [key, member] of Object.entries(value)) {
    if (!key.isWellFormed()) return `[${quote(key)}]`
    const place = placeOfHalfPair(member)
    if (place !== null) return `.${key}${place}`
  }
  return null
}
