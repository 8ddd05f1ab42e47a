/**
 * Compares a run of a suite with an earlier one: every row that was right then must still be right.
 *
 * The file is the output of `--json`: one object for each row, then the summary. Rows are compared
 * by name, so the baseline may be of a part of the corpus. If it holds no rows, the summaries are
 * compared.
 */
import { readFile } from "node:fs/promises"
import { CorpusError } from "./rows.ts"

/** Whether each row was right, by its name; and the summary, if the file holds one. */
export interface Baseline {
  rows: Map<string, boolean>
  summary: { pass: number; wrong_accepts: number } | null
}

type Row = Record<string, unknown>

/** Returns the name of a row, which is unique in its suite. */
export function nameOf(row: Row): string {
  return typeof row.id === "string" ? row.id : [row.file, row.group, row.test].join(" › ")
}

/** Reads a baseline. `isRight` judges a row of the suite. Throws `CorpusError`. */
export async function readBaseline(path: string, isRight: (row: Row) => boolean): Promise<Baseline> {
  try {
    return await readRows(path, isRight)
  } catch (error) {
    throw new CorpusError(
      `cannot read ${path}: ${(error as Error).message}. --against takes what a run printed with --json`,
    )
  }
}

async function readRows(path: string, isRight: (row: Row) => boolean): Promise<Baseline> {
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
