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

/** `notes` is asked when somebody looks at the keywords: most callers only want the grammar. */
export function makeReport(notes: () => KeywordNote[], reason?: { path: string; message: string }): Report {
  let known: { keywords: KeywordNote[]; counts: Report["counts"] } | null = null
  const look = () => {
    known ??= counted(notes())
    return known
  }
  return {
    satisfiable: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
    get keywords() {
      return look().keywords
    },
    get counts() {
      return look().counts
    },
  }
}

function counted(keywords: KeywordNote[]): { keywords: KeywordNote[]; counts: Report["counts"] } {
  const counts = { exact: 0, annotation: 0, relaxed: 0 }
  for (const { status } of keywords) counts[status]++
  return { keywords, counts }
}
