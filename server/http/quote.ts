/**
 * Shortens the values of a request that an error message repeats.
 *
 * A message shows enough of a value to find it in the request. A value of megabytes must not make a
 * reply of megabytes, so long texts are cut here, always between two characters and never within a
 * surrogate pair.
 */

/** Maximum UTF-16 units of a value that a message repeats. */
export const maxQuotedUnits = 80

/**
 * Returns the value as JSON of at most some 80 units. Reads only the beginning of a long string.
 */
export function quote(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(cutText(value, maxQuotedUnits))
  if (Array.isArray(value)) return value.length === 0 ? "[]" : "a list"
  if (typeof value === "object" && value !== null) return "an object"
  return String(value)
}

/** Returns the text, or its beginning and an ellipsis: at most `most` units. */
export function cutText(text: string, most: number): string {
  return text.length <= most ? text : `${beginning(text, most - 1)}…`
}

/**
 * Returns the text, without its middle if it is longer than `most` units. The end is kept, because
 * it says what to do.
 */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text
  const tail = most >> 2
  const from = text.length - tail
  return `${beginning(text, most - tail - 1)}…${text.slice(isLowHalf(text, from) ? from + 1 : from)}`
}

function beginning(text: string, count: number): string {
  return text.slice(0, isLowHalf(text, count) ? count - 1 : count)
}

function isLowHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit < 0xe000
}
