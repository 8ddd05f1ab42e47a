/**
 * Returns rows of cells as lines of text. Columns are as wide as their widest cell; the first is
 * aligned to the left, the others to the right. All rows have as many cells as the first.
 */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join("  ")
  return `${rows.map((row) => line(row).trimEnd()).join("\n")}\n`
}
