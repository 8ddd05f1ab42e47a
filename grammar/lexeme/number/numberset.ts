/**
 * Sets of numbers from which values are removed one by one, for unique items, without rebuilding
 * them.
 *
 * A set is a list of cells with their parts. Removing a value splits the cells that hold it; the
 * new set shares all other cells and their parts with the old one. Costs a look at each cell.
 */
import { compare, type Decimal, equals } from "./decimal.ts"
import { type CellEntry, type NumberCell, type NumberPolicy, numbers } from "./number.ts"

export class NumberSet {
  private readonly entries: readonly CellEntry[]
  private readonly policy: NumberPolicy

  private constructor(entries: readonly CellEntry[], policy: NumberPolicy) {
    this.entries = entries
    this.policy = policy
  }

  static of(cells: readonly NumberCell[], policy: NumberPolicy): NumberSet {
    return new NumberSet(
      cells.map((cell) => ({ cell })),
      policy,
    )
  }

  without(value: Decimal): NumberSet {
    const entries: CellEntry[] = []
    for (const entry of this.entries) {
      const { cell } = entry
      const { min, max } = cell
      const low = min === null ? -1 : compare(min, value)
      const high = max === null ? 1 : compare(max, value)
      if (low > 0 || high < 0) {
        entries.push(entry)
        continue
      }
      if (min !== null && max !== null && equals(min, max)) continue
      const { spelling: _, ...bounds } = cell
      const below: NumberCell = { ...bounds, max: value, maxExclusive: true }
      const above: NumberCell = { ...bounds, min: value, minExclusive: true }
      if (low < 0 && !numbers.isEmpty([below])) entries.push({ cell: below })
      if (high > 0 && !numbers.isEmpty([above])) entries.push({ cell: above })
    }
    return new NumberSet(entries, this.policy)
  }

  /** Returns the number state of the set; 0 if the set is empty. */
  get state(): number {
    return this.entries.length === 1
      ? numbers.start([this.entries[0].cell], this.policy)
      : numbers.startOf(this.entries, this.policy)
  }
}
