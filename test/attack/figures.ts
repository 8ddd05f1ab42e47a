/** Statistics and tables of what the attacks print. */

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** 0 for no values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
}

/** Least squares of `values` over their index: the line's value at the first and at the last of them. */
export function fitLine(values: readonly number[]): { first: number; last: number } {
  const count = values.length
  const middle = (count - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  let [above, below] = [0, 0]
  for (const [at, value] of values.entries()) {
    above += (at - middle) * (value - mean)
    below += (at - middle) ** 2
  }
  const slope = below === 0 ? 0 : above / below
  return { first: mean - slope * middle, last: mean + slope * middle }
}

/** Cells padded to the widths of the columns: a negative width aligns to the left. */
export function row(widths: readonly number[], cells: readonly (string | number)[]): string {
  return cells
    .map((cell, at) => {
      const text = typeof cell === "number" ? String(Math.round(cell)) : cell
      const width = widths[at] ?? 0
      return width < 0 ? text.padEnd(-width) : text.padStart(width)
    })
    .join(" ")
    .trimEnd()
}

/** How often each value occurs, most frequent first: `200 ×3, 400`. */
export function tally(values: readonly (string | number)[]): string {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([value, count]) => (count > 1 ? `${value} ×${count}` : value))
    .join(", ")
}
