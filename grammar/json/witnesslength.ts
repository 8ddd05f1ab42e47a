/** How long the values are that complete a text. */
import { fixedBounds, limitError } from "../errors.ts"

/** Longest value that is written down for `shortest`, in UTF-16 units. */
/** Throws `limit` when a value that is written down to complete a text is absurdly long. */
export function checkWitness(length: number, path: string): void {
  if (length <= fixedBounds.witnessUnits) return
  throw limitError(fixedBounds, "witnessUnits", length, path)
}

/** Throws `limit` when an item that others must differ from, or be equal to, is absurdly long. */
export function checkCompared(length: number, path: string): void {
  if (length <= fixedBounds.comparedUnits) return
  throw limitError(fixedBounds, "comparedUnits", length, path)
}
