/**
 * A lone surrogate is not text: no tokenizer, header or stop string can hold it.
 *
 * JSON can spell one (`"\ud83d"`), JavaScript can carry it, and then it fails where a URI, UTF-8 or
 * a regular expression is made of it. So it is refused first. Schemas are left to the compiler,
 * which knows its meaning there.
 */
import { Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"

/** Throws `Refusal` where a string or a key inside of `value` holds half a surrogate pair. */
export function refuseHalfPairs(value: unknown, field: string): void {
  const place = placeOfHalfPair(value)
  if (place !== null) throw halfPair(`${field}${place}`)
}

/** The refusal of the text at `place`. */
export function halfPair(place: string): Refusal {
  return new Refusal("invalid_value", `${place} holds half of a surrogate pair, which is no character`, {
    param: place,
    hint: "Send both halves, or U+FFFD in its place",
  })
}

/**
 * The way from the value to the string, as one would write it in code; null when every string is
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
