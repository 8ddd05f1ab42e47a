/**
 * An earlier run of a suite to measure a new one by: what was right then must be right now.
 *
 * The file is what `--json` printed: one object a row, then the summary. Rows are compared by name,
 * so a baseline of a part of a corpus serves too; where it holds no rows, the summaries are
 * compared.
 */
import { readFile } from "node:fs/promises"

/** Row name → whether it was right; and the summary, if the file holds one. */
export interface Baseline {
  rows: Map<string, boolean>
  summary: { pass: number; wrong_accepts: number } | null
}

type Row = Record<string, unknown>

/** The name of a row, unique in its suite. */
export function nameOf(row: Row): string {
  return typeof row.id === "string" ? row.id : [row.file, row.group, row.test].join(" › ")
}

/** `isRight` judges a row of the suite. */
export async function readBaseline(path: string, isRight: (row: Row) => boolean): Promise<Baseline> {
  const rows = new Map<string, boolean>()
  let summary: Baseline["summary"] = null
  for (const line of (await readFile(path, "utf8")).split("\n")) {
    if (line.trim() === "") continue
    const row = JSON.parse(line) as Row
    if (row.summary !== undefined) summary = row.summary as Baseline["summary"]
    else rows.set(nameOf(row), isRight(row))
  }
  return { rows, summary }
}

/** Returns a line for each row that was right and is wrong now. */
export function losses(
  baseline: Baseline,
  rows: readonly Row[],
  summary: { pass: number; wrong_accepts: number },
  isRight: (row: Row) => boolean,
): string[] {
  const lost = rows.filter((row) => baseline.rows.get(nameOf(row)) && !isRight(row)).map(nameOf)
  if (baseline.rows.size > 0 || baseline.summary === null) return lost
  const { pass, wrong_accepts } = baseline.summary
  if (summary.pass < pass) lost.push(`right: ${summary.pass}, before ${pass}`)
  if (summary.wrong_accepts > wrong_accepts)
    lost.push(`wrong accepts: ${summary.wrong_accepts}, before ${wrong_accepts}`)
  return lost
}
