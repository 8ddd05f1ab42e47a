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

/** Longest item that is read back to be compared with others, in UTF-16 units. */
const MaxCompared = 1 << 17

/** Throws `limit` when an item that others must differ from, or be equal to, is absurdly long. */
export function checkCompared(length: number, path: string): void {
  if (length <= MaxCompared) return
  const what = `a shortest item that is compared with others has ${length} characters, above the bound of ${MaxCompared}`
  throw new GrammarError("limit", path, `${what}. Lower the counts of the items`)
}
