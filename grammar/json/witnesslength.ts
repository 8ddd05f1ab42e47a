/** How long the values are that complete a text. */
import { GrammarError } from "../errors.ts"

/** Longest value that is written down for `shortest`, in UTF-16 units. */
const MaxWitness = 1 << 20

/** Throws `limit` when a value that is written down to complete a text has more than `MaxWitness` characters. */
export function checkWitness(length: number, path: string): void {
  if (length <= MaxWitness) return
  const what = `its shortest value has ${length} characters or more, above the bound of ${MaxWitness}`
  throw new GrammarError("limit", path, `${what}. Lower the counts of the schema`)
}
