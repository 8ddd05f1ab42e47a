/** Counts the verdicts of a run, by area, and prints them as a table. */
import { tableOf } from "../table.ts"
import { type Verdict, verdicts } from "./case.ts"
import type { ApiResult } from "./run.ts"

export type VerdictCounts = { total: number; truncated: number } & Record<Verdict, number>

export interface ApiSummary extends VerdictCounts {
  suite: "api"
  url: string
  model: string
  /** The same counts for each area, in the order of the suite. */
  areas: Record<string, VerdictCounts>
}

/** The verdicts that fail a run. */
export const failures: readonly Verdict[] = ["ignored", "wrong", "error"]

export function summarizeApi(results: readonly ApiResult[], url: string, model: string): ApiSummary {
  const summary: ApiSummary = { suite: "api", url, model, ...noCounts(), areas: {} }
  for (const { area, verdict, truncated } of results) {
    summary.areas[area] ??= noCounts()
    for (const counts of [summary, summary.areas[area]]) {
      counts.total++
      counts[verdict]++
      if (truncated) counts.truncated++
    }
  }
  return summary
}

function noCounts(): VerdictCounts {
  return { total: 0, honoured: 0, truncated: 0, ignored: 0, wrong: 0, refused: 0, error: 0, skipped: 0 }
}

/**
 * Returns the table: a line for each area, then one for all. `(n)` behind the honoured ones is how
 * many of them were cut off.
 */
export function apiTable(summary: ApiSummary): string {
  const rows = [
    ["area", "cases", ...verdicts],
    ...Object.entries(summary.areas).map(rowOf),
    rowOf(["all", summary]),
  ]
  return tableOf(rows)
}

function rowOf([name, counts]: readonly [string, VerdictCounts]): string[] {
  const cells = verdicts.map((verdict) => (counts[verdict] === 0 ? "-" : String(counts[verdict])))
  if (counts.truncated > 0) cells[0] += ` (${counts.truncated})`
  return [name, String(counts.total), ...cells]
}
