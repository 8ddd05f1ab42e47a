/**
 * Predicates over values from the wire.
 */

/** Returns whether a value is an object with fields. */
export function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
