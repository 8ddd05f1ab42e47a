/** What `compile` says beside the grammar: what became of every keyword, and whether anything satisfies the input. */

export interface KeywordNote {
  /** JSON pointer of the keyword. */
  path: string
  keyword: string
  /** `exact`: enforced; `annotation`: without effect by the standard; `relaxed`: dropped because the caller asked for it. */
  status: "exact" | "annotation" | "relaxed"
  note?: string
}

export interface Report {
  satisfiable: boolean
  /** Why nothing satisfies it. */
  reason?: { path: string; message: string }
  /** Every keyword of every schema that was read, once. Empty for other inputs. */
  keywords: KeywordNote[]
  counts: { exact: number; annotation: number; relaxed: number }
}

export function makeReport(keywords: KeywordNote[], reason?: { path: string; message: string }): Report {
  const counts = { exact: 0, annotation: 0, relaxed: 0 }
  for (const { status } of keywords) counts[status]++
  return reason === undefined
    ? { satisfiable: true, keywords, counts }
    : { satisfiable: false, reason, keywords, counts }
}
